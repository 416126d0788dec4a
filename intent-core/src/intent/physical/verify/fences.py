"""The rule on fences: memory that one lane writes and another may touch later is fenced in between.

Emulation runs the lanes of an instance together and cannot show a missing fence, so this rule must. Two accesses
need one when they are of one alias class, one of them writes, and nothing shows that every lane meets its own
elements or other ones: equal coordinates in one pass of every loop around both, or a coordinate that moves on
by whole blocks between two passes of a loop. Lists of accesses follow loops around their back edges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from intent.physical.advance import moves_on
from intent.physical.fragment import Fragment, Region, Resource, View
from intent.physical.ops import Atomic, Constant, Fence, If, Load, Loop, Op, Store, While
from intent.physical.program import Program
from intent.physical.verify.rule import FIRST_WRITE, Problem, Rule, operations
from intent.physical.walk import regions_of, walk

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
        self._written = {_alias(op.target) for op in operations(program) if isinstance(op, (Store, Atomic))}
        self._nesting = 0
        self.found: dict[int, Problem] = {}

    def region(self, region: Region, pending: _Pending) -> _Pending:
        """Check the operations of a region; what is pending after it."""
        for op in region.ops:
            match op:
                case Load() | Store() | Atomic():
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
                and _conflict(earlier, access)
                and not self._apart(earlier, access)
            ):
                text = (
                    f"a {access.kind} of '{access.alias}' may meet elements of an earlier {earlier.kind} "
                    "of other lanes without a fence in between"
                )
                self.found.setdefault(access.op.id, Problem(text=text, op=access.op))
        return pending | {access}

    def _apart(self, earlier: _Access, later: _Access) -> bool:
        """Whether each lane meets only its own elements, or the two touch different ones."""
        pairs = list(zip(earlier.coordinates, later.coordinates, strict=True))
        if any(self._different(a, b) for a, b in pairs):
            return True
        same = earlier.coordinates == later.coordinates
        loop = earlier.passed
        if loop is None or not any(self._varies(c, loop) for c in later.coordinates):
            return same
        # A store writes no element twice over the loops of its own axes; the author's loops end in a fence.
        if earlier.id == later.id and later.kind == "write":
            return True
        return any(a == b and self._moves_on(a, loop) for a, b in pairs)

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


def _values(region: Region) -> Iterator[Fragment]:
    yield from region.args
    for op in walk(region):
        yield from op.results
        for inner in regions_of(op):
            yield from inner.args


def _conflict(a: _Access, b: _Access) -> bool:
    kinds = {a.kind, b.kind}
    return kinds not in ({"read"}, {"atomic"})


def _alias(resource: Resource) -> str:
    if isinstance(resource, View):
        return resource.alias or resource.name
    return f"{resource.name} !{resource.id}"


def fenced(program: Program) -> Iterator[Problem]:
    """Accesses of one alias class by different lanes, one of them a write, have a fence in between."""
    for segment in program.segments:
        checker = _Checker(program)
        checker.region(segment.body, frozenset())
        yield from checker.found.values()


RULES: Final = (Rule(name="fenced", sentence=FIRST_WRITE, check=fenced),)
