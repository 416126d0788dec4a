"""Private copies of a call's arrays that keep layout and overlap, and the promises about overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.diagnostics import FalseNoaliasPromise
from intent.reference.sanitizer.memory import bounds, offsets
from intent.reference.sanitizer.report import Findings

Array = NDArray[Any]

__all__ = ["check_noalias", "copied"]


def copied(args: Sequence[Any]) -> list[Any]:
    """Arrays as copies with the same strides; arrays whose bytes meet meet again in the copies."""
    arrays = [a for a in args if isinstance(a, np.ndarray)]
    spans: list[tuple[int, int]] = []
    for low, high in sorted(map(bounds, arrays)):
        if spans and low < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(high, spans[-1][1]))
        else:
            spans.append((low, high))
    raw = {low: np.zeros(max(high - low, 1), np.uint8) for low, high in spans}
    out: list[Any] = []
    for arg in args:
        if not isinstance(arg, np.ndarray):
            out.append(arg)
            continue
        if not arg.size:
            out.append(arg.copy())
            continue
        start = max(low for low, high in spans if low <= bounds(arg)[0])
        offset = arg.__array_interface__["data"][0] - start
        made: Array = np.ndarray(arg.shape, arg.dtype, raw[start], offset=offset, strides=arg.strides)
        made[...] = arg
        out.append(made)
    return out


def check_noalias(kernel: kir.Kernel, args: Sequence[Any], findings: Findings) -> None:
    """Every ``noalias`` promise: the view shares no byte with another argument (language decision 7)."""
    views = {p.name: (p, a) for p, a in zip(kernel.params, args, strict=True) if isinstance(p, kir.View)}
    for view, array in views.values():
        if not view.noalias:
            continue
        for other, beside in views.values():
            if other is view or (other.noalias and other.name < view.name):
                continue
            element = _common(array, beside)
            if element is not None:
                at = ", ".join(map(str, element))
                error = FalseNoaliasPromise(
                    view.name, other.name, element=f"{view.name}[{at}]", span=view.span
                )
                findings.add(("noalias", view.name, other.name), error)


def _common(a: Array, b: Array) -> tuple[int, ...] | None:
    """The index of the first element of ``a`` that shares a byte with an element of ``b``."""
    (a_low, a_high), (b_low, b_high) = bounds(a), bounds(b)
    if a_high <= b_low or b_high <= a_low or not a.size or not b.size:
        return None
    taken = np.zeros(b_high - b_low, np.bool_)
    starts = offsets(b) + (b.__array_interface__["data"][0] - b_low)
    taken[starts[:, None] + np.arange(b.itemsize)] = True
    mine = offsets(a)[:, None] + (a.__array_interface__["data"][0] - b_low) + np.arange(a.itemsize)
    within = (mine >= 0) & (mine < taken.size)
    hit = (taken[np.where(within, mine, 0)] & within).any(axis=1)
    if not hit.any():
        return None
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(hit)), a.shape))
