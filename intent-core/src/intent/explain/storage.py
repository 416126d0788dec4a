"""Storage besides the views, and what is computed again instead of being held there."""

from __future__ import annotations

from collections.abc import Iterator

from intent import kir
from intent.explain.places import Places
from intent.explain.quantity import Environment, quantity
from intent.explain.report import Buffer, Repeated
from intent.kir.kernel import Kernel
from intent.kir.walk import walk as walk_kernel
from intent.physical import Buffer as Made
from intent.physical import BufferAlloc, Contract, Histogram, Load, Op, Pointwise, Program, Reduce, Scan
from intent.physical.walk import walk
from intent.types.extent import const

__all__ = ["buffers", "repeated"]

_OWNERS = {
    "program": "one copy per program",
    "iteration": "one copy per pass of the loop around it",
    "invocation": "one slice per owner, in the whole launch",
}
_EXPENSIVE = frozenset(
    {"exp", "exp2", "log", "log2", "sin", "cos", "tanh", "erf", "pow", "sqrt", "rsqrt", "div"}
)


def buffers(program: Program, kernel: Kernel, places: Places, env: Environment | None) -> Iterator[Buffer]:
    """Every buffer of the program, in the order of their allocation."""
    declared = {op.id for op in walk_kernel(kernel.body) if isinstance(op, kir.BufferAlloc)}
    for segment in program.segments:
        for op in walk(segment.body):
            if isinstance(op, BufferAlloc):
                held = op.origin not in declared
                yield _buffer(op, segment.group, held, places, env)


def _buffer(op: BufferAlloc, group: int, held: bool, places: Places, env: Environment | None) -> Buffer:
    made: Made = op.buffer
    size = const(made.dtype.bytes)
    for e in made.shape:
        size = size * e
    return Buffer(
        name=made.name,
        dtype=made.dtype.name,
        shape=tuple(quantity(e, env) for e in made.shape),
        bytes=quantity(size, env),
        scope=made.scope,
        storage=made.storage,
        role=made.role or ("held" if held else "declared"),
        owner=_OWNERS[made.scope],
        segment=group,
        place=places.place(op.span),
    )


def repeated(program: Program, places: Places) -> Iterator[Repeated]:
    """Reads, reductions and expensive functions of one line that stand in the program more than once."""
    found: dict[tuple[int, str], list[tuple[int, Op]]] = {}
    for segment in program.segments:
        for op in walk(segment.body):
            text = _named(op)
            if text and op.origin is not None:
                found.setdefault((op.origin, text), []).append((segment.group, op))
    for (_, text), seen in found.items():
        if len(seen) > 1:
            groups = tuple(dict.fromkeys(group for group, _ in seen))
            place = places.place(seen[0][1].span)
            yield Repeated(text=text, times=len(seen), segments=groups, place=place)


def _named(op: Op) -> str:
    name = next((f" {r.name}" for r in op.results if r.name), "")
    match op:
        case Load():
            return f"read of {op.source.name}"
        case Reduce() | Scan():
            return f"{op.kind or 'custom'} {type(op).__name__.lower()}{name}"
        case Contract():
            return f"contraction{name}"
        case Histogram():
            return f"histogram{name}"
        case Pointwise() if op.fn in _EXPENSIVE and op.result.dtype.is_float:
            return f"{op.fn}{name}"
    return ""
