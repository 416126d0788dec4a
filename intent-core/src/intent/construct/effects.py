"""What a kernel writes and reads, where in program order, and which reads must keep their place."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from intent import kir
from intent.construct.alias import alias_class
from intent.construct.definitions import Definitions
from intent.kir.walk import operands_of, regions_of, walk

WRITES = (kir.Store, kir.ScatterReduce, kir.Atomic)
CONTROL = (kir.For, kir.If, kir.While)


def written_class(op: kir.Op) -> str | None:
    """The alias class that a single operation writes."""
    if isinstance(op, WRITES):
        return alias_class(op.target)
    return None


@dataclass
class Effects:
    """Positions in program order and the effect-bearing operations of a kernel."""

    kernel: kir.Kernel
    definitions: Definitions
    position: dict[int, int] = field(default_factory=dict)
    end: dict[int, int] = field(default_factory=dict)
    around: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """The loops around an operation whose passes may be ordered: all but the outermost parallel ones."""
    written: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    parallel: dict[int, kir.For] = field(default_factory=dict)
    """Parallel loops by their variable's value."""
    users: dict[int, list[kir.Op]] = field(default_factory=lambda: defaultdict(list))
    yielding: dict[int, list[kir.Op]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, kernel: kir.Kernel, definitions: Definitions) -> Effects:
        """Index ``kernel``."""
        found = cls(kernel, definitions)
        found._number(kernel.body, 0, (), outermost=True)
        found.read = {alias_class(op.source) for op in walk(kernel.body) if isinstance(op, kir.Load)}
        found.read |= {
            alias_class(op.target) for op in walk(kernel.body) if isinstance(op, kir.ScatterReduce)
        }
        found.written = {w for op in walk(kernel.body) if (w := written_class(op)) is not None}
        return found

    def _number(self, region: kir.Region, n: int, loops: tuple[int, ...], *, outermost: bool) -> int:
        for op in region.ops:
            self.position[op.id], self.around[op.id] = n, loops
            if isinstance(op, kir.For) and op.parallel:
                self.parallel[op.body.args[0].id] = op
            n += 1
            shared = outermost and isinstance(op, kir.For) and op.parallel
            within = (*loops, op.id) if isinstance(op, kir.For | kir.While) and not shared else loops
            for value in operands_of(op):
                self.users[value.id].append(op)
            for inner in regions_of(op):
                n = self._number(inner, n, within, outermost=shared)
                for value in inner.yields:
                    self.yielding[value.id].append(op)
            self.end[op.id] = n
            n += 1
        return n

    def has_effect(self, op: kir.Op) -> bool:
        """Whether the operation is a statement: it writes, allocates, or is control that reads what is written."""
        if isinstance(op, (*WRITES, kir.BufferAlloc)):
            return True
        if not isinstance(op, CONTROL):
            return False
        return any(
            isinstance(o, (*WRITES, kir.BufferAlloc))
            or (isinstance(o, kir.Load) and alias_class(o.source) in self.written)
            for region in regions_of(op)
            for o in walk(region)
        )

    def last_use(self, value: kir.Value, within: tuple[int, ...], seen: set[int] | None = None) -> int:
        """The last position at which a statement needs ``value``, directly or through other values.

        ``within``: the ordered loops around the value. Where another loop needs it, every pass does, to the end.
        """
        seen = set() if seen is None else seen
        if value.id in seen:
            return -1
        seen.add(value.id)
        last = -1
        for op, here in (
            *((op, self.position[op.id]) for op in self.users[value.id]),
            *((op, self.end[op.id]) for op in self.yielding[value.id]),
        ):
            if self.has_effect(op):
                others = (self.end[loop] for loop in self.around[op.id] if loop not in within)
                last = max(last, here, *others)
            else:
                last = max([last, *(self.last_use(r, within, seen) for r in op.results)])
        return last

    def only_write(self, value: kir.Value) -> int | None:
        """The id of the only write that ``value`` has a part in; None if there are several, or it steers control."""
        found: set[int] = set()
        seen: set[int] = set()
        left = [value]
        while left:
            value = left.pop()
            if value.id in seen:
                continue
            seen.add(value.id)
            for op in (*self.users[value.id], *self.yielding[value.id]):
                steers = op in self.users[value.id] if isinstance(op, CONTROL) else False
                steers |= isinstance(op, kir.While) and value in op.condition.yields
                if isinstance(op, WRITES) or steers:
                    found.add(op.id)
                left += op.results
                left += (argument for region in regions_of(op) for argument in region.args)
        return found.pop() if len(found) == 1 else None

    def eager_reads(self) -> set[int]:
        """Reads of mutable memory that a later write would change before their last use."""
        found: set[int] = set()
        writes: dict[str | None, list[int]] = defaultdict(list)
        for op in walk(self.kernel.body):
            # Elements that collide are combined one by one: the first ones before what the last ones need is read.
            at_once = not isinstance(op, kir.ScatterReduce) or op.value.rank == 0
            writes[written_class(op)].append(self.position[op.id] - (0 if at_once else 1))
        for op in walk(self.kernel.body):
            if not (isinstance(op, kir.Load) and op.source.mutable):
                continue
            here, last = self.position[op.id], self.last_use(op.result, self.around[op.id])
            if any(here < p < last for p in writes[alias_class(op.source)]):
                found.add(op.id)
        return found
