"""Histograms: the product of two matrices that say which half of a bin's number each value has.

    high[a, n] = number[n] // low == a        low[n, b] = number[n] % low == b        counts[a, b] = high @ low

Bin ``a * low + b`` meets a value where both hold. A value takes two times the square root of the bins as many tests
instead of one for every bin, and a matrix unit adds them up, exactly: ones of i8 into i32. Few bins are tested one by
one.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from intent.physical import Dim, Fragment, Histogram
from intent.provider.emission import Width
from intent.provider.emission.python import Prec, Value, shape_text
from intent.types.dtypes import I32
from intent_provider_cutile.casts import cast

if TYPE_CHECKING:
    from intent_provider_cutile.emit.body import Body

MOST_BINS = 4096
"""Of these, a block of values is tested for 64 halves."""
FEW_BINS = 32
LEAST_VALUES = 32


def histogram(body: Body, op: Histogram) -> None:
    """The counts in i32, as the result's dtype, on top of the accumulator."""
    free = tuple(d for d in op.result.dims if d != op.bins)
    have = (*free, op.bins)
    rows = (prod(d.size for d in free),) if free else ()
    values = prod(d.size for d in op.dims)
    number = _number(body, op, (*free, *op.dims))
    if len(free) > 1 or len(op.dims) > 1:
        shape = ", ".join(map(str, (*rows, values)))
        number = f"ct.reshape({number}, ({shape}{'' if rows else ','}))"
    name = _statement(body, number, "number", op)
    before = op.accumulator
    if op.bins.size <= FEW_BINS or values < LEAST_VALUES:
        text = _tests(body, name, op, rows)
    else:
        start = None
        if before is not None and op.result.dtype is I32:
            start, before = _aligned(body, before, op.result.dims, have), None
        text = _product(body, name, op, rows, start)
    text = f"ct.reshape({text}, {shape_text(have)})"
    counts = Value(text=text, prec=Prec.ATOM, dtype=I32, dims=have, width=Width.SMALL)
    counts = cast(body.permuted(counts, have, op.result.dims), op.result.dtype, body.context.need)
    if before is not None:
        total = body.full(body.use(before), op.result.dims)
        counts = replace(counts, text=f"{total.at(Prec.SUM)} + {counts.at(Prec.PRODUCT)}", prec=Prec.SUM)
    body.define(op.result, counts, op.span, statement=True)


def _statement(body: Body, text: str, hint: str, op: Histogram) -> str:
    """The name of a variable with this value."""
    name = body.context.namer.fresh(hint)
    body.writer.statement(f"{name} = {text}", op.span)
    return name


def _aligned(body: Body, fragment: Fragment, have: tuple[Dim, ...], order: tuple[Dim, ...]) -> Value:
    """A value over all of the dims, in this order."""
    return body.permuted(body.full(body.use(fragment), have), have, order)


def _number(body: Body, op: Histogram, order: tuple[Dim, ...]) -> str:
    """The number of each value's bin in i32; of no bin where the value is none or does not count."""
    have = tuple(d for d in body.context.order if d in order)
    dtype, value = op.values.dtype, _aligned(body, op.values, have, order)
    narrow = dtype.kind == "index" and value.width is Width.SMALL
    text, tests = value.text, []
    if not narrow and dtype.bits == 64:  # as i32 it could be the number of a bin
        text = _statement(body, text, op.values.name or "value", op)
        tests = [f"({text} >= 0)"] if dtype.minimum < 0 else []
        tests.append(f"({text} < {op.bins.size})")
    if op.valid is not None:
        tests.append(_aligned(body, op.valid, have, order).at(Prec.BITAND))
    if not narrow and dtype is not I32:
        text = f"ct.astype({text}, ct.int32)"
    return f"ct.where({' & '.join(tests)}, {text}, -1)" if tests else text


def _tests(body: Body, number: str, op: Histogram, rows: tuple[int, ...]) -> str:
    """Every value tested for every bin."""
    lanes = _statement(body, f"ct.arange({op.bins.size}, dtype=ct.int32)", op.bins.name, op)
    kept = ":, " * len(rows)
    hits = f"{number}[{kept}:, None] == {lanes}[{'None, ' * len(rows)}None, :]"
    return f"ct.sum(ct.astype({hits}, ct.int32), axis={len(rows)})"


def _product(body: Body, number: str, op: Histogram, rows: tuple[int, ...], start: Value | None) -> str:
    """The counts by the high and the low half of the bins' numbers."""
    low_bits = (op.bins.size.bit_length() - 1) // 2
    low, high = 1 << low_bits, op.bins.size >> low_bits
    kept, none = ":, " * len(rows), "None, " * len(rows)
    a = f"({number}[{kept}None, :] >> {low_bits}) == ct.arange({high}, dtype=ct.int32)[{none}:, None]"
    b = f"({number}[{kept}:, None] & {low - 1}) == ct.arange({low}, dtype=ct.int32)[{none}None, :]"
    sides = (("high_half", a), ("low_half", b))
    names = [_statement(body, f"ct.astype({side}, ct.int8)", hint, op) for hint, side in sides]
    shape = ", ".join(map(str, (*rows, high, low)))
    total = f"ct.zeros(({shape}), ct.int32)" if start is None else f"ct.reshape({start.text}, ({shape}))"
    return f"ct.mma({', '.join(names)}, {total})"
