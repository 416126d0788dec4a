"""Histograms as tests of every value for every bin."""

from __future__ import annotations

from intent import physical as ph
from intent.passes.building import Builder
from intent.types.dtypes import INDEX


def histogram(b: Builder, op: ph.Histogram) -> ph.Fragment:
    """The counts of ``op`` as a sum over what it counts."""
    # Compared as coordinates: narrowing the bin to the values' dtype could make it another bin.
    value = b.add(ph.Cast, INDEX, op.values.dims, value=op.values)
    bin_ = b.add(ph.Lane, INDEX, (op.bins,), dim=op.bins)
    hit = b.compare("eq", value, bin_)
    if op.valid is not None:
        hit = b.pointwise("and", hit, op.valid)
    ones = b.add(ph.Cast, op.result.dtype, hit.dims, value=hit)
    dims = tuple(d for d in hit.dims if d not in op.dims)
    total = b.add(
        ph.Reduce, op.result.dtype, dims, operands=(ones,), dims=op.dims, kind="sum", name=op.result.name
    )
    return total if op.accumulator is None else b.pointwise("add", op.accumulator, total)
