"""Pages of rows: extents by which a kernel with products divides the numbers of rows, and takes what is left.

    page, place = t // S, t % S

Where rows stand in pages, a target may read a page's number once, and not once a row, if it knows how long pages are.
"""

from __future__ import annotations

from intent import kir
from intent.kir.walk import walk
from intent.types import Extent


def page_sizes(kernel: kir.Kernel) -> list[Extent]:
    """The extents of a launch that both divide members of an axis and bound what is left of them."""
    ops = list(walk(kernel.body))
    if not any(isinstance(op, kir.Contract) for op in ops):
        return []
    made = {result.id: op for op in ops for result in op.results}
    found: dict[str, list[tuple[int, Extent]]] = {"floordiv": [], "mod": []}
    for op in ops:
        if isinstance(op, kir.Pointwise) and op.fn in found and op.result.rank:
            divisor = made.get(op.operands[1].id)
            while isinstance(divisor, kir.Broadcast):
                divisor = made.get(divisor.value.id)
            if isinstance(divisor, kir.ExtentValue) and divisor.extent.launch_visible:
                found[op.fn].append((op.operands[0].id, divisor.extent))
    return list(dict.fromkeys(extent for of, extent in found["floordiv"] if (of, extent) in found["mod"]))
