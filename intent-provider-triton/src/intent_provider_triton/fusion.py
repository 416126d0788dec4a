"""Whether the compiler may contract a product and a sum into one rounding.

Triton reduces across threads by exchanging partial results, and every thread adds the other's to its own. With a
contracted product, one thread rounds its own product and not the other's, its partner the other way round: the
threads that hold one element then differ in its last bit. That does not matter where each of them goes on alone. It
does where several of them write the element to memory that is read again, or branch on it.
"""

from __future__ import annotations

from intent import physical as ph
from intent.physical.walk import walk
from intent_provider_triton.emit.structured import dot_layout

_SHARING = (ph.BufferAlloc, ph.Fence, ph.Atomic, ph.While, ph.If)


def may_contract(program: ph.Program) -> bool:
    """Whether threads may disagree in the last bit of a sum of products."""
    ops = [op for segment in program.segments for op in walk(segment.body)]
    if not program.workspace and not any(isinstance(op, _SHARING) for op in ops):
        return True
    definition = {f.id: op for op in ops for f in op.results}
    return not any(_sums_products(op, definition) for op in ops)


def _sums_products(op: ph.Op, definition: dict[int, ph.Op]) -> bool:
    if isinstance(op, ph.Contract):
        return op.result.dtype.is_float and dot_layout(op) is None
    if not isinstance(op, ph.Reduce):
        return False
    if op.combine is not None:
        return any(_multiplies(inner) for inner in walk(op.combine))
    return op.kind == "sum" and _is_product(op.operands[0], definition)


def _is_product(f: ph.Fragment, definition: dict[int, ph.Op]) -> bool:
    op = definition.get(f.id)
    match op:
        case ph.Broadcast() | ph.Rename():
            return _is_product(op.value, definition)
        case ph.Pointwise(fn="select"):
            return any(_is_product(branch, definition) for branch in op.operands[1:])
    return op is not None and _multiplies(op)


def _multiplies(op: ph.Op) -> bool:
    return isinstance(op, ph.Pointwise) and op.fn == "mul" and op.result.dtype.is_float
