"""Names that are not in the language, with what to write instead (spec: logical-program 5, 7, 10).

They come from other kernel languages and from earlier programs of this one.
"""

from __future__ import annotations

from typing import Final

__all__ = ["REMOVED"]

_PARTS = (
    "write the parts that can be observed as I.domain(...) and subregions axis[begin:end]; "
    "leave blocking to the compiler"
)
_INSTANCES = "loop over the logical points with I.parallel(I.domain(...)), or assign a whole tensor"
_BLOCKS = "leave sizes of blocks out; the compiler chooses them for each target"
_PLACEMENT = "leave it out; where values live and how they move is chosen for each target"
_TARGET = "decide on the host and pass the decision as an I.Constexpr parameter"
_READ = "read the view with a subscript, for example x[rows, columns]; I.gather reads under a condition"

REMOVED: Final[dict[str, str]] = {
    "partition": _PARTS,
    "split": _PARTS,
    "chunk": _PARTS,
    "auto": _BLOCKS,
    "tile": _BLOCKS,
    "tiles": _BLOCKS,
    "tile_size": _BLOCKS,
    "block": _BLOCKS,
    "blocks": _BLOCKS,
    "block_size": _BLOCKS,
    "cdiv": "write (n + m - 1) // m",
    "state_stream": "write I.region_fold or I.region_scan if it may be cut anywhere, else a for loop",
    "ordered": "loop over the domain itself: for i in I.domain(...)",
    "static_range": "write range(...) or I.domain(...)",
    "program_id": _INSTANCES,
    "num_programs": _INSTANCES,
    "thread_idx": _INSTANCES,
    "block_idx": _INSTANCES,
    "thread_id": _INSTANCES,
    "block_id": _INSTANCES,
    "grid": _INSTANCES,
    "num_threads": _BLOCKS,
    "syncthreads": "leave it out; effects keep the order of the program",
    "lane_id": _INSTANCES,
    "warp_id": _INSTANCES,
    "bid": _INSTANCES,
    "num_sms": _TARGET,
    "num_cores": _TARGET,
    "warp_size": _TARGET,
    "device": _TARGET,
    "target": _TARGET,
    "capability": _TARGET,
    "num_warps": _BLOCKS,
    "num_stages": _BLOCKS,
    "shared": _PLACEMENT,
    "alloc_shared": _PLACEMENT,
    "alloc_fragment": _PLACEMENT,
    "copy": "read into a value and assign it: y[rows] = x[rows]",
    "async_copy": _PLACEMENT,
    "prefetch": _PLACEMENT,
    "barrier": "leave it out; effects keep the order of the program",
    "sync": "leave it out; effects keep the order of the program",
    "fence": 'leave it out, or give an atomic the order it needs: order="acq_rel"',
    "load": _READ,
    "atomic_add": "write I.atomic.add(view[i], value)",
    "atomic_max": "write I.atomic.max(view[i], value)",
    "atomic_min": "write I.atomic.min(view[i], value)",
    "atomic_cas": "write I.atomic.compare_exchange(view[i], expected, desired)",
    "atomic.cas": "write I.atomic.compare_exchange(view[i], expected, desired)",
    "atomic.sub": "write I.atomic.add(view[i], -value)",
    "atomic.and": "write I.atomic.and_(view[i], value)",
    "atomic.or": "write I.atomic.or_(view[i], value)",
    "arange": "write I.indices(I.domain(begin, end))",
    "empty": "write I.buffer(shape, dtype) for storage, or I.zeros(shape, dtype)",
    "ones": "write I.full(shape, 1, dtype)",
    "zeros_like": "write I.zeros(value.shape, dtype)",
    "full_like": "write I.full(value.shape, fill, dtype)",
    "where": "write I.select(condition, a, b)",
    "any": "write I.reduce.any(value, axis=...)",
    "all": "write I.reduce.all(value, axis=...)",
    "sum": "write I.reduce.sum(value, axis=...)",
    "max": "write I.reduce.max(value, axis=...), or I.maximum(a, b) for two values",
    "min": "write I.reduce.min(value, axis=...), or I.minimum(a, b) for two values",
    "prod": "write I.reduce.prod(value, axis=...)",
    "argmax": "write values, indices = I.arg_reduce.max(value, axis=...)",
    "argmin": "write values, indices = I.arg_reduce.min(value, axis=...)",
    "mean": "write I.reduce.sum(value, axis=...) / count",
    "reduce.mean": "write I.reduce.sum(value, axis=...) / count",
    "reduce.argmax": "write values, indices = I.arg_reduce.max(value, axis=...)",
    "reduce.argmin": "write values, indices = I.arg_reduce.min(value, axis=...)",
    "permute": "write I.transpose(value, perm=(...))",
    "broadcast_to": "leave it out; operands broadcast from the last axis",
    "expand_dims": "write value[:, None]",
    "concat": "write the parts to their places: y[0:n] = a; y[n:m] = b",
    "cat": "write the parts to their places: y[0:n] = a; y[n:m] = b",
    "stack": "write the parts to their places, or I.join(a, b) for two",
    "sort": "count for each element the smaller ones, which is its place",
    "topk": "repeat I.arg_reduce.max and mask what was taken",
    "clip": "write I.clamp(value, low, high)",
    "concatenate": "write the parts to their places: y[0:n] = a; y[n:m] = b",
    "softmax": "write it out: m = I.reduce.max(x, axis=0); e = I.exp(x - m); e / I.reduce.sum(e, axis=0)",
    "relu": "write I.maximum(value, 0.0)",
    "rand": "write I.random.uniform(seed, counter)",
    "stop": "end the loop with its condition, with break, or with the end of its domain",
}
