"""Constants, launch values, lanes, pointwise operations and dim changes."""

from __future__ import annotations

import numpy as np

from intent.diagnostics import CompilerFault
from intent.physical import (
    Argument,
    Bitcast,
    Broadcast,
    Cast,
    Constant,
    Dim,
    Fragment,
    Lane,
    LaunchValue,
    Pointwise,
    Rename,
)
from intent.reference.physical.batch import STAGE, Array, Batch
from intent.reference.physical.conversion import from_double, to_dtype
from intent.reference.physical.functions import compute
from intent.types import DType


def scalar_array(value: bool | float, dtype: DType) -> Array:
    """A Python number as an array of one element, rounded once."""
    if dtype.is_float:
        return from_double(np.array([value], np.float64), dtype)
    return np.array([value], dtype.numpy)


def constant(batch: Batch, op: Constant) -> None:
    """A literal."""
    array = batch.launch.constants.get(op.id)
    if array is None:
        array = batch.launch.constants[op.id] = scalar_array(op.value, op.result.dtype)
    batch.set(op.result, array)


def launch_value(batch: Batch, op: LaunchValue) -> None:
    """An extent."""
    array = batch.launch.constants.get(op.id)
    if array is None:
        array = batch.launch.constants[op.id] = np.array([batch.launch.extent(op.extent)], np.int64)
    batch.set(op.result, array)


def argument(batch: Batch, op: Argument) -> None:
    """A runtime scalar of the call."""
    batch.set(op.result, scalar_array(batch.launch.scalars[op.parameter], op.result.dtype))


def lane(batch: Batch, op: Lane) -> None:
    """Lane numbers along one dim."""
    batch.set(op.result, np.arange(op.dim.size, dtype=np.int64).reshape(1, -1))


def pointwise(batch: Batch, op: Pointwise) -> None:
    """One function, operands broadcast by dim name."""
    dims = op.result.dims
    operands = [batch.get(v, dims) for v in op.operands]
    batch.set(op.result, compute(op.fn, op.operands[-1].dtype, operands))


def cast(batch: Batch, op: Cast) -> None:
    """Numeric conversion."""
    batch.set(op.result, _over(batch, op.value, op.result.dims, to=op.result.dtype))


def _over(batch: Batch, value: Fragment, dims: tuple[Dim, ...], *, to: DType) -> Array:
    return to_dtype(batch.get(value, dims), value.dtype, to)


def bitcast(batch: Batch, op: Bitcast) -> None:
    """Same bits, other dtype."""
    array = batch.get(op.value, op.result.dims)
    batch.set(op.result, np.ascontiguousarray(array).view(op.result.dtype.numpy).reshape(array.shape))


def broadcast(batch: Batch, op: Broadcast) -> None:
    """More dims; the axes stay at extent 1 until something needs them."""
    batch.set(op.result, batch.get(op.value, op.result.dims))


def rename(batch: Batch, op: Rename) -> None:
    """The same lanes under another name; the axis moves to the new dim's place."""
    if op.source not in op.value.dims or op.target in op.value.dims:
        raise CompilerFault(f"rename {op.source} to {op.target} of {op.value.dims}", stage=STAGE)
    named = tuple(op.target if d == op.source else d for d in op.value.dims)
    place = [1 + named.index(d) for d in op.result.dims]
    batch.set(op.result, batch.get(op.value).transpose(0, *place))
