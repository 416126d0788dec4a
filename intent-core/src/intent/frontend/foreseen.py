"""What a branch asks of numbers that are known before the launch, so that its conditions wait for it."""

from __future__ import annotations

from typing import Final, Literal

from intent.frontend.leaves import Leaves
from intent.frontend.values import Tensor
from intent.kir import Cast, Constant, ExtentValue, Op, Pointwise, Value
from intent.kir.value import BranchTest
from intent.types import Extent
from intent.types.dtypes import BOOL, INDEX
from intent.types.extent import const, scalar

_SIGNS: Final[dict[str, tuple[Literal["eq", "ne", "lt", "ge"], bool]]] = {
    "eq": ("eq", False), "ne": ("ne", False), "lt": ("lt", False), "ge": ("ge", False), "gt": ("lt", True),
    "le": ("ge", True),
}  # fmt: skip
"""A comparison as a test, and whether its sides change places."""


def sides_of(builder: Leaves, condition: Tensor) -> tuple[BranchTest | None, BranchTest | None]:
    """The tests of the two branches of an ``if``; None where only the kernel knows."""
    test = _test(builder, condition.value)
    return (test, test.negated) if test is not None else (None, None)


def _test(builder: Leaves, value: Value) -> BranchTest | None:
    op = builder.defs.get(value.id)
    if op is None:
        name = builder.parameters.get(value.id)
        return (
            BranchTest(kind="ne", lhs=scalar(name), rhs=const(0))
            if name is not None and value.dtype is BOOL
            else None
        )
    if not isinstance(op, Pointwise):
        return None
    if op.fn == "not":
        inner = _test(builder, op.operands[0])
        return None if inner is None else inner.negated
    if op.fn not in _SIGNS or not (op.operands[0].dtype.is_integer or op.operands[0].dtype is INDEX):
        return None
    kind, turned = _SIGNS[op.fn]
    lhs, rhs = (_number(builder, v) for v in (reversed(op.operands) if turned else op.operands))
    return None if lhs is None or rhs is None else BranchTest(kind=kind, lhs=lhs, rhs=rhs)


def _number(builder: Leaves, value: Value) -> Extent | None:
    """A scalar integer as an expression of launch-visible numbers, where none of its steps can wrap."""
    if value.shape:
        return None
    op: Op | None = builder.defs.get(value.id)
    if op is None:
        name = builder.parameters.get(value.id)
        return scalar(name) if name is not None and value.dtype.is_integer else None
    match op:
        case Constant(value=int() as number) if not isinstance(number, bool):
            return const(number)
        case ExtentValue(extent=extent) if extent.launch_visible:
            return extent
        case Cast(value=inner) if value.dtype is INDEX and inner.dtype.is_integer:
            return _number(builder, inner)
        case Pointwise(fn="add" | "sub" | "mul", operands=operands) if value.dtype is INDEX:
            sides = [_number(builder, v) for v in operands]
            return _combined(op.fn, *sides)
    return None


def _combined(fn: str, a: Extent | None, b: Extent | None) -> Extent | None:
    if a is None or b is None:
        return None
    return {"add": a + b, "sub": a - b, "mul": a * b}[fn]
