"""Coordinates read back, through their SSA definitions, as integer expressions (spec: logical-program 1.1).

Each axis along which a coordinate varies is an unknown of the expression. What has no expression over the unknowns is
None; what is a scalar of another kind is an atom of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from intent.kir.ops import Broadcast, Cast, Constant, ExtentValue, Iota, Op, Pointwise, Reshape, Transpose
from intent.kir.value import Value
from intent.proof.digits import quotient, remainder
from intent.types import DType, Extent
from intent.types.extent import Dyn, const, dyn, maximum, minimum

__all__ = ["names_along", "position", "read_back"]

_UNKNOWN_BASE = -1
"""Unknown of axis k is ``Dyn(-1 - k)``: no SSA value has a negative id."""


def position(axis: int) -> Dyn:
    """The unknown that stands for the position along a relation axis."""
    return Dyn(_UNKNOWN_BASE - axis)


def read_back(defs: Mapping[int, Op], value: Value, axes: tuple[int | None, ...]) -> Extent | None:
    """``value`` as an expression over the unknowns of ``axes``, or None when it has no such form.

    ``axes`` names the relation axis of each axis of the value; None stands for position 0.
    """
    op = defs.get(value.id)
    if isinstance(op, Iota):
        begin, step = read_back(defs, op.begin, ()), read_back(defs, op.step, ())
        if begin is None or step is None:
            return None
        return begin if axes[0] is None else begin + step * dyn(_UNKNOWN_BASE - axes[0])
    if isinstance(op, Broadcast):
        inner: list[int | None] = []
        for extent, axis in zip(op.value.shape, op.axes, strict=True):
            if extent is not value.shape[axis] and extent.const != 1:
                return None
            inner.append(axes[axis] if extent is value.shape[axis] else None)
        return read_back(defs, op.value, tuple(inner))
    if isinstance(op, Transpose):
        inverse: list[int | None] = [None] * len(axes)
        for k, a in enumerate(op.permutation):
            inverse[a] = axes[k]
        return read_back(defs, op.value, tuple(inverse))
    if isinstance(op, Reshape) and op.value.rank == 1 and value.rank == 1:
        return read_back(defs, op.value, axes)
    if isinstance(op, Cast) and _exact(value.dtype) and _exact(op.value.dtype):
        return read_back(defs, op.value, axes)
    if isinstance(op, Pointwise) and _exact(value.dtype):
        return _pointwise(op, [read_back(defs, o, axes) for o in op.operands])
    if value.shape:
        return None
    return _scalar(op, value)


def names_along(
    defs: Mapping[int, Op], value: Value, axes: tuple[int | None, ...]
) -> Iterator[tuple[int, str]]:
    """The author's names of the indices that run along each axis of a coordinate."""
    op = defs.get(value.id)
    if len(axes) == 1 and axes[0] is not None and value.name:
        yield axes[0], value.name
    match op:
        case Broadcast():
            yield from names_along(defs, op.value, tuple(axes[a] for a in op.axes))
        case Transpose():
            inner = tuple(axes[op.permutation.index(a)] for a in range(len(axes)))
            yield from names_along(defs, op.value, inner)
        case Pointwise():
            for operand in op.operands:
                yield from names_along(defs, operand, axes if operand.shape else ())
        case Cast():
            yield from names_along(defs, op.value, axes)


def _exact(dtype: DType) -> bool:
    """Whether arithmetic in the dtype is that of integers, as far as coordinates reach: narrow ones wrap."""
    return dtype.is_integer and dtype.bits >= 32


def _scalar(op: Op | None, value: Value) -> Extent:
    if isinstance(op, Constant) and isinstance(op.value, int):
        return const(op.value)
    if isinstance(op, ExtentValue):
        return op.extent
    return dyn(value.id)


def _pointwise(op: Pointwise, operands: Iterable[Extent | None]) -> Extent | None:
    parts = [o for o in operands if o is not None]
    if len(parts) != len(op.operands):
        return dyn(op.result.id) if not op.result.shape else None
    match op.fn:
        case "add":
            return parts[0] + parts[1]
        case "sub":
            return parts[0] - parts[1]
        case "mul":
            return parts[0] * parts[1]
        case "neg":
            return -parts[0]
        case "floordiv":
            return quotient(parts[0], parts[1])
        case "mod":
            return remainder(parts[0], parts[1])
        case "minimum":
            return minimum(parts[0], parts[1])
        case "maximum":
            return maximum(parts[0], parts[1])
        case _:
            return dyn(op.result.id) if not op.result.shape else None
