"""Small pieces of wording that many errors share."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Final

__all__ = ["did_you_mean", "dtype_word", "listing", "plural", "shape_text"]

_CLOSE: Final = 0.65
"""How alike a name has to be: at 0.6 'print' is close to 'InOut'."""


def did_you_mean(name: str, known: Iterable[str], *, prefix: str = "") -> str | None:
    """``did you mean ...?`` with the closest of ``known``, or None when nothing is close."""
    choices = list(known)
    close = [choice for choice in choices if choice.lower() == name.lower()]
    close = close or difflib.get_close_matches(name, choices, n=1, cutoff=_CLOSE)
    if not close:
        folded = {choice.lower().rsplit(".", 1)[-1]: choice for choice in choices}
        close = [folded[c] for c in difflib.get_close_matches(name.lower(), list(folded), n=1, cutoff=_CLOSE)]
    return f"did you mean {prefix}{close[0]}?" if close else None


def listing(names: Sequence[str]) -> str:
    """``'a'``, ``'a' and 'b'``, ``'a', 'b' and 'c'``."""
    quoted = [f"'{name}'" for name in names]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def plural(count: int, noun: str) -> str:
    """``1 argument``, ``2 arguments``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def dtype_word(type_: object) -> str:
    """The dtype that a type's text begins with: ``f16`` of ``f16[M, N]``."""
    match = re.match(r"\w+", str(type_))
    return match.group() if match else str(type_)


def shape_text(shape: Iterable[object]) -> str:
    """A shape as the author would write it: ``(M, 1)``; ``()`` for rank zero; ``(M,)`` for rank one."""
    extents = [str(extent) for extent in shape]
    return f"({extents[0]},)" if len(extents) == 1 else f"({', '.join(extents)})"
