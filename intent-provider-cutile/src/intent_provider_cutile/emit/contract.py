"""Contractions: products of matrices where the target has them, else broadcast, multiply and sum.

``ct.mma`` multiplies matrices. Of f32 it is exact, but of instructions that multiply and others that add. Where a loop
does little else, outer products of columns and rows are three times as fast (``_outer_products``); between products
whose results meet they wait for operands that change threads. Where the caller permits it, products of bf16 parts are
ten times as fast (``_split_mma``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from intent.diagnostics import CapabilityError
from intent.physical import Contract, Dim, Loop, Program
from intent.physical.walk import walk
from intent.provider.emission import Width
from intent.provider.emission.python import Prec, Value, expanded, union_dims
from intent.types import DType
from intent.types.dtypes import F32
from intent_provider_cutile.casts import cast
from intent_provider_cutile.emit.literals import TYPES
from intent_provider_cutile.emit.structured import reduce_one
from intent_provider_cutile.spelling import MMA, PROVIDER

if TYPE_CHECKING:
    from intent_provider_cutile.emit.body import Body

LEAST = (8, 8, 16)
"""Rows, columns and summed extent from which a matrix unit is worth its operands' layout; the last one not of f32."""
MAX_LANES = 1 << 20
OUTER_LANES = 1 << 19
"""Multiply-adds of a product that are written out one after the other: 4096 of each thread of four warps."""
WIDE, WIDE_WARPS = 256, 8
"""Products this wide spill with the compiler's own choice of four warps, and lose nine tenths of their speed."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The dims of a product as those of (batch, rows, summed) times (batch, summed, columns); the factors' dtype."""

    factors: DType
    batch: tuple[Dim, ...]
    rows: tuple[Dim, ...]
    columns: tuple[Dim, ...]
    summed: tuple[Dim, ...]

    def shape(self, *groups: tuple[Dim, ...]) -> str:
        """The shape of a tile whose axes are groups of dims; a batch of nothing is left out."""
        sizes = [size_of(g) for g in groups]
        return "(" + ", ".join(map(str, sizes)) + ")"


def size_of(dims: Sequence[Dim]) -> int:
    """Lanes of a group of dims."""
    return math.prod(d.size for d in dims)


def lonely(program: Program) -> frozenset[int]:
    """The products that are the only one of their loop, by id."""
    found: set[int] = set()
    for segment in program.segments:
        for loop in (op for op in walk(segment.body) if isinstance(op, Loop)):
            products = [op for op in walk(loop.body) if isinstance(op, Contract)]
            found.update(op.id for op in products if len(products) == 1)
    return frozenset(found)


def contract(body: Body, op: Contract) -> None:
    """Sum over ``op.dims`` of lhs * rhs, plus the accumulator, in the result's dtype."""
    lhs, rhs = body.full(body.use(op.lhs), op.lhs.dims), body.full(body.use(op.rhs), op.rhs.dims)
    accumulator = body.use(op.accumulator) if op.accumulator is not None else None
    layout = layout_of(op)
    if layout is not None and (product := _product(body, op, layout)) is not None:
        value = _matrices(body, op, lhs, rhs, accumulator, layout, product)
    else:
        value = _sum_of_products(body, op, lhs, rhs, accumulator)
    body.define(op.result, value, op.span, statement=True)


def layout_of(op: Contract) -> Layout | None:
    """How ``ct.mma`` computes the contraction, or None where it does not or is not worth it."""
    factors, result = op.lhs.dtype, op.result.dtype
    if factors.name not in MMA or (
        MMA[factors.name] != result and not (result.is_float and result.bits < 32)
    ):
        return None
    left, right = op.lhs.dims, op.rhs.dims
    layout = Layout(
        factors=factors,
        batch=tuple(d for d in left if d in right and d not in op.dims),
        rows=tuple(d for d in left if d not in right),
        columns=tuple(d for d in right if d not in left),
        summed=op.dims,
    )
    sizes = [size_of(g) for g in (layout.rows, layout.columns, layout.summed)]
    least = LEAST[:2] if factors is F32 else LEAST
    small = any(size < least for size, least in zip(sizes, least, strict=False))
    return None if small else layout


def _matrices(
    body: Body, op: Contract, lhs: Value, rhs: Value, accumulator: Value | None, layout: Layout, product: str
) -> Value:
    batch = [layout.batch] if layout.batch else []
    if max(size_of(layout.rows), size_of(layout.columns)) >= WIDE:
        body.context.settings["num_worker_warps"] = WIDE_WARPS
    wide = MMA[layout.factors.name]
    narrow = op.result.dtype != wide
    result = (*layout.batch, *layout.rows, *layout.columns)
    shape = layout.shape(*batch, layout.rows, layout.columns)
    start = f"ct.zeros({shape}, {TYPES[wide.name]})"
    if accumulator is not None and not narrow:
        full = body.full(accumulator, op.result.dims)
        start = _flat(body, full, (*batch, layout.rows, layout.columns))
    a = _flat(body, lhs, (*batch, layout.rows, layout.summed))
    b = _flat(body, rhs, (*batch, layout.summed, layout.columns))
    text = f"{product}({a}, {b}, {start})"
    if len(result) != 2 + bool(batch):
        text = f"ct.reshape({text}, ({', '.join(str(d.size) for d in result)}))"
    value = Value(text=text, prec=Prec.ATOM, dtype=wide, dims=result)
    value = body.permuted(value, result, op.result.dims)
    return _narrow_result(body, op, value, accumulator) if narrow else value


def _product(body: Body, op: Contract, layout: Layout) -> str | None:
    """The name of what computes a product of matrices plus an accumulator; None where a matrix unit is not worth it."""
    summed = size_of(layout.summed)
    lanes = summed * size_of(layout.rows) * size_of(layout.columns)
    if layout.factors is F32 and op.split and summed >= LEAST[2]:
        body.context.need("_bf16_parts")
        return body.context.need("_split_mma")
    if op.id in body.context.lonely and layout.factors is F32 and not layout.batch and lanes <= OUTER_LANES:
        return body.context.need("_outer_products")
    return "ct.mma" if summed >= LEAST[2] else None


def _flat(body: Body, value: Value, groups: Sequence[tuple[Dim, ...]]) -> str:
    """``value`` with one axis for each group of dims."""
    order = tuple(d for group in groups for d in group)
    value = body.permuted(value, value.dims, order)
    if all(len(group) == 1 for group in groups):
        return value.text
    return f"ct.reshape({value.text}, ({', '.join(str(size_of(g)) for g in groups)}))"


def _narrow_result(body: Body, op: Contract, value: Value, accumulator: Value | None) -> Value:
    """16-bit results are accumulated in f32 and rounded once."""
    if accumulator is not None:
        wide = cast(body.full(accumulator, op.result.dims), F32, body.context.need)
        value = replace(value, text=f"{value.text} + {wide.at(Prec.SUM)}", prec=Prec.SUM)
    return cast(value, op.result.dtype, body.context.need)


def _sum_of_products(body: Body, op: Contract, lhs: Value, rhs: Value, accumulator: Value | None) -> Value:
    dtype = op.result.dtype
    wide = F32 if dtype.is_float and dtype.bits < 32 else dtype
    order = tuple(dict.fromkeys(d for d in body.context.order if d in op.lhs.dims or d in op.rhs.dims))
    if size_of(order) > MAX_LANES:
        raise CapabilityError(
            PROVIDER, capability=f"a product of {op.lhs.dtype} fragments this large", needed=f"{size_of(order)} lanes",
            offered=f"{MAX_LANES} lanes", span=op.span,
        )  # fmt: skip
    a, b = (expanded(cast(v, wide, body.context.need), order) for v in (lhs, rhs))
    if wide.kind == "index":
        a, b = (body.widen(v, Width.LONG) for v in (a, b))
    product = f"{a.at(Prec.PRODUCT)} * {b.at(Prec.UNARY)}"
    value = Value(
        text=product, prec=Prec.PRODUCT, dtype=wide, dims=union_dims(order, [lhs, rhs]), width=Width.LONG
    )
    for dim in sorted(op.dims, key=value.dims.index, reverse=True):
        value = reduce_one("sum", value, dim)
    if wide is not dtype:
        return _narrow_result(body, op, value, accumulator)
    if accumulator is not None:
        total = body.full(accumulator, op.result.dims)
        value = replace(value, text=f"{total.at(Prec.SUM)} + {value.text}", prec=Prec.SUM)
    return value
