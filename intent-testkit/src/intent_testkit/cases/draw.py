"""Random inputs. Each sampler gets a generator, a shape and the extents, and returns values to store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Extents = Mapping[str, int]
Sampler = Callable[[np.random.Generator, tuple[int, ...], Extents], Array]


def normal(scale: float = 1.0, mean: float = 0.0) -> Sampler:
    """Normally distributed floats."""
    return lambda rng, shape, _: rng.normal(mean, scale, shape)


def uniform(low: float, high: float) -> Sampler:
    """Floats in ``[low, high)``."""
    return lambda rng, shape, _: rng.uniform(low, high, shape)


def integers(low: int, high: int) -> Sampler:
    """Integers in ``[low, high]``."""
    wide: Any = np.uint64 if high > np.iinfo(np.int64).max else np.int64
    return lambda rng, shape, _: rng.integers(low, high, shape, dtype=wide, endpoint=True)


def nonzero(low: int, high: int) -> Sampler:
    """Integers in ``[low, high]`` without zero."""

    def sample(rng: np.random.Generator, shape: tuple[int, ...], _: Extents) -> Array:
        values = rng.integers(low, high, shape, endpoint=True)
        return np.where(values == 0, high, values)

    return sample


def coordinates(symbol: str) -> Sampler:
    """Valid coordinates of the axis whose extent is ``symbol``, repeated and unordered."""
    return lambda rng, shape, extents: rng.integers(0, max(1, extents[symbol]), shape)


def counts(symbol: str) -> Sampler:
    """Lengths from 0 to the extent ``symbol``, both ends included."""
    return lambda rng, shape, extents: rng.integers(0, extents[symbol], shape, endpoint=True)


def permutation(symbol: str) -> Sampler:
    """Every coordinate of the axis ``symbol`` once."""
    return lambda rng, _, extents: rng.permutation(extents[symbol])


def truth() -> Sampler:
    """Fair booleans."""
    return lambda rng, shape, _: rng.integers(0, 2, shape).astype(np.bool_)


def among(values: Sequence[float | int], sampler: Sampler | None = None) -> Sampler:
    """Draw from ``sampler`` (or nothing) but scatter ``values`` among the elements, each if there is room.

    The values come in order first, then at random, so that pairs of views drawn with
    different lists meet in many combinations.
    """

    def sample(rng: np.random.Generator, shape: tuple[int, ...], extents: Extents) -> Array:
        listed = np.asarray(values)
        size = int(np.prod(shape, dtype=np.int64))
        flat = listed[rng.integers(0, len(listed), size)]
        if sampler is not None:
            base = np.asarray(sampler(rng, (size,), extents))
            flat = np.where(rng.random(size) < 0.5, flat, base).astype(np.result_type(flat, base))
        flat[: len(listed)] = listed[: min(size, len(listed))]
        return flat.reshape(shape)

    return sample
