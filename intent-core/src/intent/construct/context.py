"""The state of constructing one segment, and demand-driven evaluation of KIR values at coordinates."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from intent import kir
from intent import physical as ph
from intent.construct.alias import alias_class, by_atomics
from intent.construct.analysis import Analysis
from intent.construct.emission import DimOrder, Emitter, Scope
from intent.construct.facts import Facts
from intent.construct.frame import Frame
from intent.construct.parts import Share
from intent.construct.plan import Form, GroupPlan, Inner, usually_native
from intent.construct.point import Point, members_of
from intent.construct.predicates import Predicates
from intent.diagnostics import NotSupportedYet, PlanError
from intent.physical.ops import ANY_ORDER
from intent.types import Extent, Span
from intent.types.dtypes import INDEX
from intent.types.extent import Dyn, const

Rule = Callable[["Context", Any, int, tuple[Point, ...], Frame], Point]
RULES: dict[type[kir.Op], Rule] = {}


def rule(kind: type[kir.Op]) -> Callable[[Rule], Rule]:
    """Register how results of an operation kind are evaluated at coordinates."""

    def register(function: Rule) -> Rule:
        RULES[kind] = function
        return function

    return register


@dataclass(frozen=True)
class Slice:
    """The current block of a folded source axis: ``block`` members from ordinal ``start``; the author's fold."""

    label: str
    extent: Extent
    block: int
    start: ph.Fragment
    span: Span


@dataclass(frozen=True)
class Place:
    """Where an access is: the lanes it runs over, and the ids of its coordinates."""

    dims: frozenset[ph.Dim]
    coordinates: tuple[int, ...]

    @classmethod
    def of(cls, dims: Iterable[ph.Dim], coordinates: Iterable[ph.Fragment]) -> Place:
        """The place of an access."""
        return cls(frozenset(dims), tuple(f.id for f in coordinates))


@dataclass(frozen=True)
class Reader:
    """A read since the last fence; ``only``: the one write that uses what was read, if there is just one use."""

    at: Place
    only: int | None


def local_ordinal(c: Context, current: Slice, ordinal: ph.Fragment) -> ph.Fragment:
    """An ordinal of the source axis counted from the beginning of the current slice."""
    definition = c.emitter.definition.get(ordinal.id)
    if (
        isinstance(definition, ph.Pointwise)
        and definition.fn == "add"
        and definition.operands[0].id == current.start.id
    ):
        return definition.operands[1]
    return c.emitter.pointwise("sub", ordinal, current.start)


class Context:
    """Everything the evaluation rules share while one segment is built."""

    def __init__(
        self,
        analysis: Analysis,
        plan: GroupPlan,
        views: dict[str, ph.View],
        order: DimOrder,
        facts: Facts,
        assumed: tuple[ph.Guard, ...],
        first_id: int,
        forced: frozenset[tuple[int, int]] = frozenset(),
        copied: frozenset[int] = frozenset(),
    ) -> None:
        self.forced, self.copied = forced, copied
        """Axes (value id, axis) that a held value must have whole; stores that are made through a buffer."""
        self.analysis = analysis
        self.definitions = analysis.definitions
        self.plan = plan
        self.views = views
        self.emitter = Emitter(order, first_id)
        self.facts = facts
        self.predicates = Predicates(self.emitter)
        self.assumed = set(assumed)
        self.guards: set[ph.Guard] = set()
        self.load_masks: dict[int, frozenset[ph.Fragment]] = {}
        self.versions: dict[str, int] = {}
        self.dirty: set[str] = set()
        self.readers: dict[str, set[Reader]] = {}
        self.buffers: dict[int, tuple[ph.Buffer, tuple[Point, ...]]] = {}
        self.regions: dict[object, ph.Region] = {}
        self.workspace: list[ph.Buffer] = []
        self.slices: dict[Extent, Slice] = {}
        self.share: Share | None = None
        """The axis that this instance shares with others."""
        self.states: dict[tuple[int, int], list[tuple[ph.Fragment, tuple[Point, ...], frozenset[int]]]] = {}
        self.holds: dict[object, tuple[Scope, tuple[Any, ...]]] = {}
        self.hold_scopes: dict[int, Scope] = {}
        self.holding = self.emitter.root
        self.depends: dict[int, frozenset[Scope]] = {}
        self.by_class: dict[str, ph.Resource] = {}
        self.fenced_in: dict[str, Scope] = {}
        """Where the last fence of an alias class stands: values placed outside of that scope need another."""
        self.allocated: dict[str, Scope] = {}
        """Where the buffers of alias classes live: outside of it nothing of them is left to order."""
        for view in analysis.kernel.views:
            self.by_class.setdefault(alias_class(view), views[view.name])

    # -- evaluation ---------------------------------------------------------------------------------------------

    def evaluate(self, value: kir.Value, at: tuple[Point, ...], frame: Frame) -> Point:
        """``value`` at one point per axis, in the frame that owns it."""
        assert len(at) == value.rank, value
        owner = frame.owner(self.definitions.region[value.id])
        binding = owner.bindings.get(value.id)
        if binding is not None:
            return binding(at)
        op = self.definitions.op[value.id]
        index = op.results.index(value)
        key = (op.id, index, tuple(p.key for p in at))
        found = owner.memo.get(key)
        if found is not None and self.emitter.alive(found[0].fragment):
            return found[0]
        handler = RULES.get(type(op))
        if handler is None:
            raise NotSupportedYet(construct=type(op).__name__, span=op.span)
        span, origin = self.emitter.span, self.emitter.origin
        self.emitter.span, self.emitter.origin = op.span, op.id
        try:
            point = handler(self, op, index, at, owner)
        finally:
            self.emitter.span, self.emitter.origin = span, origin
        owner.memo[key] = (point,)
        return point

    def scalar(self, value: kir.Value, frame: Frame) -> Point:
        """A rank-zero value."""
        return self.evaluate(value, (), frame)

    def uniform(self, value: kir.Value, frame: Frame) -> Point:
        """A rank-zero value that must not differ between lanes."""
        point = self.scalar(value, frame)
        if not point.fragment.uniform:
            op = self.definitions.op.get(value.id)
            raise PlanError(
                f"a loop bound or branch differs between the lanes {', '.join(map(str, point.fragment.dims))}; "
                "its parallel axis needs block 1",
                span=op.span if op else None,
            )
        return point

    # -- extents -------------------------------------------------------------------------------------------------

    def launch_value(self, e: Extent) -> ph.Fragment:
        """The value of an extent expression that the launch decides."""
        if e.const is not None:
            return self.emitter.index(e.const)
        return self.emitter.emit(ph.LaunchValue, ((INDEX, ()),), extent=e, name="")[0]

    def extent(self, e: Extent, frame: Frame) -> Point:
        """The value of an extent expression."""
        if e.launch_visible:
            return Point(self.launch_value(e), low=e, high=e)
        total: ph.Fragment | None = None
        members: frozenset[ph.Fragment] = frozenset()
        for monomial, k in e.terms:
            term: ph.Fragment | None = None if monomial else self.emitter.index(abs(k))
            for atom in monomial:
                factor = self._atom(atom, frame)
                members |= factor.members
                term = (
                    factor.fragment if term is None else self.emitter.pointwise("mul", term, factor.fragment)
                )
            assert term is not None
            if monomial and abs(k) != 1:
                term = self.emitter.pointwise("mul", term, self.emitter.index(abs(k)))
            if total is None:
                total = term if k > 0 else self.emitter.pointwise("neg", term)
            else:
                total = self.emitter.pointwise("add" if k > 0 else "sub", total, term)
        assert total is not None
        return Point(total, members, e, e)

    def _atom(self, atom: Any, frame: Frame) -> Point:
        if isinstance(atom, Dyn):
            current = self.slices.get(Extent((((atom,), 1),)))
            if current is not None:
                return self._slice_extent(current, frame)
            return self._as_index(self.evaluate(self.analysis.values[atom.value], (), frame))
        alone = Extent((((atom,), 1),))
        if alone.launch_visible:
            return self.extent(alone, frame)
        return self._call(atom.op, [self.extent(a, frame) for a in atom.args])

    def _as_index(self, point: Point) -> Point:
        """A run-time number as extents count: what was read may be of a narrower type."""
        if point.fragment.dtype is INDEX:
            return point
        made = self.emitter.emit(ph.Cast, ((INDEX, point.fragment.dims),), value=point.fragment, name="")[0]
        return replace(point, fragment=made)

    def _slice_extent(self, current: Slice, frame: Frame) -> Point:
        """The number of members of the current slice."""
        left = self.emitter.pointwise("sub", self.extent(current.extent, frame).fragment, current.start)
        return Point(self.emitter.pointwise("minimum", left, self.emitter.index(current.block)), low=const(0))

    def _call(self, op: str, args: list[Point]) -> Point:
        a, b = (p.fragment for p in args)
        members = members_of(args)
        if op == "ceildiv":
            up = self.emitter.pointwise("sub", self.emitter.pointwise("add", a, b), self.emitter.index(1))
            return Point(self.emitter.pointwise("floordiv", up, b), members)
        if op == "broadcast":
            one = self.emitter.compare("eq", a, self.emitter.index(1))
            return Point(self.emitter.pointwise("select", one, b, a), members)
        name = {"max": "maximum", "min": "minimum"}.get(op, op)
        return Point(self.emitter.pointwise(name, a, b), members)

    # -- lanes and axes -------------------------------------------------------------------------------------------

    def used_dims(self, at: Iterable[Point], frame: Frame) -> frozenset[ph.Dim]:
        """Lane dims that a new axis must not share: those of the coordinates at hand and of enclosing points.

        A predicate may rest on lanes that no coordinate has (a gather's validity); it is about those lanes only.
        """
        return frame.lanes | {d for p in at for f in (p.fragment, *p.members) for d in f.dims}

    def lane_dim(
        self, label: str, size: int, used: frozenset[ph.Dim], before: Iterable[ph.Dim] = ()
    ) -> ph.Dim:
        """A lane dim for an axis of class ``label``: the first one of that class not in use here."""
        taken = {d.name for d in used}
        sizes = {d.name: d.size for d in self.emitter.order.dims}
        n = 1
        while True:
            name = label if n == 1 else f"{label}_{n}"
            if sizes.get(name, size) != size:
                name = f"{name}_{size}"  # one name never stands for two sizes in a program
            if name not in taken and sizes.get(name, size) == size:
                break
            n += 1
        dim = ph.Dim(name, size, axis=label)
        self.emitter.order.add(dim, before)
        return dim

    def traversal(self, axis: tuple[int, int], at: Iterable[Point] = ()) -> Inner:
        """The planned traversal of an axis inside an instance, of an operation whose result is wanted at ``at``."""
        label = self.analysis.classes.label(axis)
        beside = any(d.axis == label for p in at for d in p.fragment.dims)
        return self.plan.traversal_beside(label) if beside else self.plan.traversal(label)

    def is_divisible(self, e: Extent, block: int) -> bool:
        """Whether blocks of ``block`` cover ``e`` exactly, by constant or by a guard of the plan."""
        if block == 1:
            return True
        if e.const is not None:
            return e.const % block == 0
        guard = ph.Guard(kind="divisible", extent=e, bound=block)
        if guard in self.assumed:
            self.guards.add(guard)
            return True
        return False

    def resident_point(
        self,
        label: str,
        e: Extent,
        size: int,
        at: Iterable[Point],
        frame: Frame,
        before: Iterable[ph.Dim] = (),
    ) -> Point:
        """All members of an axis at once, in ``size`` lanes that the coordinates ``at`` do not use."""
        if not self.is_exactly(e, size):
            self._require_at_most(e, size)
        dim = self.lane_dim(label, size, self.used_dims(at, frame), before)
        lane = self.emitter.lane(dim)
        if e.const == size or self.is_exactly(e, size):
            return Point(lane, low=const(0), high=e - 1)
        bound = self.extent(e, frame)
        member = self.emitter.compare("lt", lane, bound.fragment)
        return Point(lane, bound.members | {member}, const(0), e - 1)

    def is_exactly(self, e: Extent, size: int) -> bool:
        """Whether a guard of the plan fixes the extent to ``size``."""
        guard = ph.Guard(kind="equal", extent=e, bound=size)
        if guard in self.assumed:
            self.guards.add(guard)
            return True
        return False

    def _require_at_most(self, e: Extent, size: int) -> None:
        if e.const is not None:
            if e.const > size:
                raise PlanError(f"an axis of extent {e.const} does not fit {size} resident lanes")
            return
        bound = self.analysis.upper_bound(e)
        if bound is None:
            raise PlanError(
                f"nothing known before launch bounds the extent {self.facts.shown(e)}, so that no number of lanes "
                "holds the axis",
                span=self.emitter.span,
            )
        if bound.const is not None and bound.const <= size:
            return
        self.guards.add(ph.Guard(kind="at_most", extent=bound, bound=size))

    def block_point(
        self,
        start: ph.Fragment,
        label: str,
        e: Extent,
        block: int,
        at: Iterable[Point],
        frame: Frame,
        before: Iterable[ph.Dim] = (),
    ) -> Point:
        """``block`` consecutive members of an axis that begin at ``start`` (a multiple of block).

        Their lanes are not those of the coordinates ``at``.
        """
        if block == 1:
            return self._one_member(start, e, frame)
        dim = self.lane_dim(label, block, self.used_dims(at, frame), before)
        lane = self.emitter.pointwise("add", start, self.emitter.lane(dim), name=label)
        if self.is_divisible(e, block):
            return Point(lane, low=const(0), high=e - 1)
        bound = self.extent(e, frame)
        member = self.emitter.compare("lt", lane, bound.fragment)
        return Point(lane, bound.members | {member}, const(0), e - 1)

    def _one_member(self, start: ph.Fragment, e: Extent, frame: Frame) -> Point:
        """The member that a loop is at; where lanes have different extents, some have no such member."""
        extent = None if e.launch_visible else self.extent(e, frame)
        if extent is None or extent.fragment.uniform:
            return Point(start, low=const(0), high=e - 1)
        member = self.emitter.compare("lt", start, extent.fragment)
        return Point(start, extent.members | {member}, const(0), e - 1)

    def next_buffer(self) -> int:
        """A fresh buffer id, unique in the program."""
        self.emitter.next_id += 1
        return self.emitter.next_id

    # -- memory ---------------------------------------------------------------------------------------------------

    def resource(self, resource: kir.Resource) -> tuple[ph.Resource, str, tuple[Point, ...]]:
        """The physical resource, its alias class, and the owner's coordinates that come first."""
        if isinstance(resource, kir.View):
            return self.views[resource.name], alias_class(resource), ()
        if not self.has(resource):
            # Only a component that nobody asked for can reach it: the groups of what is wanted are joined.
            raise PlanError(f"buffer '{resource.name}' belongs to another group of statements")
        buffer, owner = self.buffers[resource.id]
        return buffer, alias_class(resource), owner

    def has(self, resource: kir.Resource) -> bool:
        """Whether this group of statements can need the resource: a buffer is allocated by those that use it."""
        return isinstance(resource, kir.View) or resource.id in self.buffers

    def read_version(self, key: str) -> int:
        """Separate reads by the writes before them; other lanes' writes become visible through a fence."""
        if self.pending(key):
            self.fence(key)
        self.readers.setdefault(key, set())
        return self.versions.get(key, 0)

    def pending(self, key: str) -> bool:
        """Whether an alias class was written since its last fence, or its fence does not come before this position."""
        return bool(self._atomics(key)) or self._plainly_written(key)

    def _atomics(self, key: str) -> set[str]:
        """The marks of atomics on an alias class since its last fence."""
        return {mark for mark in self.dirty if mark.startswith(by_atomics(key))}

    def _plainly_written(self, key: str) -> bool:
        """The same, atomics left out. A fence inside a loop or a branch may not have happened, seen from outside."""
        fenced = self.fenced_in.get(key)
        return key in self.dirty or (fenced is not None and not self.emitter.around(fenced))

    def before_atomic(self, key: str, op: kir.ScatterReduce | kir.Atomic) -> None:
        """An atomic is fenced from plain accesses, and from atomics that do something else.

        Its lanes may meet in one element, so that a read at the same coordinates may be of what another lane changes.
        """
        others = self._atomics(key) - {by_atomics(key, self.done_by(op))}
        if others or self._plainly_written(key) or self.readers.get(key):
            self.fence(key)

    def done_by(self, op: kir.ScatterReduce | kir.Atomic) -> str:
        """What the access does to an element; accesses that do the same may happen in any order."""
        kind = "add" if op.kind == "sum" else op.kind
        seen = any(self.effects_use(r) for r in op.results)
        return kind if kind in ANY_ORDER and not seen and self.form(op) == "native" else str(op.id)

    def wrote(self, key: str) -> None:
        """A write to an alias class: other lanes need a fence before they read it."""
        self.dirty.add(key)

    def wrote_atomically(self, key: str, op: kir.ScatterReduce | kir.Atomic) -> None:
        """The same by atomics."""
        self.dirty.add(by_atomics(key, self.done_by(op)))

    def read_by(self, key: str, op: kir.Load, place: Place) -> None:
        """A read of an alias class."""
        self.readers.setdefault(key, set()).add(Reader(place, self.analysis.effects.only_write(op.result)))

    def overtakes(self, key: str, place: Place, write: int) -> bool:
        """Whether the write ``write`` could overtake earlier reads: by other lanes, or by replicas of its own.

        Where the coordinates are the same every lane meets its own elements, and what replicas read late matters to
        nobody if nothing but this write uses it.
        """
        return any(
            not place.dims or earlier.at != place or earlier.only != write
            for earlier in self.readers.get(key, ())
        )

    def settle_dirty(self) -> None:
        """Make every pending write that the kernel reads somewhere visible, once, in front of a loop.

        A buffer that is allocated inside the loop is fenced there.
        """
        for key in sorted(self.analysis.effects.read & self.by_class.keys()):
            if self.pending(key):
                self.fence(key)

    def settle_writes(self) -> None:
        """Order every earlier access before every later one."""
        for key in sorted(self.by_class):
            if self.pending(key) or key in self.readers:
                self.fence(key)

    def form(self, op: kir.ScatterReduce | kir.Atomic) -> Form:
        """How the plan makes a colliding access; see :class:`GroupPlan` for what it does not list."""
        return dict(self.plan.collisions).get(op.id) or ("native" if usually_native(op) else "exchange")

    def effects_use(self, value: kir.Value) -> bool:
        """Whether anything uses the value."""
        effects = self.analysis.effects
        return bool(effects.users[value.id] or effects.yielding[value.id])

    def fence(self, key: str) -> None:
        """Order all accesses to an alias class so far before all later ones, across lanes."""
        if key not in self.allocated or self.allocated[key].open:
            self.emitter.effect(ph.Fence, target=self.by_class[key])
        self.fenced_in[key] = self.emitter.current
        self.versions[key] = self.versions.get(key, 0) + 1
        self.dirty -= {key, *self._atomics(key)}
        self.readers.pop(key, None)
