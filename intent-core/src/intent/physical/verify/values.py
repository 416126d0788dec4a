"""Rules on SSA values: definitions before uses, lane dims, element types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from intent.kir.pointwise import FUNCTIONS, PointwiseFunction
from intent.physical.fragment import Dim, Fragment, Region
from intent.physical.ops import (
    Argument,
    Bitcast,
    Broadcast,
    Cast,
    Constant,
    Lane,
    LaunchValue,
    Op,
    Pointwise,
    Reduce,
    Rename,
    Scan,
)
from intent.physical.program import Program
from intent.physical.verify.rule import COORDINATES, TYPES, Problem, Rule, operations
from intent.physical.walk import operands_of, regions_of
from intent.types import DType
from intent.types.dtypes import BOOL, INDEX

__all__ = ["RULES", "same_type", "union"]


def ssa_dominance(program: Program) -> Iterator[Problem]:
    """Every operand is defined before its use, in the same or an enclosing region, once in the program."""
    defined: set[int] = set()
    for segment in program.segments:
        yield from _region(segment.body, {}, defined)


def _region(region: Region, outer: dict[int, Fragment], defined: set[int]) -> Iterator[Problem]:
    scope = dict(outer)
    yield from _define(region.args, None, scope, defined)
    for op in region.ops:
        for operand in operands_of(op):
            yield from _use(operand, op, scope)
        # A combine sees its arguments only: providers turn it into a function of its own.
        visible: dict[int, Fragment] = {} if isinstance(op, (Reduce, Scan)) else scope
        for inner in regions_of(op):
            yield from _region(inner, visible, defined)
        yield from _define(op.results, op, scope, defined)
    for value in region.yields:
        yield from _use(value, None, scope)


def _use(value: Fragment, op: Op | None, scope: dict[int, Fragment]) -> Iterator[Problem]:
    found = scope.get(value.id)
    if found is None:
        yield Problem(text=f"%{value.id} is used where it is not defined", op=op)
    elif found != value:
        yield Problem(text=f"%{value.id} is used with another type than its definition's", op=op)


def _define(
    values: tuple[Fragment, ...], op: Op | None, scope: dict[int, Fragment], defined: set[int]
) -> Iterator[Problem]:
    for value in values:
        if value.id in defined:
            yield Problem(text=f"%{value.id} is defined twice", op=op)
        defined.add(value.id)
        scope[value.id] = value


def dim_order(program: Program) -> Iterator[Problem]:
    """Fragments carry dims of the program, in its global order, of positive size."""
    position = {dim: k for k, dim in enumerate(program.dims)}
    names = [dim.name for dim in program.dims]
    for name in sorted({n for n in names if names.count(n) > 1}):
        yield Problem(text=f"two dims of the program are called '{name}'")
    yield from (Problem(text=f"dim {dim} is not positive") for dim in program.dims if dim.size < 1)
    for value, op in _values(program):
        unknown = [dim for dim in value.dims if dim not in position]
        if unknown:
            yield Problem(text=f"%{value.id} has dim {unknown[0]}, which the program does not list", op=op)
        elif list(value.dims) != sorted(set(value.dims), key=position.__getitem__):
            yield Problem(text=f"the dims of %{value.id} do not stand in the program's order", op=op)


def _values(program: Program) -> Iterator[tuple[Fragment, Op | None]]:
    """Every defined value with the operation that defines it or whose region has it as an argument."""
    for segment in program.segments:
        yield from ((argument, None) for argument in segment.body.args)
    for op in operations(program):
        yield from ((result, op) for result in op.results)
        for region in regions_of(op):
            yield from ((argument, op) for argument in region.args)


def value_dims(program: Program) -> Iterator[Problem]:
    """The dims of results of pointwise operations, casts, broadcasts, renames and lanes follow."""
    for op in operations(program):
        expected = _expected_dims(op, program)
        if expected is not None and op.results and op.result.dims != expected:
            wanted = ", ".join(map(str, expected)) or "none"
            yield Problem(text=f"the result %{op.result.id} must have the dims {wanted}", op=op)
        if isinstance(op, Broadcast) and not set(op.value.dims) <= set(op.result.dims):
            yield Problem(text="a broadcast drops a dim of its operand", op=op)
        if isinstance(op, Rename):
            if op.source not in op.value.dims or op.target in op.value.dims:
                yield Problem(text="a rename needs its source dim present and its target absent", op=op)
            if op.source.size != op.target.size:
                yield Problem(text=f"a rename cannot change the size: {op.source} to {op.target}", op=op)


def _expected_dims(op: Op, program: Program) -> tuple[Dim, ...] | None:
    match op:
        case Constant() | LaunchValue() | Argument():
            return ()
        case Lane(dim=dim):
            return (dim,)
        case Pointwise():
            return union(program, *op.operands)
        case Cast() | Bitcast():
            return op.value.dims
        case Rename():
            kept = {op.target if dim == op.source else dim for dim in op.value.dims}
            return tuple(dim for dim in program.dims if dim in kept)
    return None


def union(program: Program, *values: Fragment | None) -> tuple[Dim, ...]:
    """The union of the values' dims in the program's order."""
    present = {dim for value in values if value is not None for dim in value.dims}
    return tuple(dim for dim in program.dims if dim in present)


def same_type(a: Fragment, b: Fragment) -> bool:
    """Whether two values have one dtype and the same dims."""
    return a.dtype == b.dtype and a.dims == b.dims


def dtypes(program: Program) -> Iterator[Problem]:
    """Element types of scalars, coordinates and pointwise operations."""
    for op in operations(program):
        match op:
            case Constant():
                yield from _constant(op)
            case LaunchValue() | Lane():
                if op.result.dtype != INDEX:
                    yield Problem(text=f"%{op.result.id} must be index", op=op)
            case Bitcast():
                if op.value.dtype.bits != op.result.dtype.bits:
                    yield Problem(text="a bitcast cannot change the width", op=op)
            case Broadcast() | Rename():
                if op.value.dtype != op.result.dtype:
                    yield Problem(text="the dtype changes without a cast", op=op)
            case Pointwise():
                yield from _pointwise(op)


def _constant(op: Constant) -> Iterator[Problem]:
    dtype, value = op.result.dtype, op.value
    if dtype == BOOL:
        legal = isinstance(value, bool)
    elif dtype.is_integer:
        legal = type(value) is int and dtype.minimum <= value <= dtype.maximum
    else:
        legal = not isinstance(value, bool)
    if not legal:
        yield Problem(text=f"{value!r} is not a {dtype}", op=op)


def _pointwise(op: Pointwise) -> Iterator[Problem]:
    function = FUNCTIONS.get(op.fn)
    if function is None:
        yield Problem(text=f"there is no pointwise function '{op.fn}'", op=op)
        return
    if len(op.operands) != function.arity:
        yield Problem(text=f"'{op.fn}' takes {function.arity} operands, not {len(op.operands)}", op=op)
        return
    checked = op.operands
    if function.rule == "select":
        if checked[0].dtype != BOOL:
            yield Problem(text="the condition of a select must be bool", op=op)
        checked = checked[1:]
    first = checked[0].dtype
    if any(value.dtype != first for value in checked):
        seen = ", ".join(str(value.dtype) for value in checked)
        yield Problem(text=f"the operands of '{op.fn}' differ in dtype: {seen}", op=op)
    if not _accepts(function, first):
        yield Problem(text=f"'{op.fn}' does not take {first}", op=op)
    wanted = BOOL if function.rule == "bool" else first
    if op.result.dtype != wanted:
        yield Problem(text=f"'{op.fn}' gives {wanted}, not {op.result.dtype}", op=op)


def _accepts(function: PointwiseFunction, dtype: DType) -> bool:
    match function.operands:
        case "number":
            return dtype.is_integer or dtype.is_float
        case "float":
            return dtype.is_float
        case "integer":
            return dtype.is_integer
        case "bool":
            return dtype == BOOL
        case "bool_or_integer":
            return dtype == BOOL or dtype.is_integer
    return True


RULES: Final = (
    Rule(name="ssa-dominance", sentence=COORDINATES, check=ssa_dominance),
    Rule(name="dim-order", sentence=TYPES, check=dim_order),
    Rule(name="value-dims", sentence=TYPES, check=value_dims),
    Rule(name="dtypes", sentence=TYPES, check=dtypes),
)
