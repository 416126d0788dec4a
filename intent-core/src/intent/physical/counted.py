"""Histograms that a whole loop counts on: what its carry holds matters to nobody before the loop's end."""

from __future__ import annotations

from collections.abc import Mapping

from intent.physical.ops import Histogram, Loop, Op

__all__ = ["counting_chain"]


def counting_chain(loop: Loop, k: int, uses: Mapping[int, int], defined: Mapping[int, Op]) -> list[Histogram]:
    """The histograms that carry ``k`` of the loop passes through from one pass to the next, inner loops included.

    None of them if there is anything else on the way, or the counts are used anywhere before the loop's end. ``uses``:
    how often each value is read, yields included; ``defined``: the operation that each value comes from.
    """
    value, argument = loop.body.yields[k], loop.body.args[k + 1]
    inside = {op.id for op in loop.body.ops}
    found: list[Histogram] = []
    while uses.get(value.id, 0) == 1 and value.dims == argument.dims:
        if value.id == argument.id:
            return found
        op = defined.get(value.id)
        if op is None or op.id not in inside:
            return []
        if isinstance(op, Histogram) and op.accumulator is not None:
            found.append(op)
            value = op.accumulator
        elif isinstance(op, Loop):
            j = op.results.index(value)
            inner = counting_chain(op, j, uses, defined)
            if not inner:
                return []
            found += inner
            value = op.inits[j]
        else:
            return []
        if any(h.bins != found[0].bins for h in found):
            return []
    return []
