"""Errors as text: place, code, message, the author's line with a caret, values seen, call chain, one fix.

::

    softmax.py:12:14: error[INT030]: the operands of '+' have different dtypes
       12 |     y[row] = x[row] + scale
          |              ^^^^^^^^^^^^^^
      seen: x[row] is f16
      seen: scale is f32
      help: cast one side, for example I.cast(scale, I.f16)

Lines and columns count from 1 in text, as editors do; :class:`~intent.types.Span` counts columns from 0.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

from intent.types import Span

if TYPE_CHECKING:
    from intent.diagnostics.base import IntentError

__all__ = ["quote", "render", "where"]

_TAB = 4


def render(error: IntentError, *, short_files: bool = False) -> str:
    """The whole text of ``error``. ``short_files`` prints file names without their folders."""
    span = _known(error.span)
    head = f"error[{error.code}]: {error.message}"
    lines = [head if span is None else f"{where(span, short_files=short_files)}: {head}"]
    if span is not None:
        lines += quote(span)
    lines += [f"  seen: {name}{_verb(name)} {_indent(value)}" for name, value in error.seen.items()]
    lines += [f"  note: {note}" for note in error.notes]
    lines += [_called_from(site, short_files=short_files) for site in error.chain if _known(site)]
    if error.fix:
        lines.append(f"  help: {error.fix}")
    return "\n".join(lines)


def where(span: Span, *, short_files: bool = False) -> str:
    """``file:line:column`` of the start of ``span``, both counted from 1."""
    file = Path(span.file).name if short_files else span.file
    return f"{file}:{span.line}:{span.column + 1}"


def quote(span: Span) -> list[str]:
    """The author's first line of ``span`` and carets under the blamed part; nothing without source."""
    text = span.source.splitlines()[0].rstrip() if span.source.strip() else ""
    if not text:
        return []
    start = min(span.column, len(text))
    one_line = span.end_line in (0, span.line) and span.end_column > span.column
    end = min(span.end_column, len(text)) if one_line else len(text)
    number = f"{span.line:>5}"
    carets = "^" * max(1, _width(text[start:end], start=_width(text[:start])))
    return [
        f"{number} | {_untab(text)}",
        f"{'':>5} | {' ' * _width(text[:start])}{carets}",
    ]


def _known(span: Span | None) -> Span | None:
    return span if span is not None and span.line > 0 else None


def _called_from(site: Span, *, short_files: bool) -> str:
    text = site.source.splitlines()[0].strip() if site.source.strip() else ""
    place = where(site, short_files=short_files)
    return f"  called from: {place}: {text}" if text else f"  called from: {place}"


def _verb(name: str) -> str:
    """What joins a name to its value.

    "x is f32"; "its parameters are x, y" after a plural phrase; "expected: a value" after a participle.
    """
    if name in ("expected", "found"):
        return ":"
    noun = name.split(" of ", maxsplit=1)[0] if name.startswith(("its ", "the ")) else ""
    return " are" if noun.endswith("s") and not noun.endswith("ss") else " is"


def _indent(value: str) -> str:
    """Further lines of a value, such as a toolkit's log, stand below its first."""
    return value.replace("\n", "\n        ")


def _untab(text: str) -> str:
    return text.expandtabs(_TAB)


def _width(text: str, *, start: int = 0) -> int:
    """Terminal columns that ``text`` fills when it begins at column ``start``."""
    column = start
    for char in text:
        if char == "\t":
            column += _TAB - column % _TAB
        elif unicodedata.combining(char):
            continue
        else:
            column += 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return column - start
