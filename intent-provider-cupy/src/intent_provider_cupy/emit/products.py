"""How each contraction is computed, and the places that tensor cores give the dims of its result.

An m16n8 result of a warp has rows in bits 2..4 of the lane number, then in a register, and columns in a register, then
in bits 0 and 1 of the lane number. Whole tiles of a warp are further registers; the warps take the highest bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final, Literal

from intent.physical import Contract, Dim, Fragment
from intent.types import DType
from intent.types.dtypes import F16, F32
from intent_provider_cupy.emit.layout import LANE_BITS, Bits, bit_count

Kind = Literal["tensor", "tiles", "products"]
_ROWS: Final[Bits] = (2, 3, 4, None)
_COLUMNS: Final[Bits] = (None, 0, 1)
_TENSOR: Final = {"f16": F32, "bf16": F32, "f8e4m3fn": F32, "f8e5m2": F32}
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


def _only_free(op: Contract, side: Fragment) -> Dim:
    (dim,) = (d for d in side.dims if d not in op.dims)
    return dim


def free_dims(op: Contract, side: Fragment) -> tuple[Dim, ...]:
    """The dims of an operand that are not summed."""
    return tuple(d for d in side.dims if d not in op.dims)


def product_of(op: Contract, places: dict[Dim, Bits], thread_bits: int) -> Product:
    """The plan of a contraction; gives the dims of its result the places that it needs, if they are free."""
    left, right = free_dims(op, op.lhs), free_dims(op, op.rhs)
    shared = set(left) & set(right)
    sizes = [prod((d.size for d in dims if d not in shared), start=1) for dims in (left, right)]
    if min(sizes) == 1:
        return Product(op=op, kind="products", rows=op.lhs, columns=op.rhs)
    for rows, columns in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        found = _on_tensor_cores(op, rows, columns, places, thread_bits)
        if found is not None:
            return found
    if len(left) == len(right) == 1 and not shared:
        _blocked(left[0], right[0], places, thread_bits)
    return Product(op=op, kind="tiles", rows=op.lhs, columns=op.rhs)


def _on_tensor_cores(
    op: Contract, rows: Fragment, columns: Fragment, places: dict[Dim, Bits], thread_bits: int
) -> Product | None:
    name = op.lhs.dtype.name
    if op.lhs.dtype != op.rhs.dtype or len(op.dims) != 1 or thread_bits < LANE_BITS:
        return None
    if name in _TENSOR and op.result.dtype.is_float and op.result.dtype.bits <= 32:
        depth, fed = 16, F16 if op.lhs.dtype.bits == 8 else op.lhs.dtype
    elif name in _INTEGERS and op.result.dtype.name == "i32":
        depth, fed = 32, op.lhs.dtype
    else:
        return None
    m, n = free_dims(op, rows), free_dims(op, columns)
    if len(m) != 1 or len(n) != 1 or m == n or m[0].size < 16 or n[0].size < 8 or op.dims[0].size < depth:
        return None
    if not _placed(m[0], n[0], places, thread_bits):
        return None
    return Product(op=op, kind="tensor", rows=rows, columns=columns, depth=depth, fed=fed)


def _placed(m: Dim, n: Dim, places: dict[Dim, Bits], thread_bits: int) -> bool:
    """Give both dims their places, unless one of them has others already."""
    if m in places and not _fits(places[m], _ROWS):
        return False
    if n in places and not _fits(places[n], _COLUMNS):
        return False
    warps = list(range(LANE_BITS, thread_bits))
    taken = {b for d in (m, n) for b in places.get(d, ()) if b is not None and b >= LANE_BITS}
    if m in places and n in places:
        used = [b for d in (m, n) for b in places[d] if b is not None]
        return len(used) == len(set(used))
    free = [b for b in warps if b not in taken]
    if m in places or n in places:
        dim, first = (n, _COLUMNS) if m in places else (m, _ROWS)
        places[dim] = _with_warps(dim, first, free[: _room(dim, first)])
        return True
    rows, columns = _split(m, n, len(free))
    places[m] = _with_warps(m, _ROWS, free[:rows])
    places[n] = _with_warps(n, _COLUMNS, free[rows : rows + columns])
    return True


def _fits(bits: Bits, first: Bits) -> bool:
    """Whether the places begin as tensor cores want them, go on in registers and end in warps."""
    rest = bits[len(first) :]
    warps = [b for b in rest if b is not None]
    return (
        bits[: len(first)] == first
        and rest == (*[None] * (len(rest) - len(warps)), *warps)
        and all(b >= LANE_BITS for b in warps)
    )


def _room(dim: Dim, first: Bits) -> int:
    return bit_count(dim.size) - len(first)


def _with_warps(dim: Dim, first: Bits, warps: list[int]) -> Bits:
    rest = _room(dim, first) - len(warps)
    return (*first, *[None] * rest, *warps)


def _split(m: Dim, n: Dim, warps: int) -> tuple[int, int]:
    """Bits of the warp number for rows and columns: tiles of a warp about square, each two columns of tiles wide."""
    best, chosen = None, (0, 0)
    for rows in range(min(warps, _room(m, _ROWS)) + 1):
        columns = min(warps - rows, max(0, _room(n, _COLUMNS) - 1))
        height, width = m.size >> rows, n.size >> columns
        cost = (-(rows + columns), height + width)
        if best is None or cost < best:
            best, chosen = cost, (rows, columns)
    return chosen


def _blocked(m: Dim, n: Dim, places: dict[Dim, Bits], thread_bits: int) -> None:
    """Small blocks of rows and columns for each thread, so that a loaded element serves several sums."""
    if m in places or n in places:
        return
    total = bit_count(m.size) + bit_count(n.size)
    held = max(0, total - thread_bits)
    rows = min(held // 2, bit_count(m.size))
    columns = min(held - rows, bit_count(n.size))
    rows = held - columns
    threads = bit_count(n.size) - columns
    low = min(2, columns)
    lanes = list(range(min(threads, thread_bits)))
    places[n] = (*[None] * low, *lanes, *[None] * (bit_count(n.size) - low - len(lanes)))
    rest = list(range(len(lanes), thread_bits))
    low = min(2, rows)
    mine = rest[: bit_count(m.size) - rows]
    places[m] = (*[None] * low, *mine, *[None] * (bit_count(m.size) - low - len(mine)))
