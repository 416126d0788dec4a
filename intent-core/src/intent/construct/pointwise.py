"""Evaluation of values without memory: constants, coordinates, pointwise functions and shape changes.

Every shape change is coordinate arithmetic: a value is evaluated where it is wanted.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from functools import reduce

from intent import kir
from intent import physical as ph
from intent.construct.context import Context, local_ordinal, rule
from intent.construct.frame import Frame
from intent.construct.point import Point, bounded, members_of, representable
from intent.construct.shapes import reshape_groups
from intent.proof import Claim, Fact, either, equal
from intent.types import DType, Extent
from intent.types.extent import const

At = tuple[Point, ...]


def _name(op: kir.Op, index: int) -> str:
    return op.results[index].name


@rule(kir.Constant)
def constant(c: Context, op: kir.Constant, index: int, at: At, frame: Frame) -> Point:
    """A literal."""
    fragment = c.emitter.constant(op.value, op.result.dtype)
    if op.result.dtype.is_integer:
        return Point(fragment, low=const(int(op.value)), high=const(int(op.value)))
    return Point(fragment)


@rule(kir.ExtentValue)
def extent_value(c: Context, op: kir.ExtentValue, index: int, at: At, frame: Frame) -> Point:
    """An extent as a number."""
    return c.extent(op.extent, frame)


@rule(kir.Iota)
def iota(c: Context, op: kir.Iota, index: int, at: At, frame: Frame) -> Point:
    """Begin + step * ordinal; the ordinal itself when the region starts at 0 with step 1."""
    (ordinal,) = at
    return affine(c, op.begin, op.step, ordinal, frame, _name(op, index))


def affine(
    c: Context, begin: kir.Value, step: kir.Value, ordinal: Point, frame: Frame, name: str = ""
) -> Point:
    """The coordinate of the ordinal-th member of a domain."""
    first, stride = c.scalar(begin, frame), c.scalar(step, frame)
    scaled = ordinal if stride.known is const(1) else pointwise_point(c, "mul", (ordinal, stride))
    if first.known is const(0):
        return scaled
    return pointwise_point(c, "add", (first, scaled), name=name)


def pointwise_point(c: Context, fn: str, points: At, *, name: str = "") -> Point:
    """A pointwise function of indices, with members and bounds."""
    members = members_of(points)
    result = c.emitter.pointwise(fn, *(p.fragment for p in points), name=name)
    return bounded(fn, result, members, points, c.facts)


@rule(kir.Pointwise)
def pointwise(c: Context, op: kir.Pointwise, index: int, at: At, frame: Frame) -> Point:
    """The function of the operands at the same coordinates."""
    points = tuple(c.evaluate(v, at, frame) for v in op.operands)
    if op.fn in ("floordiv", "mod"):
        points = (points[0], _guarded(c, points[1]))
    members = members_of(points)
    fragment = c.emitter.emit(
        ph.Pointwise,
        ((op.result.dtype, c.emitter.union(p.fragment for p in points)),),
        fn=op.fn,
        operands=tuple(p.fragment for p in points),
        approximate=op.approximate,
        flush_to_zero=op.flush_to_zero,
        name=_name(op, index),
    )[0]
    if op.result.dtype.is_integer:
        return bounded(op.fn, fragment, members, points, c.facts)
    return Point(fragment, members)


def _guarded(c: Context, divisor: Point) -> Point:
    """A divisor as the number to which a guard of the plan fixes it: its bounds say the same as before."""
    e = divisor.known
    if e is None or e.const is not None:
        return divisor
    bound = next((g.bound for g in c.assumed if g.kind == "equal" and g.extent == e), 0)
    known = bound > 0 and c.is_exactly(e, bound)
    return replace(divisor, fragment=c.emitter.index(bound)) if known else divisor


@rule(kir.Cast)
def cast(c: Context, op: kir.Cast, index: int, at: At, frame: Frame) -> Point:
    """Numeric conversion; bounds that the result's dtype can represent are kept, and a narrow operand has its own."""
    point = c.evaluate(op.value, at, frame)
    fragment = cast_fragment(c, point.fragment, op.result, _name(op, index))
    if not op.result.dtype.is_integer:
        return Point(fragment, point.members)
    low, high = _bounds_before_cast(point, op.value.dtype)
    c.facts.noted.clear()
    if not representable(op.result.dtype, low, high, c.facts):
        return Point(fragment, point.members)
    return Point(fragment, point.members, low, high, point.rests | c.facts.noted)


def _bounds_before_cast(point: Point, dtype: DType) -> tuple[Extent | None, Extent | None]:
    """The operand's bounds; where it has none, those of a dtype so narrow that they tell something of an index."""
    if dtype.kind == "bool":
        return const(0), const(1)
    if not dtype.is_integer or dtype.bits > 32:
        return point.low, point.high
    told = dtype.bits <= 16
    low = const(dtype.minimum) if point.low is None and (told or dtype.minimum == 0) else point.low
    return low, const(dtype.maximum) if point.high is None and told else point.high


def cast_fragment(c: Context, value: ph.Fragment, like: kir.Value, name: str = "") -> ph.Fragment:
    """``value`` as the dtype of ``like``; a masked read stays zero on dead lanes."""
    if value.dtype is like.dtype:
        return value
    made = c.emitter.emit(ph.Cast, ((like.dtype, value.dims),), value=value, name=name)[0]
    if value.id in c.load_masks:
        c.load_masks[made.id] = c.load_masks[value.id]
    return made


@rule(kir.Bitcast)
def bitcast(c: Context, op: kir.Bitcast, index: int, at: At, frame: Frame) -> Point:
    """The same bits."""
    point = c.evaluate(op.value, at, frame)
    made = c.emitter.emit(
        ph.Bitcast, ((op.result.dtype, point.fragment.dims),), value=point.fragment, name=_name(op, index)
    )[0]
    return Point(made, point.members)


@rule(kir.Broadcast)
def broadcast(c: Context, op: kir.Broadcast, index: int, at: At, frame: Frame) -> Point:
    """Coordinates of the operand's own axes; 0 where its extent is 1."""
    inner = tuple(
        _broadcast_coordinate(c, at[a], op.value.shape[k], op.result.shape[a], frame)
        for k, a in enumerate(op.axes)
    )
    return c.evaluate(op.value, inner, frame)


def _broadcast_coordinate(c: Context, point: Point, own: Extent, wanted: Extent, frame: Frame) -> Point:
    """The operand's coordinate: 0 where its extent is 1. What says that it is inside is named."""
    if own is wanted:
        return point
    zero = c.emitter.index(0)
    if own.const == 1:
        return Point(zero, low=const(0), high=const(0))
    if own.const is not None:
        return point
    if c.definitions.same(own, wanted):
        return _bounded_by(c, point.fragment, point, own, equal(own, wanted))
    is_one = c.emitter.compare("eq", c.extent(own, frame).fragment, c.emitter.index(1))
    chosen = c.emitter.pointwise("select", is_one, zero, point.fragment)
    return _bounded_by(c, chosen, point, own, either(equal(own, 1), equal(own, wanted)))


def _bounded_by(c: Context, fragment: ph.Fragment, point: Point, extent: Extent, claim: Claim) -> Point:
    """A coordinate that is inside ``extent`` if the claim holds; without a high bound if it is not shown."""
    rests = c.facts.follows(claim)
    if rests is None:
        return Point(fragment, point.members, const(0), None)
    return Point(fragment, point.members, const(0), extent - 1, rests)


@rule(kir.Transpose)
def transpose(c: Context, op: kir.Transpose, index: int, at: At, frame: Frame) -> Point:
    """Permuted coordinates."""
    inner: list[Point | None] = [None] * len(at)
    for k, a in enumerate(op.permutation):
        inner[a] = at[k]
    return c.evaluate(op.value, tuple(p for p in inner if p is not None), frame)


@rule(kir.Join)
def join(c: Context, op: kir.Join, index: int, at: At, frame: Frame) -> Point:
    """Lhs at trailing coordinate 0, rhs at 1."""
    *rest, side = at
    definition = c.emitter.definition.get(side.fragment.id)
    if isinstance(definition, ph.Constant):
        return c.evaluate(op.rhs if definition.value else op.lhs, tuple(rest), frame)
    lhs, rhs = c.evaluate(op.lhs, tuple(rest), frame), c.evaluate(op.rhs, tuple(rest), frame)
    first = c.emitter.compare("eq", side.fragment, c.emitter.index(0))
    made = c.emitter.pointwise("select", first, lhs.fragment, rhs.fragment, name=_name(op, index))
    return Point(made, members_of((lhs, rhs, side)))


@rule(kir.Reshape)
def reshape(c: Context, op: kir.Reshape, index: int, at: At, frame: Frame) -> Point:
    """Row-major re-addressing, group by group of axes with equal element counts."""
    inner: list[Point] = []
    for old, new in reshape_groups(op.value.shape, op.result.shape):
        extents = [op.value.shape[k] for k in old]
        inner += _readdress(c, [at[k] for k in new], [op.result.shape[k] for k in new], extents, frame)
    return c.evaluate(op.value, tuple(inner), frame)


def _readdress(
    c: Context, at: list[Point], shape: list[Extent], wanted: list[Extent], frame: Frame
) -> list[Point]:
    at = [p for p, e in zip(at, shape, strict=True) if e.const != 1]
    shape = [e for e in shape if e.const != 1]
    zero = Point(c.emitter.index(0), low=const(0), high=const(0))
    kept = [e for e in wanted if e.const != 1]
    if kept == shape:
        points = iter(at)
        return [zero if e.const == 1 else next(points) for e in wanted]
    at = [_count_from_slice(c, p, e) for p, e in zip(at, shape, strict=True)]
    linear = zero
    for point, e in zip(at, shape, strict=True):
        if linear is zero:
            linear = point
        else:
            size = c.extent(e, frame)
            linear = pointwise_point(c, "add", (pointwise_point(c, "mul", (linear, size)), point))
    total, asked = (reduce(operator.mul, extents, const(1)) for extents in (shape, wanted))
    linear = Point(linear.fragment, members_of(at))
    # As many elements on both sides: by their expressions, or by a condition of the launch.
    rests = c.facts.follows(equal(total, asked))
    return [
        _count_from_source(c, p, e)
        for p, e in zip(_decode(c, linear, wanted, rests, frame), wanted, strict=True)
    ]


def _count_from_slice(c: Context, point: Point, e: Extent) -> Point:
    """Coordinates of a slice's axis are the source's; a linear position counts from the slice's first member."""
    current = c.slices.get(e)
    if current is None:
        return point
    return Point(local_ordinal(c, current, point.fragment), point.members, const(0), e - 1)


def _count_from_source(c: Context, point: Point, e: Extent) -> Point:
    """The reverse."""
    current = c.slices.get(e)
    if current is None:
        return point
    return Point(
        c.emitter.pointwise("add", current.start, point.fragment), point.members, const(0), current.extent - 1
    )


def _decode(
    c: Context, linear: Point, wanted: list[Extent], rests: frozenset[Fact] | None, frame: Frame
) -> list[Point]:
    """The digits of a linear position. The first is bounded if the counts agree (``rests``), the others always."""
    result: list[Point] = []
    rest, members = linear.fragment, linear.members
    facts = frozenset[Fact]() if rests is None else rests
    for k, e in enumerate(wanted):
        if e.const == 1:
            result.append(Point(c.emitter.index(0), members, const(0), const(0)))
            continue
        first = all(other.const == 1 for other in wanted[:k])
        high = None if first and rests is None else e - 1
        inner = reduce(operator.mul, wanted[k + 1 :], const(1))
        if inner.const == 1:
            result.append(Point(rest, members, const(0), high, facts))
            continue
        size = c.extent(inner, frame).fragment
        digit = c.emitter.pointwise("floordiv", rest, size)
        result.append(Point(digit, members, const(0), high, facts))
        rest = c.emitter.pointwise("mod", rest, size)
    return result
