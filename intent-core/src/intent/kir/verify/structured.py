"""Rules of structured operations: axes, results and accumulators (spec: logical-program 6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from intent.kir.ops import (
    Contract,
    Histogram,
    Reduce,
    RegionFold,
    RegionScan,
    ScaledContract,
    Scan,
    SparseContract,
)
from intent.kir.value import Value
from intent.kir.verify.rule import Facts, op_rule
from intent.types import Extent
from intent.types.dtypes import BOOL, INDEX

_FORMATS = ("e2m1", "e4m3")
_SPARSE = {"one_of_two": 1, "two_of_four": 2}


@op_rule(Reduce)
def reduce_axes(op: Reduce, _: Facts) -> Iterator[str]:
    """Components have one shape, axes are distinct and removed from every result."""
    yield from _one_shape(op.operands)
    rank = op.operands[0].rank
    if not op.axes or len(set(op.axes)) != len(op.axes) or any(not 0 <= a < rank for a in op.axes):
        yield f"axes {op.axes} of rank {rank}"
        return
    kept = tuple(e for axis, e in enumerate(op.operands[0].shape) if axis not in op.axes)
    if any(r.shape != kept for r in op.results):
        yield "a reduction removes exactly its axes"


@op_rule(Reduce)
def reduce_builtin(op: Reduce, _: Facts) -> Iterator[str]:
    """A builtin has one operand, no identity, captures or combine, and accumulates in the operand's dtype."""
    if op.kind is None:
        return
    if len(op.operands) != 1 or op.identity or op.captures or op.combine is not None:
        yield f"reduce {op.kind} takes one operand and nothing else"
        return
    dtype = op.operands[0].dtype
    wanted = [dtype, INDEX] if op.kind in ("argmax", "argmin") else [dtype]
    if [r.dtype for r in op.results] != wanted:
        yield f"reduce {op.kind} of {dtype} gives {wanted}"
    if (op.kind in ("any", "all")) != (dtype == BOOL):
        yield f"reduce {op.kind} of {dtype}"


@op_rule(Scan)
def scan_axis(op: Scan, _: Facts) -> Iterator[str]:
    """Components and results have one shape and the scan has one of its axes."""
    yield from _one_shape((*op.operands, *op.results))
    if not 0 <= op.axis < op.operands[0].rank:
        yield f"axis {op.axis} of rank {op.operands[0].rank}"


@op_rule(Scan)
def scan_builtin(op: Scan, _: Facts) -> Iterator[str]:
    """A builtin scan has one numeric operand, no identity, captures or combine, and keeps the dtype."""
    if op.kind is None:
        return
    if len(op.operands) != 1 or op.identity or op.captures or op.combine is not None:
        yield f"scan {op.kind} takes one operand and nothing else"
    elif [r.dtype for r in op.results] != [op.operands[0].dtype] or op.operands[0].dtype == BOOL:
        yield f"scan {op.kind} keeps a numeric dtype"


@op_rule(Reduce, Scan)
def accumulator_schema(op: Reduce | Scan, _: Facts) -> Iterator[str]:
    """A generic reduce or scan has identity, operand and result per component, all of one dtype."""
    if op.kind is not None:
        return
    if op.combine is None or not len(op.operands) == len(op.identity) == len(op.results):
        yield "a generic operation has a combine region and one identity and result per component"
        return
    kept = op.results[0].shape if isinstance(op, Reduce) else _without(op.operands[0].shape, op.axis)
    for operand, identity, result in zip(op.operands, op.identity, op.results, strict=True):
        if not operand.dtype == identity.dtype == result.dtype:
            yield f"a component is {operand.dtype}, its identity {identity.dtype}, its result {result.dtype}"
        if identity.shape and identity.shape != kept:
            yield "an identity is one element-level value or a full slice"


@op_rule(Contract, SparseContract)
def contract_pairs(op: Contract | SparseContract, facts: Facts) -> Iterator[str]:
    """Reduce and batch pairs name existing axes once and pair equal extents."""
    lhs, rhs = (op.lhs, op.rhs) if isinstance(op, Contract) else (op.compressed, op.dense)
    pairs = (*op.reduce, *op.batch)
    if not op.reduce:
        yield "a contraction sums over at least one pair"
    for side, value in ((0, lhs), (1, rhs)):
        named = [pair[side] for pair in pairs]
        if len(set(named)) != len(named) or any(not 0 <= a < value.rank for a in named):
            yield f"axes {named} of rank {value.rank}"
            return
    exact = pairs if isinstance(op, Contract) else op.batch
    for a, b in exact:
        if not facts.same(lhs.shape[a], rhs.shape[b]):
            yield f"extent {lhs.shape[a]} is paired with {rhs.shape[b]}"


@op_rule(Contract, SparseContract)
def contract_result(op: Contract | SparseContract, _: Facts) -> Iterator[str]:
    """Result axes are lhs free and batch axes in lhs order, then rhs free axes; operands share a dtype."""
    lhs, rhs = (op.lhs, op.rhs) if isinstance(op, Contract) else (op.compressed, op.dense)
    summed = {a for a, _ in op.reduce}
    taken = {b for _, b in (*op.reduce, *op.batch)}
    wanted = (
        *(e for axis, e in enumerate(lhs.shape) if axis not in summed),
        *(e for axis, e in enumerate(rhs.shape) if axis not in taken),
    )
    if op.result.shape != wanted:
        yield f"the result's axes are {op.result.shape}, not {wanted}"
    if lhs.dtype != rhs.dtype or BOOL in (lhs.dtype, op.result.dtype):
        yield f"operands are {lhs.dtype} and {rhs.dtype}, the accumulator {op.result.dtype}"
    if lhs.dtype.is_float != op.result.dtype.is_float:
        yield f"{lhs.dtype} cannot be accumulated in {op.result.dtype}"


@op_rule(SparseContract)
def sparse_metadata(op: SparseContract, _: Facts) -> Iterator[str]:
    """The format is known and has its integer metadata components of the compressed shape's groups."""
    if op.format not in _SPARSE:
        yield f"there is no sparse format {op.format}"
    elif len(op.metadata) != _SPARSE[op.format]:
        yield f"{op.format} has {_SPARSE[op.format]} metadata components"
    if any(not m.dtype.is_integer or m.rank != op.compressed.rank for m in op.metadata):
        yield "metadata are integer positions with the compressed value's axes"


@op_rule(ScaledContract)
def scaled_contract_schema(op: ScaledContract, facts: Facts) -> Iterator[str]:
    """lhs[M,G,C], lhs_scale[M,G], rhs[G,C,N], rhs_scale[N,G] and result[M,N] (spec: logical-program 6)."""
    if (op.lhs.rank, op.lhs_scale.rank, op.rhs.rank, op.rhs_scale.rank, op.result.rank) != (3, 2, 3, 2, 2):
        yield "the operands are lhs[M,G,C], lhs_scale[M,G], rhs[G,C,N], rhs_scale[N,G]"
        return
    (m, g, _), (rg, _, n) = op.lhs.shape, op.rhs.shape
    if op.result.shape != (m, n):
        yield "the result is [M,N]"
    lhs_scale, rhs_scale = op.lhs_scale.shape, op.rhs_scale.shape
    for a, b in zip((*lhs_scale, rg, *rhs_scale), (m, g, g, n, g), strict=True):
        if not facts.same(a, b):
            yield f"extent {a} stands where {b} is needed"
    if any(f not in _FORMATS for f in (op.lhs_format, op.rhs_format)):
        yield f"formats {op.lhs_format} and {op.rhs_format}"
    if op.lhs_group != op.rhs_group or op.lhs_group < 1:
        yield "both sides have one positive group size"


@op_rule(Histogram)
def histogram_type(op: Histogram, _: Facts) -> Iterator[str]:
    """Integer values, bool validity of their shape, and one integer count per bin."""
    if not op.values.dtype.is_integer or not op.result.dtype.is_integer or op.result.rank != 1:
        yield "a histogram counts integers into a vector of integers"
    if op.valid is not None and (op.valid.dtype != BOOL or op.valid.shape != op.values.shape):
        yield "validity is bool of the values' shape"


@op_rule(RegionFold, RegionScan)
def region_source(op: RegionFold | RegionScan, facts: Facts) -> Iterator[str]:
    """Every source component has the source axis, with one extent (spec: logical-program 5)."""
    if not op.source or any(not 0 <= op.axis < v.rank for v in op.source):
        yield f"every source component has axis {op.axis}"
        return
    first = op.source[0].shape[op.axis]
    yield from (
        f"source components have the extents {first} and {v.shape[op.axis]}"
        for v in op.source
        if not facts.same(first, v.shape[op.axis])
    )


@op_rule(RegionScan)
def region_scan_results(op: RegionScan, _: Facts) -> Iterator[str]:
    """Results are the outputs, whose output axis has the source extent, then the state's components."""
    if not 0 <= op.outputs <= len(op.results) or len(op.results) - op.outputs != len(op.initial):
        yield "results are the outputs, then one value per state component"
        return
    for result in op.results[: op.outputs]:
        if (
            not 0 <= op.output_axis < result.rank
            or result.shape[op.output_axis] != op.source[0].shape[op.axis]
        ):
            yield f"output axis {op.output_axis} has the source's extent"
    for result, initial in zip(op.results[op.outputs :], op.initial, strict=True):
        if (result.dtype, result.shape) != (initial.dtype, initial.shape):
            yield "the final state has the initial state's schema"


def _one_shape(values: Sequence[Value]) -> Iterator[str]:
    if not values:
        yield "there is no operand"
    elif len({v.shape for v in values}) > 1:
        yield "the components have different shapes"


def _without(shape: tuple[Extent, ...], axis: int) -> tuple[Extent, ...]:
    return tuple(e for k, e in enumerate(shape) if k != axis)
