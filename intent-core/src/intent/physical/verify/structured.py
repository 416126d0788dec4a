"""Rules on reduce, scan, contract and histogram: operands, results, identities and combine regions are complete."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from intent.physical.fragment import Dim, Fragment, Region
from intent.physical.ops import Contract, Histogram, Reduce, Scan
from intent.physical.program import Program
from intent.physical.verify.rule import STRUCTURED, Problem, Rule, operations
from intent.physical.verify.values import union
from intent.types.dtypes import BOOL, INDEX

__all__ = ["RULES"]


def structured_dims(program: Program) -> Iterator[Problem]:
    """Reduced, scanned and summed dims are present in every operand; result dims follow from them."""
    for op in operations(program):
        match op:
            case Reduce():
                if not op.dims:
                    yield Problem(text="a reduction names no dims", op=op)
                yield from _present(op, op.dims, op.operands)
                yield from _results(op, _without(union(program, *op.operands), op.dims))
            case Scan():
                yield from _present(op, (op.dim,), op.operands)
                yield from _results(op, union(program, *op.operands))
            case Contract():
                if not op.dims:
                    yield Problem(text="a contraction names no summed dims", op=op)
                yield from _present(op, op.dims, (op.lhs, op.rhs))
                expected = _without(union(program, op.lhs, op.rhs), op.dims)
                yield from _results(op, expected)
                if op.accumulator is not None and not set(op.accumulator.dims) <= set(expected):
                    yield Problem(text="the accumulator has dims that the result has not", op=op)
            case Histogram():
                yield from _histogram_dims(op, program)


def _histogram_dims(op: Histogram, program: Program) -> Iterator[Problem]:
    if not op.dims:
        yield Problem(text="a histogram names no counted dims", op=op)
    yield from _present(op, op.dims, (op.values,))
    given = union(program, op.values, op.valid)
    if op.bins in given:
        yield Problem(text=f"what is counted has the dim of the bins, {op.bins}", op=op)
    kept = {*_without(given, op.dims), op.bins}
    expected = tuple(dim for dim in program.dims if dim in kept)
    yield from _results(op, expected)
    if op.accumulator is not None and not set(op.accumulator.dims) <= set(expected):
        yield Problem(text="the accumulator has dims that the result has not", op=op)


def _present(
    op: Reduce | Scan | Contract | Histogram, dims: tuple[Dim, ...], operands: tuple[Fragment, ...]
) -> Iterator[Problem]:
    for dim in dims:
        for value in operands:
            if dim not in value.dims:
                yield Problem(text=f"operand %{value.id} has no dim {dim}", op=op)


def _results(op: Reduce | Scan | Contract | Histogram, expected: tuple[Dim, ...]) -> Iterator[Problem]:
    for result in op.results:
        if result.dims != expected:
            wanted = ", ".join(map(str, expected)) or "none"
            yield Problem(text=f"the result %{result.id} must have the dims {wanted}", op=op)


def _without(dims: tuple[Dim, ...], removed: tuple[Dim, ...]) -> tuple[Dim, ...]:
    return tuple(dim for dim in dims if dim not in removed)


def structured_schema(program: Program) -> Iterator[Problem]:
    """Builtin kinds have one operand (arg kinds two); a generic one has identity and a scalar combine."""
    for op in operations(program):
        match op:
            case Reduce():
                yield from _builtin(op) if op.kind is not None else _generic(op)
            case Scan():
                yield from _builtin(op) if op.kind is not None else _generic(op)
            case Contract():
                yield from _contract(op)
            case Histogram():
                yield from _histogram(op)


def _builtin(op: Reduce | Scan) -> Iterator[Problem]:
    components = 2 if op.kind in ("argmax", "argmin") else 1
    if op.combine is not None or op.captures or (isinstance(op, Reduce) and op.identity):
        yield Problem(text=f"'{op.kind}' has its own combine and identity", op=op)
    if len(op.operands) != components or len(op.results) != components:
        yield Problem(text=f"'{op.kind}' has {components} operands and as many results", op=op)
        return
    if [v.dtype for v in op.operands] != [v.dtype for v in op.results]:
        yield Problem(text=f"'{op.kind}' gives the operand's dtype", op=op)
    if components == 2 and op.operands[1].dtype != INDEX:
        yield Problem(text=f"the positions of '{op.kind}' must be index", op=op)
    if (op.kind in ("any", "all")) != (op.operands[0].dtype == BOOL):
        yield Problem(text=f"'{op.kind}' does not take {op.operands[0].dtype}", op=op)


def _generic(op: Reduce | Scan) -> Iterator[Problem]:
    schema = [value.dtype for value in op.operands]
    if not schema or [value.dtype for value in op.results] != schema:
        yield Problem(text="results and operands differ in number or dtype", op=op)
    if isinstance(op, Reduce) and [value.dtype for value in op.identity] != schema:
        yield Problem(text="the identity does not have one value per component", op=op)
    if op.combine is None:
        yield Problem(text="neither a builtin kind nor a combine region is given", op=op)
        return
    captures = [value.dtype for value in op.captures]
    if [a.dtype for a in op.combine.args] != schema + schema + captures:
        yield Problem(text="combine takes accumulator, element, captures: one argument per component", op=op)
    if [value.dtype for value in op.combine.yields] != schema:
        yield Problem(text="combine yields one value per component", op=op)
    if not _all_scalar(op.combine):
        yield Problem(text="combine works on scalars", op=op)


def _all_scalar(region: Region) -> bool:
    results = [result for op in region.ops for result in op.results]
    return all(value.uniform for value in (*region.args, *region.yields, *results))


def _contract(op: Contract) -> Iterator[Problem]:
    if len(op.results) != 1:
        yield Problem(text="a contraction has one result", op=op)
        return
    if op.lhs.dtype != op.rhs.dtype:
        yield Problem(text=f"the operands differ in dtype: {op.lhs.dtype} and {op.rhs.dtype}", op=op)
    if op.accumulator is not None and op.accumulator.dtype != op.result.dtype:
        yield Problem(text=f"the accumulator is {op.accumulator.dtype}, not {op.result.dtype}", op=op)


def _histogram(op: Histogram) -> Iterator[Problem]:
    if len(op.results) != 1:
        yield Problem(text="a histogram has one result", op=op)
        return
    if not op.values.dtype.is_integer:
        yield Problem(text=f"a histogram counts integers, not {op.values.dtype}", op=op)
    if not op.result.dtype.is_integer:
        yield Problem(text=f"the counts of a histogram are integers, not {op.result.dtype}", op=op)
    if op.valid is not None and op.valid.dtype != BOOL:
        yield Problem(text="the validity of a histogram must be bool", op=op)
    if op.accumulator is not None and op.accumulator.dtype != op.result.dtype:
        yield Problem(text=f"the accumulator is {op.accumulator.dtype}, not {op.result.dtype}", op=op)


RULES: Final = (
    Rule(name="structured-schema", sentence=STRUCTURED, check=structured_schema),
    Rule(name="structured-dims", sentence=STRUCTURED, check=structured_dims),
)
