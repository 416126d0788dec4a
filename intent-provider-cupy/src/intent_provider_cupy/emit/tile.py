"""Operands of tensor cores in shared memory: panels of rows, in an order in which neighbouring rows do not collide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from intent.physical import Dim, Fragment
from intent_provider_cupy.casts import cast
from intent_provider_cupy.emit import vectored
from intent_provider_cupy.emit.access import replica_text
from intent_provider_cupy.emit.layout import Table
from intent_provider_cupy.emit.literals import c_type, typed
from intent_provider_cupy.emit.loops import Variable
from intent_provider_cupy.emit.products import Product
from intent_provider_cupy.emit.scratch import TILE_ALIGNMENT
from intent_provider_cupy.emit.vectors import Vector

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body

PIECE_BYTES = 16
"""Bytes of one row of a matrix of the tensor cores, which stay together."""
PANEL_BYTES = 128
"""Most bytes of a panel's row: all banks of shared memory once."""


@dataclass(frozen=True, kw_only=True)
class Tile:
    """An operand in shared memory: rows are lanes of ``slow``, columns lanes of ``fast`` in panels of ``width``.

    The text finds a lane by ``it_place`` of the prelude, which says how the pieces of rows are swapped. With a
    ``pitch``, rows lie that many elements apart as they are, and places in one row differ by constants.
    """

    name: str
    fragment: Fragment
    slow: Dim
    fast: Dim
    width: int
    type: str
    element_bytes: int
    pitch: int = 0

    @property
    def elements(self) -> int:
        return self.slow.size * (self.pitch or self.fast.size)

    @property
    def bytes(self) -> int:
        """Bytes up to where the next tile may begin."""
        return -(-self.elements * self.element_bytes // TILE_ALIGNMENT) * TILE_ALIGNMENT

    def at(self, row: str, column: str) -> str:
        """The index of an element by its lane numbers along ``slow`` and ``fast``."""
        if self.pitch:
            return f"(({row}) * {self.pitch} + {column})"
        return f"it_place<{self.type}, {self.slow.size}, {self.width}>({row}, {column})"

    def along(self, free: Dim, across: str, along: str) -> str:
        """The index of an element by its lane numbers along the free dim (``across``) and the contracted one."""
        return self.at(along, across) if self.fast == free else self.at(across, along)

    def index(self, body: Body, table: Table) -> str:
        """The index of a lane in a table."""
        return self.at(body.coordinate(self.slow, table).text, body.coordinate(self.fast, table).text)

    def declaration(self, place: str, copies: int = 1) -> str:
        """The pointer to ``copies`` tiles from byte ``place`` of shared memory on."""
        count = copies * self.elements
        return f"{self.type}* const {self.name} = it_piece<{self.type}>({place}, {count});"


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A tile, and the text ("... + ") of where the one that counts stands among its copies, or ""."""

    tile: Tile
    base: str = ""


Operand = Placed | Variable
"""An operand of tensor cores: in shared memory, or the registers of results."""


def tile_of(body: Body, product: Product, fragment: Fragment, hint: str = "") -> Tile:
    """How an operand lies in shared memory: along the dim that its table has in neighbouring registers."""
    (k,) = product.op.dims
    (free,) = (d for d in fragment.dims if d != k)
    home = body.home(fragment)
    either = product.fed.bits == 16 or product.kind == "tiles"
    turned = either and home.bits(free)[0] is None and home.bits(k)[0] is not None
    fast, slow = (free, k) if turned else (k, free)
    # Rows of contracted lanes are read by threads that are rows apart: a piece more, and they lie in other banks.
    spare = 0 if turned else PIECE_BYTES // product.fed.bytes
    return Tile(
        name=body.context.namer.fresh(f"{hint or fragment.name or 'operand'}_tile"), fragment=fragment, slow=slow,
        fast=fast, width=min(fast.size, PANEL_BYTES // product.fed.bytes), type=c_type(product.fed),
        element_bytes=product.fed.bytes, pitch=fast.size + spare if product.kind == "tiles" else 0,
    )  # fmt: skip


def put(body: Body, product: Product, tile: Tile) -> None:
    """Write an operand into its tile, each lane once."""
    home = body.home(tile.fragment)
    value = typed(cast(body.use(tile.fragment, home), product.fed))
    replica = replica_text(home, tile.fragment.dims)
    condition = f"if ({replica}) " if replica else ""
    place = f"{tile.name}, {tile.index(body, home)}"
    bits = home.bits(tile.fast)
    low = next((k for k, b in enumerate(bits) if b is not None), len(bits))
    length = 1 if tile.fast in home.runs else min(1 << low, PIECE_BYTES // product.fed.bytes)
    looped = home.looped(tile.fragment.dims)
    if length > 1:
        body.flush_keeping([value])
        vector = Vector(dim=tile.fast, length=length, condition="true")
        vectored.write(body, vector, value, place, condition, tile.type, looped, home, product.op.span)
        return
    body.loops.act(f"{condition}it_store({place}, {value.text});", home, looped, product.op.span)
