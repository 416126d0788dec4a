"""Atomic operations on an array's memory, with mask, order and scope."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from intent.diagnostics import CapabilityError
from intent.physical import Atomic
from intent.provider.emission.python import Prec, Value, expanded
from intent.types.dtypes import BOOL
from intent_provider_cutile.emit.access import offset_of
from intent_provider_cutile.emit.literals import literal, type_text, typed
from intent_provider_cutile.spelling import ATOMICS, BY_CAS, PROVIDER

if TYPE_CHECKING:
    from intent_provider_cutile.emit.body import Body

_METHODS = {
    "add": "atomic_add_offset", "max": "atomic_max_offset", "min": "atomic_min_offset", "and": "atomic_and_offset",
    "or": "atomic_or_offset", "xor": "atomic_xor_offset", "exchange": "atomic_xchg_offset",
    # A load leaves the element as it is: xor with 0 for integers, adding -0.0 for floats. A store drops the old value.
    "load": "atomic_xor_offset", "store": "atomic_xchg_offset", "compare_exchange": "atomic_cas_offset",
}  # fmt: skip


_SPREAD: Final = 256
"""Lanes from which on threads have several."""
_WHOLE_BITS: Final = 32
"""Narrower elements travel in pairs."""


def atomic(body: Body, op: Atomic) -> None:
    """One read-modify-write per lane of the execution dims; results are the old value, and success of a CAS."""
    dtype = op.target.dtype
    native = (op.kind, dtype.name) in ATOMICS
    if not native and (op.kind, dtype.name) not in BY_CAS:
        offered = sorted(name for kind, name in ATOMICS | BY_CAS if kind == op.kind)
        raise CapabilityError(
            PROVIDER, capability=f"atomic {op.kind}", needed=dtype.name, offered=offered, span=op.span
        )
    valid = body.use(op.valid) if op.valid is not None else None
    operands = [body.use(o) for o in op.operands]
    offset = offset_of(body, op)
    texts = [expanded(typed(o), op.dims).text for o in operands]
    method = _METHODS[op.kind]
    if op.kind == "load":
        neutral = literal(-0.0 if dtype.is_float else 0, dtype)
        texts = [f"{type_text(neutral)}({neutral.text})"]
        method = "atomic_add_offset" if dtype.is_float else method
    if native:
        words = [_one_by_one(body, op, offset), *texts, *_keywords(body, op, valid)]
        text = f"{body.memory(op.target)}.{method}({', '.join(words)})"
    else:
        helper = body.context.need(f"_atomic_{op.kind}_float")
        mask = _full_mask(body, op, valid)
        scope = _scope(op)
        text = f"{helper}({body.memory(op.target)}, {body.full(offset, op.dims).text}, {texts[0]}, {mask}, {scope})"
    value = Value(text=text, prec=Prec.ATOM, dtype=dtype, dims=op.dims)
    if not op.results:
        body.writer.statement(text, op.span)
        return
    name = body.context.namer.fresh(op.results[0].name or "old")
    body.writer.statement(f"{name} = {text}", op.span)
    old = Value(text=name, prec=Prec.ATOM, dtype=dtype, dims=value.dims)
    body.define(op.results[0], old, op.span)
    if op.kind == "compare_exchange":
        _success(body, op, old, operands[0])


def _one_by_one(body: Body, op: Atomic, offset: Value) -> str:
    """The offsets, such that the compiler does not see that neighbouring lanes have neighbouring elements.

    It would give several of them to a thread, as for a vector, and then make one instruction of each: the lanes of a
    warp lie far apart in every one, and sums of rows run at two fifths of the speed.
    """
    program, lanes = body.context.program_id, math.prod(d.size for d in op.dims)
    if program is None or lanes < _SPREAD or op.target.dtype.bits < _WHOLE_BITS:
        return offset.text
    return f"ct.where({program.text} >= 0, {offset.text}, 0)"


def _success(body: Body, op: Atomic, old: Value, expected: Value) -> None:
    """A compare-and-swap succeeded where the old value has the expected bits."""
    left, right = old.text, expanded(typed(expected), op.dims).text
    if old.dtype.is_float:
        bits = f"ct.int{old.dtype.bits}"
        left, right = f"ct.bitcast({left}, {bits})", f"ct.bitcast({right}, {bits})"
    result = op.results[1]
    value = Value(text=f"{left} == {right}", prec=Prec.COMPARE, dtype=result.dtype, dims=op.dims)
    body.define(result, value, op.span)


def _keywords(body: Body, op: Atomic, valid: Value | None) -> list[str]:
    found = [f"memory_order=ct.MemoryOrder.{op.order.upper()}", f"memory_scope={_scope(op)}"]
    return found if valid is None else [f"mask={expanded(typed(valid), op.dims).text}", *found]


def _scope(op: Atomic) -> str:
    """Sharers in one instance need the block's scope, else the device's."""
    return f"ct.MemoryScope.{'BLOCK' if op.sharing == 'instance' else 'DEVICE'}"


def _full_mask(body: Body, op: Atomic, valid: Value | None) -> str:
    return body.full(valid if valid is not None else literal(True, BOOL), op.dims).text
