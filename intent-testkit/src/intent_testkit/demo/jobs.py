"""What the demo runs: for each kernel its inputs, and the answer according to numpy in float64."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from intent_testkit.demo import kernels

__all__ = ["JOBS", "Job"]

Inputs = tuple[Any, ...]
EPSILON = 1e-5


@dataclass(frozen=True, kw_only=True)
class Job:
    """One kernel of the demo.

    ``inputs(rng)`` makes the arguments for ``artifact.run``; ``expected(*inputs)`` is the float64 answer;
    ``atol`` and ``rtol`` bound ``|got - expected| <= atol + rtol * |expected|``.
    """

    name: str
    kernel: Any
    inputs: Callable[[np.random.Generator], Inputs]
    expected: Callable[..., NDArray[np.float64]]
    atol: float
    rtol: float


def _softmax_inputs(rng: np.random.Generator) -> Inputs:
    return (rng.normal(scale=3.0, size=(37, 300)).astype(np.float32),)


def _softmax(x: NDArray[np.float32]) -> NDArray[np.float64]:
    wide = x.astype(np.float64)
    weights = np.exp(wide - wide.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _layer_norm_inputs(rng: np.random.Generator) -> Inputs:
    rows, columns = 29, 384
    x = rng.normal(loc=1.0, scale=2.0, size=(rows, columns)).astype(np.float32)
    weight, bias = rng.normal(size=(2, columns)).astype(np.float32)
    return (x, weight, bias, EPSILON)


def _layer_norm(
    x: NDArray[np.float32], weight: NDArray[np.float32], bias: NDArray[np.float32], epsilon: float
) -> NDArray[np.float64]:
    centred = x.astype(np.float64) - x.mean(axis=1, keepdims=True, dtype=np.float64)
    scale = 1.0 / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + epsilon)
    return np.asarray(centred * scale * weight + bias)


def _matmul_inputs(rng: np.random.Generator) -> Inputs:
    m, k, n = 70, 96, 130
    a = rng.normal(size=(m, k)).astype(np.float16)
    b = rng.normal(scale=k**-0.5, size=(k, n)).astype(np.float16)
    return (a, b, rng.normal(size=n).astype(np.float32))


def _matmul_bias_gelu(
    a: NDArray[np.float16], b: NDArray[np.float16], bias: NDArray[np.float32]
) -> NDArray[np.float64]:
    z = a.astype(np.float64) @ b.astype(np.float64) + bias
    return np.asarray(0.5 * z * (1.0 + erf(z / np.sqrt(2.0))))


JOBS: tuple[Job, ...] = (
    Job(
        name="softmax",
        kernel=kernels.softmax,
        inputs=_softmax_inputs,
        expected=_softmax,
        atol=1e-7,
        rtol=1e-5,
    ),
    Job(
        name="layer_norm",
        kernel=kernels.layer_norm,
        inputs=_layer_norm_inputs,
        expected=_layer_norm,
        atol=2e-5,
        rtol=2e-5,
    ),
    Job(
        name="matmul_bias_gelu",
        kernel=kernels.matmul_bias_gelu,
        inputs=_matmul_inputs,
        expected=_matmul_bias_gelu,
        atol=2e-3,
        rtol=2e-3,
    ),
)
