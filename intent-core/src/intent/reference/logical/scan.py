"""Ordered prefix combination (spec: logical-program 6); no order-free tree ever."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.reference.logical.choices import Choices
from intent.reference.logical.identity import identity_of
from intent.reference.logical.lifted import Combine, Components, lift
from intent.reference.logical.machine import Machine
from intent.reference.logical.reduce import builtin

Array = NDArray[Any]


def scan(machine: Machine, op: kir.Scan) -> None:
    """A reverse scan is flip, forward scan, flip (language decision 1)."""
    parts = tuple(np.moveaxis(machine[v], op.axis, 0) for v in op.operands)
    if op.reverse:
        parts = tuple(p[::-1] for p in parts)
    identity, combine = _algebra(machine, op)
    out = prefixes(machine.choices, parts, combine)
    if not op.inclusive:
        out = tuple(_shift(o, i, op.axis) for o, i in zip(out, identity, strict=True))
    for value, array in zip(op.results, out, strict=True):
        machine[value] = np.moveaxis(array[::-1] if op.reverse else array, 0, op.axis)


def _algebra(machine: Machine, op: kir.Scan) -> tuple[Components, Combine]:
    if op.kind is not None:
        dtype = op.result.dtype
        return (identity_of(op.kind, dtype),), builtin(op.kind, dtype)
    combine = lift(machine, cast("kir.Region", op.combine), [machine[v] for v in op.captures])
    return tuple(machine[v] for v in op.identity), combine


def _shift(prefix: Array, identity: Array, axis: int) -> Array:
    out = np.empty(prefix.shape, prefix.dtype)
    if prefix.shape[0]:
        if identity.ndim == prefix.ndim:  # the operands' full shape: its first slice stands before the first
            identity = np.moveaxis(identity, axis, 0)[0]
        out[0] = identity
        out[1:] = prefix[:-1]
    return out


def prefixes(choices: Choices, parts: Components, combine: Combine) -> Components:
    """Inclusive prefixes along axis 0."""
    count = parts[0].shape[0]
    out = tuple(np.array(p) for p in parts)
    if count < 2:
        return out
    style = choices.scan_style()
    if style == "sequential":
        for k in range(1, count):
            step = combine(tuple(o[k - 1] for o in out), tuple(o[k] for o in out))
            for o, s in zip(out, step, strict=True):
                o[k] = s
    elif style == "doubling":
        distance = 1
        while distance < count:
            step = combine(tuple(o[:-distance] for o in out), tuple(o[distance:] for o in out))
            for o, s in zip(out, step, strict=True):
                o[distance:] = s
            distance *= 2
    else:
        _split(choices, out, combine, 0, count - 1)
    return out


def _split(choices: Choices, out: Components, combine: Combine, first: int, last: int) -> None:
    if first == last:
        return
    cut = choices.split(first, last)
    if last - first > 8:  # keep the recursion shallow whatever the choices are
        margin = (last - first) // 4
        cut = min(max(cut, first + margin), last - 1 - margin)
    _split(choices, out, combine, first, cut)
    _split(choices, out, combine, cut + 1, last)
    right = tuple(o[cut + 1 : last + 1] for o in out)
    left = tuple(np.broadcast_to(o[cut], r.shape) for o, r in zip(out, right, strict=True))
    for r, s in zip(right, combine(left, right), strict=True):
        r[...] = s
