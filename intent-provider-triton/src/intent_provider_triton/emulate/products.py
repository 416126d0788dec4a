"""Matrix products of one instance: in one precision, or of bf16 parts as ``input_precision="bf16x6"`` asks for."""

from __future__ import annotations

from typing import Final

import numpy as np

from intent_provider_triton.emulate.values import Array, Type, round_to

__all__ = ["of_parts", "product"]

_BF16: Final = Type("bf16")
_LESSER: Final = ((2, 0), (1, 1), (0, 2), (1, 0), (0, 1))
"""The parts of both sides whose products are added before those of the largest parts."""


def product(a: Array, b: Array) -> Array:
    """Matrix product without BLAS: its threads cost more than fragments of this size do."""
    return np.asarray(np.einsum("...mk,...kn->...mn", a, b))


def of_parts(a: Array, b: Array) -> Array:
    """Six products of three bf16 parts each, added in f32; a NaN of the five lesser ones counts as zero.

    What is left over of an infinity is NaN, so the largest parts decide alone there.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        left, right = _parts(a), _parts(b)
        lesser = sum((product(left[i], right[j]) for i, j in _LESSER), np.zeros((), np.float32))
        lesser = np.where(np.isnan(lesser), np.float32(0), lesser)
        return np.asarray(lesser + product(left[0], right[0]))


def _parts(x: Array) -> list[Array]:
    """The nearest bf16, that of what is left over, and that of what is left over again; as f32."""
    found: list[Array] = []
    for _ in range(3):
        found.append(round_to(x, _BF16).astype(np.float32))
        x = x - found[-1]
    return found
