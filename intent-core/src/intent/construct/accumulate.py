"""Accumulating over the loops of a walk: one carried value through a nest of ordered loops."""

from __future__ import annotations

from collections.abc import Callable

from intent import physical as ph
from intent.construct.context import Context
from intent.construct.parts import State, Values
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


def keep_sum(c: Context, total: ph.Fragment) -> None:
    """Remember that ``total`` is the sum of a part of the shared axis."""
    assert c.share is not None
    e, dtype = c.emitter, total.dtype
    zero = e.constant(0.0 if dtype.is_float else 0, dtype)

    def across(values: Values, dims: tuple[ph.Dim, ...]) -> Values:
        types = ((dtype, total.dims),)
        return e.emit(ph.Reduce, types, operands=values, dims=dims, kind="sum", name=total.name)

    def combine(a: Values, b: Values) -> Values:
        return (e.pointwise("add", a[0], b[0]),)

    c.share.states.append(State(results=(total,), start=(zero,), combine=combine, across=across))
