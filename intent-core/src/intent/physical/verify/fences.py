"""The rule on fences: memory that one lane writes and another may touch later is fenced in between.

Emulation runs the lanes of an instance together and cannot show a missing fence, so this rule must. Two accesses
need one when they are of one alias class, one of them writes, and nothing shows that they cannot disturb each other.
Lists of accesses follow loops around their back edges.

A lane is not a thread. A fragment is spread over threads in one way here and in another way there, and where it has
fewer lanes than there are threads, several threads hold the same lane: a read is made by all of them, an effect by
one. So equal coordinates in one pass of every loop around both accesses excuse two effects, which the same thread
makes, and a read before an effect if its value goes nowhere else: the replicas that come too late are never looked
at. They do not excuse a read after an effect, nor an atomic, whose lanes may meet in one element. An atomic that
releases is made by one thread, so that it comes after a fence of what the others did. Elements that differ need no
fence: constants that differ, or a coordinate that moves on further than its lanes reach between two passes of a loop.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from intent.physical.advance import moves_on
from intent.physical.fragment import Buffer, Fragment, Region, Resource, View
from intent.physical.ops import ANY_ORDER, Atomic, Constant, Fence, If, Load, Loop, Op, Store, While
from intent.physical.program import Program
from intent.physical.verify.rule import FIRST_WRITE, Problem, Rule, operations
from intent.physical.walk import operands_of, regions_of, walk

__all__ = ["RULES"]


@dataclass(frozen=True, kw_only=True)
class _Access:
    """An access that no fence has followed yet. ``passed``: the outermost loop whose back edge was taken since."""

    op: Op = field(compare=False)
    id: int
    kind: str  # read, write or atomic
    alias: str
    coordinates: tuple[Fragment, ...] = field(compare=False)
    passed: int | None = None


_Pending = frozenset[_Access]


def _access(op: Load | Store | Atomic) -> _Access:
    kind = {Load: "read", Store: "write", Atomic: "atomic"}[type(op)]
    alias = _alias(op.source if isinstance(op, Load) else op.target)
    return _Access(op=op, id=op.id, kind=kind, alias=alias, coordinates=op.coordinates)


class _Checker:
    def __init__(self, program: Program) -> None:
        self._defined = {result.id: op for op in operations(program) for result in op.results}
        self._loops = {op.id: op for op in operations(program) if isinstance(op, Loop)}
        self._inside = {
            op.id: {value.id for region in regions_of(op) for value in _values(region)}
            for op in operations(program)
            if isinstance(op, (Loop, While))
        }
        self._depth: dict[int, int] = {}
        self._written = {
            _alias(op.target)
            for op in operations(program)
            if isinstance(op, (Store, Atomic)) and not _in_registers(op.target)
        }
        self._users: dict[int, list[Op]] = {}
        for op in operations(program):
            for value in (*operands_of(op), *(v for region in regions_of(op) for v in region.yields)):
                self._users.setdefault(value.id, []).append(op)
        self._reached: dict[int, frozenset[int]] = {}
        self._nesting = 0
        self.found: dict[int, Problem] = {}

    def region(self, region: Region, pending: _Pending) -> _Pending:
        """Check the operations of a region; what is pending after it."""
        for op in region.ops:
            match op:
                case Load() | Store() | Atomic():
                    if isinstance(op, Atomic) and op.order in ("release", "acq_rel"):
                        self._release(op, pending)
                    access = _access(op)
                    if access.alias in self._written:
                        pending = self._meet(access, pending)
                case Fence():
                    pending = frozenset(a for a in pending if a.alias != _alias(op.target))
                case If():
                    pending = self.region(op.then, pending) | self.region(op.orelse, pending)
                case Loop():
                    pending |= self._around(op, (op.body,), pending)
                case While():
                    pending |= self._around(op, (op.condition, op.body), pending)
        return pending

    def _around(self, op: Op, regions: Sequence[Region], pending: _Pending) -> _Pending:
        """Two passes of a loop: the second meets what the first left."""
        self._depth[op.id] = self._nesting
        self._nesting += 1
        after = self._through(regions, pending)
        again = pending | {replace(a, passed=self._outer(a.passed, op.id)) for a in after - pending}
        again = self._through(regions, again)
        self._nesting -= 1
        return after | again

    def _through(self, regions: Sequence[Region], pending: _Pending) -> _Pending:
        for region in regions:
            pending = self.region(region, pending)
        return pending

    def _outer(self, before: int | None, loop: int) -> int:
        """Of two loops whose back edges were taken, the outer one: in its passes the inner's are arbitrary."""
        return loop if before is None or self._depth[loop] < self._depth[before] else before

    def _meet(self, access: _Access, pending: _Pending) -> _Pending:
        for earlier in pending:
            if (
                earlier.alias == access.alias
                and _conflict(earlier, access, self._users)
                and not self._apart(earlier, access)
            ):
                text = (
                    f"a {access.kind} of '{access.alias}' may meet elements of an earlier {earlier.kind} "
                    "by other threads without a fence in between"
                )
                self.found.setdefault(access.op.id, Problem(text=text, op=access.op))
        return pending | {access}

    def _release(self, atomic: Atomic, pending: _Pending) -> None:
        """One thread releases what all threads of the instance have done: a fence has to gather it."""
        for earlier in pending:
            if earlier.kind != "atomic" and _seen_by_others(earlier.op):
                text = f"a {earlier.kind} of '{earlier.alias}' by other threads is released without a fence after it"
                self.found.setdefault(atomic.id, Problem(text=text, op=atomic))

    def _apart(self, earlier: _Access, later: _Access) -> bool:
        """Whether each lane meets only its own elements, or the two touch different ones."""
        pairs = list(zip(earlier.coordinates, later.coordinates, strict=True))
        if any(self._different(a, b) for a, b in pairs):
            return True
        loop = earlier.passed
        if loop is None or not any(self._varies(c, loop) for c in later.coordinates):
            return earlier.coordinates == later.coordinates and self._undisturbed(earlier, later)
        # A store writes no element twice over the loops of its own axes; the author's loops end in a fence.
        if earlier.id == later.id and later.kind == "write":
            return True
        return any(a == b and self._moves_on(a, loop) for a, b in pairs)

    def _undisturbed(self, earlier: _Access, later: _Access) -> bool:
        """Whether accesses at equal coordinates are right although other threads hold the same lane.

        Lanes of an atomic may meet in one element: then another lane's access has the coordinates, too.
        """
        if later.kind == "read" or "atomic" in (earlier.kind, later.kind):
            return False
        if earlier.kind != "read":
            return True
        if earlier.id not in self._reached:
            self._reached[earlier.id] = self._effects_of(earlier.op)
        return self._reached[earlier.id] <= {later.id}

    def _effects_of(self, read: Op) -> frozenset[int]:
        """Ids of the effects and of the control that what is read has a part in."""
        found: set[int] = set()
        seen: set[int] = set()
        left = list(read.results)
        while left:
            value = left.pop()
            if value.id in seen:
                continue
            seen.add(value.id)
            for user in self._users.get(value.id, ()):
                if isinstance(user, (Store, Atomic)) or value in _steering(user):
                    found.add(user.id)
                left += user.results
                left += (argument for region in regions_of(user) for argument in region.args)
        return frozenset(found)

    def _varies(self, value: Fragment, loop: int) -> bool:
        """Whether the value is computed inside the loop, so that it may differ between passes."""
        return value.id in self._inside[loop]

    def _different(self, a: Fragment, b: Fragment) -> bool:
        first, second = self._defined.get(a.id), self._defined.get(b.id)
        return isinstance(first, Constant) and isinstance(second, Constant) and first.value != second.value

    def _moves_on(self, coordinate: Fragment, loop: int) -> bool:
        """Whether passes of the loop give disjoint blocks; unknown for ``while``."""
        counted = self._loops.get(loop)
        return counted is not None and moves_on(coordinate, counted, self._defined)


def _steering(op: Op) -> tuple[Fragment, ...]:
    """Operands that decide whether or how often regions run."""
    match op:
        case If():
            return (op.condition,)
        case Loop():
            return (op.begin, op.end, op.step)
        case While():
            return op.condition.yields
    return ()


def _values(region: Region) -> Iterator[Fragment]:
    yield from region.args
    for op in walk(region):
        yield from op.results
        for inner in regions_of(op):
            yield from inner.args


def _conflict(a: _Access, b: _Access, used: Container[int]) -> bool:
    """Whether the order of the accesses shows; ``used``: the values that something reads."""
    if isinstance(a.op, Atomic) and isinstance(b.op, Atomic):
        alike = a.op.kind == b.op.kind and a.op.kind in ANY_ORDER
        seen = any(r.id in used for op in (a.op, b.op) for r in op.results)
        # The lanes of one access of the kernel, and its attempts, may come in any order.
        one = a.op.origin is not None and a.op.origin == b.op.origin
        return not one and (not alike or seen)
    return {a.kind, b.kind} != {"read"}


def _in_registers(resource: Resource) -> bool:
    """Whether every thread has the elements of its lanes to itself."""
    return isinstance(resource, Buffer) and resource.storage == "registers"


def _seen_by_others(op: Op) -> bool:
    """Whether other instances can reach what is accessed."""
    resource = op.source if isinstance(op, Load) else op.target if isinstance(op, Store) else None
    return isinstance(resource, View) or (isinstance(resource, Buffer) and resource.scope == "invocation")


def _alias(resource: Resource) -> str:
    if isinstance(resource, View):
        return resource.alias or resource.name
    return f"{resource.name} !{resource.id}"


def fenced(program: Program) -> Iterator[Problem]:
    """Accesses of one alias class by different threads, one of them a write, have a fence in between."""
    for segment in program.segments:
        checker = _Checker(program)
        checker.region(segment.body, frozenset())
        yield from checker.found.values()


RULES: Final = (Rule(name="fenced", sentence=FIRST_WRITE, check=fenced),)
