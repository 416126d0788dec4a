"""Reductions and scans over lane dims (spec: kir-to-gpu-program 7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from intent.diagnostics import CompilerFault
from intent.physical import Dim, Fragment, Reduce, Region, Scan
from intent.reference.physical.batch import STAGE, Array, Batch
from intent.reference.physical.conversion import as_compute
from intent.reference.physical.functions import compute
from intent.reference.physical.lanes import align, expand, flatten
from intent.types import DType

Components = tuple[Array, ...]
Combine = Callable[[Components, Components], Components]

STEP = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum", "any": "or", "all": "and"}


def reduce(batch: Batch, op: Reduce) -> None:
    """Order-free reduction: whole lane axes at once for the builtins, else by halves."""
    free = op.results[0].dims
    parts = _trailing(batch, op.operands, free, op.dims)
    if op.kind in ("argmax", "argmin"):
        results = _arg_reduce(op, parts)
    elif op.kind is not None:
        results = (_builtin(op.kind, op.operands[0].dtype, parts[0]),)
    else:
        combine = _combine(batch, op.combine, op.captures, free)
        results = _halve(parts, combine)
    for fragment, array in zip(op.results, results, strict=True):
        batch.set(fragment, align(array, free, fragment.dims))


def _trailing(
    batch: Batch, operands: Sequence[Fragment], free: Sequence[Dim], summed: Sequence[Dim]
) -> Components:
    """Operands with the ``summed`` dims as one trailing axis of full extent."""
    dims = (*free, *summed)
    arrays = [expand(batch.get(v, dims), dims, len(free)) for v in operands]
    return tuple(flatten(a, len(free)) for a in arrays)


def _builtin(kind: str, dtype: DType, x: Array) -> Array:
    if kind in ("any", "all"):
        return np.asarray(x.any(axis=-1) if kind == "any" else x.all(axis=-1))
    if kind in ("max", "min"):
        extreme = np.maximum if kind == "max" else np.minimum
        return np.asarray(extreme.reduce(as_compute(x, dtype), axis=-1)).astype(x.dtype)
    if dtype.is_float and dtype.bits < 32:
        return _halve((x,), _stepping(kind, dtype))[0]
    total = np.add if kind == "sum" else np.multiply
    return np.asarray(total.reduce(x, axis=-1, dtype=x.dtype))


def _stepping(kind: str, dtype: DType) -> Combine:
    return lambda lhs, rhs: (compute(STEP[kind], dtype, [lhs[0], rhs[0]]),)


def _arg_reduce(op: Reduce, parts: Components) -> Components:
    """NaN wins, then the extreme value; among those the lowest position."""
    dtype = op.operands[0].dtype
    values, positions = np.broadcast_arrays(*parts)
    wide = as_compute(values, dtype)
    extreme = (np.maximum if op.kind == "argmax" else np.minimum).reduce(wide, axis=-1, keepdims=True)
    chosen = (wide == extreme) | (np.isnan(wide) if dtype.is_float else False)
    last = np.iinfo(np.int64).max
    position = np.where(chosen, positions, last).min(axis=-1)
    value = np.take_along_axis(values, np.argmax(chosen, axis=-1)[..., None], axis=-1)[..., 0]
    return value, position


def _halve(parts: Components, combine: Combine) -> Components:
    while parts[0].shape[-1] > 1:
        size = parts[0].shape[-1]
        half = size // 2
        low, high = tuple(p[..., :half] for p in parts), tuple(p[..., half : 2 * half] for p in parts)
        done = combine(low, high)
        parts = tuple(_join(d, p[..., 2 * half :], d) for d, p in zip(done, parts, strict=True))
    return tuple(p[..., 0] for p in parts)


def _join(first: Array, second: Array, like: Array) -> Array:
    """Lanes of ``first``, then of ``second``; either may still have extent 1 where ``like`` has more."""
    free = like.shape[:-1]
    return np.concatenate([np.broadcast_to(p, (*free, p.shape[-1])) for p in (first, second)], axis=-1)


def _combine(
    batch: Batch, region: Region | None, captures: Sequence[Fragment], free: Sequence[Dim]
) -> Combine:
    """The scalar region as a function of arrays over (instance, free..., lane)."""
    if region is None:
        raise CompilerFault("a generic reduction or scan has no combine region", stage=STAGE)
    outer = [batch.get(c, free)[..., None] for c in captures]

    def combine(lhs: Components, rhs: Components) -> Components:
        shape = np.broadcast_shapes(*(x.shape for x in (*lhs, *rhs, *outer)))
        points = [np.broadcast_to(x, shape).reshape(-1) for x in (*lhs, *rhs, *outer)]
        inner = batch.sub_batch(points[0].size)
        return tuple(np.broadcast_to(y, points[0].shape).reshape(shape) for y in inner.run(region, points))

    return combine


def scan(batch: Batch, op: Scan) -> None:
    """Inclusive ordered prefixes along one lane dim, by doubling (order is kept, the grouping is free)."""
    dims = op.results[0].dims
    free = tuple(d for d in dims if d != op.dim)
    parts = _trailing(batch, op.operands, free, (op.dim,))
    if op.reverse:
        parts = tuple(p[..., ::-1] for p in parts)
    if op.kind is not None:
        combine = _stepping(op.kind, op.operands[0].dtype)
    else:
        combine = _combine(batch, op.combine, op.captures, free)
    distance = 1
    while distance < op.dim.size:
        done = combine(tuple(p[..., :-distance] for p in parts), tuple(p[..., distance:] for p in parts))
        parts = tuple(_join(p[..., :distance], d, d) for d, p in zip(done, parts, strict=True))
        distance *= 2
    for fragment, array in zip(op.results, parts, strict=True):
        ordered = array[..., ::-1] if op.reverse else array
        batch.set(fragment, align(ordered, (*free, op.dim), fragment.dims))
