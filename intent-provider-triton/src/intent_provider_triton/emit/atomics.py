"""Atomic accesses: read-modify-writes, indivisible loads and stores, compare-exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING

from intent.diagnostics import CapabilityError
from intent.physical import Atomic
from intent.provider.emission.python import Prec, Value, expanded
from intent_provider_triton.emit.access import pointer_of, shaped
from intent_provider_triton.emit.exchange import compare_exchange
from intent_provider_triton.emit.literals import literal, typed
from intent_provider_triton.spelling import ATOMICS, PROVIDER

if TYPE_CHECKING:
    from intent_provider_triton.emit.body import Body

# Triton has neither atomic loads nor atomic stores: a load is an or with nothing, a store drops the old value.
_RMW = {
    "add": "atomic_add", "max": "atomic_max", "min": "atomic_min", "and": "atomic_and", "or": "atomic_or",
    "xor": "atomic_xor", "exchange": "atomic_xchg", "store": "atomic_xchg", "load": "atomic_or",
}  # fmt: skip


def atomic(body: Body, op: Atomic) -> None:
    """One atomic access over the execution dims.

    Raises:
        CapabilityError: Triton has no such access for the element type.
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
    if op.kind == "compare_exchange":
        compare_exchange(body, op, _mask(body, op), _order(op))
        return
    valid = _mask(body, op)
    operand = body.use(op.operands[0]) if op.operands else literal(0, op.target.dtype)
    arguments = [_place(body, op).text, expanded(typed(operand), op.dims).text]
    if valid is not None:
        arguments.append(f"mask={valid.text}")
    text = f"tl.{_RMW[op.kind]}({', '.join([*arguments, *_order(op)])})"
    value = Value(text=text, prec=Prec.ATOM, dtype=op.target.dtype, dims=op.dims)
    if op.results:
        body.define(op.results[0], value, op.span, statement=True, hint="old")
    else:
        body.writer.statement(text, op.span)


def _place(body: Body, op: Atomic) -> Value:
    return shaped(pointer_of(body, op.target, op.coordinates), op.dims)


def _mask(body: Body, op: Atomic) -> Value | None:
    return None if op.valid is None else shaped(body.use(op.valid), op.dims)


def _order(op: Atomic) -> tuple[str, str]:
    scope = "cta" if op.sharing == "instance" else "gpu"
    return f'sem="{op.order}"', f'scope="{scope}"'
