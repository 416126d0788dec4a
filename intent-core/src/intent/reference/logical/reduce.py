"""Order-free reductions (spec: logical-program 6)."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.diagnostics import CompilerFault
from intent.reference.logical.choices import Choices
from intent.reference.logical.identity import identity_of
from intent.reference.logical.lifted import Combine, Components, lift
from intent.reference.logical.machine import Machine
from intent.reference.logical.pointwise import apply
from intent.reference.logical.rounding import convert, widen
from intent.types import DType

Array = NDArray[Any]

FUNCTION = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum", "any": "or", "all": "and"}


def reduce(machine: Machine, op: kir.Reduce) -> None:
    """Builtin or generic reduction; an empty one gives the identity."""
    moved = tuple(axes_first(machine[v], op.axes) for v in op.operands)
    if op.kind in ("argmax", "argmin"):
        results = _arg_reduce(op, moved[0])
    else:
        free = moved[0].shape[1:]
        identity = tuple(np.array(np.broadcast_to(i, free)) for i in _identity(machine, op))
        results = tree(machine.choices, moved, identity, _combine(machine, op))
    for value, array in zip(op.results, results, strict=True):
        machine[value] = array


def axes_first(x: Array, axes: tuple[int, ...]) -> Array:
    """``x`` with the reduced axes as one first axis, row-major; the free ones follow."""
    free = [k for k in range(x.ndim) if k not in axes]
    shape = [x.shape[k] for k in free]
    count = int(np.prod([x.shape[k] for k in axes], dtype=np.int64))
    return x.transpose([*sorted(axes), *free]).reshape([count, *shape])


def _identity(machine: Machine, op: kir.Reduce) -> Components:
    if op.kind is None:
        return tuple(machine[v] for v in op.identity)
    return (identity_of(op.kind, op.result.dtype),)


def _combine(machine: Machine, op: kir.Reduce) -> Combine:
    if op.kind is not None:
        return builtin(op.kind, op.result.dtype)
    region = cast("kir.Region", op.combine)
    return lift(machine, region, [machine[v] for v in op.captures])


def builtin(kind: str, dtype: DType) -> Combine:
    """The combine of a builtin kind, rounding after every step."""
    fn = FUNCTION[kind]
    if dtype.kind == "bool" and kind in ("max", "min"):
        fn = "or" if kind == "max" else "and"

    def combine(lhs: Components, rhs: Components) -> Components:
        return (apply(fn, dtype, lhs[0], rhs[0]),)

    return combine


def tree(choices: Choices, parts: Components, identity: Components, combine: Combine) -> Components:
    """Combine the slices along axis 0: some partial results side by side, then those by halves."""
    count = parts[0].shape[0]
    if count == 0:
        return identity
    permutation = choices.permutation(count)
    if permutation is not None:
        parts = tuple(p[permutation] for p in parts)
    width = choices.chunks(count)
    acc = tuple(p[:width] for p in parts)
    for begin in range(width, count, width):
        end = min(begin + width, count)
        done = combine(tuple(a[: end - begin] for a in acc), tuple(p[begin:end] for p in parts))
        acc = tuple(np.concatenate([d, a[end - begin :]]) for d, a in zip(done, acc, strict=True))
    while acc[0].shape[0] > 1:
        half = (acc[0].shape[0] + 1) // 2
        rest = acc[0].shape[0] - half
        done = combine(tuple(a[:rest] for a in acc), tuple(a[half:] for a in acc))
        acc = tuple(np.concatenate([d, a[rest:half]]) for d, a in zip(done, acc, strict=True))
    out = tuple(a[0] for a in acc)
    if choices.with_identity():
        out = combine(identity, out) if choices.with_identity() else combine(out, identity)
    return out


def _arg_reduce(op: kir.Reduce, x: Array) -> Components:
    if x.shape[0] == 0:
        raise CompilerFault("arg_reduce over an empty axis is invalid input", stage="evaluation")
    dtype = op.operands[0].dtype
    wide = widen(x, dtype)
    # numpy's rule is the language's: the first NaN, else the first of the extreme values.
    at = np.asarray(np.argmax(wide, axis=0) if op.kind == "argmax" else np.argmin(wide, axis=0))
    values = np.take_along_axis(wide, at[None], axis=0)[0]
    narrowed = values if wide.dtype == x.dtype else convert(values, _F32, dtype)
    return (np.asarray(narrowed), at.astype(np.int64))


_F32 = DType("f32", "float", 32, 8, 23)
