"""Indivisible accesses, and a loop around compare-and-swap for updates that no atomic performs.

    waiting, seen = valid, 0                          %w, %s = while any(waiting):
    while any lane waits:                                 %n = combine(%s, value)
        old, won = cas(seen -> combine(seen, value))      %o, %won = atomic.compare_exchange(%s, %n) if %w
        seen, waiting = old, waiting and not won          yield %w & ~%won, select(%w, %o, %s)

A lane that loses has seen a newer value and combines with that one. Somebody wins in every round, so the loop ends.
The first guess costs a round where it is wrong; it spares a read beside the atomics of other instances.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from intent import physical as ph
from intent.construct.access import zero
from intent.construct.context import Context, Place
from intent.types.dtypes import BOOL

_CARRIED = ("waiting", "seen")


@dataclass(frozen=True)
class Target:
    """Where a write goes: resource, alias class, coordinates, the lanes it runs over and its validity."""

    resource: ph.Resource
    key: str
    coordinates: tuple[ph.Fragment, ...]
    proofs: tuple[ph.Proof, ...]
    dims: tuple[ph.Dim, ...]
    valid: ph.Fragment | None

    @property
    def place(self) -> Place:
        """The lanes and the coordinates."""
        return Place.of(self.dims, self.coordinates)


def indivisible(
    c: Context,
    to: Target,
    kind: ph.ops.AtomicKind,
    operands: tuple[ph.Fragment, ...],
    order: str,
    *,
    valid: ph.Fragment | None = None,
) -> tuple[ph.Fragment, ...]:
    """One atomic access per lane that is ``valid`` (the target's lanes by default)."""
    dtype = to.resource.dtype
    types = {"store": (), "compare_exchange": ((dtype, to.dims), (BOOL, to.dims))}
    return c.emitter.effect(
        ph.Atomic,
        types.get(kind, ((dtype, to.dims),)),
        target=to.resource,
        coordinates=to.coordinates,
        kind=kind,
        operands=operands,
        valid=to.valid if valid is None else valid,
        order=order,
        sharing="instance" if _private(to.resource) else "invocation",
        dims=to.dims,
        proofs=to.proofs,
    )


def _private(resource: ph.Resource) -> bool:
    return isinstance(resource, ph.Buffer) and resource.scope != "invocation"


def exchange(
    c: Context, to: Target, update: Callable[[ph.Fragment], ph.Fragment], order: str = "relaxed"
) -> ph.Fragment:
    """Replace each element by ``update`` of its value, indivisibly; the old values."""
    e, dtype = c.emitter, to.resource.dtype
    first = e.broadcast(e.constant(True, BOOL) if to.valid is None else to.valid, to.dims)
    guess = e.broadcast(zero(c, dtype), to.dims)
    inits = (first, guess)
    test = e.open()
    tested = tuple(e.fragment(f.dtype, f.dims, test, name) for f, name in zip(inits, _CARRIED, strict=True))
    condition = _any(c, tested[0])
    e.close(test)
    scope = e.open()
    waiting, seen = (
        e.fragment(f.dtype, f.dims, scope, name) for f, name in zip(inits, _CARRIED, strict=True)
    )
    new = e.broadcast(update(seen), to.dims)
    old, won = indivisible(c, to, "compare_exchange", (seen, new), order, valid=waiting)
    left = e.pointwise("and", waiting, e.pointwise("not", won))
    yields = (left, e.pointwise("select", waiting, old, seen))
    e.close(scope)
    payload: dict[str, Any] = {
        "inits": inits,
        "condition": ph.Region(args=tested, ops=tuple(test.ops), yields=(condition,)),
        "body": ph.Region(args=(waiting, seen), ops=tuple(scope.ops), yields=yields),
    }
    types = tuple((f.dtype, f.dims) for f in inits)
    return e.place(ph.While, (test, scope), types, ("", "old"), **payload)[1]


def _any(c: Context, lanes: ph.Fragment) -> ph.Fragment:
    if not lanes.dims:
        return lanes
    return c.emitter.emit(ph.Reduce, ((BOOL, ()),), operands=(lanes,), dims=lanes.dims, kind="any")[0]
