"""Pointwise operations, shapes and construction, in numpy."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from types import SimpleNamespace
from typing import Any

import numpy as np

from intent.types.dtypes import BY_NAME
from intent_testkit.fuzz.eager.memory import POINTS, Domain, Invalid, View, tensor

DTYPES = {name: dtype.numpy for name, dtype in BY_NAME.items()}


def whole(value: Any) -> Any:
    """A view read in full, or the value itself."""
    return value[...] if isinstance(value, View) else value


def leaves(value: Any) -> list[Any]:
    """The components of a product, in order."""
    if isinstance(value, tuple):
        return [leaf for part in value for leaf in leaves(part)]
    if isinstance(value, SimpleNamespace):
        return [leaf for part in vars(value).values() for leaf in leaves(part)]
    return [value]


def like(template: Any, values: list[Any]) -> Any:
    """A product of the same form with other components."""
    rest = iter(values)

    def build(part: Any) -> Any:
        if isinstance(part, tuple):
            return tuple(build(p) for p in part)
        if isinstance(part, SimpleNamespace):
            return SimpleNamespace(**{k: build(p) for k, p in vars(part).items()})
        return next(rest)

    return build(template)


def cast(value: Any, dtype: np.dtype[Any]) -> Any:
    """``I.cast``; floats truncate towards zero and must fit."""
    value = whole(value)
    array = np.asarray(value)
    if dtype == np.bool_:
        return tensor(array != 0)
    if array.dtype.kind not in "biu" and dtype.kind in "iu":
        exact = np.trunc(array.astype(np.float64))
        limits = np.iinfo(dtype)
        if not np.all((exact >= limits.min) & (exact <= limits.max)):
            raise Invalid(f"cast out of the range of {dtype}")
        return tensor(exact.astype(dtype))
    return tensor(array.astype(dtype))


def full(shape: Sequence[int], fill: Any, dtype: np.dtype[Any]) -> Any:
    """``I.full``."""
    return tensor(np.full(tuple(int(s) for s in shape), fill, dtype))


def zeros(shape: Sequence[int], dtype: np.dtype[Any]) -> Any:
    """``I.zeros``."""
    return full(shape, 0, dtype)


def select(condition: Any, a: Any, b: Any) -> Any:
    """``I.select``; a literal takes the dtype of the other side."""
    a, b = whole(a), whole(b)
    dtype = getattr(a, "dtype", None) or getattr(b, "dtype", None)
    return tensor(np.where(condition, np.asarray(a, dtype), np.asarray(b, dtype)))


def reshape(value: Any, shape: Sequence[int]) -> Any:
    """``I.reshape``."""
    return tensor(np.reshape(np.ascontiguousarray(whole(value)), tuple(int(s) for s in shape)))


def transpose(value: Any, perm: Sequence[int] | None = None) -> Any:
    """``I.transpose``."""
    return tensor(np.transpose(whole(value), perm))


def join(a: Any, b: Any) -> Any:
    """``I.join``."""
    return tensor(np.stack([np.asarray(a), np.asarray(b)], axis=-1))


def indices(region: Domain) -> Any:
    """``I.indices``."""
    return tensor(np.arange(region.begin, max(region.begin, region.end), region.step, dtype=np.int64))


def numbered(region: Domain) -> list[tuple[int, int]]:
    """``I.enumerate``."""
    return list(enumerate(region))


def bitcast(value: Any, dtype: np.dtype[Any]) -> Any:
    """``I.bitcast``."""
    return tensor(np.ascontiguousarray(whole(value)).view(dtype)[()])


def _pointwise(function: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*operands: Any) -> Any:
        return tensor(function(*[whole(o) for o in operands]))

    return apply


def _clamp(value: Any, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(value, low), high)


def _fma(a: Any, b: Any, c: Any) -> Any:
    return a * b + c


def philox(seed: Any, counter: Any) -> Any:
    """``I.random.bits``: Philox4x32-10, word ``counter % 4`` of block ``counter // 4``."""
    seeds, counters = np.broadcast_arrays(
        np.asarray(seed).astype(np.uint64), np.asarray(counter).astype(np.uint64)
    )
    found = [_philox(int(s), int(c)) for s, c in zip(seeds.flat, counters.flat, strict=True)]
    return tensor(np.array(found, np.uint32).reshape(seeds.shape))


def _philox(seed: int, counter: int) -> int:
    low, key = 0xFFFFFFFF, [seed & 0xFFFFFFFF, seed >> 32]
    block = counter // 4
    x = [block & low, block >> 32, 0, 0]
    for _ in range(10):
        first, second = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [(second >> 32) ^ x[1] ^ key[0], second & low, (first >> 32) ^ x[3] ^ key[1], first & low]
        key = [(key[0] + 0x9E3779B9) & low, (key[1] + 0xBB67AE85) & low]
    return x[counter % 4]


NAMES: dict[str, Any] = {
    **DTYPES,
    "abs": _pointwise(np.abs),
    "add": _pointwise(operator.add),
    "bitcast": bitcast,
    "cast": cast,
    "ceil": _pointwise(np.ceil),
    "isinf": _pointwise(np.isinf),
    "isnan": _pointwise(np.isnan),
    "maximum_num": _pointwise(np.fmax),
    "minimum_num": _pointwise(np.fmin),
    "round": _pointwise(np.rint),
    "trunc": _pointwise(np.trunc),
    "clamp": _pointwise(_clamp),
    "domain": Domain,
    "end": lambda region: region.end,
    "enumerate": numbered,
    "floor": _pointwise(np.floor),
    "fma": _pointwise(_fma),
    "full": full,
    "indices": indices,
    "inf": np.inf,
    "join": join,
    "mask": lambda value, valid, fill: select(valid, value, fill),
    "maximum": _pointwise(np.maximum),
    "minimum": _pointwise(np.minimum),
    "parallel": POINTS.each,
    "random": SimpleNamespace(bits=philox),
    "record": SimpleNamespace,
    "reshape": reshape,
    "select": select,
    "sqrt": _pointwise(np.sqrt),
    "transpose": transpose,
    "zeros": zeros,
}


def product(extents: Sequence[int]) -> int:
    """The number of points of a shape."""
    return reduce(operator.mul, extents, 1)
