"""One execution of a program on the inputs of a trial: all instances of a segment at once.

A value is an array of full rank: axis 0 runs over instances, axis k + 1 over lane dim k of the segment; an axis along
which the value does not vary may have length 1. Where control differs between instances, both ways are taken and
``active`` says which instances take part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from intent import kir
from intent.physical.fragment import Buffer, Dim, Fragment, Region, Resource, View
from intent.physical.ops import Atomic, Op, Store
from intent.physical.program import Program, Segment
from intent.physical.verify.rule import operations
from intent.physical.verify.trial.events import Events
from intent.physical.verify.trial.inputs import Inputs
from intent.physical.verify.trial.lanes import live_lanes
from intent.physical.verify.trial.ring import Array, Ring
from intent.physical.verify.trial.sharing import Sharing
from intent.physical.walk import walk
from intent.types import Extent

__all__ = ["HANDLERS", "Machine", "Targets", "Trap", "handles", "place"]


class Trap(Exception):
    """The program does something that no program may do, at ``op``."""

    def __init__(self, rule: str, text: str, op: Op) -> None:
        super().__init__(text)
        self.rule, self.text, self.op = rule, text, op


Handler = Callable[["Machine", Any], tuple[Array, ...]]
HANDLERS: Final[dict[type[Op], Handler]] = {}


def handles(kind: type[Op]) -> Callable[[Handler], Handler]:
    """Register what an operation does."""

    def register(function: Handler) -> Handler:
        HANDLERS[kind] = function
        return function

    return register


@dataclass(frozen=True, kw_only=True)
class Targets:
    """What the writes of the kernel go to: the view or buffer of every effect, and the kernel's buffers by theirs.

    ``collisions`` are effects whose order is open, so that only places are compared; ``exchanged`` those of them that
    loops around compare-and-swap perform.
    """

    effects: dict[int, kir.Resource]
    buffers: dict[int, kir.Buffer]
    collisions: frozenset[int]
    exchanged: frozenset[int]

    def of(self, op: Store | Atomic) -> kir.Resource | None:
        """The logical resource that a write of the program stands for; None for storage of the compiler's own."""
        if op.origin is None or op.origin not in self.effects:
            return None
        wanted = self.effects[op.origin]
        if isinstance(op.target, View):
            return wanted if isinstance(wanted, kir.View) and wanted.name == op.target.name else None
        return wanted if self.buffers.get(op.target.id) == wanted else None


class Machine:
    """State of one execution."""

    def __init__(self, program: Program, inputs: Inputs, ring: Ring, targets: Targets) -> None:
        self.program, self.inputs, self.ring, self.targets = program, inputs, ring, targets
        self.events = Events()
        self.sharing = Sharing()
        self.memory: dict[str, Array] = {}
        self.values: dict[int, Array] = {}
        self.buffers: dict[int, Array] = {}
        self.axes: dict[Dim, int] = {}
        self.sizes = live_lanes(program, inputs.extents)
        self.rank = 1
        self.instances = 0
        self.first = 0
        self.parts = 1
        self.active: Array = np.ones((1,), np.bool_)
        self.everyone = True
        self.trace: dict[int, list[tuple[Op, Array]]] | None = None
        """What operations computed, by origin; kept only when it is asked for."""
        self._extents: dict[Extent, int] = {}
        self.shared = {
            place(op.target)
            for op in operations(program)
            if isinstance(op, Store | Atomic) and _common(op.target)
        }
        for view in program.views:
            contents = inputs.contents(place(view), view.dtype, inputs.size(view.shape))
            known = self.memory.get(place(view))
            if known is None or known.size < contents.size:
                self.memory[place(view)] = contents

    def run(self) -> None:
        """Execute every segment. Raises Trap."""
        for segment in self.program.segments:
            self._segment(segment)

    def _segment(self, segment: Segment) -> None:
        used = {d for op in walk(segment.body) for r in op.results for d in r.dims}
        used |= {d for op in walk(segment.body) for d in getattr(op, "dims", ()) or ()}
        dims = [d for d in self.program.dims if d in used]
        self.axes = {d: k + 1 for k, d in enumerate(dims)}
        self.rank = len(dims) + 1
        self.instances = self.extent(segment.length)
        self.first, self.parts = self.extent(segment.offset), segment.parts
        if self.instances == 0:
            return
        self.active, self.everyone = self.shaped(np.ones(self.instances, np.bool_)), True
        self.values, self.buffers = {}, {}
        local = self.shaped(np.arange(self.instances, dtype=np.int64))
        self.region(segment.body, (local,))

    # -- regions and values ------------------------------------------------------------------------------------------

    def region(self, region: Region, arguments: Sequence[Array]) -> tuple[Array, ...]:
        """Execute a region with these arguments; what it yields."""
        values = self.values
        for value, array in zip(region.args, arguments, strict=True):
            values[value.id] = array
        for op in region.ops:
            for result, array in zip(op.results, HANDLERS[type(op)](self, op), strict=True):
                values[result.id] = array
                if self.trace is not None and op.origin is not None:
                    self.trace.setdefault(op.origin, []).append((op, array))
        return tuple([values[value.id] for value in region.yields])

    def __getitem__(self, value: Fragment) -> Array:
        return self.values[value.id]

    def extent(self, extent: Extent) -> int:
        """A launch-visible extent in numbers."""
        found = self._extents.get(extent)
        if found is None:
            found = self._extents[extent] = extent.evaluate(self.inputs.extents)
        return found

    def shaped(self, per_instance: Array) -> Array:
        """One number per instance as a value."""
        return np.asarray(per_instance).reshape((-1, *[1] * (self.rank - 1)))

    def scalar(self, number: Array) -> Array:
        """One number for everyone as a value."""
        return np.asarray(number).reshape([1] * self.rank)

    def full(self, array: Array, dims: Sequence[Dim], *, everyone: bool = False) -> Array:
        """The value with the axes of ``dims`` (and of the instances) at their full length."""
        shape = list(array.shape)
        for dim in dims:
            shape[self.axes[dim]] = self.sizes[dim]
        if everyone:
            shape[0] = self.instances
        return np.broadcast_to(array, shape)

    @contextmanager
    def only(self, test: Array) -> Iterator[bool]:
        """Execute with those of the active instances for which ``test`` is true; yields whether there are any."""
        before = self.active, self.everyone
        self.active = self.active & test
        self.everyone = self.everyone and bool(np.all(self.active))
        try:
            yield bool(np.any(self.active))
        finally:
            self.active, self.everyone = before

    def merged(self, new: Array, old: Array) -> Array:
        """``new`` where the instance is active, ``old`` elsewhere."""
        return new if self.everyone else np.where(self.active, new, old)

    # -- memory ------------------------------------------------------------------------------------------------------

    def shape_of(self, resource: Resource) -> tuple[int, ...]:
        """The extents of a resource in numbers."""
        return tuple([self.extent(e) for e in resource.shape])

    def contents(self, resource: Resource) -> tuple[Array, int]:
        """The flat elements of a resource, and how many each instance owns (0: they are shared)."""
        if isinstance(resource, View):
            return self.memory[place(resource)], 0
        flat = self.buffers[resource.id]
        return flat, 0 if resource.scope == "invocation" else flat.size // self.instances


def _common(resource: Resource) -> bool:
    """Whether several instances may touch the resource."""
    return isinstance(resource, View) or resource.scope == "invocation"


def place(resource: View | Buffer) -> str:
    """What resources that may be the same memory have in common."""
    if isinstance(resource, View):
        return resource.alias or resource.name
    return f"{resource.name} !{resource.id}"
