"""The author's lines: the functions that a program comes from, each line with a key."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator

from intent.explain.report import AuthorLine, Place
from intent.kir.kernel import Kernel
from intent.kir.walk import walk
from intent.physical import Program
from intent.physical.walk import walk as walk_program
from intent.types import Span

__all__ = ["Places"]


class Places:
    """Finds the author's line of a span. Keys count the lines of all shown functions, in reading order."""

    def __init__(self, kernel: Kernel, program: Program) -> None:
        self._used: set[tuple[str, int]] = set()
        texts: dict[tuple[str, int], str] = {}
        for span in _spans(kernel, program):
            for n, line in enumerate(span.source.splitlines()):
                texts[span.file, span.line + n] = line
        for file in {file for file, _ in texts}:
            texts |= _functions(file, {line: text for (name, line), text in texts.items() if name == file})
        home, first = kernel.span.file, _run(kernel.span.file, kernel.span.line, texts)
        ordered = sorted(texts, key=lambda place: (place[0] != home, place not in first, place))
        self._keys = {place: key for key, place in enumerate(ordered)}
        self._texts = texts

    def place(self, span: Span) -> Place | None:
        """The first line of a span, which thereby counts as used; None without a source."""
        where = (span.file, span.line)
        key = self._keys.get(where)
        if key is None:
            return None
        self._used.add(where)
        return Place(key=key, file=span.file, line=span.line, text=self._texts[where].strip())

    def said(self) -> dict[str, tuple[int, ...]]:
        """The used lines by their text: emitted comments quote it."""
        found: dict[str, list[int]] = {}
        for where in sorted(self._used):
            found.setdefault(self._texts[where].strip(), []).append(self._keys[where])
        return {text: tuple(keys) for text, keys in found.items()}

    def lines(self) -> tuple[AuthorLine, ...]:
        """Every line, those of the kernel's file first."""
        return tuple(
            AuthorLine(
                key=key, file=file, line=line, text=self._texts[file, line], used=(file, line) in self._used
            )
            for (file, line), key in self._keys.items()
        )


def _run(file: str, line: int, texts: dict[tuple[str, int], str]) -> set[tuple[str, int]]:
    """The known lines around a line without a gap: the kernel's function."""
    found: set[tuple[str, int]] = set()
    for step in (1, -1):
        n = line
        while (file, n) in texts:
            found.add((file, n))
            n += step
    return found


def _spans(kernel: Kernel, program: Program) -> Iterator[Span]:
    yield kernel.span
    for parameter in kernel.params:
        yield parameter.span
    for op in walk(kernel.body):
        yield op.span
    for segment in program.segments:
        for made in walk_program(segment.body):
            yield made.span
    for condition in kernel.conditions:
        yield condition.span
    for assumption in kernel.assumptions:
        yield assumption.span


def _functions(file: str, known: dict[int, str]) -> dict[tuple[str, int], str]:
    """All lines of the functions around the known lines, if the file still holds these lines."""
    text = linecache.getlines(file)
    if not text or any(
        line > len(text) or text[line - 1].rstrip("\n") != said for line, said in known.items()
    ):
        return {}
    try:
        module = ast.parse("".join(text))
    except (SyntaxError, ValueError):
        return {}
    found: dict[tuple[str, int], str] = {}
    for begin, end in _ranges(module):
        if any(begin <= line <= end for line in known):
            found |= {(file, line): text[line - 1].rstrip("\n") for line in range(begin, end + 1)}
    return found


def _ranges(module: ast.Module) -> Iterable[tuple[int, int]]:
    """First (decorator) and last line of every function that is in no other function."""
    inner: set[ast.AST] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and node not in inner:
            inner |= {child for child in ast.walk(node) if child is not node}
            yield min([node.lineno, *(d.lineno for d in node.decorator_list)]), node.end_lineno or node.lineno
