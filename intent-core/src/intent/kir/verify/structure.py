"""Rules of SSA form: identities, definitions before uses, and what nested regions may see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from intent.kir.control import For, If, While
from intent.kir.kernel import Kernel
from intent.kir.ops import Op, RegionFold, RegionScan
from intent.kir.value import Region, Value
from intent.kir.verify.rule import Problem, kernel_rule
from intent.kir.walk import operands_of, regions_of, resources_of, walk
from intent.types import Extent
from intent.types.dtypes import INDEX
from intent.types.extent import Dyn

_OPEN = (For, If, While)
"""Control sees the enclosing scope; combine, summarize, apply and emit regions see only their arguments."""


@kernel_rule
def unique_ids(kernel: Kernel) -> Iterator[Problem]:
    """Every value, operation and region is defined once."""
    seen: set[tuple[str, int]] = set()

    def fresh(kind: str, number: int, op: Op | None) -> Iterator[Problem]:
        if (kind, number) in seen:
            yield Problem(f"{kind} {number} is defined twice", op)
        seen.add((kind, number))

    def region(body: Region, owner: Op | None) -> Iterator[Problem]:
        yield from fresh("region", body.id, owner)
        for value in body.args:
            yield from fresh("value", value.id, owner)
        for op in body.ops:
            yield from fresh("operation", op.id, op)
            for value in op.results:
                yield from fresh("value", value.id, op)
            for inner in regions_of(op):
                yield from region(inner, op)

    yield from region(kernel.body, None)


@kernel_rule
def dominance(kernel: Kernel) -> Iterator[Problem]:
    """Every value is defined before its uses, in a scope that the use can see."""
    yield from _dominance(kernel.body, {}, None)


def _dominance(region: Region, outer: dict[int, Value], owner: Op | None) -> Iterator[Problem]:
    known = outer | {value.id: value for value in region.args}
    for op in region.ops:
        for value in operands_of(op):
            if value.id not in known:
                yield Problem(f"%{value.id} is used before it is defined", op)
        for inner in regions_of(op):
            yield from _dominance(inner, known if isinstance(op, _OPEN) else {}, op)
        known.update((value.id, value) for value in op.results)
    for value in region.yields:
        if value.id not in known:
            yield Problem(f"%{value.id} is yielded by region {region.id}, which does not see it", owner)


@kernel_rule
def value_types_agree(kernel: Kernel) -> Iterator[Problem]:
    """A use of a value carries the dtype and shape of its definition."""
    defined: dict[int, Value] = {}
    used: list[tuple[Value, Op | None]] = []

    def region(body: Region, owner: Op | None) -> None:
        defined.update((value.id, value) for value in body.args)
        for op in body.ops:
            defined.update((value.id, value) for value in op.results)
            used.extend((value, op) for value in operands_of(op))
            for inner in regions_of(op):
                region(inner, op)
        used.extend((value, owner) for value in body.yields)

    region(kernel.body, None)
    for value, op in used:
        if defined[value.id] != value:
            yield Problem(
                f"%{value.id} is used as {_type(value)} and defined as {_type(defined[value.id])}", op
            )


@kernel_rule
def dyn_atoms(kernel: Kernel) -> Iterator[Problem]:
    """A Dyn atom of an extent is an index scalar defined before, or the slice extent around it."""
    yield from _dyn_atoms(kernel.body, {}, set(), None)


def _dyn_atoms(
    region: Region, outer: dict[int, Value], slices: set[int], owner: Op | None
) -> Iterator[Problem]:
    known = dict(outer)
    for value in region.args:
        yield from _undefined(value.shape, known, slices, owner)
        known[value.id] = value
    for op in region.ops:
        yield from _undefined(_extents_of(op), known, slices, op)
        atom = _slice_atom(op) if isinstance(op, RegionFold | RegionScan) else None
        inside = slices if atom is None else slices | {atom}
        for inner in regions_of(op):
            yield from _dyn_atoms(inner, known, inside, op)
        known.update((value.id, value) for value in op.results)


def _undefined(
    extents: Iterable[Extent], known: dict[int, Value], slices: set[int], op: Op | None
) -> Iterator[Problem]:
    for extent in extents:
        for atom in extent.atoms():
            if not isinstance(atom, Dyn) or atom.value in slices:
                continue
            value = known.get(atom.value)
            if value is None:
                yield Problem(f"extent {extent} depends on %{atom.value}, which is not defined before", op)
            elif value.dtype != INDEX or value.shape:
                yield Problem(f"extent {extent} depends on %{atom.value}, which is not an index scalar", op)


def _extents_of(op: Op) -> Iterator[Extent]:
    for value in op.results:
        yield from value.shape
    for resource in resources_of(op):
        yield from resource.shape
    extent = getattr(op, "extent", None)
    if isinstance(extent, Extent):
        yield extent


def _slice_atom(op: RegionFold | RegionScan) -> int | None:
    atoms = list(op.slice_extent.atoms())
    return atoms[0].value if len(atoms) == 1 and isinstance(atoms[0], Dyn) else None


@kernel_rule
def slice_extents_fresh(kernel: Kernel) -> Iterator[Problem]:
    """A slice extent is one Dyn atom that no value of the kernel defines (spec: logical-program 5)."""
    values = {v.id for op in walk(kernel.body) for v in op.results} | {v.id for v in kernel.body.args}
    seen: set[int] = set()
    for op in walk(kernel.body):
        if not isinstance(op, RegionFold | RegionScan):
            continue
        atom = _slice_atom(op)
        if atom is None:
            yield Problem(f"the slice extent {op.slice_extent} is not one fresh identity", op)
        elif atom in values or atom in seen:
            yield Problem(f"the slice extent %{atom} is also something else", op)
        else:
            seen.add(atom)


def _type(value: Value) -> str:
    return f"{value.dtype}[{', '.join(map(str, value.shape))}]"
