"""Lines of the emitted text with their indentation and the author's lines as comments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from intent.types import Span

__all__ = ["LIMIT", "Writer", "definition"]

_STEP = "    "
LIMIT = 110
"""Longest line of a statement; longer calls put their arguments on lines of their own."""


def wrapped(text: str, limit: int) -> list[str]:
    """``text`` in lines: the arguments of its last call go below it when the whole is too long."""
    if len(text) <= limit or not text.endswith(")"):
        return [text]
    commas, depth, start = [], 0, 0
    for i in range(len(text) - 1, -1, -1):
        depth += (text[i] in ")]") - (text[i] in "([")
        if depth == 0:
            start = i + 1
            break
        if depth == 1 and text.startswith(", ", i):
            commas.append(i)
    parts, last = [], start
    for i in reversed(commas):
        parts.append(text[last : i + 1])
        last = i + 2
    parts.append(text[last:-1] + ",")
    lines = [text[:start], *_filled(parts, limit), ")"]
    return lines if text[:start].rstrip("(")[-1:].isidentifier() else [text]


def _filled(parts: list[str], limit: int) -> list[str]:
    """Arguments on as few lines as fit."""
    lines = [_STEP + parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + 1 + len(part) <= limit:
            lines[-1] += f" {part}"
        else:
            lines.append(_STEP + part)
    return lines


def definition(name: str, parameters: Sequence[str]) -> str:
    """The head of a function, its parameters on as few lines as fit."""
    flat = f"def {name}({', '.join(parameters)}):"
    if len(flat) <= LIMIT:
        return flat
    lines = _filled([f"{parameter}," for parameter in parameters], LIMIT - 2)
    return "\n".join([f"def {name}(", *lines, "):"])


class Writer:
    """Collects lines; a comment is written once per run of statements of one source line."""

    def __init__(self, depth: int = 0) -> None:
        self.lines: list[str] = []
        self._depth = depth
        self._said: list[str] = [""]

    @property
    def depth(self) -> int:
        """How many levels deep the next line is."""
        return self._depth

    def line(self, text: str) -> None:
        self.lines.append(f"{_STEP * self._depth}{text}" if text else "")

    def statement(self, text: str, span: Span) -> None:
        """A statement under the author's line that it comes from."""
        said = span.source.strip().splitlines()[0].strip() if span.source.strip() else ""
        if said and said != self._said[-1]:
            self._said[-1] = said
            self.line(f"# {said}")
        for line in wrapped(text, LIMIT - len(_STEP) * self._depth):
            self.line(line)

    @contextmanager
    def block(self) -> Iterator[None]:
        """One level deeper; ``pass`` if nothing was written."""
        self._depth += 1
        self._said.append(self._said[-1])
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.line("pass")
        self._said.pop()
        self._depth -= 1
