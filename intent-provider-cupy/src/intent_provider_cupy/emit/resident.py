"""Operands of contractions that no pass of a loop changes: written to shared memory once, before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from intent.physical import Contract, Loop
from intent.physical.walk import walk
from intent_provider_cupy.emit import fragments, groups
from intent_provider_cupy.emit.products import Product
from intent_provider_cupy.emit.tile import Tile, put, tile_of

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body

LIMIT = 96 * 1024
"""Most bytes of the tiles that stand at one time: what is left is for tiles that are copied ahead."""


def keep(body: Body, loop: Loop) -> None:
    """Write the tiles of the operands that are there before the loop; they stay until the region ends.

    Called before the loop's carries have values.
    """
    made: list[tuple[Product, Tile]] = []
    for op in walk(loop.body):
        if not isinstance(op, Contract) or body.placing.products[op.id].kind != "tensor":
            continue
        product = body.placing.products[op.id]
        for side in (product.rows, product.columns):
            known = (side.id, body.home(side).index) in body.values
            held = side == product.rows and fragments.held(body, product)
            if not known or held or side.id in body.staged:
                continue
            tile = tile_of(body, product, side)
            if body.context.scratch.tiled + tile.bytes <= LIMIT:
                made.append((product, tile))
                body.staged[side.id] = (tile, "")
                _declare(body, tile, first=len(made) == 1)
    for product, tile in made:
        put(body, product, tile)
    if made:
        if any(groups.grouped(p, body.placing.table_of(p.op)) for p, _ in made):
            body.flush()
            body.writer.line("it_show_groups();")
        body.barrier()


def _declare(body: Body, tile: Tile, *, first: bool) -> None:
    body.flush()
    if first and (body.depth or len(body.staged) > 1):
        body.barrier()  # another loop, or an earlier round of this one, may still read what is there
    offset = body.context.scratch.tiles(tile.bytes)
    body.writer.line(tile.declaration(f"staged + {offset}" if offset else "staged"))
