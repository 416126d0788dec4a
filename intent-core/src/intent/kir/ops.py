"""Operations of the logical IR that compute values. Effects stand in effects.py, control in control.py.

Conventions shared by all:

* ``results`` are the SSA values defined; their dtype and shape are the operation's result type.
* Operands of one pointwise operation have exactly the same shape: broadcasting is explicit (``Broadcast``).
* Combine and summarize regions see nothing of the enclosing scope: everything comes in through arguments.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from intent.kir import roles as role
from intent.kir.value import DomainID, OpID, Region, Relation, Resource, Value
from intent.types import Extent, Span
from intent.types.span import UNKNOWN


@dataclass(frozen=True, kw_only=True)
class Op:
    """One operation. ``span`` is the author's statement or expression."""

    id: OpID
    results: tuple[Value, ...] = role.result(())
    span: Span = field(default=UNKNOWN, compare=False)

    @property
    def result(self) -> Value:
        """The only result of a single-result operation."""
        (only,) = self.results
        return only


@dataclass(frozen=True, kw_only=True)
class Constant(Op):
    """A scalar literal. ``value`` is a Python bool, int or float of the result's dtype."""

    value: bool | int | float = role.attribute()


@dataclass(frozen=True, kw_only=True)
class ExtentValue(Op):
    """The index-typed scalar value of an extent expression. Its Dyn atoms must be defined before."""

    extent: Extent = role.attribute()


@dataclass(frozen=True, kw_only=True)
class Iota(Op):
    """Source coordinates of a region: ``result[i] = begin + step * i`` (spec: logical-program 1.1).

    ``domain`` is the region's identity; coordinates are never renumbered by slicing.
    """

    begin: Value = role.operand()
    step: Value = role.operand()
    domain: DomainID = role.attribute()


@dataclass(frozen=True, kw_only=True)
class Pointwise(Op):
    """``fn`` applied element by element. ``fn`` is a key of ``intent.kir.pointwise.FUNCTIONS``."""

    fn: str = role.attribute()
    operands: tuple[Value, ...] = role.operands()
    approximate: bool = role.attribute(False)
    flush_to_zero: bool = role.attribute(False)


@dataclass(frozen=True, kw_only=True)
class Cast(Op):
    """Numeric conversion to the result's dtype (language, Numbers)."""

    value: Value = role.operand()


@dataclass(frozen=True, kw_only=True)
class Bitcast(Op):
    """The same bits as another dtype of equal width."""

    value: Value = role.operand()


@dataclass(frozen=True, kw_only=True)
class Broadcast(Op):
    """Axis k of ``value`` is axis ``axes[k]`` of the result (strictly increasing); other result axes repeat.

    Where the two extents are not the same expression, the operand's extent may be 1 at run time: the
    coordinate is 0 then. A scalar operand with ``axes == ()`` gives full(shape, value).
    """

    value: Value = role.operand()
    axes: tuple[int, ...] = role.attribute()


@dataclass(frozen=True, kw_only=True)
class Reshape(Op):
    """Row-major reinterpretation of the shape; element count is equal (a launch condition if unknown)."""

    value: Value = role.operand()


@dataclass(frozen=True, kw_only=True)
class Transpose(Op):
    """Result axis i is operand axis ``permutation[i]``."""

    value: Value = role.operand()
    permutation: tuple[int, ...] = role.attribute()


@dataclass(frozen=True, kw_only=True)
class Join(Op):
    """``result[..., 0] = lhs``, ``result[..., 1] = rhs``; trailing extent 2 (spec: logical-program 2)."""

    lhs: Value = role.operand()
    rhs: Value = role.operand()


@dataclass(frozen=True, kw_only=True)
class Gather(Op):
    """Pure selection from the tensor value ``source``; slices and element reads of tensors are gathers.

    ``valid`` (bool, result shape) and ``fill`` (scalar of the dtype) are both given or both None. Inactive
    lanes do not touch the source.
    """

    source: Value = role.operand()
    relation: Relation = role.relation()
    valid: Value | None = role.operand(None)
    fill: Value | None = role.operand(None)


@dataclass(frozen=True, kw_only=True)
class Load(Op):
    """Read of a view or buffer through a relation. Reads of mutable resources are pinned at their position.

    A coordinate outside the resource reads ``fill`` (zero if None), language decision 18.
    ``assumed[k]``: an ``assume_in_bounds`` promise covers coordinate k.
    """

    source: Resource = role.resource()
    relation: Relation = role.relation()
    valid: Value | None = role.operand(None)
    fill: Value | None = role.operand(None)
    assumed: tuple[bool, ...] = role.attribute(())


ReduceKind = Literal["sum", "prod", "max", "min", "any", "all", "argmax", "argmin"]


@dataclass(frozen=True, kw_only=True)
class Reduce(Op):
    """Reduction of ``operands`` (equal shapes) over ``axes``; one result per component, axes removed.

    Builtin: ``kind`` set, one operand, no identity and no combine; accumulates in the result's dtype, which
    is the operand's (the front end has cast before). ``argmax``/``argmin`` give (values, positions: index).
    Generic: ``kind is None``; ``combine`` takes scalar arguments (acc..., element..., captures...) and yields
    the components; ``identity`` holds one scalar per component, or a value of the result's shape. A capture is a
    scalar, or has the result's shape and gives the combine its element at the slice position.
    """

    operands: tuple[Value, ...] = role.operands()
    axes: tuple[int, ...] = role.attribute()
    kind: ReduceKind | None = role.attribute(None)
    identity: tuple[Value, ...] = role.operands(())
    captures: tuple[Value, ...] = role.operands(())
    combine: Region | None = role.region(None)


@dataclass(frozen=True, kw_only=True)
class Scan(Op):
    """Ordered prefix combination along ``axis``; results have the operands' shapes. Never an order-free tree.

    ``kind``: ``sum prod max min`` builtin, or None with ``combine`` and ``identity`` as in Reduce. A reverse
    scan is flip, forward scan, flip (language decision 1).
    """

    operands: tuple[Value, ...] = role.operands()
    axis: int = role.attribute()
    kind: Literal["sum", "prod", "max", "min"] | None = role.attribute(None)
    inclusive: bool = role.attribute(True)
    reverse: bool = role.attribute(False)
    identity: tuple[Value, ...] = role.operands(())
    captures: tuple[Value, ...] = role.operands(())
    combine: Region | None = role.region(None)


@dataclass(frozen=True, kw_only=True)
class Contract(Op):
    """Multiply-add contraction. ``reduce`` and ``batch`` pair (lhs axis, rhs axis).

    Result axes: lhs free and batch axes in lhs order, then rhs free axes. Accumulates in the result's dtype;
    no tf32. Operands share a dtype.
    """

    lhs: Value = role.operand()
    rhs: Value = role.operand()
    reduce: tuple[tuple[int, int], ...] = role.attribute()
    batch: tuple[tuple[int, int], ...] = role.attribute(())


@dataclass(frozen=True, kw_only=True)
class RegionFold(Op):
    """Homomorphic fold over contiguous slices of one source axis (spec: logical-program 5).

    ``summarize`` args: the sliced components (whose axis ``axis`` has the fresh extent ``slice_extent``), then
    the captures. ``combine`` args: two summaries. Results: the summary components.
    """

    source: tuple[Value, ...] = role.operands()
    axis: int = role.attribute()
    slice_extent: Extent = role.attribute()
    identity: tuple[Value, ...] = role.operands()
    captures: tuple[Value, ...] = role.operands(())
    summarize: Region = role.region()
    combine: Region = role.region()


@dataclass(frozen=True, kw_only=True)
class RegionScan(Op):
    """Homomorphic scan (spec: logical-program 5). Results: the outputs, then the final state components.

    ``apply`` args: (summary..., state...); ``emit`` args: (slice..., state..., captures...). ``outputs`` says
    how many of the results are emitted outputs; their axis ``output_axis`` is the source axis.
    """

    source: tuple[Value, ...] = role.operands()
    axis: int = role.attribute()
    slice_extent: Extent = role.attribute()
    identity: tuple[Value, ...] = role.operands()
    initial: tuple[Value, ...] = role.operands()
    captures: tuple[Value, ...] = role.operands(())
    outputs: int = role.attribute()
    output_axis: int = role.attribute()
    summarize: Region = role.region()
    combine: Region = role.region()
    apply: Region = role.region()
    emit: Region = role.region()


@dataclass(frozen=True, kw_only=True)
class ScaledContract(Op):
    """Microscaling contraction of lhs[M,G,C] * scale[M,G] with rhs[G,C,N] * scale[N,G]."""

    lhs: Value = role.operand()
    lhs_scale: Value = role.operand()
    rhs: Value = role.operand()
    rhs_scale: Value = role.operand()
    lhs_format: str = role.attribute()
    rhs_format: str = role.attribute()
    lhs_group: int = role.attribute()
    rhs_group: int = role.attribute()


@dataclass(frozen=True, kw_only=True)
class SparseContract(Op):
    """Structured-sparse contraction; ``format`` is ``one_of_two`` or ``two_of_four``."""

    compressed: Value = role.operand()
    metadata: tuple[Value, ...] = role.operands()
    dense: Value = role.operand()
    format: str = role.attribute()
    reduce: tuple[tuple[int, int], ...] = role.attribute()
    batch: tuple[tuple[int, int], ...] = role.attribute(())


@dataclass(frozen=True, kw_only=True)
class Histogram(Op):
    """Counts of ``values`` (all axes) per bin; ``valid`` of the same shape silences lanes. Result: [bins]."""

    values: Value = role.operand()
    valid: Value | None = role.operand(None)


@dataclass(frozen=True, kw_only=True)
class RandomBits(Op):
    """Philox4x32-10 word ``counter % 4`` of block ``counter // 4``; operands of equal shape, result u32."""

    seed: Value = role.operand()
    counter: Value = role.operand()
