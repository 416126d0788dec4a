"""``and``, ``or`` and conditional expressions (language decision 14).

What is on the right runs only if it is needed. Where it is harmless to compute it always (no read of memory, nothing
that can be invalid), it is computed and combined pointwise; otherwise it stands in the branch of an If.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TypeGuard

from intent.frontend.branches import choose
from intent.frontend.emission import Mark
from intent.frontend.lowering import Lowering
from intent.frontend.values import FrontValue, Literal, Tensor
from intent.kir import (
    Bitcast,
    Broadcast,
    Cast,
    Constant,
    ExtentValue,
    Iota,
    Join,
    Op,
    Pointwise,
    Reshape,
    Transpose,
)

_HARMLESS = (Constant, ExtentValue, Iota, Broadcast, Reshape, Transpose, Bitcast, Join)
_PARTIAL = ("floordiv", "mod", "shl", "shr")


def lower_boolean(lowering: Lowering, node: ast.expr) -> FrontValue:
    """``a and b and ...``, ``a or b or ...``."""
    assert isinstance(node, ast.BoolOp)
    return _chain(lowering, node.values, "and" if isinstance(node.op, ast.And) else "or")


def _chain(lowering: Lowering, nodes: Sequence[ast.expr], word: str) -> FrontValue:
    first = lowering.test(nodes[0], word)
    if len(nodes) == 1:
        return Literal(value=first) if isinstance(first, bool) else first
    if isinstance(first, bool):
        return Literal(value=first) if first == (word == "or") else _chain(lowering, nodes[1:], word)
    builder, mark = lowering.builder, lowering.builder.mark()
    rest = _chain(lowering, nodes[1:], word)
    if harmless(lowering, mark):
        if isinstance(rest, Literal):
            return first if rest.value == (word == "and") else rest
        return builder.pointwise(word, first, rest)
    builder.undo(mark)
    known = Literal(value=word == "or")
    needed: Callable[[], FrontValue] = lambda: _chain(lowering, nodes[1:], word)  # noqa: E731
    if word == "and":
        return choose(lowering, first, needed, lambda: known, name=word)
    return choose(lowering, first, lambda: known, needed, name=word)


def lower_choice(lowering: Lowering, node: ast.expr) -> FrontValue:
    """``a if condition else b``; a bool tensor selects element by element, and then both sides are computed."""
    assert isinstance(node, ast.IfExp)
    test = lowering.expression(node.test)
    if isinstance(test, Tensor) and test.shape and test.dtype.kind == "bool":
        sides = lowering.expression(node.body), lowering.expression(node.orelse)
        return lowering.builder.pointwise("select", test, *sides, what="if")
    condition = lowering.condition(test, "if")
    if isinstance(condition, bool):
        return lowering.expression(node.body if condition else node.orelse)
    builder, mark = lowering.builder, lowering.builder.mark()
    then, otherwise = lowering.expression(node.body), lowering.expression(node.orelse)
    scalars = all(
        isinstance(v, Literal) or (isinstance(v, Tensor) and not v.shape) for v in (then, otherwise)
    )
    if _open(then) and _open(otherwise):
        return builder.pointwise("select", condition, then, otherwise, what="if")
    if scalars and harmless(lowering, mark):
        return builder.pointwise("select", condition, then, otherwise, what="if")
    builder.undo(mark)
    return choose(
        lowering,
        condition,
        lambda: lowering.expression(node.body),
        lambda: lowering.expression(node.orelse),
        name="if",
    )


def _open(value: FrontValue) -> TypeGuard[Literal | Tensor]:
    """Whether a side is a number, or a choice between numbers, whose dtype its context may give."""
    if isinstance(value, Literal):
        return not isinstance(value.value, bool)
    return isinstance(value, Tensor) and not value.shape and value.again is not None


def harmless(lowering: Lowering, mark: Mark) -> bool:
    """Whether everything emitted in the innermost region since ``mark`` may be computed needlessly."""
    return all(_total(op, lowering.builder.defs) for op in lowering.builder.since(mark))


def _total(op: Op, defs: Mapping[int, Op]) -> bool:
    """Whether an operation is pure and has a result for all operands."""
    if isinstance(op, Pointwise) and op.fn in _PARTIAL:
        divisor = defs.get(op.operands[1].id)
        if isinstance(divisor, Broadcast):
            divisor = defs.get(divisor.value.id)
        if not isinstance(divisor, Constant):
            return False
        return (
            bool(divisor.value) if op.fn in ("floordiv", "mod") else 0 <= divisor.value < op.result.dtype.bits
        )
    if isinstance(op, Cast):
        return not (op.value.dtype.is_float and op.result.dtype.is_integer)
    return isinstance(op, (*_HARMLESS, Pointwise))
