"""How each contraction is computed, and the places that tensor cores give the dims of its result.

An m16n8 result of a warp has rows in bits 2..4 of the lane number, then in a register, and columns in a register, then
in bits 0 and 1 of the lane number. Where there are that many, the four warps of a group have the next rows. Whole tiles
of a warp are further registers; the other warps, or the groups, take the highest bits.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import prod
from typing import Final, Literal

from intent.physical import Contract, Dim, Fragment
from intent.types import DType
from intent.types.dtypes import F16, F32
from intent_provider_cupy.emit.layout import LANE_BITS, Bits, Table, bit_count

Kind = Literal["tensor", "tiles", "products"]
_ROWS: Final[Bits] = (2, 3, 4, None)
_GROUP: Final[Bits] = (LANE_BITS, LANE_BITS + 1)
GROUP_BITS: Final = LANE_BITS + len(_GROUP)
"""Bits of the thread number that tell the threads of one group apart."""
GROUP_ROWS: Final = 64
"""Rows of four warps that are numbered in sequence, which have 16 each."""
_COLUMNS: Final[Bits] = (None, 0, 1)
FEW_RESULTS: Final = 32
"""Results of a product that leave a thread most of its registers."""
_FLOATS: Final = ("f16", "bf16", "f8e4m3fn", "f8e5m2")
_INTEGERS: Final = ("i8", "u8")


@dataclass(frozen=True, kw_only=True)
class Product:
    """The plan of one contraction.

    ``tensor``: on tensor cores, ``rows`` the operand whose free dim is in the rows. ``tiles``: operands in shared
    memory, sums in registers. ``products``: products lane by lane, then a reduction. ``depth``: contracted lanes of
    one step of the tensor cores, whose operands are of type ``fed``.
    """

    op: Contract
    kind: Kind
    rows: Fragment
    columns: Fragment
    depth: int = 1
    fed: DType = F32

    @property
    def row_dim(self) -> Dim:
        return _only_free(self.op, self.rows)

    @property
    def column_dim(self) -> Dim:
        return _only_free(self.op, self.columns)

    @property
    def simple(self) -> bool:
        """Whether it has one row dim, one column dim and one contracted dim."""
        free = [len(free_dims(self.op, side)) for side in (self.rows, self.columns)]
        return len(self.op.dims) == free[0] == free[1] == 1


def _only_free(op: Contract, side: Fragment) -> Dim:
    (dim,) = free_dims(op, side)
    return dim


def few_rows(product: Product, table: Table) -> bool:
    """Whether a product on tensor cores has the fewest rows, and few results a thread."""
    m, n = product.row_dim, product.column_dim
    return m.size == 1 << len(_ROWS) and table.registers(m) * table.registers(n) <= FEW_RESULTS


def free_dims(op: Contract, side: Fragment) -> tuple[Dim, ...]:
    """The dims of an operand that are not summed."""
    return tuple(d for d in side.dims if d not in op.dims)


def product_of(
    op: Contract, places: dict[Dim, Bits] | None, thread_bits: int, walked: AbstractSet[Dim] = frozenset()
) -> Product:
    """The plan of a contraction; gives the dims of its result the places that it needs, if they are free.

    ``places``: of the dims so far; None if the contraction has to do with any places.
    ``walked``: dims along which something is combined, which is cheap inside of a warp.
    """
    left, right = free_dims(op, op.lhs), free_dims(op, op.rhs)
    shared = set(left) & set(right)
    sizes = [prod((d.size for d in dims if d not in shared), start=1) for dims in (left, right)]
    if min(sizes) == 1:
        return Product(op=op, kind="products", rows=op.lhs, columns=op.rhs)
    if places is None:
        return Product(op=op, kind="tiles", rows=op.lhs, columns=op.rhs, fed=op.lhs.dtype)
    for rows, columns in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        found = _on_tensor_cores(op, rows, columns, places, thread_bits, walked)
        if found is not None:
            return found
    if len(left) == len(right) == 1:  # and not the same one, which would leave nothing to multiply
        _blocked(left[0], right[0], places, thread_bits)
    return Product(op=op, kind="tiles", rows=op.lhs, columns=op.rhs, fed=op.lhs.dtype)


def _on_tensor_cores(
    op: Contract,
    rows: Fragment,
    columns: Fragment,
    places: dict[Dim, Bits],
    thread_bits: int,
    walked: AbstractSet[Dim],
) -> Product | None:
    dtype = op.lhs.dtype
    if len(op.dims) != 1 or thread_bits < LANE_BITS:
        return None
    if dtype.name in _FLOATS and op.result.dtype.bits <= 32:
        depth, fed = 16, F16 if dtype.bits == 8 else dtype
    elif dtype.name in _INTEGERS and op.result.dtype.name == "i32":
        depth, fed = 32, dtype
    else:
        return None
    m, n = free_dims(op, rows), free_dims(op, columns)
    if len(m) != 1 or len(n) != 1 or m[0].size < 16 or n[0].size < 8 or op.dims[0].size < depth:
        return None
    if not _placed(m[0], n[0], places, thread_bits, walked, grouped=fed.is_float):
        return None
    return Product(op=op, kind="tensor", rows=rows, columns=columns, depth=depth, fed=fed)


def _placed(
    m: Dim,
    n: Dim,
    places: dict[Dim, Bits],
    thread_bits: int,
    walked: AbstractSet[Dim],
    *,
    grouped: bool = False,
) -> bool:
    """Give both dims their places, unless one of them has others already.

    ``grouped``: the target may have groups for operands of this type.
    """
    if m in places and not _fits(places[m], _ROWS):
        return False
    if n in places and not _fits(places[n], _COLUMNS):
        return False
    if m in places and n in places:
        used = [b for d in (m, n) for b in places[d] if b is not None]
        return len(used) == len(set(used))
    taken = {b for d in (m, n) for b in places.get(d, ())}
    free = [b for b in range(LANE_BITS, thread_bits) if b not in taken]
    if m in places:
        places[n] = _with_warps(n, _COLUMNS, free[: _room(n, _COLUMNS)])
        return True
    first, free = _rows_of_warps(m, free)
    if n in places:
        places[m] = _with_warps(m, first, free[: _room(m, first)])
        return True
    strips = grouped and first != _ROWS
    rows, columns = _split(m, n, len(free), _room(m, first), apart=n in walked, strips=strips)
    places[m] = _with_warps(m, first, free[:rows])
    places[n] = _with_warps(n, _COLUMNS, free[rows : rows + columns])
    return True


def _rows_of_warps(m: Dim, free: list[int]) -> tuple[Bits, list[int]]:
    """The lowest places of rows, and the bits of the warp number that are left: groups where there are enough."""
    if m.size >= GROUP_ROWS and set(_GROUP) <= set(free):
        return (*_ROWS, *_GROUP), [b for b in free if b not in _GROUP]
    return _ROWS, free


def in_groups(bits: Bits) -> bool:
    """Whether rows with these places have four warps side by side."""
    return bits[len(_ROWS) : len(_ROWS) + len(_GROUP)] == _GROUP


def row_step(table: Table, m: Dim) -> int:
    """Rows from one tile of a warp to the next."""
    return GROUP_ROWS if in_groups(table.bits(m)) else 1 << len(_ROWS)


def _fits(bits: Bits, first: Bits) -> bool:
    """Whether the places begin as tensor cores want them, and go on in registers and warps."""
    return bits[: len(first)] == first and all(b is None or b >= LANE_BITS for b in bits[len(first) :])


def _room(dim: Dim, first: Bits) -> int:
    return bit_count(dim.size) - len(first)


def _with_warps(dim: Dim, first: Bits, warps: list[int]) -> Bits:
    rest = _room(dim, first) - len(warps)
    return (*first, *[None] * rest, *warps)


def _split(m: Dim, n: Dim, warps: int, room: int, *, apart: bool, strips: bool) -> tuple[int, int]:
    """Bits of the warp number for rows and columns: tiles that read least, each two columns of tiles wide.

    ``room``: most bits for rows; ``apart``: rows first, so that no two warps share a row; ``strips``: groups read all
    their columns again for each strip of :data:`GROUP_ROWS` rows, where warps keep what they have read, so that of
    tiles with as many elements those with the fewest rows read least.
    """
    wide = max(0, _room(n, _COLUMNS) - 1)

    def cost(split: tuple[int, int]) -> tuple[int, int]:
        rows, columns = split
        height, width = m.size >> rows, n.size >> columns
        return -(rows + columns), -rows if apart else height if strips else height + width

    return min(((rows, min(warps - rows, wide)) for rows in range(min(warps, room) + 1)), key=cost)


def _blocked(m: Dim, n: Dim, places: dict[Dim, Bits], thread_bits: int) -> None:
    """Small blocks of rows and columns for each thread, so that a loaded element serves several sums."""
    if m in places or n in places:
        return
    high, wide = bit_count(m.size), bit_count(n.size)
    held = max(0, high + wide - thread_bits)
    columns = min(held - min(held // 2, high), wide)
    rows = held - columns
    threads = wide - columns
    places[n] = _around(range(threads), columns)
    places[m] = _around(range(threads, threads + high - rows), rows)


def _around(threads: range, registers: int) -> Bits:
    """Up to four neighbours in registers, then the threads, then the other registers."""
    low = min(2, registers)
    return (*[None] * low, *threads, *[None] * (registers - low))
