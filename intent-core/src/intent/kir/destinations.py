"""What a store writes, as claims: its elements are distinct, and points of a parallel loop write elements of their own.

spec: logical-program 3 and 9. Coordinates are read back as expressions over the parallel points, the ordered loops
inside them and the positions along the store's own axes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from intent.kir.control import For, If, While
from intent.kir.coordinates import names_along, position, read_back
from intent.kir.effects import BufferAlloc, Store
from intent.kir.kernel import Kernel
from intent.kir.ops import Iota, Load, Op
from intent.kir.value import DomainID, Region, Relation, Resource, Value, View
from intent.kir.walk import regions_of, walk
from intent.proof import Axis, Distinct, Fact, at_least
from intent.types import Extent
from intent.types.extent import Atom, Dyn, const, dyn, scalar

__all__ = ["Destination", "between_points", "within_store"]


@dataclass(frozen=True, kw_only=True)
class Destination:
    """A store inside parallel loops, and the claim that no two points write one element.

    ``sure``: every point executes the store, on all its elements.
    """

    store: Store
    claim: Distinct
    sure: bool


def within_store(
    defs: Mapping[int, Op],
    scalars: Iterable[Value],
    resource: Resource,
    relation: Relation,
    shape: tuple[Extent, ...],
) -> Distinct:
    """The claim that the elements of one execution of a store are distinct. ``scalars``: the kernel's parameters."""
    coordinates, known = _coordinates(defs, resource, relation)
    parameters = _parameters(scalars)
    coordinates = tuple(c.substitute(parameters) for c in coordinates)
    axes = _positions(defs, relation, shape)
    partial = len(coordinates) < resource.rank
    return Distinct(coordinates=coordinates, axes=axes, apart=axes, shape=known, partial=partial)


def between_points(kernel: Kernel) -> Iterator[Destination]:
    """Every store inside parallel loops whose coordinates say something, in program order."""
    defs: dict[int, Op] = {v.id: op for op in walk(kernel.body) for v in op.results}
    ragged = {d.id for d in kernel.domains if d.parent is not None}
    parameters = _parameters(kernel.body.args)
    for path, sure, store in _stores(kernel.body, _Path(), sure=True):
        if path.loops and store.target.name not in path.buffers:
            yield _destination(defs, parameters, ragged, path, store, sure=sure)


@dataclass(frozen=True)
class _Path:
    """The outermost parallel loop around a store and the loops inside it."""

    loops: tuple[For, ...] = ()
    inside: frozenset[int] = field(default_factory=frozenset)
    buffers: frozenset[str] = field(default_factory=frozenset)

    def into(self, op: For) -> _Path:
        if not self.loops and not op.parallel:
            return self
        if self.loops:
            return _Path((*self.loops, op), self.inside, self.buffers)
        ops = (op, *walk(op.body))
        arguments = {a.id for o in ops for r in regions_of(o) for a in r.args}
        inside = arguments | {v.id for o in ops for v in o.results}
        buffers = {o.buffer.name for o in ops if isinstance(o, BufferAlloc)}
        return _Path((op,), frozenset(inside), frozenset(buffers))


def _stores(region: Region, path: _Path, *, sure: bool) -> Iterator[tuple[_Path, bool, Store]]:
    for op in region.ops:
        match op:
            case Store():
                yield path, sure and op.valid is None, op
            case For():
                yield from _stores(op.body, path.into(op), sure=sure)
            case If() | While():
                for inner in regions_of(op):
                    yield from _stores(inner, path, sure=False)


def _destination(
    defs: Mapping[int, Op],
    parameters: Mapping[Atom, Extent],
    ragged: set[DomainID],
    path: _Path,
    store: Store,
    *,
    sure: bool,
) -> Destination:
    shape = store.value.shape
    coordinates, known = _coordinates(defs, store.target, store.relation)
    coordinates = tuple(c.substitute(parameters) for c in coordinates)
    loops = [_loop_axis(defs, op) for op in path.loops]
    loops = [(_replaced(axis, parameters), op) for axis, op in loops]
    axes = (
        *(axis for axis, _ in loops),
        *_positions(defs, store.relation, tuple(_normal(defs, e) for e in shape)),
    )
    steps = {axis.atom: axis.shown for axis, _ in loops if axis.shown is not None}
    own = {axis.atom for axis in axes}
    varying = {Dyn(v) for v in path.inside} - own
    domains = {atom: d for atom, d in _domains(defs, path, store.relation) if d in ragged}
    rows = _rows(defs, domains, axes, coordinates)
    implied = tuple((e, fact) for e, fact in rows if not any(a in varying for a in e.atoms()))
    parallel = tuple(axis for (axis, _), op in zip(loops, path.loops, strict=True) if op.parallel)
    claim = Distinct(
        coordinates=tuple(c.substitute(steps) for c in coordinates),
        axes=axes,
        apart=parallel,
        shape=known,
        varying=frozenset(a for c in coordinates for a in c.atoms() if a in varying),
        implied=implied,
        partial=len(coordinates) < store.target.rank,
    )
    return Destination(store=store, claim=claim, sure=sure)


def _coordinates(
    defs: Mapping[int, Op], resource: Resource, relation: Relation
) -> tuple[tuple[Extent, ...], tuple[Extent, ...]]:
    """The coordinates that have an expression, and the extents of their axes."""
    found = [
        (expression, extent)
        for value, axes, extent in zip(relation.coordinates, relation.axes, resource.shape, strict=True)
        if (expression := read_back(defs, value, axes)) is not None
    ]
    return tuple(e for e, _ in found), tuple(e for _, e in found)


def _positions(defs: Mapping[int, Op], relation: Relation, shape: tuple[Extent, ...]) -> tuple[Axis, ...]:
    """The store's own axes, named after the index that runs along them."""
    names: dict[int, str] = {}
    for value, axes in zip(relation.coordinates, relation.axes, strict=True):
        for axis, name in names_along(defs, value, axes):
            names.setdefault(axis, name)
    return tuple(
        Axis(atom=position(k), name=names.get(k, f"position {k}"), low=const(0), high=extent - 1, own=True)
        for k, extent in enumerate(shape)
    )


def _loop_axis(defs: Mapping[int, Op], op: For) -> tuple[Axis, For]:
    """The positions of a loop: its points themselves where the step is 1, else their numbers."""
    point = op.body.args[0]
    atom, name = Dyn(point.id), point.name or f"point {point.id}"
    begin, end, step = (_normal(defs, _scalar(defs, v)) for v in (op.begin, op.end, op.step))
    if step.const == 1:
        return Axis(atom=atom, name=name, low=begin, high=end - 1), op
    count = -((begin - end) // step)
    return Axis(atom=atom, name=name, low=const(0), high=count - 1, shown=begin + step * dyn(point.id)), op


def _normal(defs: Mapping[int, Op], e: Extent) -> Extent:
    """The extent with run-time values read back as coordinates are."""
    found = {a: v for a in e.atoms() if isinstance(a, Dyn) and a.value in defs for v in defs[a.value].results}
    return e.substitute({a: _scalar(defs, v) for a, v in found.items() if v.id == a.value})


def _parameters(scalars: Iterable[Value]) -> dict[Atom, Extent]:
    """Integer scalar parameters by the name under which a launch knows them."""
    return {Dyn(v.id): scalar(v.name) for v in scalars if v.dtype.is_integer}


def _replaced(axis: Axis, values: Mapping[Atom, Extent]) -> Axis:
    shown = None if axis.shown is None else axis.shown.substitute(values)
    return replace(axis, low=axis.low.substitute(values), high=axis.high.substitute(values), shown=shown)


def _scalar(defs: Mapping[int, Op], value: Value) -> Extent:
    found = read_back(defs, value, ())
    return dyn(value.id) if found is None else found


# -- rows of a ragged relation


def _rows(
    defs: Mapping[int, Op],
    domains: Mapping[Atom, DomainID],
    axes: tuple[Axis, ...],
    coordinates: tuple[Extent, ...],
) -> Iterator[tuple[Extent, Fact]]:
    """What a coordinate inside ``[offsets[g], offsets[g + 1])`` tells: g, since the offsets are in order.

    They are where every such range is a subregion, which ends after it begins (spec: logical-program 1); ``domains``
    are the subregions that axes run over.
    """
    for coordinate in coordinates:
        for axis in axes:
            if axis.atom not in domains:
                continue
            value = Extent((((axis.atom,), 1),))
            begin, end = coordinate - value + axis.low, coordinate - value + axis.high + 1
            one, other = _offset(defs, begin), _offset(defs, end)
            if one is None or other is None or one[0] != other[0] or (other[1] - one[1]).const != 1:
                continue
            because = f"the offsets '{one[0]}' are in order: a subregion ends after it begins"
            yield one[1], Fact(claim=at_least(end, begin), because=because)


def _domains(defs: Mapping[int, Op], path: _Path, relation: Relation) -> Iterator[tuple[Atom, DomainID]]:
    """The domain that an axis runs over."""
    for loop in path.loops:
        yield Dyn(loop.body.args[0].id), loop.domain
    for value, axes in zip(relation.coordinates, relation.axes, strict=True):
        op = defs.get(value.id)
        if isinstance(op, Iota):
            yield position(axes[0]), op.domain


def _offset(defs: Mapping[int, Op], e: Extent) -> tuple[str, Extent] | None:
    """The In view and the coordinate that an expression is a read of."""
    atoms = list(e.atoms())
    if len(atoms) != 1 or e != Extent((((atoms[0],), 1),)) or not isinstance(atoms[0], Dyn):
        return None
    op = defs.get(atoms[0].value)
    if (
        not isinstance(op, Load)
        or not isinstance(op.source, View)
        or op.source.mutable
        or op.source.rank != 1
    ):
        return None
    (coordinate,) = op.relation.coordinates
    place = read_back(defs, coordinate, ()) if not coordinate.shape else None
    return None if place is None or op.valid is not None else (op.source.name, place)
