"""From an error in emitted text to the author's line."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator

from intent.physical import Program
from intent.physical.walk import walk
from intent.types import Span
from intent.types.span import UNKNOWN

_PLACE = re.compile(r'"<intent [^"]*>", line (\d+)')


def author_span(error: BaseException, text: str, program: Program) -> Span:
    """The span of the author's line that the text's comments name above the error's line; UNKNOWN if none does."""
    lines = text.splitlines()
    said = [comment for line in _lines_of(error) if (comment := _comment_above(lines, line))]
    spans = {_first_line(span): span for span in _spans(program)}
    return next((spans[comment] for comment in said if comment in spans), UNKNOWN)


def _lines_of(error: BaseException) -> list[int]:
    """The lines of emitted text that the compiler's message or the traceback mentions, innermost first."""
    found = _PLACE.findall(str(error)) or _PLACE.findall("".join(traceback.format_exception(error)))
    return [int(line) for line in reversed(found)]


def _comment_above(lines: list[str], line: int) -> str:
    """The nearest comment at or above the line, inside the same function."""
    for text in reversed(lines[:line]):
        stripped = text.strip()
        if stripped.startswith("# "):
            return stripped[2:]
        if stripped.startswith(("def ", "@")):
            break
    return ""


def _spans(program: Program) -> Iterator[Span]:
    for segment in program.segments:
        for op in walk(segment.body):
            yield op.span


def _first_line(span: Span) -> str:
    source = span.source.strip()
    return source.splitlines()[0].strip() if source else ""
