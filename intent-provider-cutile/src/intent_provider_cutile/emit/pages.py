"""Reads of pages: what a table says where rows stand that lie together in blocks of a fixed size.

    k[table[b, t // S], t % S, g, :]     with t = base + lane, S known, and base a multiple of S, or of all lanes

Lanes ``i * S`` to ``i * S + S - 1`` share a page. Its number is read once (:class:`Stepped`): what lanes read from
memory cannot be made anew where an address is needed, and the compiler sends 64 bits for every element through shared
memory instead. The rows are then a few slices of their array (:class:`Pages`). A lane that does not exist may stand in
a page that does; where no value of such a lane goes anywhere, nothing is done about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from intent.physical import (
    Atomic,
    Broadcast,
    Cast,
    Contract,
    Dim,
    Fragment,
    Load,
    Op,
    Pointwise,
    Program,
    Reduce,
    Region,
    Store,
    View,
)
from intent.physical.walk import operands_of, regions_of, walk
from intent_provider_cutile.emit.ahead import moved_ahead
from intent_provider_cutile.emit.lanes import LEAST, Lanes

MOST = 16
"""Pages whose numbers are read one by one."""


@dataclass(frozen=True, kw_only=True)
class Pages:
    """A read of pages, whole or in part, along lanes of ``dim``: ``size`` lanes a page, ``steps`` the pages' own dim.

    ``page`` is the coordinate along ``axis`` that numbers pages, ``inner`` the axis inside of them. ``tests``: the
    conditions that must hold. ``lanes``: those of them that may hold for the first lanes of a page only, where somebody
    reads the others. ``scalars``: what the numbers of pages are computed from. ``home``: the region of the read.
    """

    dim: Dim
    steps: Dim
    size: int
    page: Fragment
    axis: int
    inner: int
    tests: tuple[Fragment, ...]
    lanes: tuple[Fragment, ...]
    scalars: tuple[Fragment, ...]
    home: int


@dataclass(frozen=True, kw_only=True)
class Stepped:
    """A read of which ``size`` lanes of ``dim`` at a time share an element.

    ``lanes``: conditions that may hold for the first of them only. ``scalars``: what else it is computed from.
    """

    dim: Dim
    size: int
    lanes: tuple[Fragment, ...]
    scalars: tuple[Fragment, ...]


class PageFinder:
    """Finds the reads of whole pages of a program."""

    def __init__(
        self, program: Program, defined: Mapping[int, Op], divides: Callable[[int, Fragment], bool]
    ) -> None:
        self.lanes = Lanes(defined=defined, divides=divides, ahead=moved_ahead(program))
        self._users: dict[int, list[Op | None]] = {}
        self._home: dict[int, int] = {}
        self._writing: set[int] = set()
        for segment in program.segments:
            self._note(segment.body)

    def _note(self, region: Region) -> None:
        if any(isinstance(op, Atomic | Store) for op in walk(region)):
            self._writing.add(id(region))
        for op in region.ops:
            self._home[op.id] = id(region)
            for f in operands_of(op):
                self._users.setdefault(f.id, []).append(op)
            for inner in regions_of(op):
                self._note(inner)
        for f in region.yields:
            self._users.setdefault(f.id, []).append(None)

    def _together(self, op: Load, values: Iterable[Fragment]) -> bool:
        """Whether nothing is written between an access and the reads of what it is computed from."""
        home = self._home[op.id]
        reads = [load for f in values for load in self.lanes.loads(f)]
        return not reads or (home not in self._writing and all(self._home[load.id] == home for load in reads))

    def stepped(self, op: Load) -> Stepped | None:
        """How a read shares elements among lanes, or None where it does not."""
        if len(op.result.dims) != 1 or not op.result.dtype.is_integer:
            return None
        (dim,) = op.result.dims
        size = self.lanes.group(op.result, dim)
        if size < LEAST or dim.size > size * MOST or not self._together(op, operands_of(op)):
            return None
        scalars = {f.id: f for f in self.lanes.scalars(op.result, dim)}
        return Stepped(
            dim=dim, size=size, lanes=tuple(self.lanes.uneven(op, dim, size)), scalars=tuple(scalars.values())
        )

    def of(self, op: Op) -> Pages | None:
        """The pages of a read, or None where it has none."""
        if (
            not isinstance(op, Load)
            or not isinstance(op.source, View)
            or op.id in self.lanes.ahead
            or not self.lanes.zero(op)
        ):
            return None
        for inner, coordinate in enumerate(op.coordinates):
            found = self._places(coordinate)
            if found is None:
                continue
            dim, size = found
            axes = [k for k, c in enumerate(op.coordinates) if c.dims]
            at = axes.index(inner)
            pages = op.coordinates[axes[at - 1]] if at else None
            if pages is None or pages.dims != (dim,) or self.lanes.group(pages, dim) % size:
                return None
            rest = [op.coordinates[k] for k in axes if k not in (inner, axes[at - 1])]
            lanes = [self.lanes.lane(c) for c in rest]
            if (
                None in lanes
                or len({dim, *lanes}) != len(op.result.dims)
                or len(lanes) + 1 != len(op.result.dims)
            ):
                return None
            return self._made(op, dim, size, axes[at - 1], inner)
        return None

    def _made(self, op: Load, dim: Dim, size: int, axis: int, inner: int) -> Pages | None:
        tests = tuple(self.lanes.conjuncts(op.valid)) if op.valid is not None else ()
        uneven = [t for t in tests if dim in t.dims and self.lanes.group(t, dim) % size]
        if any(t.dims not in ((), (dim,)) for t in tests) or not all(self.lanes.ends(t, dim) for t in uneven):
            return None
        page = op.coordinates[axis]
        needed = {
            t.id
            for f in (page, *tests)
            for load in self.lanes.loads(f)
            for t in self.lanes.uneven(load, dim, size)
        }
        if needed - {t.id for t in uneven}:
            return None
        if not self._together(op, (page, *tests)):
            return None
        steps = Dim(name=f"{dim.name}_pages", size=dim.size // size)
        roots = (page, op.coordinates[inner], *tests)
        scalars = tuple({f.id: f for root in roots for f in self.lanes.scalars(root, dim)}.values())
        told = not uneven or self._unread(op.result, dim, {t.id for t in uneven})
        return Pages(
            dim=dim, steps=steps, size=size, page=page, axis=axis, inner=inner, tests=tests,
            lanes=() if told else tuple(uneven), scalars=scalars, home=self._home[op.id],
        )  # fmt: skip

    def _places(self, coordinate: Fragment) -> tuple[Dim, int] | None:
        """The dim whose lanes are places within pages by the coordinate, and how many of them share a page."""
        op = self.lanes.origin(coordinate)
        if not isinstance(op, Pointwise) or op.fn != "mod" or op.operands[1].dims:
            return None
        return self.lanes.aligned(op.operands[0], self.lanes.constant(op.operands[1]))

    def _unread(self, value: Fragment, dim: Dim, tests: set[int]) -> bool:
        """Whether nobody asks for the value's lanes where one of the conditions does not hold."""
        for op in self._users.get(value.id, []):
            if isinstance(op, Pointwise) and op.fn == "select":
                known = {t.id for t in self.lanes.conjuncts(op.operands[0])}
                if op.operands[1].id == value.id and tests <= known and value.id not in (
                    op.operands[0].id, op.operands[2].id
                ):  # fmt: skip
                    continue
            summed = op.dims if isinstance(op, Contract | Reduce) else ()
            lanewise = isinstance(op, Pointwise | Cast | Broadcast | Contract | Reduce) and dim not in summed
            if op is None or not lanewise or any(True for _ in regions_of(op)):
                return False
            if not all(self._unread(r, dim, tests) for r in op.results):
                return False
        return True


def pages_of(
    program: Program, defined: Mapping[int, Op], divides: Callable[[int, Fragment], bool]
) -> tuple[dict[int, Pages], dict[int, Stepped]]:
    """All reads of whole pages, and of what says where these are, by the Python identity of their operations.

    tileiras 13.4 has no slices at several places where an atomic that releases must wait for them.
    """
    finder = PageFinder(program, defined, divides)
    ops = [op for segment in program.segments for op in walk(segment.body)]
    reads = [op for op in ops if isinstance(op, Load)]
    stepped = {id(op): found for op in reads if (found := finder.stepped(op)) is not None}
    if any(isinstance(op, Atomic) and op.order in ("release", "acq_rel") for op in ops):
        return {}, stepped
    return {id(op): pages for op in reads if (pages := finder.of(op)) is not None}, stepped
