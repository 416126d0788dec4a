"""What ``I.a.b`` means, with errors at the author's place."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from intent.diagnostics import IntentError, UnknownIntrinsic
from intent.types import Span

__all__ = ["lookup"]


def lookup(path: str, *, span: Span | None = None, chain: Iterable[Span] = ()) -> Any:
    """The object that ``I.<path>`` names: an intrinsic, a namespace, a dtype, a format or a constant.

    Raises:
        UnknownIntrinsic: no such name; the closest one is suggested.
        RemovedConstruct: the name belongs to another language; what to write instead is said.
    """
    language = importlib.import_module("intent.language")
    found: Any = language
    try:
        for name in path.split("."):
            found = getattr(found, name)
    except IntentError as error:
        error.chain = tuple(chain)
        raise error.at(span)  # noqa: B904 -- the same error, now with a place
    if isinstance(found, ModuleType):  # a file of this package, not a name of the language
        raise UnknownIntrinsic(path, language.__all__, span=span, chain=chain)
    return found
