"""Contraction of fragments as batched matrix products."""

from __future__ import annotations

from math import prod

import numpy as np

from intent.physical import Contract, Dim
from intent.reference.physical.batch import Array, Batch
from intent.reference.physical.conversion import as_compute, from_double
from intent.reference.physical.lanes import align
from intent.types import DType

SMALL = 256


def contract(batch: Batch, op: Contract) -> None:
    """``accumulator + sum over dims of lhs * rhs``: in f32 and f64 natively, stepwise in narrower formats."""
    dims, acc = op.result.dims, op.result.dtype
    shared = tuple(d for d in op.lhs.dims if d in op.rhs.dims and d not in op.dims)
    lhs_free = tuple(d for d in op.lhs.dims if d not in shared and d not in op.dims)
    rhs_free = tuple(d for d in op.rhs.dims if d not in shared and d not in op.dims)
    a = _matrix(batch.get(op.lhs, (*shared, *lhs_free, *op.dims)), shared, lhs_free, op.dims)
    b = _matrix(batch.get(op.rhs, (*shared, *op.dims, *rhs_free)), shared, op.dims, rhs_free)
    product = _product(a, b, op.lhs.dtype, acc)
    sizes = [d.size for d in (*lhs_free, *rhs_free)]
    full = product.reshape(*product.shape[: 1 + len(shared)], *sizes)
    total = align(full, (*shared, *lhs_free, *rhs_free), dims)
    if op.accumulator is not None:
        start = batch.get(op.accumulator, dims)
        total = as_compute(start, acc) + as_compute(total, acc)
        total = from_double(np.asarray(total), acc) if acc.is_float else total
    batch.set(op.result, total)


def _matrix(array: Array, shared: tuple[Dim, ...], rows: tuple[Dim, ...], columns: tuple[Dim, ...]) -> Array:
    """(instance, shared..., rows, columns); rows and columns at full extent."""
    first = 1 + len(shared)
    sizes = [d.size for d in (*rows, *columns)]
    full = np.broadcast_to(array, (*array.shape[:first], *sizes))
    return full.reshape(*array.shape[:first], prod(d.size for d in rows), prod(d.size for d in columns))


def _product(a: Array, b: Array, dtype: DType, acc: DType) -> Array:
    a, b = as_compute(a, dtype), as_compute(b, dtype)
    if not acc.is_float:
        return np.asarray(np.matmul(a.astype(acc.numpy), b.astype(acc.numpy)))
    if acc.bits < 32:
        return _stepwise(a, b, acc)
    a, b = a.astype(acc.numpy), b.astype(acc.numpy)
    if a.shape[-2] * b.shape[-2] * b.shape[-1] <= SMALL:
        # Many tiny products: one multiplication over all of them beats a library call for each.
        return np.asarray((a[..., :, :, None] * b[..., None, :, :]).sum(axis=-2, dtype=acc.numpy))
    return np.asarray(np.matmul(a, b))


def _stepwise(a: Array, b: Array, acc: DType) -> Array:
    shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    total = np.zeros((*shape, a.shape[-2], b.shape[-1]), acc.numpy)
    for k in range(a.shape[-1]):
        product = a[..., :, k, None].astype(np.float64) * b[..., k, None, :]
        total = from_double(as_compute(total, acc).astype(np.float64) + product, acc)
    return total
