"""Reductions, scans and contractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from intent.diagnostics import CapabilityError
from intent.physical import Contract, Dim, Fragment, Reduce, Scan
from intent.provider.emission import Width
from intent.provider.emission.python import Prec, Value, expanded, union_dims
from intent.types import DType
from intent.types.dtypes import F32
from intent_provider_triton.casts import cast
from intent_provider_triton.emit.literals import TYPES
from intent_provider_triton.spelling import PROVIDER, Need

if TYPE_CHECKING:
    from intent_provider_triton.emit.body import Body

DOT_MINIMUM = 16
"""Least extent of each side of a native matrix product."""
DOT_MINIMUM_K_8BIT = 32
SUMMED_APART = 128
"""How many products of 8-bit floats are summed before the sum is added in f32.

Hopper's tensor cores keep about 14 bits of such sums. cuBLAS adds as often. Triton's option for a whole kernel,
``max_num_imprecise_acc_default``, is overwritten there, and by default nothing is ever added apart.
"""
MAX_LANES = 1 << 20

_COMBINE = {
    "max": "_nan_max",
    "min": "_nan_min",
    "prod": "_product",
    "argmax": "_arg_max",
    "argmin": "_arg_min",
}


def reduce(body: Body, op: Reduce) -> None:
    """Builtin kinds one lane dim after the other; generic ones through a combine function."""
    operands = [_operand(body, op, o) for o in op.operands]
    if op.combine is not None:
        _generic_reduce(body, op, operands)
        return
    if op.kind in ("argmax", "argmin"):
        _arg_reduce(body, op, operands)
        return
    (value,) = operands
    source = value.dtype
    value = _accumulating(value, op.kind)
    for dim in sorted(op.dims, key=value.dims.index, reverse=True):
        value = _reduce_one(body, _kind(op), value, dim)
    body.define(op.result, _restored(value, source, op.kind, body.context.need), op.span)


def _kind(op: Reduce | Scan) -> str:
    """What is computed where the author gave no combine of their own."""
    assert op.kind is not None
    return op.kind


def _operand(body: Body, op: Reduce | Scan, fragment: Fragment) -> Value:
    """An operand in full shape; index values that are combined into new ones need all 64 bits."""
    value = body.full(body.use(fragment), fragment.dims)
    picks = op.kind in ("max", "min", "argmax", "argmin")
    return value if fragment.dtype.kind != "index" or picks else body.widen(value, Width.LONG)


def _accumulating(value: Value, kind: str | None) -> Value:
    """The operand in the type that Triton reduces in."""
    if kind in ("any", "all"):
        return replace(value, text=f"{value.atom}.to(tl.int32)", prec=Prec.ATOM)
    if value.dtype.is_float and value.dtype.bits < 32:
        return replace(value, text=f"{value.atom}.to(tl.float32)", prec=Prec.ATOM)
    return value


def _restored(value: Value, dtype: DType, kind: str | None, need: Need) -> Value:
    """The result in the operand's dtype; Triton widens narrow integers and reduces narrow floats in f32."""
    if kind in ("any", "all"):
        return replace(value, text=f"{value.text} != 0", prec=Prec.COMPARE, dtype=dtype)
    if dtype.bits < 32 and dtype.is_float:
        return cast(replace(value, dtype=F32), dtype, need)
    if dtype.bits < 32 and kind == "sum":
        return replace(value, text=f"{value.atom}.to({TYPES[dtype.name]})", prec=Prec.ATOM, dtype=dtype)
    return replace(value, dtype=dtype)


def _reduce_one(body: Body, kind: str, value: Value, dim: Dim) -> Value:
    axis = value.dims.index(dim)
    left = tuple(d for d in value.dims if d != dim)
    if kind == "sum":
        text = f"tl.sum({value.text}, axis={axis})"
    elif kind in ("any", "all"):
        text = f"tl.{'max' if kind == 'any' else 'min'}({value.text}, axis={axis})"
    elif kind in ("max", "min") and not value.dtype.is_float and value.dtype.bits >= 32:
        text = f"tl.{kind}({value.text}, axis={axis})"
    else:
        text = f"tl.reduce({value.text}, {axis}, {body.context.need(_combine_name(kind, value.dtype))})"
    return replace(value, text=text, prec=Prec.ATOM, dims=left)


def _combine_name(kind: str, dtype: DType) -> str:
    name = _COMBINE[kind]
    return name if dtype.is_float or kind == "prod" else name.replace("_nan", "_int")


def _arg_reduce(body: Body, op: Reduce, operands: Sequence[Value]) -> None:
    """(value, position) pairs; NaN wins, then the lowest position (language: arg_reduce)."""
    values, positions = operands
    source = values.dtype
    if source.is_float and source.bits < 32:
        values = replace(values, text=f"{values.atom}.to(tl.float32)", prec=Prec.ATOM)
    combine = body.context.need(_COMBINE[_kind(op)])
    dims = values.dims
    for dim in sorted(op.dims, key=dims.index, reverse=True):
        text = f"tl.reduce(({values.text}, {positions.text}), {dims.index(dim)}, {combine})"
        dims = tuple(d for d in dims if d != dim)
        names = [
            body.context.namer.fresh(f.name or h) for f, h in zip(op.results, ("best", "at"), strict=True)
        ]
        body.writer.statement(f"{', '.join(names)} = {text}", op.span)
        values = replace(values, text=names[0], prec=Prec.ATOM, dims=dims)
        positions = replace(positions, text=names[1], prec=Prec.ATOM, dims=dims)
    values = _restored(values, source, "max", body.context.need)
    for result, value in zip(op.results, (values, positions), strict=True):
        body.define(result, value, op.span)


def _generic_reduce(body: Body, op: Reduce, operands: list[Value]) -> None:
    assert op.combine is not None
    operands = _with_captures(body, operands, op.captures)
    combine = body.context.combine("combine", op.combine, [o.width for o in operands])
    dims = operands[0].dims
    names: list[str] = []
    for dim in sorted(op.dims, key=dims.index, reverse=True):
        text = _tuple(o.text for o in operands)
        axis = dims.index(dim)
        dims = tuple(d for d in dims if d != dim)
        names = _result_names(body, op.results, len(operands))
        body.writer.statement(f"{', '.join(names)} = tl.reduce({text}, {axis}, {combine})", op.span)
        operands = [
            replace(o, text=n, prec=Prec.ATOM, dims=dims) for o, n in zip(operands, names, strict=True)
        ]
    for result, value in zip(op.results, operands, strict=False):
        body.define(result, value, op.span)


def _result_names(body: Body, results: Sequence[Fragment], count: int) -> list[str]:
    hints = [r.name or "r" for r in results] + ["unused"] * (count - len(results))
    return [body.context.namer.fresh(h) for h in hints]


def _with_captures(body: Body, operands: Sequence[Value], captures: Sequence[Fragment]) -> list[Value]:
    """A Triton combine function sees its operands only: captures travel as further components."""
    dims = operands[0].dims
    carried = [body.full(body.use(c), dims) for c in captures]
    return [*operands, *carried]


def _tuple(texts: object) -> str:
    listed = [str(t) for t in texts]  # type: ignore[attr-defined]
    return listed[0] if len(listed) == 1 else f"({', '.join(listed)})"


def scan(body: Body, op: Scan) -> None:
    """Inclusive ordered prefixes along one lane dim."""
    operands = [_operand(body, op, o) for o in op.operands]
    axis = operands[0].dims.index(op.dim)
    tail = f", {axis}, {{}}" + (", reverse=True" if op.reverse else "")
    if op.combine is not None:
        operands = _with_captures(body, operands, op.captures)
        combine = body.context.combine("combine", op.combine, [o.width for o in operands])
        names = _result_names(body, op.results, len(operands))
        text = f"tl.associative_scan({_tuple(o.text for o in operands)}{tail.format(combine)})"
        body.writer.statement(f"{', '.join(names)} = {text}", op.span)
        for result, operand, name in zip(op.results, operands, names, strict=False):
            body.define(result, replace(operand, text=name, prec=Prec.ATOM), op.span)
        return
    (value,) = operands
    source = value.dtype
    value = _accumulating(value, op.kind)
    name = "_add" if op.kind == "sum" else _combine_name(_kind(op), value.dtype)
    text = f"tl.associative_scan({value.text}{tail.format(body.context.need(name))})"
    value = replace(value, text=text, prec=Prec.ATOM)
    body.define(op.result, _restored(value, source, "max", body.context.need), op.span, statement=True)


def contract(body: Body, op: Contract) -> None:
    """``tl.dot`` where the shape and dtypes allow it, else broadcast, multiply and sum."""
    lhs, rhs = body.full(body.use(op.lhs), op.lhs.dims), body.full(body.use(op.rhs), op.rhs.dims)
    accumulator = body.use(op.accumulator) if op.accumulator is not None else None
    plan = dot_layout(op)
    value = (
        _dot(body, op, lhs, rhs, accumulator, plan)
        if plan
        else _sum_of_products(body, op, lhs, rhs, accumulator)
    )
    body.define(op.result, value, op.span, statement=plan is None)


_DOT_TYPES = {
    ("f16", "f32"), ("bf16", "f32"), ("f32", "f32"), ("f8e4m3fn", "f32"), ("f8e5m2", "f32"), ("i8", "i32"),
    ("f16", "f16"), ("bf16", "bf16"),
}  # fmt: skip


def dot_layout(op: Contract) -> tuple[tuple[Dim, ...], tuple[Dim, ...], bool] | None:
    """Axis orders (batch, m, k) and (batch, k, n) of a native product, and whether the operands swap sides."""
    left, right, out, factors = op.lhs.dims, op.rhs.dims, op.result.dims, op.lhs.dtype
    if (factors.name, op.result.dtype.name) not in _DOT_TYPES:
        return None
    batch = tuple(d for d in left if d in right and d not in op.dims)
    rows = [d for d in left if d not in right]
    columns = [d for d in right if d not in left]
    if len(op.dims) != 1 or len(rows) != 1 or len(columns) != 1 or len(batch) > 1:
        return None
    (k,), (m,), (n,) = op.dims, rows, columns
    least_k = DOT_MINIMUM_K_8BIT if factors.bits == 8 else DOT_MINIMUM
    if min(m.size, n.size) < DOT_MINIMUM or k.size < least_k or (batch and out[0] != batch[0]):
        return None
    swap = out.index(m) > out.index(n)
    first, second = (n, m) if swap else (m, n)
    return (*batch, first, k), (*batch, k, second), swap


def _dot(
    body: Body, op: Contract, lhs: Value, rhs: Value, accumulator: Value | None,
    plan: tuple[tuple[Dim, ...], tuple[Dim, ...], bool],
) -> Value:  # fmt: skip
    first, second, swap = plan
    a, b = (rhs, lhs) if swap else (lhs, rhs)
    arguments = [body.permuted(a, a.dims, first).text, body.permuted(b, b.dims, second).text]
    factors, narrow = op.lhs.dtype, op.result.dtype.bits < 32
    apart = factors.is_float and factors.bits == 8
    if accumulator is not None and not narrow and not apart:
        arguments.append(body.full(accumulator, op.result.dims).text)
    if factors.name == "f32":
        arguments.append(f'input_precision="{"bf16x6" if op.split else "ieee"}"')
    if factors.kind == "int":
        arguments.append("out_dtype=tl.int32")
    if apart:
        # Not zero: else Triton folds the sum back into the product.
        arguments.append(f"max_num_imprecise_acc={min(op.dims[0].size, SUMMED_APART)}")
    text = f"tl.dot({', '.join(arguments)})"
    value = Value(text=text, prec=Prec.ATOM, dtype=F32 if narrow else op.result.dtype, dims=op.result.dims)
    if narrow:
        return _narrow_result(body, op, value, accumulator)
    if apart and accumulator is not None:
        total = body.full(accumulator, op.result.dims)
        return replace(value, text=f"{total.at(Prec.SUM)} + {text}", prec=Prec.SUM)
    return value


def _narrow_result(body: Body, op: Contract, value: Value, accumulator: Value | None) -> Value:
    """16-bit results are accumulated in f32 and rounded once."""
    if accumulator is not None:
        wide = cast(body.full(accumulator, op.result.dims), F32, body.context.need)
        value = replace(value, text=f"{value.text} + {wide.at(Prec.SUM)}", prec=Prec.SUM)
    return cast(value, op.result.dtype, body.context.need)


def would_become_dot(lhs: tuple[Dim, ...], rhs: tuple[Dim, ...], dims: tuple[Dim, ...]) -> bool:
    """Whether Triton's combine pass takes ``lhs * rhs`` for the inside of a matrix product.

    It turns sum(a[:, :, None] * b[None, :, :]) into a tf32 dot, whatever the summed axis and however short it is.
    With the operands the other way round it does not.
    """
    return len(dims) == 3 and dims[2] not in lhs and dims[0] not in rhs


def _sum_of_products(body: Body, op: Contract, lhs: Value, rhs: Value, accumulator: Value | None) -> Value:
    dtype = op.result.dtype
    wide = F32 if dtype.is_float and dtype.bits < 32 else dtype
    order = tuple(dict.fromkeys(d for d in body.context.order if d in op.lhs.dims or d in op.rhs.dims))
    size = 1
    for d in order:
        size *= d.size
    if size > MAX_LANES:
        raise CapabilityError(
            PROVIDER, capability=f"a product of {op.lhs.dtype} fragments this large", needed=f"{size} lanes",
            offered=f"{MAX_LANES} lanes", span=op.span,
        )  # fmt: skip
    a, b = (expanded(cast(v, wide, body.context.need), order) for v in (lhs, rhs))
    if would_become_dot(lhs.dims, rhs.dims, order):
        a, b = b, a
    product = f"{a.at(Prec.PRODUCT)} * {b.at(Prec.UNARY)}"
    value = Value(
        text=product, prec=Prec.PRODUCT, dtype=wide, dims=union_dims(order, [lhs, rhs]), width=Width.LONG
    )
    for dim in sorted(op.dims, key=value.dims.index, reverse=True):
        value = _reduce_one(body, "sum", value, dim)
    if wide.is_integer and wide.bits < 32:
        value = replace(value, text=f"{value.text}.to({TYPES[wide.name]})")
    if wide is not dtype:
        return _narrow_result(body, op, value, accumulator)
    if accumulator is not None:
        total = body.full(accumulator, op.result.dims)
        value = replace(value, text=f"{total.at(Prec.SUM)} + {value.text}", prec=Prec.SUM)
    return value
