"""Values held in a program-private buffer: filled once per owner, then read at any coordinate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from intent import kir
from intent import physical as ph
from intent.construct.context import Context
from intent.construct.emission import Scope
from intent.construct.frame import Frame
from intent.construct.inside import in_room
from intent.construct.point import Point, members_of
from intent.diagnostics import PlanError
from intent.types import DType, Extent
from intent.types.extent import const


@dataclass(frozen=True)
class Held:
    """One value in a buffer of shape (lanes of the owner..., held axes...).

    ``extents``: of the held axes in the kernel, whose room in the buffer is what bounds them.
    """

    buffer: ph.Buffer
    lanes: tuple[ph.Dim, ...]
    extents: tuple[Extent, ...]

    @classmethod
    def allocate(
        cls,
        c: Context,
        value: kir.Value,
        lanes: tuple[ph.Dim, ...],
        extents: tuple[Extent, ...],
        name: str,
        scope: Scope | None = None,
    ) -> Held:
        """A fresh buffer of ``scope``, by default of the one that :func:`hold` fills buffers for."""
        shape = []
        for e in extents:
            bound = c.analysis.upper_bound(e)
            if bound is None:
                raise PlanError(
                    f"nothing known before launch bounds the extent {c.facts.shown(e)}, so that "
                    f"'{value.name or name}' cannot be held in a buffer",
                    span=c.emitter.span,
                )
            shape.append(bound)
        inner, c.emitter.current = c.emitter.current, scope or c.holding
        held = cls.begin(c, value.dtype, lanes, tuple(shape), name)
        c.emitter.current = inner
        return replace(held, extents=extents)

    @classmethod
    def begin(
        cls, c: Context, dtype: DType, lanes: tuple[ph.Dim, ...], shape: tuple[Extent, ...], name: str
    ) -> Held:
        """A fresh buffer in the current scope, ``shape`` elements for every lane of the owner."""
        room = (*(const(d.size) for d in lanes), *shape)
        buffer = ph.Buffer(id=c.next_buffer(), name=name, dtype=dtype, shape=room)
        c.workspace.append(buffer)
        c.emitter.effect(ph.BufferAlloc, buffer=buffer)
        if c.emitter.current.depth:
            # The storage is the one of the pass before, whose reads by other lanes must be over.
            c.emitter.effect(ph.Fence, target=buffer)
        c.hold_scopes[buffer.id] = c.emitter.current
        return cls(buffer, lanes, shape)

    def owner(self, c: Context) -> tuple[ph.Fragment, ...]:
        """The leading coordinates: the owner's lanes."""
        return tuple(c.emitter.lane(d) for d in self.lanes)

    def _coordinates(self, c: Context, along: tuple[Point, ...]) -> tuple[ph.Fragment, ...]:
        return (*self.owner(c), *(p.fragment for p in along))

    def write(self, c: Context, value: ph.Fragment, *along: Point) -> None:
        """Store ``value`` at ``along``, one element per lane of the owner."""
        proofs, tests = self._inside(c, along)
        c.emitter.effect(
            ph.Store,
            target=self.buffer,
            coordinates=self._coordinates(c, along),
            value=value,
            valid=c.emitter.conjunction(members_of(along) | tests),
            dims=c.emitter.order.sort((*self.lanes, *(d for p in along for d in p.fragment.dims))),
            proofs=(*(ph.REGION for _ in self.lanes), *proofs),
        )

    def _inside(
        self, c: Context, along: tuple[Point, ...]
    ) -> tuple[tuple[ph.Proof, ...], frozenset[ph.Fragment]]:
        """Why coordinates that run over the held axes have elements, and the tests of it."""
        found = [in_room(c, p, e) for p, e in zip(along, self.extents, strict=True)]
        return tuple(proof for proof, _ in found), frozenset().union(*(tests for _, tests in found))

    def settle(self, c: Context) -> None:
        """Make the writes of all lanes visible to all lanes."""
        c.emitter.effect(ph.Fence, target=self.buffer)

    def read(self, c: Context, *along: Point, proof: ph.Proof | None = None) -> ph.Fragment:
        """The value at coordinates ``along`` of the held axes, for the owner's lanes.

        ``proof`` says why these coordinates are in bounds where they do not run over the held axes.
        """
        coordinates = self._coordinates(c, along)
        proofs, tests = self._inside(c, along)
        mask = c.emitter.conjunction(members_of(along) | tests)
        dims = c.emitter.union((*coordinates, *([mask] if mask is not None else [])))
        return c.emitter.emit(
            ph.Load,
            ((self.buffer.dtype, dims),),
            source=self.buffer,
            coordinates=coordinates,
            valid=mask,
            proofs=(*(ph.REGION for _ in self.lanes), *(proof or own for own in proofs)),
            name=self.buffer.name,
            least=c.hold_scopes[self.buffer.id],
        )[0]


def innermost(c: Context, at: tuple[Point, ...], frame: Frame) -> Scope:
    """The scope that a value of the frame at these coordinates belongs to."""
    scope: Scope = frame.scope
    for point in at:
        for fragment in (point.fragment, *point.members):
            home = c.emitter.home[fragment.id]
            if home.depth > scope.depth:
                scope = home
    return scope


@contextmanager
def placed(c: Context, scope: Scope) -> Iterator[None]:
    """Build in an enclosing scope. Fences out there say nothing about the passes of the loops in here."""
    dirty = set(c.dirty)
    try:
        with c.emitter.placed(scope):
            yield
    finally:
        c.dirty |= dirty


def hold(
    c: Context, key: object, at: tuple[Point, ...], frame: Frame, fill: Callable[[], tuple[Held, ...]]
) -> tuple[Held, ...]:
    """Fill buffers where the owner's coordinates live, once per owner."""
    return hold_in(c, key, innermost(c, at, frame), fill)


def hold_in(c: Context, key: object, scope: Scope, fill: Callable[[], tuple[Held, ...]]) -> tuple[Held, ...]:
    """Fill buffers in an enclosing scope, once."""
    found = c.holds.get(key)
    if found is not None and c.emitter.around(found[0]):
        return found[1]
    around, c.holding = c.holding, scope
    try:
        with placed(c, scope):
            helds = fill()
    finally:
        c.holding = around
    c.holds[key] = (scope, helds)
    return helds
