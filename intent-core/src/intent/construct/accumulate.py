"""Accumulating over the loops of a walk: one carried value through a nest of ordered loops."""

from __future__ import annotations

from collections.abc import Callable

from intent import physical as ph
from intent.construct.context import Context
from intent.construct.traversal import OpenLoop, carry, close_loop


def accumulate(
    c: Context,
    loops: list[OpenLoop],
    start: ph.Fragment,
    step: Callable[[ph.Fragment | None], ph.Fragment],
    dims: tuple[ph.Dim, ...],
    name: str = "",
) -> ph.Fragment:
    """``acc = step(acc)`` in the innermost of the open loops, beginning with ``start``; the loops are closed.

    Without loops the result is ``step(None)``: what one step contributes. ``start`` is a scalar, ``dims`` are the
    lanes of the accumulator.
    """
    if not loops:
        return step(None)
    args = [carry(c, loop, start.dtype, dims, name) for loop in loops]
    value = c.emitter.broadcast(step(args[-1]), dims)
    for depth in range(len(loops) - 1, -1, -1):
        init = args[depth - 1] if depth else c.emitter.broadcast(start, dims)
        (value,) = close_loop(c, loops[depth], (init,), (value,))
    return value
