"""Reductions, scans and matrix products of the stand-in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intent_provider_cutile.emulate.dtypes import FLOAT32, FLOAT64, INT32, Array, TileTypeError, constant
from intent_provider_cutile.emulate.tile import Number, Tile, number

Tiles = tuple[Tile, ...]


def sum_(x: Tile, /, *, axis: int) -> Tile:
    """The sum along an axis, in the tile's own dtype."""
    return Tile(np.asarray(np.sum(number(x).data, axis=axis, dtype=x.dtype.numpy)), x.dtype)


def prod(x: Tile, /, *, axis: int) -> Tile:
    """The product along an axis, in the tile's own dtype."""
    return Tile(np.asarray(np.prod(number(x).data, axis=axis, dtype=x.dtype.numpy)), x.dtype)


def _extreme(plain: Any, ignoring: Any) -> Callable[..., Tile]:
    def run(x: Tile, /, axis: int | None = None, *, propagate_nan: bool = False) -> Tile:
        compute = plain if propagate_nan or not x.dtype.is_float else ignoring
        return Tile(np.asarray(compute.reduce(number(x).data, axis=axis)), x.dtype)

    return run


def cumsum(x: Tile, /, *, axis: int, reverse: bool = False) -> Tile:
    """Inclusive prefix sums along an axis."""
    return _cumulated(np.cumsum, x, axis, reverse=reverse)


def cumprod(x: Tile, /, *, axis: int, reverse: bool = False) -> Tile:
    """Inclusive prefix products along an axis."""
    return _cumulated(np.cumprod, x, axis, reverse=reverse)


def _cumulated(compute: Any, x: Tile, axis: int, *, reverse: bool) -> Tile:
    data = np.flip(x.data, axis) if reverse else x.data
    out = compute(number(x).data if not reverse else data, axis=axis, dtype=x.dtype.numpy)
    return Tile(np.flip(out, axis) if reverse else out, x.dtype)


def reduce(
    x: Tile | Tiles, /, axis: int, func: Callable[..., Any], identity: Number | tuple[Number, ...]
) -> Any:
    """A combine of the text along an axis, in a tree that starts with the identity."""
    parts, start = _components(x, identity)
    total = [_constant(i, p, axis) for i, p in zip(start, parts, strict=True)]
    while parts[0].shape[axis] > 1:
        half = parts[0].shape[axis] // 2
        parts = _combined(
            func, [_cut(p, axis, 0, half) for p in parts], [_cut(p, axis, half, None) for p in parts]
        )
    parts = _combined(func, total, parts)
    out = tuple(Tile(p.data.squeeze(axis), p.dtype) for p in parts)
    return out if isinstance(x, tuple) else out[0]


def scan(
    x: Tile | Tiles, /, axis: int, func: Callable[..., Any], identity: Number | tuple[Number, ...], *,
    reverse: bool = False,
) -> Any:  # fmt: skip
    """Inclusive prefixes under a combine of the text.

    Which operand stands first in the order is documented nowhere: it changes here from step to step.
    """
    parts, start = _components(x, identity)
    if reverse:
        parts = [Tile(np.flip(p.data, axis), p.dtype) for p in parts]
    parts = _combined(func, [_constant(i, p, axis) for i, p in zip(start, parts, strict=True)], parts)
    step = 1
    while step < parts[0].shape[axis]:
        before = [_shifted(p, axis, step, i) for p, i in zip(parts, start, strict=True)]
        first, second = (before, parts) if step & 0x55555555 else (parts, before)
        parts = _combined(func, first, second)
        step *= 2
    if reverse:
        parts = [Tile(np.flip(p.data, axis), p.dtype) for p in parts]
    return tuple(parts) if isinstance(x, tuple) else parts[0]


def _shifted(x: Tile, axis: int, step: int, identity: Number) -> Tile:
    """What stands ``step`` places earlier, the identity before the first."""
    out = np.empty_like(x.data)
    to = [slice(None)] * x.data.ndim
    of = [slice(None)] * x.data.ndim
    first = list(to)
    to[axis], of[axis], first[axis] = slice(step, None), slice(None, -step), slice(None, step)
    out[tuple(to)] = x.data[tuple(of)]
    out[tuple(first)] = constant(identity, x.dtype)
    return Tile(out, x.dtype)


def _components(
    x: Tile | Tiles, identity: Number | tuple[Number, ...]
) -> tuple[list[Tile], tuple[Number, ...]]:
    """The tiles in one shape, and as many identity constants."""
    parts = list(x) if isinstance(x, tuple) else [x]
    start = identity if isinstance(identity, tuple) else (identity,)
    if len(parts) != len(start) or any(isinstance(i, Tile) for i in start):
        raise TileTypeError("an identity is one constant for each component")
    shape = np.broadcast_shapes(*(p.shape for p in parts))
    return [Tile(np.broadcast_to(p.data, shape), p.dtype) for p in parts], start


def _constant(value: Number, like: Tile, axis: int) -> Tile:
    shape = list(like.shape)
    shape[axis] = 1
    return Tile(np.full(shape, constant(value, like.dtype), like.dtype.numpy), like.dtype)


def _cut(x: Tile, axis: int, begin: int, end: int | None) -> Tile:
    places = [slice(None)] * x.data.ndim
    places[axis] = slice(begin, end)
    return Tile(x.data[tuple(places)], x.dtype)


def _combined(func: Callable[..., Any], a: list[Tile], b: list[Tile]) -> list[Tile]:
    """``func`` on two groups of components; its results have the components' dtypes."""
    found = func(*a, *b)
    results = list(found) if isinstance(found, tuple) else [found]
    shape = np.broadcast_shapes(*(t.shape for t in (*a, *b)))
    for result, part in zip(results, b, strict=True):
        if not isinstance(result, Tile) or result.dtype != part.dtype:
            raise TileTypeError(f"a combine gives {getattr(result, 'dtype', result)!r} for {part.dtype.name}")
    return [Tile(np.broadcast_to(r.data, shape), r.dtype) for r in results]


_PRODUCTS = {
    "float16": (FLOAT32,), "bfloat16": (FLOAT32,), "float32": (FLOAT32,), "float64": (FLOAT64,),
    "float8_e4m3fn": (FLOAT32,), "float8_e5m2": (FLOAT32,), "int8": (INT32,), "uint8": (INT32,),
}  # fmt: skip


def mma(x: Tile, y: Tile, /, acc: Tile) -> Tile:
    """The product x @ y, plus acc, in the accumulator's dtype."""
    if x.dtype != y.dtype or acc.dtype not in _PRODUCTS.get(x.dtype.name, ()):
        raise TileTypeError(f"no product of {x.dtype.name} and {y.dtype.name} into {acc.dtype.name}")
    if x.data.ndim not in (2, 3) or y.data.ndim != x.data.ndim:
        raise TileTypeError(f"a product of shapes {x.shape} and {y.shape}")
    wide = acc.dtype.numpy
    product: Array = np.matmul(x.data.astype(wide), y.data.astype(wide))
    if product.shape != acc.shape:
        raise TileTypeError(f"the accumulator has shape {acc.shape}, the product {product.shape}")
    return Tile(np.asarray(product + acc.data), acc.dtype)


COLLECTIVES: dict[str, Any] = {
    "sum": sum_, "prod": prod, "max": _extreme(np.maximum, np.fmax), "min": _extreme(np.minimum, np.fmin),
    "cumsum": cumsum, "cumprod": cumprod, "reduce": reduce, "scan": scan, "mma": mma,
}  # fmt: skip
