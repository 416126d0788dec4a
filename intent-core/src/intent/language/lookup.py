"""What ``I.a.b`` means, with errors at the author's place."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

from intent.diagnostics import IntentError
from intent.types import Span

__all__ = ["lookup"]


def lookup(path: str, *, span: Span | None = None, chain: Iterable[Span] = ()) -> Any:
    """The object that ``I.<path>`` names: an intrinsic, a namespace, a dtype, a format or a constant.

    Raises:
        UnknownIntrinsic: no such name; the closest one is suggested.
        RemovedConstruct: the name belongs to another language; what to write instead is said.
    """
    found: Any = importlib.import_module("intent.language")
    try:
        for name in path.split("."):
            found = getattr(found, name)
    except IntentError as error:
        error.chain = tuple(chain)
        raise error.at(span)  # noqa: B904 -- the same error, now with a place
    return found
