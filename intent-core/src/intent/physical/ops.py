"""Operations of physical programs (spec: kir-to-gpu-program 4 and 7).

Everything that execution needs is operand, attribute or region: a provider reads nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from intent.kir import roles as role
from intent.physical.fragment import Buffer, Dim, Fragment, Region, Resource
from intent.physical.proof import Proof
from intent.types import Extent, Span
from intent.types.span import UNKNOWN


@dataclass(frozen=True, kw_only=True)
class Op:
    """One operation. ``origin`` is the KIR operation it comes from (diagnostics and verification only)."""

    id: int
    results: tuple[Fragment, ...] = role.result(())
    origin: int | None = field(default=None, compare=False)
    span: Span = field(default=UNKNOWN, compare=False)

    @property
    def result(self) -> Fragment:
        """The only result of a single-result operation."""
        (only,) = self.results
        return only


@dataclass(frozen=True, kw_only=True)
class Constant(Op):
    """A scalar literal of the result's dtype."""

    value: bool | int | float = role.attribute()


@dataclass(frozen=True, kw_only=True)
class LaunchValue(Op):
    """The index scalar value of a launch-visible extent expression."""

    extent: Extent = role.attribute()


@dataclass(frozen=True, kw_only=True)
class Argument(Op):
    """A runtime scalar parameter."""

    parameter: str = role.attribute()


@dataclass(frozen=True, kw_only=True)
class Lane(Op):
    """``0 .. dim.size-1`` along ``dim``, index-typed."""

    dim: Dim = role.attribute()


@dataclass(frozen=True, kw_only=True)
class Pointwise(Op):
    """``fn`` of ``intent.kir.pointwise.FUNCTIONS``; operands broadcast by dim name; result dims are the union.

    ``approximate``: the author's permission, or what becomes of the value leaves room for a division, exponential or
    logistic function that is off by 2**-17 of itself (``intent.passes.narrowed``). ``flush_to_zero``: the author's
    permission, or nobody would see a subnormal result (``intent.passes.flushed``).
    """

    fn: str = role.attribute()
    operands: tuple[Fragment, ...] = role.operands()
    approximate: bool = role.attribute(False)
    flush_to_zero: bool = role.attribute(False)


@dataclass(frozen=True, kw_only=True)
class Cast(Op):
    """Numeric conversion to the result's dtype."""

    value: Fragment = role.operand()


@dataclass(frozen=True, kw_only=True)
class Bitcast(Op):
    """The same bits as another dtype of equal width."""

    value: Fragment = role.operand()


@dataclass(frozen=True, kw_only=True)
class Broadcast(Op):
    """``value`` repeated over the result's dims, a superset of its own."""

    value: Fragment = role.operand()


@dataclass(frozen=True, kw_only=True)
class Rename(Op):
    """``value`` with lane dim ``source`` moved to ``target`` (equal size, not already present)."""

    value: Fragment = role.operand()
    source: Dim = role.attribute()
    target: Dim = role.attribute()


@dataclass(frozen=True, kw_only=True)
class Load(Op):
    """Read of ``source`` at one coordinate per axis; result dims are the union of the coordinates' and valid's.

    Lanes whose ``valid`` is false do not touch memory and give ``fill`` (zero of the dtype if None).
    ``proofs[k]`` says why coordinate k is in bounds on active lanes. ``reread``: the instance reads these elements
    ``again`` in a later walk, for the ``last`` time after others, or nobody reads them but it and ``once`` (empty:
    unknown); a hint for caches.
    """

    source: Resource = role.resource()
    coordinates: tuple[Fragment, ...] = role.operands()
    valid: Fragment | None = role.operand(None)
    fill: Fragment | None = role.operand(None)
    proofs: tuple[Proof, ...] = role.attribute()
    reread: Literal["", "again", "last", "once"] = role.attribute("")


@dataclass(frozen=True, kw_only=True)
class Store(Op):
    """Write of ``value`` over the execution dims ``dims`` (operands broadcast to them), unique per element.

    A lane dim of ``dims`` that no coordinate mentions would write one element many times: construction never
    makes that; replicated fragments are stored by one replica. ``unique`` says why no element of the author's store is
    written twice: it is one element (``static``), shown (``interval``) or the author's promise (``assumed``); None for
    stores that construction adds.
    """

    target: Resource = role.resource()
    coordinates: tuple[Fragment, ...] = role.operands()
    value: Fragment = role.operand()
    valid: Fragment | None = role.operand(None)
    dims: tuple[Dim, ...] = role.attribute()
    proofs: tuple[Proof, ...] = role.attribute()
    unique: Proof | None = role.attribute(None)


ReduceKind = Literal["sum", "prod", "max", "min", "any", "all", "argmax", "argmin"]


@dataclass(frozen=True, kw_only=True)
class Reduce(Op):
    """Order-free reduction over lane ``dims``; every lane is live (construction put the identity in dead ones).

    Builtin ``kind``: one operand; ``argmax``/``argmin``: operands (value, position), NaN wins, lowest position
    on ties. Generic: ``combine`` args (acc..., element..., captures...) are scalars; ``identity`` per component.
    max/min propagate NaN. Accumulates in the operand's dtype.
    """

    operands: tuple[Fragment, ...] = role.operands()
    dims: tuple[Dim, ...] = role.attribute()
    kind: ReduceKind | None = role.attribute(None)
    identity: tuple[Fragment, ...] = role.operands(())
    captures: tuple[Fragment, ...] = role.operands(())
    combine: Region | None = role.region(None)


@dataclass(frozen=True, kw_only=True)
class Scan(Op):
    """Ordered prefix along lane ``dim``; results have the operands' dims. Inclusive."""

    operands: tuple[Fragment, ...] = role.operands()
    dim: Dim = role.attribute()
    kind: Literal["sum", "prod", "max", "min"] | None = role.attribute(None)
    reverse: bool = role.attribute(False)
    captures: tuple[Fragment, ...] = role.operands(())
    combine: Region | None = role.region(None)


@dataclass(frozen=True, kw_only=True)
class Contract(Op):
    """Sum over ``dims`` of lhs * rhs (+ accumulator), in the result's dtype, never tf32.

    Result dims = union of both operands' dims less ``dims``; dims in both that are not summed are batch dims.
    Dead lanes of the summed dims are zero in both operands. ``split``: f32 operands may each be taken for a sum of
    three bf16 parts, of whose nine products the six largest are summed; NaN and infinities stay what they are.
    """

    lhs: Fragment = role.operand()
    rhs: Fragment = role.operand()
    accumulator: Fragment | None = role.operand(None)
    dims: tuple[Dim, ...] = role.attribute()
    split: bool = role.attribute(False)


@dataclass(frozen=True, kw_only=True)
class Histogram(Op):
    """For every lane of ``bins``: how many lanes of ``dims`` hold its number (+ accumulator), modulo 2**bits.

    Lane b of the result is the accumulator's lane b plus the number of lanes along ``dims`` that are ``valid`` and
    whose value is b. A value that is the number of no lane of ``bins`` counts nowhere. Result dims = dims of
    ``values`` and ``valid`` less ``dims``, and ``bins``, which neither of them has.
    """

    values: Fragment = role.operand()
    valid: Fragment | None = role.operand(None)
    accumulator: Fragment | None = role.operand(None)
    dims: tuple[Dim, ...] = role.attribute()
    bins: Dim = role.attribute()


@dataclass(frozen=True, kw_only=True)
class Narrowed:
    """Why a loop begins after, or ends before, the range of its relation (spec: kir-to-gpu-program 9).

    ``bound`` is what the relation says: the loop's own ``side`` is a maximum of it and places where blocks begin, or a
    minimum of it and others. Every pass that this leaves out has one of ``tests``, comparisons in the body, false on
    every lane, and changes nothing then.
    """

    side: Literal["begin", "end"]
    bound: Fragment
    tests: tuple[Fragment, ...]


@dataclass(frozen=True, kw_only=True)
class Loop(Op):
    """Uniform counted loop: ``for i in range(begin, end, step)``; body args (i, carries...).

    ``summary``, of a region fold: values of the body, one per carry, that summarise the slice of this pass; the
    carries begin at the fold's identity and each yield is the author's combine of carries and summary.
    """

    begin: Fragment = role.operand()
    end: Fragment = role.operand()
    step: Fragment = role.operand()
    inits: tuple[Fragment, ...] = role.operands(())
    body: Region = role.region()
    summary: tuple[Fragment, ...] = role.attribute(())
    narrowed: tuple[Narrowed, ...] = role.attribute(())


@dataclass(frozen=True, kw_only=True)
class If(Op):
    """Uniform condition; both regions yield the results."""

    condition: Fragment = role.operand()
    then: Region = role.region()
    orelse: Region = role.region()


@dataclass(frozen=True, kw_only=True)
class While(Op):
    """Uniform condition over the carries; ``condition`` yields one bool scalar."""

    inits: tuple[Fragment, ...] = role.operands(())
    condition: Region = role.region()
    body: Region = role.region()


@dataclass(frozen=True, kw_only=True)
class BufferAlloc(Op):
    """Storage of ``buffer`` comes into being, uninitialised (initial values are explicit stores)."""

    buffer: Buffer = role.resource()


@dataclass(frozen=True, kw_only=True)
class Fence(Op):
    """Orders this instance's earlier accesses to ``resource`` before its later ones, across lanes."""

    target: Resource = role.resource()


AtomicKind = Literal["load", "store", "exchange", "add", "max", "min", "and", "or", "xor", "compare_exchange"]
ANY_ORDER: Final = frozenset({"add", "max", "min", "and", "or", "xor"})
"""Kinds that give the same element in any order, if nobody looks at what was there."""


@dataclass(frozen=True, kw_only=True)
class Atomic(Op):
    """Indivisible access over the execution dims. Results: old value; compare_exchange: (old, success)."""

    target: Resource = role.resource()
    coordinates: tuple[Fragment, ...] = role.operands()
    kind: AtomicKind = role.attribute()
    operands: tuple[Fragment, ...] = role.operands(())
    valid: Fragment | None = role.operand(None)
    order: Literal["relaxed", "acquire", "release", "acq_rel"] = role.attribute("relaxed")
    sharing: Literal["instance", "invocation"] = role.attribute("invocation")
    dims: tuple[Dim, ...] = role.attribute()
    proofs: tuple[Proof, ...] = role.attribute()
