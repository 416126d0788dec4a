"""From a line of emitted text to the author's line: emitted text carries the author's lines as comments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from intent.physical import Program
from intent.physical.walk import walk
from intent.types import Span
from intent.types.span import UNKNOWN

__all__ = ["author_span"]


def author_span(
    text: str, lines: Sequence[int], program: Program, *, comment: str, heads: tuple[str, ...]
) -> Span:
    """The span whose line the comment above one of ``lines`` (from 1) shows, the first that has one; else UNKNOWN.

    ``comment`` begins a comment in the text; a line that begins with one of ``heads`` begins a function, above which
    no comment belongs to the lines below it.
    """
    texts = text.splitlines()
    said = [found for line in lines if (found := _comment_above(texts, line, comment, heads))]
    spans = {_first_line(span): span for span in _spans(program)}
    return next((spans[found] for found in said if found in spans), UNKNOWN)


def _comment_above(texts: list[str], line: int, comment: str, heads: tuple[str, ...]) -> str:
    """The nearest comment at or above the line, inside the same function."""
    for text in reversed(texts[:line]):
        stripped = text.strip()
        if stripped.startswith(comment):
            return stripped.removeprefix(comment).strip()
        if stripped.startswith(heads):
            break
    return ""


def _spans(program: Program) -> Iterator[Span]:
    for segment in program.segments:
        for op in walk(segment.body):
            yield op.span


def _first_line(span: Span) -> str:
    source = span.source.strip()
    return source.splitlines()[0].strip() if source else ""
