"""Accesses of several lanes at once, beside the form for single lanes; the layout chooses at compile time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from intent.physical import Atomic, Dim, Load, Store, View
from intent.provider.emission import Width
from intent.types import Span
from intent_provider_cupy.emit.layout import Table
from intent_provider_cupy.emit.literals import c_type, stored_type
from intent_provider_cupy.emit.value import Prec, Value, mention
from intent_provider_cupy.emit.vectors import Vector

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body


def load(
    body: Body, op: Load, vector: Vector, value: Value, place: str, valid: Value | None, fill: Value, table: Table,
    near: tuple[str, str] | None = None,
) -> None:  # fmt: skip
    """``value``, which loads single lanes, or vectors from ``place`` ("pointer, offset"), into one array.

    ``near``: a condition, and where vectors stand if it holds.
    """
    body.flush_keeping([value])
    looped, n = table.looped(value.dims), vector.length
    type_ = c_type(op.source.dtype, Width.LONG)
    name = body.context.namer.fresh(op.result.name or f"{op.source.name}_value")
    variable = body.loops.variable(name, type_, looped)
    body.loops.declare(variable, table)
    target = mention(variable.id)
    get = f"it_load{'_once' if op.reread == 'once' and isinstance(op.source, View) else ''}<{n}>"
    with chosen(body, vector), _each_vector(body, vector, looped, table) as (counter, element):
        single = body.loops.render(target).replace(f"[{counter}]", f"[{counter} + {element}]")
        part = f"&{target}" if looped[-1] == vector.dim else body.context.namer.fresh("part")
        text = f"{get}({part}, {place});"
        if near is not None:
            text = f"{{ if ({near[0]}) it_load<{n}>({part}, {near[1]}); else {text} }}"
        if looped[-1] != vector.dim:
            text = f"{{ {type_} {part}[{n}]; {text} it_each({element}, {n}) {single} = {part}[{element}]; }}"
        guard = f"if ({valid.text}) " if valid is not None else ""
        body.writer.statement(body.loops.render(guard + text), op.span)
        if valid is not None:
            body.writer.line(body.loops.render(f"else it_each({element}, {n}) {single} = {fill.text};"))
    with otherwise(body):
        body.loops.act(f"{target} = {value.text};", table, looped, op.span)
    refs = frozenset({variable.id})
    body.put(op.result, replace(value, text=target, prec=Prec.ATOM, refs=refs), table)


def store(
    body: Body, op: Store | Atomic, vector: Vector, value: Value, place: str, condition: str, single: str,
    act: str = "",
) -> None:  # fmt: skip
    """``single`` for each lane, or vectors to ``place`` ("pointer, offset") where ``condition`` ("if (...) ") holds.

    ``act``: what is done with a vector, if it is not stored.
    """
    table, type_ = body.placing.table_of(op), stored_type(op.target.dtype)
    looped = table.looped(op.dims)
    stored(body, vector, value, place, condition, f"{condition}{single}", type_, looped, table, op.span, act)


def stored(
    body: Body, vector: Vector, value: Value, place: str, condition: str, single: str, type_: str,
    looped: tuple[Dim, ...], table: Table, span: Span, act: str = "",
) -> None:  # fmt: skip
    """The statement ``single`` for each lane, or vectors of elements of ``type_`` as :func:`write` has them."""
    body.loops.flush(body.loops.mentioned(single))
    with chosen(body, vector):
        write(body, vector, value, place, condition, type_, looped, table, span, act)
    with otherwise(body):
        body.loops.act(single, table, looped, span)


def either(
    body: Body, vector: Vector, many: str, single: str, looped: tuple[Dim, ...], table: Table, span: Span
) -> None:
    """The statement ``many`` for each vector where the layout allows it, ``single`` for each lane elsewhere."""
    with chosen(body, vector), _each_vector(body, vector, looped, table):
        body.writer.statement(body.loops.render(many), span)
    with otherwise(body):
        body.loops.act(single, table, looped, span)


def write(
    body: Body, vector: Vector, value: Value, place: str, condition: str, type_: str, looped: tuple[Dim, ...],
    table: Table, span: Span, act: str = "",
) -> None:  # fmt: skip
    """Store all lanes of a value as vectors, or ``act`` (a function's name) with them."""
    act = act or f"it_store<{vector.length}>"
    part, n = body.context.namer.fresh("part"), vector.length
    with _each_vector(body, vector, looped, table, late=True) as (counter, element):
        start = _start(body, vector, table)
        body.writer.statement(f"{type_} {part}[{n}];", span)
        here = f"const int {counter} = {f'{start} + ' if start != '0' else ''}{element};"
        text = f"it_each({element}, {n}) {{ {here} {part}[{element}] = {value.text}; }}"
        body.writer.line(body.loops.render(text))
        body.writer.line(f"const int {counter} = {start};")
        body.writer.line(body.loops.render(f"{condition}{act}({place}, {part});"))


@contextmanager
def chosen(body: Body, vector: Vector) -> Iterator[None]:
    """What runs where the layout allows vectors."""
    body.writer.line(f"if constexpr ({vector.condition}) {{")
    with body.writer.block("} else {"):
        yield


@contextmanager
def otherwise(body: Body) -> Iterator[None]:
    """What runs where it does not."""
    with body.writer.block():
        yield
        body.flush()


@contextmanager
def _each_vector(
    body: Body, vector: Vector, looped: tuple[Dim, ...], table: Table, *, late: bool = False
) -> Iterator[tuple[str, str]]:
    """A loop over the vectors of each thread; gives the names of the register counter and of a counter of elements.

    The register counter stands at a vector's first register, unless it is declared ``late`` by the statements inside.
    """
    context = body.context
    counter = context.counter(vector.dim)
    heads = []
    for dim in looped:
        count = table.registers(dim) // (vector.length if dim == vector.dim else 1)
        name = context.vector_counter(dim) if dim == vector.dim else context.counter(dim)
        if count > 1:
            heads.append(f"it_each({name}, {count}) ")
    body.writer.line(f"{''.join(heads)}{{")
    with body.writer.block():
        if not late:
            body.writer.line(f"const int {counter} = {_start(body, vector, table)};")
        yield counter, context.element_counter(vector.dim)


def _start(body: Body, vector: Vector, table: Table) -> str:
    """The first register of the vector at hand."""
    if table.registers(vector.dim) == vector.length:
        return "0"
    return f"{body.context.vector_counter(vector.dim)} * {vector.length}"
