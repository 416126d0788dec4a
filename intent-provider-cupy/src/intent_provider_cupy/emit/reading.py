"""Addresses that one pass of a loop reads, and divides for, on behalf of the copies that the next pass starts.

Copies are under way for several passes, but nobody can start one before its address is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from intent.physical import Fragment, Load, Loop, Op, Pointwise
from intent.physical.walk import operands_of
from intent.provider.emission import Width
from intent_provider_cupy.emit import addresses
from intent_provider_cupy.emit.layout import Table
from intent_provider_cupy.emit.literals import c_type, typed
from intent_provider_cupy.emit.loops import Variable
from intent_provider_cupy.emit.value import Prec, Value, mention

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A result in one table, and the variable in which the next pass finds it."""

    op: Op
    table: Table
    variable: Variable


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The operations of a pass behind the addresses of copies, but for those that every pass would repeat.

    ``early``: those that run a pass before the copies, for what is ``kept``; ``late``: those that run beside them.
    ``divisors``: the names of the divisors that have reciprocals, by the divisor's value.
    """

    early: tuple[Op, ...]
    kept: tuple[Kept, ...]
    late: tuple[Op, ...]
    divisors: Mapping[int, str]


def reading_of(body: Body, loop: Loop, loads: Sequence[Load]) -> Reading:
    """What is behind the addresses of the loads; declares the variables of what is kept."""
    ops = loop.body.ops
    inside = {r.id: op for op in ops for r in op.results}
    parts = addresses.parts(loads, inside)
    kept = [
        Kept(op=op, table=table, variable=_declared(body, op, table))
        for op in ops
        if op.id in parts.kept
        for table in body.placing.tables_of(op)
    ]
    early = [op for op in ops if op.id in parts.early]
    divisors, before = _divisors(body, loop, early, inside)
    return Reading(
        early=tuple(op for op in early if op.id not in before), kept=tuple(kept), divisors=divisors,
        late=tuple(op for op in ops if op.id in parts.late),
    )  # fmt: skip


def _divisors(
    body: Body, loop: Loop, early: Sequence[Op], inside: Mapping[int, Op]
) -> tuple[dict[int, str], set[int]]:
    """Reciprocals of what 64-bit indices are divided by in every pass, and the operations that gave the divisors."""
    made: dict[int, str] = {}
    before: set[int] = set()
    for op in early:
        if not isinstance(op, Pointwise) or op.fn not in addresses.SLOW or op.result.dtype.kind != "index":
            continue
        number, divisor = op.operands
        found = body.context.bounds.interval(divisor)
        positive = found is not None and found.non_negative  # zero divides nothing that counts
        if divisor.id in made or not positive or body.context.bounds.width(number) is not Width.LONG:
            continue
        needed = {o.id for o in addresses.behind([divisor], inside)}
        if not _constant(body, loop, [divisor], [o for o in early if o.id in needed]):
            continue
        _compute(body, [o for o in early if o.id in needed - before])
        before |= needed
        value = body.use(divisor, body.placing.main)
        if not value.literal:
            name = made[divisor.id] = body.context.namer.fresh(f"{divisor.name or 'by'}_divisor")
            body.flush_keeping([value])
            body.writer.line(f"const it_divisor {name} = it_divisor_of({body.text(value)});")
    return made, before


def _constant(body: Body, loop: Loop, values: Sequence[Fragment], ops: Sequence[Op]) -> bool:
    """Whether values that the operations of a loop give are the same in all threads and all passes."""
    read = [*values, *(o for op in ops for o in operands_of(op))]
    pure = all(isinstance(op, addresses.PURE) for op in ops)
    return pure and not any(f.dims or f in loop.body.args for f in read)


def _compute(body: Body, ops: Sequence[Op]) -> None:
    """Operations of a loop, which that may write once more."""
    left = dict(body.left)
    for op in ops:
        body.op(op)
    body.left = left


def _declared(body: Body, op: Op, table: Table) -> Variable:
    body.flush()
    result = op.result
    type_ = c_type(result.dtype, _width(body, result))
    name = body.context.namer.fresh(f"{result.name or 't'}_ahead")
    variable = body.loops.variable(name, type_, table.looped(result.dims))
    body.loops.declare(variable, table)
    return variable


def _width(body: Body, value: Fragment) -> Width:
    """The width that holds a value, which may be computed in a wider one: a remainder is less than its divisor."""
    bounds = body.context.bounds
    found = bounds.interval(value)
    if found is None or not (found.low.launch_visible and found.high.launch_visible):
        return bounds.width(value)
    bounds.require(found.low, found.high)
    return found.width


def keep(body: Body, reading: Reading) -> None:
    """Compute what is kept for the pass whose index is at hand."""
    body.divisors = reading.divisors
    for op in reading.early:
        body.op(op)
    body.divisors = {}
    for kept in reading.kept:
        value = typed(body.use(kept.op.result, kept.table))
        text = f"{mention(kept.variable.id)} = {value.text};"
        body.loops.act(text, kept.table, kept.variable.dims, kept.op.span)
    body.flush()


def use(body: Body, reading: Reading) -> None:
    """Compute the addresses of the pass whose index is at hand from what was kept for it."""
    for kept in reading.kept:
        result, variable = kept.op.result, kept.variable
        value = Value(
            text=mention(variable.id), prec=Prec.ATOM, dtype=result.dtype, dims=result.dims,
            width=_width(body, result), refs=frozenset({variable.id}),
        )  # fmt: skip
        body.put(result, value, kept.table)
    for op in reading.late:
        body.op(op)
