"""Microscaled contractions: small exact numbers with a power of two per group (spec: logical-program 6).

The elements of one group meet in a product of f16 numbers, which hold them exactly; that product is multiplied by
the power of two that both scales of the group make. Multiplying the scales into the elements instead would overflow
where the product does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from intent import kir
from intent import physical as ph
from intent.construct.accumulate import accumulate
from intent.construct.context import Context, rule
from intent.construct.formats import FORMATS, Small, element_axis
from intent.construct.frame import Frame
from intent.construct.plan import Inner, serial
from intent.construct.point import Point, members_of
from intent.construct.reduce import mask_dead
from intent.construct.traversal import Walk, walk_axes
from intent.types import DType
from intent.types.dtypes import F16, F32, F64, U8, U16, U32, U64
from intent.types.extent import const

At = tuple[Point, ...]


_F16_SIGNIFICAND: Final = 10
_F16_BIAS: Final = 15
_F32_SIGNIFICAND: Final = 23
_F64_SIGNIFICAND: Final = 52


@rule(kir.ScaledContract)
def scaled_contract(c: Context, op: kir.ScaledContract, index: int, at: At, frame: Frame) -> Point:
    """A loop over groups."""
    row, column = at
    e = c.emitter
    label = c.analysis.classes.label((op.lhs.id, 1))
    walk = walk_axes(c, [(0, label, op.lhs.shape[1], serial())], at, frame)
    work = F64 if op.result.dtype is F64 else F32
    part = _group(c, op, (row, walk.points[0], column), work, frame)
    step = lambda acc: part if acc is None else e.pointwise("add", acc, part)  # noqa: E731
    total = accumulate(c, walk.loops, e.constant(0.0, work), step, part.dims, op.result.name)
    return Point(cast_to(c, total, op.result.dtype), members_of(at))


def _group(c: Context, op: kir.ScaledContract, at: At, work: DType, frame: Frame) -> ph.Fragment:
    """What one group contributes at (row, group, column)."""
    row, group, column = at
    e = c.emitter
    inner = c.traversal(element_axis(op))
    if inner.mode == "resident" and inner.size < op.lhs_group:
        inner = Inner(mode="serial", size=inner.size)
    label = c.analysis.classes.label(element_axis(op))
    right = set(column.fragment.dims) - set(row.fragment.dims)
    walk = walk_axes(c, [(0, label, const(op.lhs_group), inner)], at, frame, before=right)
    element = walk.points[0]
    lhs = _element(
        c, op.lhs_format, op.lhs, 2, lambda item: c.evaluate(op.lhs, (row, group, item), frame), element
    )
    rhs = _element(
        c, op.rhs_format, op.rhs, 1, lambda item: c.evaluate(op.rhs, (group, item, column), frame), element
    )
    zero = e.constant(0.0, F16)
    sides = mask_dead(c, lhs, walk.members, zero), mask_dead(c, rhs, walk.members, zero)
    part = _sum_of_products(c, walk, sides, work)
    scales = (c.evaluate(op.lhs_scale, (row, group), frame), c.evaluate(op.rhs_scale, (column, group), frame))
    return _scale(c, part, tuple(s.fragment for s in scales), work)


def _sum_of_products(
    c: Context, walk: Walk, sides: tuple[ph.Fragment, ph.Fragment], dtype: DType
) -> ph.Fragment:
    e = c.emitter
    dims = tuple(d for d in e.union(sides) if d not in walk.lanes)

    def step(acc: ph.Fragment | None) -> ph.Fragment:
        wide = tuple(cast_to(c, x, dtype) for x in sides)
        if not walk.lanes:
            term = e.pointwise("mul", *wide)
            return term if acc is None else e.pointwise("add", acc, term)
        a, b = (e.broadcast(x, walk.lanes) for x in (wide if dtype is F64 else sides))
        return e.emit(ph.Contract, ((dtype, dims),), lhs=a, rhs=b, accumulator=acc, dims=walk.lanes)[0]

    return accumulate(c, walk.loops, e.constant(0.0, dtype), step, dims)


# -- formats -------------------------------------------------------------------------------------------------------


def _element(
    c: Context, form: str, value: kir.Value, axis: int, read: Callable[[Point], Point], element: Point
) -> ph.Fragment:
    """One element in f16. The item's extent is its format's by a launch condition."""
    e = c.emitter
    small = FORMATS[form]
    last = value.shape[axis] - 1
    if small.per_item == 1:
        item = read(Point(element.fragment, element.members, const(0), last)).fragment
        if item.dtype is not U8:
            return cast_to(c, item, F16)
        return _decode(c, small, cast_to(c, item, U16))
    count = e.index(small.per_item)
    place = e.pointwise("floordiv", element.fragment, count)
    item = read(Point(place, element.members, const(0), last)).fragment
    shift = e.pointwise("mul", e.pointwise("mod", element.fragment, count), e.index(small.bits))
    # The first element of an item stands in its low bits.
    bits = e.pointwise("shr", cast_to(c, item, U16), cast_to(c, shift, U16))
    return _decode(c, small, bits)


def _decode(c: Context, small: Small, bits: ph.Fragment) -> ph.Fragment:
    """Sign, exponent and significand moved to their places in f16, times the difference of the biases.

    A subnormal element is a subnormal f16 first, so the product puts it right like every other.
    """
    e = c.emitter
    magnitude = e.pointwise("and", bits, e.constant((1 << (small.bits - 1)) - 1, U16))
    sign = e.pointwise("and", bits, e.constant(1 << (small.bits - 1), U16))
    moved = e.pointwise("shl", magnitude, e.constant(_F16_SIGNIFICAND - small.significand, U16))
    signed = e.pointwise("or", moved, e.pointwise("shl", sign, e.constant(16 - small.bits, U16)))
    number = e.pointwise("mul", _bits_as(c, signed, F16), e.constant(2.0 ** (_F16_BIAS - small.bias), F16))
    if not small.has_nan:
        return number
    nan = e.compare("eq", magnitude, e.constant((1 << (small.bits - 1)) - 1, U16))
    return e.pointwise("select", nan, e.constant(float("nan"), F16), number)


def _scale(c: Context, part: ph.Fragment, exponents: tuple[ph.Fragment, ...], work: DType) -> ph.Fragment:
    """``part * 2**(a - 127) * 2**(b - 127)`` for the e8m0 exponents a and b; 255 is NaN."""
    e = c.emitter
    carrier = U64 if work is F64 else U32
    a, b = (cast_to(c, x, carrier) for x in exponents)
    total = e.pointwise("add", a, b)
    if work is F64:
        field = e.pointwise("add", total, e.constant(1023 - 254, carrier))
        factors = [_bits_as(c, e.pointwise("shl", field, e.constant(_F64_SIGNIFICAND, carrier)), F64)]
    else:
        # In two halves, each a normal f32 with its biased exponent. Below 2 the result rounds to zero anyway.
        total = e.pointwise("maximum", total, e.constant(2, carrier))
        half = e.pointwise("shr", total, e.constant(1, carrier))
        shift = e.constant(_F32_SIGNIFICAND, carrier)
        factors = [
            _bits_as(c, e.pointwise("shl", x, shift), F32) for x in (half, e.pointwise("sub", total, half))
        ]
    for factor in factors:
        part = e.pointwise("mul", part, factor)
    unknown = e.constant(255, carrier)
    broken = e.pointwise("or", e.compare("eq", a, unknown), e.compare("eq", b, unknown))
    return e.pointwise("select", broken, e.constant(float("nan"), work), part)


def cast_to(c: Context, value: ph.Fragment, dtype: DType) -> ph.Fragment:
    """The value converted, if it is not of that dtype already."""
    if value.dtype is dtype:
        return value
    return c.emitter.emit(ph.Cast, ((dtype, value.dims),), value=value)[0]


def _bits_as(c: Context, value: ph.Fragment, dtype: DType) -> ph.Fragment:
    return c.emitter.emit(ph.Bitcast, ((dtype, value.dims),), value=value)[0]
