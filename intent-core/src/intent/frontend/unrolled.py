"""Loops over tuples: a tuple has different values at each position, so the body is lowered once for each."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from intent.frontend.loop_bodies import live_head
from intent.frontend.lowering import Lowering
from intent.frontend.targets import bind_target
from intent.frontend.values import FrontValue, Tuple
from intent.frontend.whiles import any_flag


def lower_unrolled(lowering: Lowering, stmt: ast.For, source: Tuple, until: Sequence[str]) -> None:
    """A tuple has different values at each position: the body is lowered once for each."""
    for item in source.items:
        bind: ast.stmt = Bind(stmt.target, item)
        ast.copy_location(bind, stmt)
        body: list[ast.stmt] = [bind, *stmt.body]
        if until:
            negated = ast.copy_location(ast.UnaryOp(op=ast.Not(), operand=any_flag(until, stmt)), stmt)
            guard = ast.copy_location(ast.If(test=negated, body=body, orelse=[]), stmt)
            guard.live_after = live_head(stmt) | stmt.live_after  # type: ignore[attr-defined]
            body = [guard]
        lowering.block(body)


class Bind(ast.stmt):
    """Binds a loop's target to one item of a tuple."""

    _fields = ()

    def __init__(self, target: ast.expr, value: FrontValue) -> None:
        super().__init__()
        self.target = target
        self.value = value


def lower_bind(lowering: Lowering, stmt: ast.stmt) -> None:
    """One item of an unrolled loop."""
    assert isinstance(stmt, Bind)
    bind_target(lowering, stmt.target, stmt.value)
