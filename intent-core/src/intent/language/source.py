"""The source of a decorated function: its text at decoration, its syntax tree, and spans of its nodes."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

from intent.diagnostics import SourceUnavailable, UnsupportedSyntax
from intent.types import Span

__all__ = ["FunctionSource"]


class FunctionSource:
    """Where one Python function was written.

    The lines of its file are taken at decoration, so that a file edited later does not change what is
    compiled; they are parsed when first needed. It works for files, for notebook cells and for executed
    text that is registered in :mod:`linecache`.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        code = function.__code__
        self.name = function.__name__
        self.file: str = code.co_filename
        self.first_line: int = code.co_firstlineno
        linecache.checkcache(self.file)
        self._lines: tuple[str, ...] = tuple(linecache.getlines(self.file, function.__globals__))

    @cached_property
    def tree(self) -> ast.FunctionDef:
        """The function's definition, with line numbers of its file.

        Raises:
            SourceUnavailable: the file is gone, or does not hold this function.
            UnsupportedSyntax: it is an ``async def``.
        """
        module = _parse("".join(self._lines), self.file) if self._lines else None
        for node in ast.walk(module) if module else ():
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == self.name:
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                if first != self.first_line:
                    continue
                if isinstance(node, ast.FunctionDef):
                    return node
                raise UnsupportedSyntax("'async'", fix="write a plain def", span=self._line_span(node.lineno))
        raise SourceUnavailable(self.name, self.file)

    @property
    def text(self) -> str:
        """The author's lines from the first decorator to the end of the body."""
        return "".join(self._lines[self.first_line - 1 : self.tree.end_lineno])

    def span(self, node: ast.AST) -> Span:
        """Where ``node`` stands: columns in characters, with the author's whole lines."""
        line, end_line = getattr(node, "lineno", 0), getattr(node, "end_lineno", None)
        if not line:
            return self.definition_span
        end_line = end_line or line
        return Span(
            file=self.file,
            line=line,
            column=self._characters(line, node.col_offset),  # type: ignore[attr-defined]
            end_line=end_line,
            end_column=self._characters(end_line, node.end_col_offset or 0),  # type: ignore[attr-defined]
            source="".join(self._lines[line - 1 : end_line]).rstrip("\n"),
        )

    def else_span(self, loop: ast.For | ast.While) -> Span:
        """The line of the ``else`` of a loop, for which Python keeps no node."""
        last, first = loop.body[-1].end_lineno or loop.lineno, loop.orelse[0].lineno
        lines = (n for n in range(last, first + 1) if self._lines[n - 1].lstrip().startswith("else"))
        line = next(lines, first)
        text = self._lines[line - 1].rstrip("\n")
        start = len(text) - len(text.lstrip())
        return Span(self.file, line, start, line, start + len("else"), text)

    @property
    def definition_span(self) -> Span:
        """The ``def`` line (the whole of its first line)."""
        return self._line_span(self.tree.lineno)

    def _line_span(self, line: int) -> Span:
        return _whole_line(self.file, line, self._lines[line - 1])

    def _characters(self, line: int, offset: int) -> int:
        """Python's columns count UTF-8 bytes; ours count characters."""
        return len(self._lines[line - 1].encode()[:offset].decode(errors="ignore"))


def line_span(file: str, line: int, names: dict[str, Any]) -> Span | None:
    """A line of a file that may be gone; ``names`` are the module's globals."""
    text = linecache.getline(file, line, names)
    return _whole_line(file, line, text) if text else None


def _whole_line(file: str, line: int, text: str) -> Span:
    text = text.rstrip("\n")
    start = len(text) - len(text.lstrip())
    return Span(file, line, start, line, len(text), text)


@lru_cache(maxsize=16)
def _parse(text: str, file: str) -> ast.Module | None:
    """One file is parsed once for all its kernels. A notebook cell with magics does not parse."""
    try:
        return ast.parse(text, filename=file)
    except (SyntaxError, ValueError):
        return None
