"""Microscaling and structured-sparse contractions: operands are expanded, then contracted."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.diagnostics import CompilerFault
from intent.reference.logical.contract import contraction
from intent.reference.logical.machine import Machine
from intent.types.dtypes import F64

Array = NDArray[Any]

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float64)


def scaled_contract(machine: Machine, op: kir.ScaledContract) -> None:
    """``sum over g, c of lhs[m,g,c] * lhs_scale[m,g] * rhs[g,c,n] * rhs_scale[n,g]``."""
    lhs = _decode(machine[op.lhs], op.lhs_format, axis=2)
    rhs = _decode(machine[op.rhs], op.rhs_format, axis=1)
    for side, extent, group in (("lhs", lhs.shape[2], op.lhs_group), ("rhs", rhs.shape[1], op.rhs_group)):
        if extent != group:
            raise CompilerFault(f"{side} has {extent} elements in a group of {group}", stage="evaluation")
    lhs = lhs * _scale(machine[op.lhs_scale])[:, :, None]
    rhs = rhs * _scale(machine[op.rhs_scale]).T[:, None, :]
    machine[op.result] = contraction(
        machine.choices, lhs, rhs, (F64, op.result.dtype), reduce=((1, 0), (2, 1))
    )


def _decode(x: Array, form: str, *, axis: int) -> Array:
    if form == "e4m3":
        return np.asarray(x.view(ml_dtypes.float8_e4m3fn).astype(np.float64))
    if form != "e2m1":
        raise CompilerFault(f"the scaled format {form} is unknown", stage="evaluation")
    # Two elements per byte, the low nibble first.
    pairs = np.stack([x & 0xF, x >> 4], axis=axis + 1)
    shape = list(x.shape)
    shape[axis] *= 2
    return E2M1[pairs.reshape(shape)]


def _scale(x: Array) -> Array:
    bits = x.view(np.uint8).astype(np.int64)
    return np.where(bits == 255, np.nan, np.ldexp(1.0, (bits - 127).astype(np.int32)))


def sparse_contract(machine: Machine, op: kir.SparseContract) -> None:
    """The compressed operand is spread to its logical positions, then contracted with the dense one.

    A dense element that no stored element meets takes no part: infinities and NaN there do not reach the result.
    """
    compressed, dense = machine[op.compressed], machine[op.dense]
    metadata = [machine[v] for v in op.metadata]
    ((axis, _),) = op.reduce
    positions = [np.moveaxis(m, axis, -1) for m in metadata]
    full = np.moveaxis(_expand(np.moveaxis(compressed, axis, -1), positions, op.format), -1, axis)
    if op.dense.dtype.is_float and not np.isfinite(dense.astype(np.float64)).all():
        stored = np.ones(compressed.shape, np.bool_)
        met = np.moveaxis(_expand(np.moveaxis(stored, axis, -1), positions, op.format), -1, axis)
        machine[op.result] = _met_only(op, full, met, dense).astype(op.result.dtype.numpy)
        return
    machine[op.result] = contraction(
        machine.choices,
        full,
        dense,
        (op.compressed.dtype, op.result.dtype),
        reduce=op.reduce,
        batch=op.batch,
    )


def _met_only(op: kir.SparseContract, full: Array, met: Array, dense: Array) -> Array:
    """The sum of the products at stored positions, in float64; axes in the result's order."""
    ((axis, dense_axis),) = op.reduce
    batch = dict(op.batch)
    outer = [k for k in range(full.ndim) if k != axis]
    free = [k for k in range(dense.ndim) if k != dense_axis and k not in batch.values()]
    rhs = dense.astype(np.float64).transpose([*(batch[k] for k in outer if k in batch), dense_axis, *free])
    rhs = rhs.reshape(
        [
            *(full.shape[k] if k in batch else 1 for k in outer),
            full.shape[axis],
            *(dense.shape[k] for k in free),
        ]
    )
    spread = (..., *[None] * len(free))
    lhs, taken = (np.moveaxis(x, axis, -1)[spread] for x in (full.astype(np.float64), met))
    return np.asarray(np.where(taken, lhs * rhs, 0.0).sum(axis=len(outer)))


def _expand(kept: Array, positions: list[Array], form: str) -> Array:
    """Groups of 2 with one kept element, or of 4 with two; ``positions`` count within the group."""
    per, size = {"one_of_two": (1, 2), "two_of_four": (2, 4)}[form]
    groups = kept.shape[-1] // per
    out = np.zeros((*kept.shape[:-1], groups, size), kept.dtype)
    parts = kept.reshape(*kept.shape[:-1], groups, per)
    for k, position in enumerate(positions):
        np.put_along_axis(out, position.astype(np.int64)[..., None], parts[..., k : k + 1], axis=-1)
    return out.reshape(*kept.shape[:-1], groups * size)
