"""Accesses of one element by different threads that the program does not order, because its lanes are the same.

The program fences what different lanes do. One lane, though, may live in several threads (replicas), and another
operation's table may put it into another thread; then a barrier has to stand between a write and what it must
not meet. Accesses whose lanes each live in one thread, the same in both, need none. A store before which the threads
of a warp exchange registers moves its lanes within the warp: a barrier of the warp is enough for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from intent.physical import Atomic, Buffer, Dim, Fence, Load, Region, Store, View
from intent.physical.fragment import Resource
from intent.physical.walk import walk

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body


@dataclass(frozen=True)
class _Access:
    resource: Resource
    writes: bool
    lanes: tuple[int, tuple[Dim, ...]] | None
    """Table and dims if every thread holds lanes of its own, None if some lane lives in several threads."""
    widened: int | None = None
    """The table to which threads of one warp may bring what is stored, from that of ``lanes``."""


class Hazards:
    """Accesses since the last barrier."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._pending: set[_Access] = set()
        self._in_warp: set[_Access] = set()
        """Accesses since the last barrier of a warp."""

    def clear(self) -> None:
        """A barrier was written."""
        self._pending.clear()
        self._in_warp.clear()

    def fence(self, op: Fence) -> None:
        """A fence of the program: a barrier, unless nothing was accessed since the last one."""
        if any(may_meet(op.target, a.resource) for a in self._pending):
            self._body.barrier()

    def touch(self, op: Load | Store | Atomic) -> None:
        """Write a barrier if the access may meet an earlier one in another thread."""
        accesses = self._accesses(op)
        if any(_conflict(access, earlier) for access in accesses for earlier in self._pending):
            self._body.barrier()
        if any(_moved(access, earlier) for access in accesses for earlier in self._in_warp):
            self._body.warp_barrier()
            self._in_warp.clear()
        self._add(accesses)

    def enter(self, regions: Iterable[Region]) -> None:
        """A loop begins: what its passes access may come before what it accesses."""
        for region in regions:
            for op in walk(region):
                if isinstance(op, Load | Store | Atomic):
                    self._add(self._accesses(op))

    def snapshot(self) -> set[_Access]:
        """What is pending now."""
        return set(self._pending)

    def restore(self, pending: set[_Access]) -> None:
        """Continue with what was pending at a snapshot."""
        self._pending = set(pending)
        self._in_warp = set(pending)

    def merge(self, pending: set[_Access]) -> None:
        """Another path leads here as well."""
        self._pending |= pending
        self._in_warp |= pending

    def _add(self, accesses: Iterable[_Access]) -> None:
        self._pending |= set(accesses)
        self._in_warp |= set(accesses)

    def _accesses(self, op: Load | Store | Atomic) -> list[_Access]:
        """One for each table in which the operation runs."""
        resource, dims = (op.source, op.result.dims) if isinstance(op, Load) else (op.target, op.dims)
        widened = self._body.placing.widened.get(op.id)
        moved = widened[0] if widened is not None else None
        found = []
        for table in self._body.placing.tables_of(op):
            lanes = (table.index, tuple(sorted(dims))) if table.spare(dims) == 0 else None
            found.append(_Access(resource, not isinstance(op, Load), lanes, moved))
        return found


def _conflict(a: _Access, b: _Access) -> bool:
    return _meet(a, b) and (a.lanes is None or a.lanes != b.lanes)


def _moved(a: _Access, b: _Access) -> bool:
    """Whether the same lanes may be other threads of their warp."""
    return _meet(a, b) and a.widened != b.widened


def _meet(a: _Access, b: _Access) -> bool:
    return (a.writes or b.writes) and may_meet(a.resource, b.resource)


def may_meet(a: Resource, b: Resource) -> bool:
    """Whether two resources may share elements; undeclared views may be the very same ones (language decision 7)."""
    if isinstance(a, Buffer) or isinstance(b, Buffer):
        return isinstance(a, Buffer) and isinstance(b, Buffer) and a.id == b.id
    if a.name == b.name or (a.alias is not None and a.alias == b.alias):
        return True
    if a.noalias or b.noalias:
        return False
    return a.dtype == b.dtype and a.rank == b.rank and not _differ(a, b)


def _differ(a: View, b: View) -> bool:
    pairs = zip(a.shape, b.shape, strict=True)
    return any(x.const is not None and y.const is not None and x.const != y.const for x, y in pairs)
