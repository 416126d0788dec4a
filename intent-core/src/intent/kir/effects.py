"""Operations of the logical IR with effects. Their order is their position in the region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from intent.kir import roles as role
from intent.kir.ops import Op
from intent.kir.value import Buffer, Region, Relation, Resource, Value

Uniqueness = Literal["proven", "assumed", "point"]


@dataclass(frozen=True, kw_only=True)
class Store(Op):
    """Unique write of ``value`` (its shape is the relation's) through ``relation``.

    ``uniqueness``: the destination relation is ``proven`` injective over the value's axes, ``assumed`` so by
    the author's promise (language decision 4), or is a single ``point`` (rank-zero value).
    Lanes whose ``valid`` is false or whose coordinate is outside produce no effect.
    """

    target: Resource = role.resource()
    relation: Relation = role.relation()
    value: Value = role.operand()
    valid: Value | None = role.operand(None)
    uniqueness: Uniqueness = role.attribute("proven")
    assumed: tuple[bool, ...] = role.attribute(())


@dataclass(frozen=True, kw_only=True)
class ScatterReduce(Op):
    """Colliding write: ``target[i] = combine(target[i], value)``, associative and commutative by declaration.

    ``kind`` is ``sum max min`` or None with ``combine`` (args: old, value).
    """

    target: Resource = role.resource()
    relation: Relation = role.relation()
    value: Value = role.operand()
    valid: Value | None = role.operand(None)
    kind: Literal["sum", "max", "min"] | None = role.attribute(None)
    combine: Region | None = role.region(None)


@dataclass(frozen=True, kw_only=True)
class BufferAlloc(Op):
    """One lexical allocation instance of a logical buffer; ``init`` (scalar or full shape) or uninitialised."""

    buffer: Buffer = role.resource()
    init: Value | None = role.operand(None)


@dataclass(frozen=True, kw_only=True)
class AssumeInBounds(Op):
    """The author's promise that ``index`` is within axis ``axis`` of ``target`` from here on."""

    index: Value = role.operand()
    target: Resource = role.resource()
    axis: int = role.attribute()


AtomicKind = Literal["load", "store", "exchange", "add", "max", "min", "and", "or", "xor", "compare_exchange"]
Order = Literal["relaxed", "acquire", "release", "acq_rel"]


@dataclass(frozen=True, kw_only=True)
class Atomic(Op):
    """Indivisible access. Results: the old value; compare_exchange: (old value, success)."""

    target: Resource = role.resource()
    relation: Relation = role.relation()
    kind: AtomicKind = role.attribute()
    operands: tuple[Value, ...] = role.operands(())
    valid: Value | None = role.operand(None)
    order: Order = role.attribute("relaxed")
