"""Pointwise and shape functions of the stand-in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intent_provider_cutile.emulate.dtypes import (
    BOOL,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    Array,
    DType,
    TileTypeError,
    constant,
    converted,
)
from intent_provider_cutile.emulate.tile import (
    Number,
    Tile,
    arithmetic,
    check_shape,
    number,
    paired,
    shaped,
    true_quotient,
)


def arange(size: int, /, *, dtype: DType) -> Tile:
    """0, 1, ... size - 1."""
    return Tile(np.arange(size, dtype=dtype.numpy), dtype)


def full(shape: tuple[int, ...], fill_value: Number, dtype: DType) -> Tile:
    """A tile of one number."""
    return Tile(np.full(check_shape(shape), constant(fill_value, dtype), dtype.numpy), dtype)


def zeros(shape: tuple[int, ...], dtype: DType) -> Tile:
    """A tile of zeros."""
    return Tile(np.zeros(check_shape(shape), dtype.numpy), dtype)


def astype(x: Tile, dtype: DType, /) -> Tile:
    """A numeric conversion; small floats convert from and to f32 here."""
    if x.dtype == dtype:
        return x
    for small, other in ((x.dtype, dtype), (dtype, x.dtype)):
        if small.kind == "small float" and other != FLOAT32:
            raise TileTypeError(f"{x.dtype.name} to {dtype.name} is not relied on")
    return Tile(np.asarray(converted(x.data, x.dtype, dtype)), dtype)


def bitcast(x: Tile, /, dtype: DType) -> Tile:
    """The same bits as another dtype of equal width."""
    if x.dtype.bits != dtype.bits or "bool" in (x.dtype.kind, dtype.kind):
        raise TileTypeError(f"bitcast of {x.dtype.name} to {dtype.name}")
    bits = np.ascontiguousarray(x.data).reshape(-1).view(dtype.numpy)
    return Tile(bits.reshape(x.shape), dtype)


def broadcast_to(x: Tile, /, shape: tuple[int, ...]) -> Tile:
    """The tile repeated over a shape."""
    try:
        return Tile(np.broadcast_to(x.data, check_shape(shape)), x.dtype)
    except ValueError as error:
        raise TileTypeError(f"shape {x.shape} does not broadcast to {shape}") from error


def reshape(x: Tile, /, shape: tuple[int, ...]) -> Tile:
    """The elements in row-major order under another shape."""
    return Tile(x.data.reshape(check_shape(shape)), x.dtype)


def permute(x: Tile, /, axes: tuple[int, ...]) -> Tile:
    """The axes in another order."""
    return Tile(x.data.transpose(axes), x.dtype)


def transpose(x: Tile, /) -> Tile:
    """The two axes swapped."""
    if x.data.ndim != 2:
        raise TileTypeError(f"transpose of shape {x.shape} names its axes")
    return Tile(x.data.T, x.dtype)


def extract(x: Tile, /, index: Sequence[Any], shape: tuple[int, ...]) -> Tile:
    """The subtile of a shape at an index of its grid; indices known to the compiler are relied on."""
    sizes = check_shape(shape)
    if not len(index) == len(sizes) == x.data.ndim or any(n % m for n, m in zip(x.shape, sizes, strict=True)):
        raise TileTypeError(f"subtile {shape} at {index} of shape {x.shape}")
    if not all(isinstance(i, int) and 0 <= i * m < n for i, m, n in zip(index, sizes, x.shape, strict=True)):
        raise TileTypeError(f"subtile {shape} at {index} of shape {x.shape}")
    return Tile(x.data[tuple(slice(i * m, (i + 1) * m) for i, m in zip(index, sizes, strict=True))], x.dtype)


def where(cond: Tile | Number, x: Tile | Number, y: Tile | Number, /) -> Tile:
    """Elements of x where cond is true, of y elsewhere."""
    if not isinstance(cond, Tile) or cond.dtype != BOOL:
        raise TileTypeError("a choice is made by a tile of bools")
    left, right, dtype = paired(x, y)
    # Data of numpy's own dtypes only: ml_dtypes go through their bits.
    pair = np.broadcast_arrays(cond.data, left, right)
    out = np.where(pair[0], pair[1], pair[2]).astype(dtype.numpy, copy=False)
    return Tile(out, dtype)


def _float(x: Tile) -> Tile:
    if x.dtype not in (FLOAT32, FLOAT64):
        raise TileTypeError(f"a function of f32 or f64, not of {x.dtype.name}")
    return x


def _wide(compute: Callable[[Array], Array]) -> Callable[..., Tile]:
    """A function computed in f64 and rounded; hints about accuracy do not matter here."""

    def run(x: Tile, /, **hints: object) -> Tile:
        if set(hints) - {"rounding_mode", "flush_to_zero"}:
            raise TileTypeError(f"unknown hints {sorted(hints)}")
        value = np.asarray(compute(_float(x).data.astype(np.float64)))
        return Tile(value.astype(x.dtype.numpy), x.dtype)

    return run


def abs_(x: Tile, /) -> Tile:
    """The magnitude; the lowest integer stays as it is. Unsigned integers are taken for signed ones (measured)."""
    data = number(x).data
    signed = data.view(f"i{data.itemsize}") if data.dtype.kind == "u" else data
    return Tile(np.abs(signed).astype(data.dtype), x.dtype)


def _extreme(plain: Any, ignoring: Any) -> Callable[..., Tile]:
    def run(x: Tile | Number, y: Tile | Number, /, *, propagate_nan: bool = False) -> Tile:
        return arithmetic(plain if propagate_nan else ignoring, x, y)

    return run


def truediv(
    x: Tile | Number, y: Tile | Number, /, *, rounding_mode: str | None = None, flush_to_zero: bool = False
) -> Tile:
    """A quotient; hints about accuracy do not matter here."""
    return arithmetic(true_quotient, x, y)


def cdiv(x: Tile | Number, y: Tile | Number, /) -> Tile:
    """The quotient of integers, rounded up."""
    return arithmetic(lambda a, b: -np.floor_divide(-a, b), x, y)


def _of_two(compute: Any) -> Callable[..., Tile]:
    def run(x: Tile | Number, y: Tile | Number, /) -> Tile:
        left, right, dtype = paired(x, y)
        _float(Tile(left, dtype))
        return Tile(shaped(compute, left, right), dtype)

    return run


def ranged(*bounds: Tile | int) -> Sequence[Tile]:
    """``range`` over scalars: the index has the type of the bounds."""
    tiles = [b for b in bounds if isinstance(b, Tile)]
    if any(t.shape or t.dtype not in (INT32, INT64) for t in tiles):
        raise TileTypeError("the bounds of a loop are scalars of int32 or int64")
    dtype = INT64 if any(t.dtype == INT64 for t in tiles) else INT32
    values = [int(b.data) if isinstance(b, Tile) else b for b in bounds]
    if len(values) == 3 and values[2] < 1:
        raise TileTypeError(f"a loop steps forwards, not by {values[2]}")
    return _Indices(range(*values), dtype)


def static_iter(items: Sequence[Tile]) -> list[int]:
    """The numbers of a ``range`` of constants: the loop over them is written out."""
    return [int(item.data) for item in items]


class _Indices(Sequence[Tile]):
    """The index of a loop at each of its passes."""

    def __init__(self, values: range, dtype: DType) -> None:
        self._values, self._dtype = values, dtype

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, place: Any) -> Any:
        return Tile(np.asarray(self._values[place], self._dtype.numpy), self._dtype)


FUNCTIONS: dict[str, Any] = {
    "arange": arange, "full": full, "zeros": zeros, "astype": astype, "bitcast": bitcast, "broadcast_to": broadcast_to,
    "reshape": reshape, "permute": permute, "transpose": transpose, "where": where, "extract": extract,
    "static_iter": static_iter, "truediv": truediv, "cdiv": cdiv,
    "abs": abs_, "maximum": _extreme(np.maximum, np.fmax), "minimum": _extreme(np.minimum, np.fmin),
    "atan2": _of_two(np.arctan2), "pow": _of_two(np.power), "exp": _wide(np.exp), "exp2": _wide(np.exp2),
    "log": _wide(np.log), "log2": _wide(np.log2), "sqrt": _wide(np.sqrt), "rsqrt": _wide(lambda x: 1.0 / np.sqrt(x)),
    "sin": _wide(np.sin), "cos": _wide(np.cos), "tanh": _wide(np.tanh), "floor": _wide(np.floor),
    "ceil": _wide(np.ceil),
}  # fmt: skip
