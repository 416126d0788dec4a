"""Contractions: paired axes stay inside the instance; free and batch coordinates come from outside."""

from __future__ import annotations

from intent import kir
from intent import physical as ph
from intent.construct.accumulate import keep_sum
from intent.construct.context import Context, rule
from intent.construct.frame import Frame
from intent.construct.point import Point, members_of
from intent.construct.pointwise import cast_fragment
from intent.construct.reduce import mask_dead
from intent.construct.traversal import carry, close_loop, walk_axes

At = tuple[Point, ...]


@rule(kir.Contract)
def contract(c: Context, op: kir.Contract, index: int, at: At, frame: Frame) -> Point:
    """A loop over blocks of the paired axes with one accumulator, or a single product when they are resident."""
    left, right = free_coordinates(op.lhs, op.rhs, op, at)
    axes = [
        (k, c.analysis.classes.label((op.lhs.id, k)), op.lhs.shape[k], c.traversal((op.lhs.id, k), at))
        for k, _ in op.reduce
    ]
    # The summed lanes stand between the left and the right free lanes, as a matrix product has them.
    right_only = {d for p in right.values() for d in p.fragment.dims} - {
        d for p in left.values() for d in p.fragment.dims
    }
    walk = walk_axes(c, axes, at, frame, before=right_only, parts=True)
    for lk, rk in op.reduce:
        left[lk] = right[rk] = walk.points[lk]
    lhs = c.evaluate(op.lhs, tuple(left[k] for k in range(op.lhs.rank)), frame)
    rhs = c.evaluate(op.rhs, tuple(right[k] for k in range(op.rhs.rank)), frame)
    zero_l = c.emitter.constant(0.0 if op.lhs.dtype.is_float else 0, op.lhs.dtype)
    a = mask_dead(c, lhs.fragment, walk.members, zero_l)
    b = mask_dead(c, rhs.fragment, walk.members, zero_l)
    summed = walk.lanes
    dims = tuple(d for d in c.emitter.union((a, b)) if d not in summed)
    members = members_of(at)
    name = op.result.name
    if not walk.loops:
        return Point(_product(c, op, a, b, None, dims, summed), members)
    args = [carry(c, loop, op.result.dtype, dims, name) for loop in walk.loops]
    value = _product(c, op, a, b, args[-1], dims, summed)
    for depth in range(len(walk.loops) - 1, -1, -1):
        if depth:
            init = args[depth - 1]
        else:
            nothing = c.emitter.constant(0.0 if op.result.dtype.is_float else 0, op.result.dtype)
            init = c.emitter.broadcast(nothing, dims)
        (value,) = close_loop(c, walk.loops[depth], (init,), (value,))
    if walk.part:
        keep_sum(c, value)
    return Point(value, members)


def free_coordinates(
    lhs: kir.Value, rhs: kir.Value, op: kir.Contract | kir.SparseContract, at: At
) -> tuple[dict[int, Point], dict[int, Point]]:
    """The coordinates of a result's axes on both sides, by axis; the summed axes are still missing."""
    summed = {k for k, _ in op.reduce}
    left = dict(zip((k for k in range(lhs.rank) if k not in summed), at, strict=False))
    right = {rk: left[lk] for lk, rk in op.batch}
    used = {rk for _, rk in (*op.reduce, *op.batch)}
    right |= dict(zip((k for k in range(rhs.rank) if k not in used), at[len(left) :], strict=True))
    return left, right


def _product(
    c: Context,
    op: kir.Contract,
    a: ph.Fragment,
    b: ph.Fragment,
    acc: ph.Fragment | None,
    dims: tuple[ph.Dim, ...],
    summed: tuple[ph.Dim, ...],
) -> ph.Fragment:
    if not summed:
        term = c.emitter.pointwise("mul", cast_fragment(c, a, op.result), cast_fragment(c, b, op.result))
        return term if acc is None else c.emitter.pointwise("add", acc, c.emitter.broadcast(term, dims))
    # A summed lane that one side does not vary over still counts once per member.
    a, b = (c.emitter.broadcast(x, summed) for x in (a, b))
    return c.emitter.emit(
        ph.Contract,
        ((op.result.dtype, dims),),
        lhs=a,
        rhs=b,
        accumulator=acc,
        dims=summed,
        name=op.result.name,
    )[0]
