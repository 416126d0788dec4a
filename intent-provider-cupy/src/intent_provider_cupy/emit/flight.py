"""Products of groups that are still under way when the next pass begins, so that tensor cores never wait for threads.

A pass sets its products under way and waits only for those of the pass before it. That is right because

- nothing overwrites what they read: when threads have met at the head of pass t, each has waited, in pass t - 1, for
  its products of pass t - 2, and the copies that pass t starts go to where the tiles of pass t - 2 were (:data:`LAG`
  passes back, instead of one);
- nobody reads or writes their sums before the wait behind the loop: the product alone reads the carry, and the loop
  alone its result;
- products that add to the same registers are made in the order in which they are set under way.

Copies then start one pass later than they could, which takes one more stage.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from intent.physical import Contract, Loop
from intent.physical.walk import walk
from intent_provider_cupy.emit import groups
from intent_provider_cupy.emit.products import Product
from intent_provider_cupy.emit.tile import Tile

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body
    from intent_provider_cupy.emit.loops import Variable

LAG: Final = 2
"""How many passes after its own a pass's tiles may be overwritten, counted from the head of that pass."""
LEAST_STAGES: Final = 4
"""With fewer, the copies would start too late to be there in time."""


def flying(body: Body, loop: Loop, staged: Collection[tuple[Product, Tile]], stages: int) -> dict[int, int]:
    """The number of the carry that each of the loop's products adds to, by product, if all may stay under way.

    ``staged``: the tiles that are copied ahead, with the product that reads them.
    """
    found: dict[int, int] = {}
    for op in walk(loop.body):
        if not isinstance(op, Contract) or not body.usage.live(op):
            continue
        tiles = [tile for product, tile in staged if product.op is op]
        carry = _carry(body, loop, op)
        if carry is None or len(tiles) != 2 or not groups.fits(body, body.placing.products[op.id], tiles):
            return {}
        found[op.id] = carry
    return found if stages >= LEAST_STAGES else {}


def _carry(body: Body, loop: Loop, op: Contract) -> int | None:
    """The number of the carry that a product adds to, if it alone does and nobody else sees it during the loop."""
    for k, (argument, yielded) in enumerate(zip(loop.body.args[1:], loop.body.yields, strict=True)):
        if op.accumulator is not None and op.accumulator.id == argument.id and yielded.id == op.result.id:
            alone = body.usage.count[argument.id] == 1 and body.usage.count[op.result.id] == 1
            return k if alone and op.result.dtype.bits == 32 else None
    return None


def begin(body: Body, sums: Variable) -> None:
    """Before the loop: the sums' first values are there."""
    body.flush()
    body.writer.line(f"if constexpr (it_groups) it_begin_groups({sums.name});")


def end(body: Body, sums: Variable) -> None:
    """Behind the loop: the sums are there."""
    body.flush()
    body.writer.line(f"if constexpr (it_groups) it_wait_groups({sums.name});")
