"""Lines of the emitted text with their indentation and the author's lines as comments."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from intent.types import Span

_STEP = "    "


class Writer:
    """Collects lines; a comment is written once per run of statements of one source line."""

    def __init__(self, depth: int = 0) -> None:
        self.lines: list[str] = []
        self._depth = depth
        self._said: list[str] = [""]

    def line(self, text: str) -> None:
        self.lines.append(f"{_STEP * self._depth}{text}" if text else "")

    def statement(self, text: str, span: Span) -> None:
        """A statement under the author's line that it comes from."""
        said = span.source.strip().splitlines()[0].strip() if span.source.strip() else ""
        if said and said != self._said[-1]:
            self._said[-1] = said
            self.line(f"# {said}")
        self.line(text)

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
