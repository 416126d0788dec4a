"""Atomic accesses: read-modify-writes, indivisible loads and stores, compare-exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING

from intent.diagnostics import CapabilityError
from intent.physical import Atomic, Buffer
from intent.types.dtypes import BOOL
from intent_provider_cupy.emit import buffers, convert, vectored
from intent_provider_cupy.emit.access import condition_text, offset_of, stored
from intent_provider_cupy.emit.facts import added_together
from intent_provider_cupy.emit.literals import stored_type, typed
from intent_provider_cupy.emit.value import Prec, Value, mention
from intent_provider_cupy.emit.vectors import vector_of
from intent_provider_cupy.spelling import ATOMICS, PROVIDER

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body


def atomic(body: Body, op: Atomic) -> None:
    """One access per lane of the execution dims, by one replica; the others get the old value from it.

    Raises:
        CapabilityError: The prelude has no such access for the element type.
    """
    if (op.kind, op.target.dtype.name) not in ATOMICS:
        offered = sorted(dtype for kind, dtype in ATOMICS if kind == op.kind)
        raise CapabilityError(
            PROVIDER,
            capability=f"atomic {op.kind}",
            needed=op.target.dtype.name,
            offered=offered,
            span=op.span,
        )
    if op.order in ("release", "acq_rel"):
        body.barrier()  # what any thread wrote comes before what this access makes visible
    body.hazards.touch(op)
    _access(body, op)
    if op.order in ("acquire", "acq_rel") and body.hazards.snapshot():
        body.barrier()  # no thread reads ahead of it; where replicas have got the old value, a barrier stands already


def _access(body: Body, op: Atomic) -> None:
    table = body.placing.table_of(op)
    operands = [stored(body.use(o, table)) for o in op.operands]
    valid = body.use(op.valid, table) if op.valid is not None else None
    pointer = buffers.pointer(body, op.target)
    offset = offset_of(body, op.target, op.coordinates, table)
    scope = "IT_BLOCK" if op.sharing == "instance" else "IT_DEVICE"
    if isinstance(op.target, Buffer) and op.target.id in body.buffers:
        scope = "IT_SHARED"
    arguments = ", ".join([pointer, offset.text, *(o.text for o in operands)])
    call = f"it_atomic_{op.kind}<IT_{op.order.upper()}, {scope}>({arguments})"
    condition = condition_text(op.dims, table, valid)
    looped = table.looped(op.dims)
    if not op.results or not any(body.usage.count[r.id] for r in op.results):
        vector = vector_of(body, op, op.dims, table) if added_together(op) and scope != "IT_SHARED" else None
        if vector is None:
            body.loops.act(f"{condition}{call};", table, looped, op.span)
            return
        at, act = f"{pointer}, {offset.text}", f"it_atomic_add_all<{vector.length}, {scope}>"
        vectored.store(body, op, vector, operands[0], at, condition, f"{call};", act)
        return
    expected = None
    if op.kind == "compare_exchange":
        expected = body.named(operands[0], "expected", op.span, table)
    body.flush_keeping([expected] if expected is not None else [])
    type_ = stored_type(op.target.dtype)
    variable = body.loops.variable(body.context.namer.fresh(op.results[0].name or "old"), type_, looped)
    body.loops.declare(variable, table)
    old = mention(variable.id)
    start = f"{old} = {{}}; " if condition else ""
    body.loops.act(f"{start}{condition}{old} = {call};", table, looped, op.span)
    value = Value(
        text=old, prec=Prec.ATOM, dtype=op.target.dtype, dims=op.dims, refs=frozenset({variable.id})
    )
    body.put(op.results[0], value, table)
    if table.spare(op.dims):
        convert.share(body, op, variable, op.target.dtype, op.dims, table)
    if expected is None:
        return
    text = f"it_same_bits({old}, {typed(expected).text})"
    if valid is not None:
        text = f"{valid.at(Prec.AND_ALSO)} && {text}"
    refs = value.refs | expected.refs | (valid.refs if valid is not None else frozenset())
    success = Value(text=text, prec=Prec.AND_ALSO, dtype=BOOL, dims=op.dims, refs=refs)
    body.define(op.results[1], success, op.span, table)
