"""Private storage: registers, shared memory, or a slice of the workspace."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from intent.diagnostics import CapabilityError
from intent.physical import BufferAlloc, Load, Store
from intent.physical.fragment import Resource, View
from intent_provider_cupy.emit.layout import Table
from intent_provider_cupy.emit.literals import stored_type, typed
from intent_provider_cupy.emit.loops import Variable
from intent_provider_cupy.emit.value import Prec, Value, mention
from intent_provider_cupy.spelling import PROVIDER

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body


@dataclass(frozen=True, kw_only=True)
class Home:
    """Where the elements of a resource are: behind a pointer, or in the registers of a variable."""

    pointer: str = ""
    registers: Variable | None = None


def home(body: Body, resource: Resource) -> Home:
    """The place of a view or buffer."""
    if isinstance(resource, View):
        return Home(pointer=body.context.signature.view(resource))
    return body.buffers.get(resource.id) or Home(pointer=body.context.signature.buffer(resource))


def allocate(body: Body, op: BufferAlloc) -> None:
    """A piece of shared memory or registers; workspace memory needs no statement.

    A private workspace buffer of known, small size is in shared memory too: it holds the same, closer.
    """
    buffer = op.buffer
    sizes = [e.const for e in buffer.shape]
    known = all(s is not None for s in sizes)
    count = prod((s or 0 for s in sizes), start=1)
    if buffer.storage == "workspace":
        near = (
            known
            and buffer.scope != "invocation"
            and count
            and body.context.scratch.room(count * buffer.dtype.bytes)
        )
        if not near:
            return
    elif not known:
        raise CapabilityError(
            PROVIDER, capability="buffers of unknown size", needed=buffer.name, span=op.span
        )
    if buffer.storage != "registers":
        name = body.context.namer.fresh(buffer.name)
        offset = body.context.scratch.keep(count * buffer.dtype.bytes)
        type_ = stored_type(buffer.dtype)
        body.statement(f"{type_}* const {name} = it_piece<{type_}>({offset}, {count});", op.span)
        body.buffers[buffer.id] = Home(pointer=name)
        return
    name = body.context.namer.fresh(buffer.name)
    dims = body.placing.buffer_dims(buffer)
    table = body.placing.main
    variable = body.loops.variable(name, stored_type(buffer.dtype), table.looped(dims))
    body.flush()
    body.loops.declare(variable, table)
    body.buffers[buffer.id] = Home(registers=variable)


def read_registers(body: Body, op: Load, table: Table, place: Home) -> Value:
    """The lanes of a buffer that each thread holds itself."""
    assert place.registers is not None
    for coordinate in op.coordinates:
        body.use(coordinate, table)
    refs = frozenset({place.registers.id})
    text = mention(place.registers.id)
    return Value(text=text, prec=Prec.ATOM, dtype=op.source.dtype, dims=op.result.dims, refs=refs)


def write_registers(
    body: Body, op: Store, table: Table, place: Home, value: Value, valid: Value | None
) -> None:
    """Every replica writes its own registers."""
    assert place.registers is not None
    for coordinate in op.coordinates:
        body.use(coordinate, table)
    target = mention(place.registers.id)
    text = f"{target} = {typed(value).text};"
    if valid is not None:
        text = f"if ({valid.text}) {text}"
    body.loops.act(text, table, table.looped(op.dims), op.span)
