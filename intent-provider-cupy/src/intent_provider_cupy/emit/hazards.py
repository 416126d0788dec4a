"""Accesses of one element by different threads that the program does not order, because its lanes are the same.

The program fences what different lanes do. One lane, though, may live in several threads (replicas), and another
operation's table may put it into another thread; then a barrier has to stand between a write and what it must
not meet. Accesses whose lanes each live in one thread, the same in both, need none.
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


class Hazards:
    """Accesses since the last barrier."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._pending: set[_Access] = set()

    def clear(self) -> None:
        """A barrier was written."""
        self._pending.clear()

    def fence(self, op: Fence) -> None:
        """A fence of the program: a barrier, unless nothing was accessed since the last one."""
        if any(may_meet(op.target, a.resource) for a in self._pending):
            self._body.barrier()

    def touch(self, op: Load | Store | Atomic) -> None:
        """Write a barrier if the access may meet an earlier one in another thread."""
        access = self._access(op)
        if any(_conflict(access, earlier) for earlier in self._pending):
            self._body.barrier()
        self._pending.add(access)

    def enter(self, regions: Iterable[Region]) -> None:
        """A loop begins: what its passes access may come before what it accesses."""
        for region in regions:
            for op in walk(region):
                if isinstance(op, Load | Store | Atomic):
                    self._pending.add(self._access(op))

    def snapshot(self) -> set[_Access]:
        """What is pending now."""
        return set(self._pending)

    def restore(self, pending: set[_Access]) -> None:
        """Continue with what was pending at a snapshot."""
        self._pending = set(pending)

    def merge(self, pending: set[_Access]) -> None:
        """Another path leads here as well."""
        self._pending |= pending

    def _access(self, op: Load | Store | Atomic) -> _Access:
        table = self._body.placing.table_of(op)
        resource, dims = (op.source, op.result.dims) if isinstance(op, Load) else (op.target, op.dims)
        lanes = (table.index, tuple(sorted(dims))) if table.spare(dims) == 0 else None
        return _Access(resource, not isinstance(op, Load), lanes)


def _conflict(a: _Access, b: _Access) -> bool:
    if not (a.writes or b.writes) or not may_meet(a.resource, b.resource):
        return False
    return a.lanes is None or a.lanes != b.lanes


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
