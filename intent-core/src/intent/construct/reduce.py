"""Reductions: the reduced axes stay inside the instance, in lanes or ordered loops (spec: kir-to-gpu-program 7)."""

from __future__ import annotations

from intent import kir
from intent import physical as ph
from intent.construct.context import Context, rule
from intent.construct.frame import Frame, constant_binding
from intent.construct.point import Point
from intent.construct.pointwise import pointwise_point
from intent.construct.traversal import Walk, carry, close_loop, walk_axes
from intent.types import DType
from intent.types.dtypes import INDEX

At = tuple[Point, ...]

COMBINE = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum", "any": "or", "all": "and"}


def identity_of(kind: str, dtype: DType) -> bool | int | float:
    """The identity of a builtin reduction."""
    if kind in ("sum", "prod"):
        value = 0 if kind == "sum" else 1
        return float(value) if dtype.is_float else value
    if kind in ("any", "all"):
        return kind == "all"
    highest = kind in ("min", "argmin")
    if dtype.name == "f8e4m3fn":
        return 448.0 if highest else -448.0
    if dtype.is_float:
        return float("inf") if highest else float("-inf")
    if dtype.kind == "bool":
        return highest
    return dtype.maximum if highest else dtype.minimum


@rule(kir.Reduce)
def reduce(c: Context, op: kir.Reduce, index: int, at: At, frame: Frame) -> Point:
    """All components at once; the asked one is returned, the others are remembered."""
    key = ("reduce", op.id, tuple(p.key for p in at))
    found = frame.memo.get(key)
    if found is None or not all(c.emitter.alive(p.fragment) for p in found):
        found = frame.memo[key] = _reduce(c, op, at, frame)
    return found[index]


def _reduce(c: Context, op: kir.Reduce, at: At, frame: Frame) -> tuple[Point, ...]:
    source = op.operands[0]
    free = [k for k in range(source.rank) if k not in op.axes]
    axes = [(k, c.analysis.classes.label((source.id, k)), source.shape[k], c.traversal((source.id, k))) for k in sorted(op.axes)]
    walk = walk_axes(c, axes, c.used_dims(at, frame), frame)
    where = {**dict(zip(free, at, strict=True)), **walk.points}
    inner = tuple(where[k] for k in range(source.rank))
    elements = [c.evaluate(v, inner, frame) for v in op.operands]
    if op.kind in ("argmax", "argmin"):
        elements.append(_position(c, op, walk, frame))
    identities = _identities(c, op, at, frame)
    live = [mask_dead(c, e.fragment, walk.members, i) for e, i in zip(elements, identities, strict=True)]
    members = frozenset(m for p in at for m in p.members)
    results = _accumulate(c, op, walk, live, identities, frame)
    return tuple(Point(r, members) for r in results)


def _position(c: Context, op: kir.Reduce, walk: Walk, frame: Frame) -> Point:
    """Row-major position in the reduced axes."""
    source = op.operands[0]
    linear: Point | None = None
    for k in sorted(op.axes):
        if linear is None:
            linear = walk.points[k]
        else:
            scaled = pointwise_point(c, "mul", (linear, c.extent(source.shape[k], frame)))
            linear = pointwise_point(c, "add", (scaled, walk.points[k]))
    assert linear is not None
    return linear


def _identities(c: Context, op: kir.Reduce, at: At, frame: Frame) -> list[ph.Fragment]:
    if op.kind is None:
        return [(c.scalar(v, frame) if v.rank == 0 else c.evaluate(v, at, frame)).fragment for v in op.identity]
    dtype = op.operands[0].dtype
    found = [c.emitter.constant(identity_of(op.kind, dtype), dtype)]
    if op.kind in ("argmax", "argmin"):
        found.append(c.emitter.index(INDEX.maximum))
    return found


def mask_dead(c: Context, value: ph.Fragment, members: frozenset[ph.Fragment], identity: ph.Fragment) -> ph.Fragment:
    """Padding lanes carry the identity, never a computed value."""
    definition = c.emitter.definition.get(identity.id)
    neutral = isinstance(definition, ph.Constant) and definition.value == 0
    needed = members - c.load_masks.get(value.id, frozenset()) if neutral else members
    test = c.emitter.conjunction(needed)
    if test is None:
        return value
    return c.emitter.pointwise("select", test, value, identity, name=value.name)


def _accumulate(c: Context, op: kir.Reduce, walk: Walk, live: list[ph.Fragment], identities: list[ph.Fragment], frame: Frame) -> tuple[ph.Fragment, ...]:
    lanes = walk.lanes
    live = [c.emitter.broadcast(v, lanes) for v in live]
    if len(live) > 1:
        everywhere = c.emitter.union(live)
        live = [c.emitter.broadcast(v, everywhere) for v in live]
    simple = op.kind is not None and not op.kind.startswith("arg")
    if not walk.loops:
        return _reduce_lanes(c, op, live, identities, lanes, frame)
    if simple:
        # Each lane accumulates on its own; lanes meet once, after the loops.
        totals = _through_loops(c, op, walk, live, identities, frame)
        return _reduce_lanes(c, op, list(totals), identities, lanes, frame)
    partial = _reduce_lanes(c, op, live, identities, lanes, frame)
    return _through_loops(c, op, walk, list(partial), identities, frame)


def _through_loops(c: Context, op: kir.Reduce, walk: Walk, parts: list[ph.Fragment], identities: list[ph.Fragment], frame: Frame) -> tuple[ph.Fragment, ...]:
    names = [r.name for r in op.results]
    args = [
        [carry(c, loop, p.dtype, p.dims, n) for p, n in zip(parts, names, strict=True)] for loop in walk.loops
    ]
    values = combine(c, op, tuple(args[-1]), tuple(parts), frame)
    values = tuple(c.emitter.broadcast(v, p.dims) for v, p in zip(values, parts, strict=True))
    for depth in range(len(walk.loops) - 1, -1, -1):
        loop = walk.loops[depth]
        if depth:
            inits = tuple(args[depth - 1])
        else:
            inits = tuple(c.emitter.broadcast(i, p.dims) for i, p in zip(identities, parts, strict=True))
        values = close_loop(c, loop, inits, values)
    return values


def combine(c: Context, op: kir.Reduce, left: tuple[ph.Fragment, ...], right: tuple[ph.Fragment, ...], frame: Frame) -> tuple[ph.Fragment, ...]:
    """One application of the combine, lane by lane."""
    if op.kind in ("argmax", "argmin"):
        return _combine_positions(c, op.kind, left, right)
    if op.kind is not None:
        return (c.emitter.pointwise(COMBINE[op.kind], left[0], right[0]),)
    assert op.combine is not None
    captures = tuple(c.scalar(v, frame) for v in op.captures)
    points = (*map(Point, left), *map(Point, right), *captures)
    return tuple(p.fragment for p in inline(c, op.combine, points, frame))


def inline(c: Context, region: kir.Region, args: tuple[Point, ...], frame: Frame) -> tuple[Point, ...]:
    """A region of scalars with its arguments replaced by fragments."""
    inner = Frame(region.id, frame, active=frame.active, lanes=frame.lanes, least=frame.least)
    for arg, point in zip(region.args, args, strict=True):
        inner.bindings[arg.id] = constant_binding(point)
    return tuple(c.scalar(v, inner) for v in region.yields)


def _combine_positions(c: Context, kind: str, left: tuple[ph.Fragment, ...], right: tuple[ph.Fragment, ...]) -> tuple[ph.Fragment, ...]:
    """The better of two (value, position) pairs: NaN wins, then the extreme value, then the lower position."""
    (a, i), (b, j) = left, right
    e = c.emitter
    better = e.compare("gt" if kind == "argmax" else "lt", a, b)
    equal = e.compare("eq", a, b)
    if a.dtype.is_float:
        a_nan, b_nan = e.compare("ne", a, a), e.compare("ne", b, b)
        better = e.pointwise("or", better, e.pointwise("and", a_nan, e.pointwise("not", b_nan)))
        equal = e.pointwise("or", equal, e.pointwise("and", a_nan, b_nan))
    first = e.compare("lt", i, j)
    take = e.pointwise("or", better, e.pointwise("and", equal, first))
    return e.pointwise("select", take, a, b), e.pointwise("select", take, i, j)


def _reduce_lanes(c: Context, op: kir.Reduce, live: list[ph.Fragment], identities: list[ph.Fragment], lanes: tuple[ph.Dim, ...], frame: Frame) -> tuple[ph.Fragment, ...]:
    if not lanes:
        return tuple(live)
    dims = tuple(d for d in live[0].dims if d not in lanes)
    types = tuple((v.dtype, dims) for v in live)
    payload: dict[str, object] = {"operands": tuple(live), "dims": lanes, "kind": op.kind}
    if op.kind is None:
        payload |= _generic_payload(c, op, identities, frame)
    results = c.emitter.emit(ph.Reduce, types, name=op.results[0].name, **payload)
    return results


def _generic_payload(c: Context, op: kir.Reduce, identities: list[ph.Fragment], frame: Frame) -> dict[str, object]:
    captures = tuple(c.scalar(v, frame).fragment for v in op.captures)
    region = combine_region(c, op, [v.dtype for v in op.operands], [f.dtype for f in captures], frame)
    return {"identity": tuple(identities), "captures": captures, "combine": region}


def combine_region(c: Context, op: kir.Reduce, components: list[DType], captures: list[DType], frame: Frame) -> ph.Region:
    """The combine as a physical region of scalars: (acc..., element..., captures...) -> components."""
    assert op.combine is not None
    key = ("combine", op.id)
    known = c.regions.get(key)
    if known is not None:
        return known
    with c.emitter.nested(isolated=True) as scope:
        args = tuple(c.emitter.fragment(t, (), scope) for t in (*components, *components, *captures))
        yields = inline(c, op.combine, tuple(map(Point, args)), frame)
    made = ph.Region(args=args, ops=tuple(scope.ops), yields=tuple(p.fragment for p in yields))
    c.regions[key] = made
    return made

