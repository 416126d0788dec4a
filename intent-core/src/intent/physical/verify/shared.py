"""The rule on reductions that several instances share: who leaves what, who reads it, and when.

Instances of a team are ``parts`` neighbours in program space. Each stores its partial states in its own slice, fences
them, and counts itself in with one atomic that releases them and acquires those of the others. Only the one that finds
all others counted reads them, sets the count back, and performs the effects of the group. The parts themselves are
compared with the kernel by trial.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from intent.physical.fragment import Buffer, Fragment, Region, Resource
from intent.physical.ops import Atomic, BufferAlloc, Constant, Fence, If, Lane, Load, Op, Pointwise, Store
from intent.physical.program import Program, Segment
from intent.physical.verify.rule import CONFLICT, Problem, Rule
from intent.physical.walk import operands_of, regions_of, resources_of, walk
from intent.types.extent import const

__all__ = ["RULES"]


def split_reduction(program: Program) -> Iterator[Problem]:
    """Partial states have one writer each, and only the last instance of a team to arrive reads them."""
    for segment in program.segments:
        touched = {r for op in walk(segment.body) for r in resources_of(op) if _role(r)}
        if touched or segment.parts != 1:
            made = {r.id: op for op in walk(segment.body) for r in op.results}
            yield from _Team(segment, touched, made).problems()


def _role(resource: Resource) -> str:
    return resource.role if isinstance(resource, Buffer) else ""


@dataclass(frozen=True)
class _Team:
    segment: Segment
    buffers: set[Resource]
    made: dict[int, Op]

    @property
    def parts(self) -> int:
        """How many instances share a walk."""
        return self.segment.parts

    def problems(self) -> Iterator[Problem]:
        """The first thing wrong with each stage of the meeting."""
        counts = [b for b in self.buffers if _role(b) == "arrival"]
        last = [axis.extent for axis in self.segment.axes[-1:] if axis.block == 1]
        if self.parts < 2 or last != [const(self.parts)]:
            yield Problem(text=f"{self.parts} instances share a reduction, but the last axis counts {last}")
            return
        if len(counts) != 1:
            yield Problem(
                text=f"instances share a reduction, but {len(counts)} counts say who is the last of them"
            )
            return
        ops = self.segment.body.ops
        arrivals = [op for op in ops if isinstance(op, Atomic) and op.target == counts[0]]
        endings = [op for op in ops if isinstance(op, If) and self._waits(op, arrivals)]
        if len(arrivals) != 1 or len(endings) != 1 or ops.index(endings[0]) < ops.index(arrivals[0]):
            yield Problem(text="no branch is taken by the last instance to arrive only")
            return
        yield from self._extents()
        yield from self._before(arrivals[0], endings[0])
        left = {op.target for op in ops if isinstance(op, Store)}
        yield from self._ending(endings[0], counts[0], left)

    # -- who is who ---------------------------------------------------------------------------------------------

    def _definition(self, value: Fragment) -> Op | None:
        return self.made.get(value.id)

    def _is(self, value: Fragment, number: int) -> bool:
        op = self._definition(value)
        return isinstance(op, Constant) and op.value == number

    def _decoded(self, value: Fragment, fn: str) -> bool:
        op = self._definition(value)
        local = self.segment.body.args[0]
        return (
            isinstance(op, Pointwise)
            and op.fn == fn
            and op.operands[0] == local
            and self._is(op.operands[1], self.parts)
        )

    def _team(self, value: Fragment) -> bool:
        """Whether the value is the ordinal of the instance's team."""
        return self._decoded(value, "floordiv") or (len(self.segment.axes) == 1 and self._is(value, 0))

    def _part(self, value: Fragment) -> bool:
        """Whether the value is the ordinal of the instance's part."""
        alone = len(self.segment.axes) == 1 and value == self.segment.body.args[0]
        return alone or self._decoded(value, "mod")

    def _waits(self, op: If, arrivals: list[Atomic]) -> bool:
        """Whether the branch is taken exactly if all others of the team were counted before."""
        test = self._definition(op.condition)
        return (
            isinstance(test, Pointwise)
            and test.fn == "eq"
            and any(test.operands[0] in a.results for a in arrivals)
            and self._is(test.operands[1], self.parts - 1)
            and not op.orelse.ops
        )

    def _extents(self) -> Iterator[Problem]:
        teams = const(1)
        for axis in self.segment.axes[:-1]:
            teams = teams * axis.programs
        for buffer in sorted(self.buffers, key=lambda b: b.name):
            wanted = (teams,) if _role(buffer) == "arrival" else (teams, const(self.parts))
            if buffer.shape[: len(wanted)] != wanted or (_role(buffer) == "arrival" and buffer.rank != 1):
                yield Problem(text=f"'{buffer.name}' does not have one slice for each instance of each team")

    # -- every instance -----------------------------------------------------------------------------------------

    def _before(self, arrival: Atomic, ending: If) -> Iterator[Problem]:
        """What an instance leaves, and that it has no other effect."""
        if not (
            arrival.kind == "add"
            and self._is(arrival.operands[0], 1)
            and arrival.order == "acq_rel"
            and arrival.sharing == "invocation"
            and arrival.valid is None
            and not arrival.dims
            and self._team(arrival.coordinates[0])
        ):
            yield Problem(
                text="an instance is not counted once in its team, or without acquire and release", op=arrival
            )
        test = self._definition(ending.condition)
        if any(arrival.results[0] in _uses(op) for op in walk(self.segment.body) if op is not test):
            yield Problem(text="the number of those that have arrived is used for something else", op=arrival)
        left: set[Resource] = set()
        fenced: set[Resource] = set()
        for op in self.segment.body.ops:
            if op is ending:
                continue
            if op is arrival:
                fenced = set(left)
            for inner in walk(Region(args=(), ops=(op,))):
                yield from self._alone(inner, arrival, nested=inner is not op)
            if isinstance(op, Store) and _role(op.target) == "partial":
                if op.target in left or not self._own(op):
                    yield Problem(
                        text=f"'{op.target.name}' is not written once, in the instance's own slice", op=op
                    )
                left.add(op.target)
            elif isinstance(op, Fence):
                left.discard(op.target)
        if fenced or left:
            name = min(b.name for b in fenced | left)
            yield Problem(
                text=f"what an instance leaves in '{name}' is not fenced before it arrives", op=arrival
            )

    def _alone(self, op: Op, arrival: Atomic, *, nested: bool) -> Iterator[Problem]:
        """An operation outside of the last instance's branch touches nothing that others see, its slice apart."""
        if op is arrival or isinstance(op, Fence | BufferAlloc):
            return
        for resource in resources_of(op):
            own = isinstance(resource, Buffer) and resource.scope != "invocation"
            writes = isinstance(op, Store | Atomic)
            slice_ = isinstance(op, Store) and _role(resource) == "partial" and not nested
            if _role(resource) and not slice_:
                yield Problem(text=f"'{resource.name}' is touched by others than the last instance", op=op)
            elif writes and not own and not slice_:
                yield Problem(text=f"every instance of a team writes '{resource.name}'", op=op)

    def _own(self, op: Store) -> bool:
        """Whether a store of a partial state fills the slice of the instance, each lane its own element."""
        team, part, *lanes = op.coordinates
        dims = [d.dim for d in map(self._definition, lanes) if isinstance(d, Lane)]
        return (
            self._team(team)
            and self._part(part)
            and op.valid is None
            and len(dims) == len(lanes)
            and len(set(dims)) == len(dims)
            and set(dims) == set(op.dims)
        )

    # -- the last one -------------------------------------------------------------------------------------------

    def _ending(self, ending: If, counts: Resource, left: set[Resource]) -> Iterator[Problem]:
        """The count is zero again, and what the others ``left`` is read after a fence, of the same team."""
        ops = ending.then.ops
        resets = [op for op in walk(ending.then) if isinstance(op, Store) and op.target == counts]
        others = [
            op for op in walk(ending.then) if isinstance(op, Load | Atomic) and counts in resources_of(op)
        ]
        if len(resets) != 1 or others or not self._resets(resets[0], ops):
            yield Problem(
                text="the count of those that arrive is not set back for the next launch", op=ending
            )
        fenced: set[Resource] = set()
        for op in ops:
            if isinstance(op, Fence):
                fenced |= {op.target} & left
            for inner in walk(Region(args=(), ops=(op,))):
                yield from self._reads(inner, fenced)

    def _resets(self, op: Store, ops: tuple[Op, ...]) -> bool:
        return op in ops and op.valid is None and self._is(op.value, 0) and self._team(op.coordinates[0])

    def _reads(self, op: Op, fenced: set[Resource]) -> Iterator[Problem]:
        for resource in (r for r in resources_of(op) if _role(r) == "partial"):
            if isinstance(op, Store | Atomic):
                yield Problem(text=f"the last instance writes '{resource.name}'", op=op)
            elif isinstance(op, Load) and not (resource in fenced and self._team(op.coordinates[0])):
                yield Problem(text=f"'{resource.name}' is read of another team, or before a fence", op=op)


def _uses(op: Op) -> Iterator[Fragment]:
    yield from operands_of(op)
    for region in regions_of(op):
        yield from region.yields


RULES: Final = (Rule(name="split-reduction", sentence=CONFLICT, check=split_reduction),)
