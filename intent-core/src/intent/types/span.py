"""Where something stands in the author's source."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """A range of the author's source. Lines count from 1, columns from 0, the end column is exclusive.

    ``source`` holds the author's whole line(s), so that errors and generated code can quote them.
    """

    file: str
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    source: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


UNKNOWN = Span("<unknown>", 0)
