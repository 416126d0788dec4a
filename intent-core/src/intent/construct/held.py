"""Values held in a program-private buffer: filled once per owner, then read at any coordinate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from intent import kir
from intent import physical as ph
from intent.construct.context import Context
from intent.construct.emission import Scope
from intent.construct.frame import Frame
from intent.construct.point import Point
from intent.diagnostics import PlanError
from intent.types import Extent
from intent.types.extent import const


@dataclass(frozen=True)
class Held:
    """One value in a buffer of shape (lanes of the owner..., held axis)."""

    buffer: ph.Buffer
    lanes: tuple[ph.Dim, ...]

    @classmethod
    def allocate(cls, c: Context, value: kir.Value, lanes: tuple[ph.Dim, ...], e: Extent, name: str) -> Held:
        """A fresh buffer; the allocation stands before the loop that is being built."""
        bound = c.analysis.upper_bound(e)
        if bound is None:
            raise PlanError(f"extent {e} is not known before launch, so {name} cannot be held in a buffer")
        shape = (*(const(d.size) for d in lanes), bound)
        buffer = ph.Buffer(id=c.next_buffer(), name=name, dtype=value.dtype, shape=shape)
        c.workspace.append(buffer)
        inner, c.emitter.current = c.emitter.current, c.holding
        c.emitter.effect(ph.BufferAlloc, buffer=buffer)
        if c.emitter.current.depth:
            # The storage is the one of the pass before, whose reads by other lanes must be over.
            c.emitter.effect(ph.Fence, target=buffer)
        c.emitter.current = inner
        return cls(buffer, lanes)

    def owner(self, c: Context) -> tuple[ph.Fragment, ...]:
        """The leading coordinates: the owner's lanes."""
        return tuple(c.emitter.lane(d) for d in self.lanes)

    def _coordinates(self, c: Context, along: ph.Fragment) -> tuple[ph.Fragment, ...]:
        return (*self.owner(c), along)

    def write(self, c: Context, value: ph.Fragment, along: Point) -> None:
        """Store ``value`` at ``along``, one element per lane of the owner."""
        c.emitter.effect(
            ph.Store,
            target=self.buffer,
            coordinates=self._coordinates(c, along.fragment),
            value=value,
            valid=c.emitter.conjunction(along.members),
            dims=c.emitter.order.sort((*self.lanes, *along.fragment.dims)),
            proofs=(*("region" for _ in self.lanes), "region"),
        )

    def settle(self, c: Context) -> None:
        """Make the writes of all lanes visible to all lanes."""
        c.emitter.effect(ph.Fence, target=self.buffer)

    def read(self, c: Context, at: tuple[Point, ...], axis: int) -> ph.Fragment:
        """The value at coordinate ``at[axis]`` for the owner's lanes."""
        along = at[axis]
        coordinates = self._coordinates(c, along.fragment)
        mask = c.emitter.conjunction(along.members)
        dims = c.emitter.union((*coordinates, *([mask] if mask is not None else [])))
        return c.emitter.emit(
            ph.Load,
            ((self.buffer.dtype, dims),),
            source=self.buffer,
            coordinates=coordinates,
            valid=mask,
            proofs=(*("region" for _ in self.lanes), "region"),
            name=self.buffer.name,
            least=c.hold_scopes[self.buffer.id],
        )[0]


def hold(
    c: Context, key: object, at: tuple[Point, ...], frame: Frame, fill: Callable[[], tuple[Held, ...]]
) -> tuple[Held, ...]:
    """Fill buffers where the owner's coordinates live, once per owner."""
    found = c.holds.get(key)
    if found is not None and found[0].open:
        return found[1]
    scope: Scope = frame.scope
    for point in at:
        for fragment in (point.fragment, *point.members):
            home = c.emitter.home[fragment.id]
            if home.depth > scope.depth:
                scope = home
    outer, around = c.emitter.current, c.holding
    c.emitter.current = c.holding = scope
    try:
        helds = fill()
    finally:
        c.emitter.current, c.holding = outer, around
    for held in helds:
        c.hold_scopes[held.buffer.id] = scope
    c.holds[key] = (scope, helds)
    return helds
