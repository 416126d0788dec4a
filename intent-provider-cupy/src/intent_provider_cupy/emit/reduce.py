"""Reductions: within registers, then across lanes by shuffles, then across warps through shared memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import TYPE_CHECKING

from intent.physical import Dim, Reduce
from intent.types import Span
from intent_provider_cupy.casts import cast
from intent_provider_cupy.emit import convert
from intent_provider_cupy.emit.combining import Combine, Component, combine_of
from intent_provider_cupy.emit.layout import LANE_BITS, Table, bit_count, numbered
from intent_provider_cupy.emit.literals import typed
from intent_provider_cupy.emit.loops import Variable
from intent_provider_cupy.emit.value import Prec, Value, mention

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body

SHUFFLED_LEAST = 4
"""From so many warps on, their results are combined by shuffles instead of one after the other."""


def reduce(body: Body, op: Reduce) -> None:
    """Every thread ends with the result of the lanes that it holds of the remaining dims."""
    table = body.placing.table_of(op)
    combine = combine_of(body, op, table)
    hints = [r.name or "total" for r in op.results]
    values = fold(body, combine, op.dims, op.results[0].dims, hints, table, op.span)
    for result, component, value in zip(op.results, combine.components, values, strict=True):
        body.define(result, cast(value, component.narrow), op.span, table)


def fold(
    body: Body, combine: Combine, dims: Sequence[Dim], kept: tuple[Dim, ...], hints: Sequence[str], table: Table,
    span: Span,
) -> list[Value]:  # fmt: skip
    """The components combined over ``dims``, one value per component over the ``kept`` dims."""
    body.flush_keeping([c.value for c in combine.components])
    totals = [_declare(body, h, c, kept, table) for h, c in zip(hints, combine.components, strict=True)]
    names = [body.loops.render(mention(t.id)) for t in totals]
    lanes, warps = _thread_bits(table, dims)
    with each(body, table.looped(kept), table):
        _registers(body, dims, combine, names, table, span)
        _lanes(body, combine, names, lanes)
    if warps:
        _warps(body, combine, totals, kept, warps, table, span)
    return [
        Value(
            text=mention(total.id), prec=Prec.ATOM, dtype=component.dtype, dims=kept, width=component.width,
            refs=frozenset({total.id}),
        )
        for component, total in zip(combine.components, totals, strict=True)
    ]  # fmt: skip


def _declare(body: Body, hint: str, component: Component, kept: tuple[Dim, ...], table: Table) -> Variable:
    name = body.context.namer.fresh(hint)
    variable = body.loops.variable(name, component.type, table.looped(kept))
    body.loops.declare(variable, table)
    return variable


@contextmanager
def each(body: Body, dims: Sequence[Dim], table: Table, *, scope: bool = False) -> Iterator[None]:
    """Statements for every register of the dims; in no loop, or a mere ``scope``, where there is one."""
    if not dims and not scope:
        yield
        return
    body.writer.line(f"{body.loops.open_loops(dims, table)} {{".lstrip())
    with body.writer.block():
        yield


def _thread_bits(table: Table, dims: Sequence[Dim]) -> tuple[list[int], list[int]]:
    """The bits of the thread number along the dims, lowest lane bit first: within a warp, and across warps."""
    bits = [b for d in reversed(dims) for b in table.bits(d) if b is not None]
    return sorted(b for b in bits if b < LANE_BITS), [b for b in bits if b >= LANE_BITS]


def _registers(
    body: Body, dims: Sequence[Dim], combine: Combine, names: Sequence[str], table: Table, span: Span
) -> None:
    """Combine what the thread itself holds."""
    texts = [body.text(typed(c.value)) for c in combine.components]
    looped = table.looped(dims)
    if not looped:
        for name, text in zip(names, texts, strict=True):
            body.writer.statement(f"{name} = {text};", span)
        return
    counters = [body.context.counter(d) for d in looped]
    first = " && ".join(f"{c} == 0" for c in counters)
    start = ", ".join(f"{n} = {t}" for n, t in zip(names, texts, strict=True))
    body.writer.statement(f"{body.loops.open_loops(looped, table)} {{", span)
    with body.writer.block():
        if len(names) > 1 or combine.function:
            body.writer.line(f"if ({first}) {start};")
            if not combine.function:
                texts = [f"({t})" for t in texts]
            body.writer.line(f"else {combine.write(names, texts, names)}")
        else:
            body.writer.line(
                f"{names[0]} = {first} ? {texts[0]} : {combine.expression(names[0], f'({texts[0]})')};"
            )


def _lanes(body: Body, combine: Combine, names: Sequence[str], bits: Sequence[int]) -> None:
    """Combine with the lane whose number differs in one bit, for each of the bits."""
    for first, last in _stretches(bits):
        head = f"it_doubling(step, {1 << first}, {1 << last})"
        others = [f"it_shuffle_xor({n}, step)" for n in names]
        if combine.kind == "sum" and combine.components[0].dtype.is_float:
            body.writer.line(f"{head} {names[0]} = it_sum_of_lanes({names[0]}, {others[0]});")
            continue
        if combine.kind is not None and len(names) == 1:
            body.writer.line(f"{head} {combine.write(names, others, names)}")
            continue
        body.writer.line(f"{head} {{")
        with body.writer.block():
            other = [f"other_{k}" for k in range(len(names))]
            for name, o, component in zip(names, other, combine.components, strict=True):
                body.writer.line(f"const {component.type} {o} = it_shuffle_xor({name}, step);")
            if combine.symmetric:
                body.writer.line(combine.write(names, other, names))
            else:
                body.writer.line("const bool upper = thread & step;")
                lhs = [f"upper ? {o} : {n}" for n, o in zip(names, other, strict=True)]
                rhs = [f"upper ? {n} : {o}" for n, o in zip(names, other, strict=True)]
                body.writer.line(combine.write(lhs, rhs, names))


def _stretches(bits: Sequence[int]) -> list[tuple[int, int]]:
    """Runs of consecutive bits as (first, last)."""
    runs: list[tuple[int, int]] = []
    for b in bits:
        if runs and runs[-1][1] == b - 1:
            runs[-1] = (runs[-1][0], b)
        else:
            runs.append((b, b))
    return runs


def _warps(
    body: Body, combine: Combine, totals: Sequence[Variable], kept: tuple[Dim, ...], warps: list[int],
    table: Table, span: Span,
) -> None:  # fmt: skip
    """Combine what the warps have, each writing once; every thread reads what concerns it."""
    count = 1 << len(warps)
    size = prod((d.size for d in kept), start=1)
    offset, pieces = 0, []
    convert.begin_exchange(body)
    for component in combine.components:
        name, start = body.context.namer.fresh("partial"), f"scratch + {offset}" if offset else "scratch"
        body.writer.line(
            f"{component.type}* const {name} = it_piece<{component.type}>({start}, {count * size});"
        )
        offset += -(-count * size * component.dtype.bytes // 16) * 16
        pieces.append(name)
    body.context.scratch.exchange(offset)
    place = convert.flat_index(body, kept, table)
    mine = numbered(warps, "thread", table.thread_bits)
    spare = table.spare(kept) & ~sum(1 << b for b in warps)
    condition = f"if ((thread & {spare}) == 0) " if spare else ""
    looped = table.looped(kept)
    row = "" if place == "0" else f"({place}) * {count} + " if " " in place else f"{place} * {count} + "
    for piece, total in zip(pieces, totals, strict=True):
        text = f"{condition}it_store({piece}, {row}{mine}, {mention(total.id)});"
        body.loops.act(text, table, looped, span)
    body.barrier()
    names = [body.loops.render(mention(t.id)) for t in totals]
    with each(body, looped, table):
        alike = not table.mask(kept) & (count - 1)  # neighbouring lanes want the same results
        if combine.symmetric and alike and count >= SHUFFLED_LEAST:
            mine = f"thread % {count}"
            for name, piece in zip(names, pieces, strict=True):
                body.writer.line(f"{name} = it_load({piece}, {row}{mine});")
            _lanes(body, combine, names, list(range(bit_count(count))))
        else:
            _one_by_one(body, combine, names, pieces, row, count)
    body.context.scratch.dirty = True


def _one_by_one(
    body: Body, combine: Combine, names: Sequence[str], pieces: Sequence[str], row: str, count: int
) -> None:
    """Combine what the warps have in their order."""
    for name, piece in zip(names, pieces, strict=True):
        body.writer.line(f"{name} = it_load({piece}, {row.removesuffix(' + ') or '0'});")
    held = [f"part_{k}" for k in range(len(pieces))]
    head = f"for (int w = 1; w < {count}; ++w) " if count > 2 else ""
    body.writer.line(f"{head}{{")
    with body.writer.block():
        for piece, h, component in zip(pieces, held, combine.components, strict=True):
            place = f"{row}w" if head else f"{row}1"
            body.writer.line(f"const {component.type} {h} = it_load({piece}, {place});")
        body.writer.line(combine.write(names, held, names))
