"""What an atomic on many elements returns: old values in lanes, or in a buffer when loops make the accesses."""

from __future__ import annotations

from intent import kir
from intent import physical as ph
from intent.construct.carried import held_binding
from intent.construct.context import Context
from intent.construct.emission import Scope
from intent.construct.frame import Binding, Frame, constant_binding
from intent.construct.held import Held
from intent.construct.point import Point, members_of

At = tuple[Point, ...]


class OldValues:
    """The results of one atomic, made known to the frame once all of its accesses are done.

    ``scope``: where the atomic stands, outside of the loops over its elements. ``walked``: the axes that the
    instance walks itself; along the others only the instance's own coordinates are wanted.
    """

    def __init__(self, c: Context, op: kir.Atomic, walked: tuple[int, ...], scope: Scope) -> None:
        self.c, self.op, self.walked, self.scope = c, op, walked, scope
        self.bindings: dict[int, Binding] = {}
        self.helds: list[Held] = []

    def take(self, made: tuple[ph.Fragment, ...], at: At, *, looped: bool) -> None:
        """The results at ``at``; ``looped``: one pass of loops over the walked axes."""
        for result, fragment in zip(self.op.results, made, strict=False):
            if not at:
                self.bindings[result.id] = constant_binding(Point(fragment))
            elif looped:
                self.bindings[result.id] = self._hold(result, fragment, at)
            else:
                whole = frozenset(self.walked)
                self.bindings[result.id] = held_binding(self.c, result, fragment, at, whole)

    def _hold(self, result: kir.Value, fragment: ph.Fragment, at: At) -> Binding:
        c = self.c
        along = tuple(at[k] for k in self.walked)
        inner = {d for p in along for d in p.fragment.dims}
        lanes = tuple(d for d in fragment.dims if d not in inner)
        extents = tuple(result.shape[k] for k in self.walked)
        held = Held.allocate(c, result, lanes, extents, result.name or "old", self.scope)
        held.write(c, fragment, *along)
        self.helds.append(held)

        def read(where: At) -> Point:
            value = held.read(c, *(where[k] for k in self.walked))
            return Point(value, members_of(where))

        return read

    def publish(self, frame: Frame) -> None:
        """After the loops: every lane sees every old value."""
        for held in self.helds:
            held.settle(self.c)
        frame.bindings.update(self.bindings)
