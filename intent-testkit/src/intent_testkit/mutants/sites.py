"""Every place of a module where an operator applies, as mutants."""

from __future__ import annotations

import ast
import importlib.util
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from intent_testkit.mutants.mutant import Mutant
from intent_testkit.mutants.operators import OPERATORS, Operator, mark_unordered


def mutants_of(module: str, operators: Mapping[str, Operator] = OPERATORS) -> Iterator[Mutant]:
    """All mutants of an importable module, in the order of its text.

    Raises ModuleNotFoundError for a name without source.
    """
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(module)
    source = Path(spec.origin).read_text(encoding="utf-8")
    counts: Counter[tuple[str, str]] = Counter()
    tree = ast.parse(source)
    mark_unordered(tree)
    for place, statement, node in placed(tree):
        for fault, operator in operators.items():
            for wrong in operator(node):
                mutated, before, after = _spliced(source, node, wrong)
                if mutated == source:
                    continue
                number = counts[place, fault]
                counts[place, fault] += 1
                yield Mutant(
                    module=module,
                    line=node.lineno,  # type: ignore[attr-defined]
                    statement=statement,
                    fault=fault,
                    place=place or "module",
                    number=number,
                    before=before,
                    after=after,
                    source=mutated,
                    original=source,
                )


def placed(node: ast.AST, place: str = "", statement: int = 0) -> Iterator[tuple[str, int, ast.AST]]:
    """The nodes below ``node`` that have a span of text, with the names of functions and the lines of statements."""
    for child in ast.iter_child_nodes(node):
        inner = place
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            inner = f"{place}.{child.name}" if place else child.name
        line = _begins(child) if isinstance(child, ast.stmt) else statement
        if hasattr(child, "end_col_offset") and place:
            yield place, line, child
        yield from placed(child, inner, line)


def _spliced(source: str, node: ast.AST, wrong: ast.AST) -> tuple[str, str, str]:
    """The source with the node's text replaced; the old text and the new."""
    before = ast.get_source_segment(source, node) or ""
    after = ast.unparse(ast.fix_missing_locations(wrong))
    lines = source.splitlines(keepends=True)
    start = _offset(lines, node.lineno, node.col_offset)  # type: ignore[attr-defined]
    end = _offset(lines, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
    if isinstance(wrong, ast.stmt):
        indent = " " * node.col_offset  # type: ignore[attr-defined]
        after = after.replace("\n", "\n" + indent)
    elif isinstance(wrong, ast.expr):
        after = f"({after})"
    return source[:start] + after + source[end:], before, after


def _begins(statement: ast.stmt) -> int:
    """The first line of a statement that runs: of ``if (`` alone on its line nothing does."""
    if isinstance(statement, ast.If | ast.While | ast.Assert):
        return statement.test.lineno
    return statement.lineno


def _offset(lines: list[str], line: int, column: int) -> int:
    """Columns count bytes of UTF-8."""
    text = lines[line - 1].encode()[:column].decode()
    return sum(map(len, lines[: line - 1])) + len(text)
