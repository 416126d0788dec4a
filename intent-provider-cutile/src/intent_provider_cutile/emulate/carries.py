"""Checks that loop carries keep their type: calls put into the text's loops before it runs.

The compiler refuses a loop whose variable changes its dtype or shape from one pass to the next; Python does not care.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from intent_provider_cutile.emulate.dtypes import TileTypeError
from intent_provider_cutile.emulate.tile import Tile

BEFORE, AFTER = "__carries_before__", "__carries_after__"


class _Instrumented(ast.NodeTransformer):
    """Remembers the variables before each loop, and compares them at the end of each pass."""

    def __init__(self) -> None:
        self._count = 0

    def visit_For(self, node: ast.For) -> Any:
        return self._loop(node)

    def visit_While(self, node: ast.While) -> Any:
        return self._loop(node)

    def _loop(self, node: ast.For | ast.While) -> list[ast.stmt]:
        self.generic_visit(node)
        self._count += 1
        seen = f"__seen_{self._count}__"
        before = ast.parse(f"{seen} = {BEFORE}(locals())").body[0]
        after = ast.parse(f"{AFTER}({seen}, locals(), {node.lineno})").body[0]
        node.body.append(after)
        for made in (before, after):
            ast.copy_location(made, node)
            ast.fix_missing_locations(made)
        return [before, node]


def instrumented(text: str, name: str) -> Any:
    """The text's code with the checks in its loops."""
    tree = ast.parse(text, name)
    return compile(ast.fix_missing_locations(_Instrumented().visit(tree)), name, "exec", dont_inherit=True)


def before(names: Mapping[str, Any]) -> dict[str, tuple[object, ...]]:
    """Type and shape of every variable."""
    return {name: _kind(value) for name, value in names.items()}


def after(seen: Mapping[str, tuple[object, ...]], names: Mapping[str, Any], line: int) -> None:
    """Raises TileTypeError where a variable of before the loop has another type or shape now."""
    for name, kind in seen.items():
        if not name.startswith("__") and _kind(names[name]) != kind:
            raise TileTypeError(f"line {line}: the loop turns '{name}' from {kind} into {_kind(names[name])}")


def _kind(value: Any) -> tuple[object, ...]:
    return (value.dtype.name, value.shape) if isinstance(value, Tile) else (type(value).__name__,)
