"""Histograms of fragments (spec: kir-to-gpu-program 7)."""

from __future__ import annotations

from math import prod

import numpy as np

from intent.physical import Histogram
from intent.reference.physical.batch import Array, Batch
from intent.reference.physical.lanes import align, expand, flatten


def histogram(batch: Batch, op: Histogram) -> None:
    """``accumulator`` + how many valid lanes of ``dims`` hold the number of each bin; other numbers count nowhere."""
    free = tuple(d for d in op.result.dims if d != op.bins)
    dims = (*free, *op.dims)
    values = flatten(expand(batch.get(op.values, dims), dims, len(free)), len(free))
    inside = (values >= 0) & (values < op.bins.size)
    if op.valid is not None:
        inside = inside & flatten(expand(batch.get(op.valid, dims), dims, len(free)), len(free))
    counts = _counts(np.broadcast_to(values, inside.shape), inside, op.bins.size)
    total = align(counts.astype(op.result.dtype.numpy), (*free, op.bins), op.result.dims)
    if op.accumulator is not None:
        total = batch.get(op.accumulator, op.result.dims) + total
    batch.set(op.result, total)


def _counts(values: Array, inside: Array, bins: int) -> Array:
    """The counts along a new last axis in place of the lanes: each row of lanes has bins of its own."""
    rows = prod(values.shape[:-1])
    row = np.broadcast_to(np.arange(rows).reshape(*values.shape[:-1], 1), values.shape)
    place = row[inside] * bins + values[inside].astype(np.int64)
    return np.bincount(place, minlength=rows * bins).reshape(*values.shape[:-1], bins)
