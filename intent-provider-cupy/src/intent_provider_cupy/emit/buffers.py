"""Private storage: a slice of the workspace, or shared memory where that holds it."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from intent.diagnostics import CapabilityError
from intent.physical import BufferAlloc
from intent.physical.fragment import Resource, View
from intent_provider_cupy.emit.literals import stored_type
from intent_provider_cupy.spelling import PROVIDER

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body


def pointer(body: Body, resource: Resource) -> str:
    """The name of the first element of a view or buffer."""
    if isinstance(resource, View):
        return body.context.signature.view(resource)
    return body.buffers.get(resource.id) or body.context.signature.buffer(resource)


def allocate(body: Body, op: BufferAlloc) -> None:
    """A piece of shared memory for a private buffer of known, small size; workspace memory needs no statement."""
    buffer = op.buffer
    if buffer.storage != "workspace":
        capability = f"buffers in {buffer.storage}"
        raise CapabilityError(PROVIDER, capability=capability, needed=buffer.name, span=op.span)
    sizes = [e.const for e in buffer.shape if e.const is not None]
    count = prod(sizes, start=1)
    bytes_ = count * buffer.dtype.bytes
    known = len(sizes) == len(buffer.shape) and count
    if not known or buffer.scope == "invocation" or not body.context.scratch.room(bytes_):
        return
    name, type_ = body.context.namer.fresh(buffer.name), stored_type(buffer.dtype)
    offset = body.context.scratch.keep(bytes_)
    body.statement(f"{type_}* const {name} = it_piece<{type_}>({offset}, {count});", op.span)
    body.buffers[buffer.id] = name
