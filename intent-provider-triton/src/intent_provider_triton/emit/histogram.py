"""Histograms: ``tl.histogram`` of one line of numbers, those outside of the bins masked."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from intent.physical import Dim, Histogram
from intent.provider.emission import Width
from intent.provider.emission.python import Prec, Value, shape_text
from intent.types.dtypes import I32
from intent_provider_triton.casts import cast

if TYPE_CHECKING:
    from intent_provider_triton.emit.body import Body

MOST_BINS = 256
"""Triton looks for each bin in each warp's values: values at 1092 GB/s with 256 bins, with 1000 at 264."""


def histogram(body: Body, op: Histogram) -> None:
    """The counts in i32, as the result's dtype, on top of the accumulator."""
    free = tuple(d for d in op.result.dims if d != op.bins)
    order = (*free, *op.dims)
    number, tests = _number(body, op, order)
    if op.valid is not None:
        tests.append(_aligned(body, body.use(op.valid), order).at(Prec.BITAND))
    have = (*free, op.bins)
    bins = prod(d.size for d in have)
    arguments = [_line(_numbered_apart(number, order, op), order), str(bins)]
    arguments += [_line(" & ".join(tests), order)] if tests else []
    text = f"tl.histogram({', '.join(arguments)})"
    if bins == 1:  # tests every bit of a number; of one bin's there is none
        text = f"tl.broadcast_to(tl.sum(({arguments[-1]}).to(tl.int32), axis=0), (1,))"
    if free:
        text = f"tl.reshape({text}, {shape_text(have)})"
    counts = Value(text=text, prec=Prec.ATOM, dtype=I32, dims=have, width=Width.SMALL)
    counts = cast(body.permuted(counts, have, op.result.dims), op.result.dtype, body.context.need)
    if op.accumulator is not None:
        total = body.full(body.use(op.accumulator), op.result.dims)
        counts = replace(counts, text=f"{total.at(Prec.SUM)} + {counts.at(Prec.PRODUCT)}", prec=Prec.SUM)
    body.define(op.result, counts, op.span, statement=True)


def _aligned(body: Body, value: Value, order: tuple[Dim, ...]) -> Value:
    """A value over all of the dims, in this order."""
    have = tuple(d for d in body.context.order if d in order)
    return body.permuted(body.full(value, have), have, order)


def _number(body: Body, op: Histogram, order: tuple[Dim, ...]) -> tuple[str, list[str]]:
    """The bins' numbers in i32, and what says that a value is one."""
    dtype = op.values.dtype
    value = _aligned(body, body.typed(body.use(op.values)), order)
    name = value.text
    if not name.isidentifier():
        name = body.context.namer.fresh(op.values.name or "bin")
        body.writer.statement(f"{name} = {value.text}", op.span)
    tests = [f"({name} >= 0)"] if dtype.minimum < 0 else []
    if dtype.maximum >= op.bins.size:
        tests.append(f"({name} < {op.bins.size})")
    narrow = dtype.name == "i32" or (dtype.kind == "index" and value.width is Width.SMALL)
    return name if narrow else f"{name}.to(tl.int32)", tests


def _numbered_apart(number: str, order: tuple[Dim, ...], op: Histogram) -> str:
    """Numbers such that every lane of the free dims has bins of its own."""
    stride = op.bins.size
    for dim in reversed(order[: len(order) - len(op.dims)]):
        axes = ", ".join(":" if d == dim else "None" for d in order)
        number = f"{number} + tl.arange(0, {dim.size})[{axes}] * {stride}"
        stride *= dim.size
    return number


def _line(text: str, order: tuple[Dim, ...]) -> str:
    """A block over these dims as one line."""
    return text if len(order) == 1 else f"tl.reshape({text}, ({prod(d.size for d in order)},))"
