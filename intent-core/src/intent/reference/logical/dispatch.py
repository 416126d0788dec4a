"""Which function evaluates which operation."""

from __future__ import annotations

from typing import Final

from intent import kir
from intent.reference.logical import (
    colliding,
    contract,
    control,
    formats,
    memory,
    philox,
    pointwise,
    reduce,
    regions,
    scan,
    shapes,
)
from intent.reference.logical.machine import Execute

TABLE: Final[dict[type[kir.Op], Execute]] = {
    kir.Constant: shapes.constant,
    kir.ExtentValue: shapes.extent_value,
    kir.Iota: shapes.iota,
    kir.Broadcast: shapes.broadcast,
    kir.Reshape: shapes.reshape,
    kir.Transpose: shapes.transpose,
    kir.Join: shapes.join,
    kir.Pointwise: pointwise.pointwise,
    kir.Cast: pointwise.cast,
    kir.Bitcast: pointwise.bitcast,
    kir.Gather: memory.gather,
    kir.Load: memory.load,
    kir.Store: memory.store,
    kir.BufferAlloc: memory.buffer_alloc,
    kir.AssumeInBounds: memory.assume_in_bounds,
    kir.ScatterReduce: colliding.scatter_reduce,
    kir.Atomic: colliding.atomic,
    kir.Histogram: colliding.histogram,
    kir.Reduce: reduce.reduce,
    kir.Scan: scan.scan,
    kir.Contract: contract.contract,
    kir.ScaledContract: formats.scaled_contract,
    kir.SparseContract: formats.sparse_contract,
    kir.RegionFold: regions.region_fold,
    kir.RegionScan: regions.region_scan,
    kir.RandomBits: philox.random_bits,
    kir.For: control.for_loop,
    kir.If: control.if_then_else,
    kir.While: control.while_loop,
}
