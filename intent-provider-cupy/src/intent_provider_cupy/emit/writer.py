"""Lines of the emitted text with their indentation and the author's lines as comments."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from intent.types import Span

STEP: Final = "    "


class Writer:
    """Collects lines; a comment is written once per run of statements of one source line."""

    def __init__(self, depth: int = 0) -> None:
        self.lines: list[str] = []
        self.depth = depth
        self._said: list[str] = [""]

    def line(self, text: str) -> None:
        self.lines.append(f"{STEP * self.depth}{text}" if text else "")

    def statement(self, text: str, span: Span) -> None:
        """A statement under the author's line that it comes from."""
        source = span.source.strip()
        said = source.splitlines()[0].strip() if source else ""
        if said and said != self._said[-1]:
            self._said[-1] = said
            self.line(f"// {said.rstrip(chr(92)).rstrip()}")
        self.line(text)

    @contextmanager
    def block(self, end: str = "}") -> Iterator[None]:
        """One level deeper, closed by ``end``."""
        self.depth += 1
        self._said.append(self._said[-1])
        yield
        self._said.pop()
        self.depth -= 1
        self.line(end)
