"""Atomic operations.

``address`` is ``view[i]``, or a view together with ``index=`` (spec: logical-program 10).

Orders: loads take ``relaxed`` or ``acquire``, stores ``relaxed`` or ``release``, all others also
``acq_rel``. There is no scope: participants are the executions of this invocation that reach the same
element.
"""

from __future__ import annotations

from intent.language.intrinsic import Namespace, intrinsic
from intent.language.kinds import Index, Value, View

__all__ = ["atomic"]


@intrinsic("atomic.load", target="address", view="address")
def atomic_load(address: View, *, index: Index = None, order: str = "relaxed") -> Value:
    """The current value of the element."""


@intrinsic("atomic.store", target="address", view="address")
def atomic_store(address: View, value: Value, *, index: Index = None, order: str = "relaxed") -> None:
    """Replace the element by ``value``."""


@intrinsic("atomic.exchange", target="address", view="address")
def atomic_exchange(address: View, value: Value, *, index: Index = None, order: str = "relaxed") -> Value:
    """Replace the element by ``value`` and give the old value."""


@intrinsic("atomic.add", target="address", view="address")
def atomic_add(address: View, value: Value, *, index: Index = None, order: str = "relaxed") -> Value:
    """Add ``value`` to the element and give the old value; integers wrap.

    Raises:
        WriteToReadOnly, MixedDTypes, InvalidOrder.

    spec: logical-program 10
    """


@intrinsic("atomic.max", target="address", view="address")
def atomic_max(address: View, value: Value, *, index: Index = None, order: str = "relaxed") -> Value:
    """Replace the element by the larger of it and ``value``, and give the old value."""


@intrinsic("atomic.min", target="address", view="address")
def atomic_min(address: View, value: Value, *, index: Index = None, order: str = "relaxed") -> Value:
    """Replace the element by the smaller of it and ``value``, and give the old value."""


@intrinsic("atomic.and_", target="address", view="address")
def atomic_and(address: View, value: Value, *, index: Index = None, order: str = "relaxed") -> Value:
    """Replace the integer element by ``element & value`` and give the old value."""


@intrinsic("atomic.or_", target="address", view="address")
def atomic_or(address: View, value: Value, *, index: Index = None, order: str = "relaxed") -> Value:
    """Replace the integer element by ``element | value`` and give the old value."""


@intrinsic("atomic.xor", target="address", view="address")
def atomic_xor(address: View, value: Value, *, index: Index = None, order: str = "relaxed") -> Value:
    """Replace the integer element by ``element ^ value`` and give the old value."""


@intrinsic("atomic.compare_exchange", target="address", view="address")
def atomic_compare_exchange(
    address: View, expected: Value, desired: Value, *, index: Index = None, order: str = "relaxed"
) -> Value:
    """Replace the element by ``desired`` if it equals ``expected``: a record ``old_value``, ``success``.

    A failed exchange keeps only the load half of ``order``.
    """


class Atomic(Namespace):
    """Indivisible reads and writes of single elements."""

    name = "atomic"
    load = atomic_load
    store = atomic_store
    exchange = atomic_exchange
    add = atomic_add
    max = atomic_max
    min = atomic_min
    and_ = atomic_and
    or_ = atomic_or
    xor = atomic_xor
    compare_exchange = atomic_compare_exchange


atomic = Atomic()
