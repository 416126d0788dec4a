"""Histograms: counters in shared memory, which loops that only count on keep from pass to pass."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final

from intent.physical import Dim, Fragment, Histogram, Loop
from intent.physical.counted import counting_chain
from intent.types import Span
from intent_provider_cupy.emit.access import condition_text
from intent_provider_cupy.emit.convert import flat_index
from intent_provider_cupy.emit.literals import c_type, typed
from intent_provider_cupy.emit.value import Prec, Value, mention

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body

MOST_BINS: Final = 8192
MOST_COPIES: Final = 32
"""As many counters a bin as there are lanes in a warp, which never meet then."""
COPIES_LIMIT: Final = 32 * 1024
"""Most bytes of the counters of one histogram, if each bin has more than one."""
KEPT_LIMIT: Final = 64 * 1024
"""Most bytes of everything that is kept, if each bin has more than one."""


@dataclass(frozen=True, kw_only=True)
class Counters:
    """A piece of shared memory: ``copies`` counters for each bin of each row of the dims that are not counted."""

    name: str
    copies: int


def histogram(body: Body, op: Histogram) -> None:
    """Count into counters of a loop around it, or into some of its own, which are read at once."""
    kept = body.counters.get(op.id)
    if kept is not None:
        _count(body, op, kept)
        return
    counters = _zeros(body, op, op.span)
    _count(body, op, counters)
    before = None if op.accumulator is None else body.use(op.accumulator, body.home(op.result))
    _read(body, counters, op, op.result, before, op.span)


def begin(body: Body, loop: Loop) -> dict[int, Counters | None]:
    """Zero the counters of the loop's carries that only count on; those of a loop around it (None) are there already.

    The carries, by their number, need no variable.
    """
    found: dict[int, Counters | None] = {}
    for k in range(len(loop.results)):
        chain = _chain(body, loop, k)
        if not chain:
            continue
        if chain[0].id in body.counters:
            found[k] = None
            continue
        counters = _zeros(body, chain[0], loop.span)
        body.counters.update((op.id, counters) for op in chain)
        found[k] = counters
    return found


def end(body: Body, loop: Loop, found: dict[int, Counters | None]) -> None:
    """Read the counters that :func:`begin` zeroed, on top of what the carries began with."""
    for k, counters in found.items():
        if counters is None:
            continue
        result, chain = loop.results[k], _chain(body, loop, k)
        before = body.use(loop.inits[k], body.home(result))
        _read(body, counters, chain[0], result, before, loop.span)


def _chain(body: Body, loop: Loop, k: int) -> list[Histogram]:
    return counting_chain(loop, k, body.usage.count, body.placing.defined)


def _rows(op: Histogram) -> tuple[Dim, ...]:
    """The dims that are not counted, which have bins of their own."""
    return tuple(d for d in op.result.dims if d != op.bins)


def _zeros(body: Body, op: Histogram, span: Span) -> Counters:
    """Fresh counters."""
    wide = op.result.dtype.bits > 32
    type_, size = ("unsigned long long", 8) if wide else ("unsigned", 4)
    bins = prod((d.size for d in op.result.dims), start=1)
    scratch = body.context.scratch
    room = min(COPIES_LIMIT, KEPT_LIMIT - scratch.kept_now)
    copies = min(MOST_COPIES, body.context.threads)
    while copies > 1 and bins * copies * size > room:
        copies //= 2
    count = bins * copies
    name = body.context.namer.fresh(f"{op.bins.name}_counters")
    body.flush()
    if body.depth:
        body.barrier()  # the pass before may still be read
    offset = scratch.keep(count * size)
    body.statement(f"{type_}* const {name} = it_piece<{type_}>({offset}, {count});", span)
    every = f"for (int i = thread; i < {count}; i += {body.context.threads})"
    body.writer.line(f"{every} it_store({name}, i, ({type_})0);")
    body.barrier()
    return Counters(name=name, copies=copies)


def _count(body: Body, op: Histogram, counters: Counters) -> None:
    """One replica of each lane counts."""
    table = body.placing.table_of(op)
    number = body.use(op.values, table)
    valid = body.use(op.valid, table) if op.valid is not None else None
    given = {*op.values.dims, *(op.valid.dims if op.valid is not None else ())}
    lanes = tuple(d for d in table.places if d in given)
    condition = condition_text(lanes, table, valid)
    row = flat_index(body, _rows(op), table)
    arguments = f"{counters.name}, {row}, {typed(number).text}"
    text = f"{condition}it_count<{op.bins.size}, {counters.copies}>({arguments});"
    body.loops.act(text, table, table.looped(lanes), op.span)


def _read(
    body: Body, counters: Counters, op: Histogram, result: Fragment, before: Value | None, span: Span
) -> None:
    """The counts, as lanes of the result, on top of ``before``."""
    table = body.home(result)
    body.barrier()
    type_ = c_type(result.dtype, body.context.bounds.width(result))
    looped = table.looped(result.dims)
    variable = body.loops.variable(body.context.namer.fresh(result.name or "counts"), type_, looped)
    body.loops.declare(variable, table)
    place = flat_index(body, (*_rows(op), op.bins), table)
    text = f"({type_})it_counted<{counters.copies}>({counters.name}, {place})"
    if before is not None and not (before.literal and before.text == "0"):
        text = f"it_add<{type_}>({typed(before).text}, {text})"
    body.loops.act(f"{mention(variable.id)} = {text};", table, looped, span)
    value = Value(
        text=mention(variable.id), prec=Prec.ATOM, dtype=result.dtype, dims=result.dims,
        width=body.context.bounds.width(result), refs=frozenset({variable.id}),
    )  # fmt: skip
    body.put(result, value, table)
