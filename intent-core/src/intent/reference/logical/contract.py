"""Multiply-add contraction in the accumulator's dtype (spec: logical-program 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.reference.logical.choices import Choices
from intent.reference.logical.machine import Machine
from intent.reference.logical.rounding import narrow, widen
from intent.types import DType

Array = NDArray[Any]
Pairs = Sequence[tuple[int, int]]


def contract(machine: Machine, op: kir.Contract) -> None:
    """Result axes: lhs free and batch axes in lhs order, then rhs free axes."""
    dtypes = (op.lhs.dtype, op.result.dtype)
    machine[op.result] = contraction(
        machine.choices, machine[op.lhs], machine[op.rhs], dtypes, reduce=op.reduce, batch=op.batch
    )


def contraction(
    choices: Choices, lhs: Array, rhs: Array, dtypes: tuple[DType, DType], *, reduce: Pairs, batch: Pairs = ()
) -> Array:
    """Sum over the ``reduce`` pairs of products; ``dtypes`` are the operands' and the accumulator's.

    Operands are converted to the accumulator's precision first. f32 accumulates in f64 and rounds once per
    partial sum; f16 and bf16 accumulators round after every step; integers wrap.
    """
    lhs_reduce, rhs_reduce = [p[0] for p in reduce], [p[1] for p in reduce]
    lhs_batch, rhs_batch = [p[0] for p in batch], [p[1] for p in batch]
    lhs_free = [k for k in range(lhs.ndim) if k not in lhs_reduce and k not in lhs_batch]
    rhs_free = [k for k in range(rhs.ndim) if k not in rhs_reduce and k not in rhs_batch]
    a = _three(lhs, lhs_batch, lhs_free, lhs_reduce)
    b = _three(rhs, rhs_batch, rhs_reduce, rhs_free)
    flat = _matmul(choices, a, b, *dtypes)
    sizes = [lhs.shape[k] for k in [*lhs_batch, *lhs_free]] + [rhs.shape[k] for k in rhs_free]
    out = flat.reshape(sizes)
    # The axes stand as (batch..., lhs free..., rhs free...); the result wants lhs order first.
    places = [*lhs_batch, *lhs_free]
    order = [int(k) for k in np.argsort(np.array(places, dtype=np.intp))]
    return out.transpose([*order, *range(len(places), out.ndim)])


def _three(x: Array, first: list[int], second: list[int], third: list[int]) -> Array:
    groups = [[x.shape[k] for k in axes] for axes in (first, second, third)]
    return x.transpose([*first, *second, *third]).reshape([int(np.prod(g, dtype=np.int64)) for g in groups])


def _matmul(choices: Choices, a: Array, b: Array, dtype: DType, acc: DType) -> Array:
    count = a.shape[2]
    permutation = choices.permutation(count)
    if permutation is not None:
        a, b = a[:, :, permutation], b[:, permutation, :]
    if not acc.is_float:
        return _integer_matmul(a, b, acc)
    a, b = (widen(x, dtype).astype(np.float64) for x in (a, b))
    if acc.bits < 32:
        return _stepwise(a, b, acc)
    out: Array | None = None
    for begin, end in choices.segments(count):
        part = np.matmul(a[:, :, begin:end], b[:, begin:end, :]).astype(acc.numpy)
        out = part if out is None else out + part
    return np.zeros((a.shape[0], a.shape[1], b.shape[2]), acc.numpy) if out is None else out


def _stepwise(a: Array, b: Array, acc: DType) -> Array:
    out = np.zeros((a.shape[0], a.shape[1], b.shape[2]), acc.numpy)
    for k in range(a.shape[2]):
        product = a[:, :, k, None] * b[:, k, None, :]
        out = narrow(widen(out, acc).astype(np.float64) + product, acc)
    return out


def _integer_matmul(a: Array, b: Array, acc: DType) -> Array:
    limit = a.shape[2] * _magnitude(a) * _magnitude(b)
    if limit < 1 << 53:
        # Exact in f64, where numpy has a fast product; wrapping happens in the conversion.
        exact = np.matmul(a.astype(np.float64), b.astype(np.float64))
        return np.asarray(exact.astype(np.int64).astype(acc.numpy))
    return np.asarray(np.matmul(a.astype(acc.numpy), b.astype(acc.numpy)))


def _magnitude(x: Array) -> int:
    return max(abs(int(x.min())), abs(int(x.max()))) if x.size else 0
