"""How often and where each fragment is used: what may be inlined, what is dead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from intent.physical import Atomic, BufferAlloc, Fence, Fragment, Op, Region, Store
from intent.physical.walk import operands_of, regions_of

_EFFECTS = (Store, Atomic, Fence, BufferAlloc)


class Usage:
    """Uses of every fragment in a region tree; ``live`` tells the operations that matter.

    ``operands`` gives what the text of an operation reads.
    """

    def __init__(self, root: Region, operands: Callable[[Op], Iterable[Fragment]] = operands_of) -> None:
        self._operands = operands
        self._live: set[int] = set()
        self.count: Counter[int] = Counter()
        self._users: dict[int, set[int]] = {}
        self._home: dict[int, int] = {}
        wanted = {f.id for f in root.yields}
        self._mark(root, wanted)
        self._tally(root)

    def live(self, op: Op) -> bool:
        """Whether the operation has an effect or a result that something uses."""
        return id(op) in self._live

    def stays(self, fragment_id: int) -> bool:
        """Whether the only use stands in the region of the definition, so that inlining moves nothing."""
        return self.count[fragment_id] == 1 and self._users[fragment_id] == {self._home.get(fragment_id)}

    def _mark(self, region: Region, wanted: set[int]) -> bool:
        """Mark live operations backwards; a carry keeps its loop's yields alive. True if an effect was met."""
        effect = False
        wanted.update(f.id for f in region.yields)
        for op in reversed(region.ops):
            inner = [self._mark(r, wanted) for r in regions_of(op)]
            own_effect = isinstance(op, _EFFECTS) or any(inner)
            effect = effect or own_effect
            if own_effect or any(r.id in wanted for r in op.results):
                self._live.add(id(op))
                wanted.update(f.id for f in self._operands(op))
        return effect

    def _tally(self, region: Region) -> None:
        for argument in region.args:
            self._home[argument.id] = id(region)
        for op in region.ops:
            for result in op.results:
                self._home[result.id] = id(region)
            if self.live(op):
                for operand in self._operands(op):
                    self._note(operand.id, region)
                for inner in regions_of(op):
                    self._tally(inner)
        for fragment in region.yields:
            self._note(fragment.id, region)

    def _note(self, fragment_id: int, region: Region) -> None:
        self.count[fragment_id] += 1
        self._users.setdefault(fragment_id, set()).add(id(region))
