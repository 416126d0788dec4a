"""Do two strided arrays share memory? Byte ranges first, then an exact bounded search (language decision 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from intent.diagnostics import OverlappingViews, ZeroStrideWritable
from intent.kir.kernel import Kernel
from intent.kir.value import View
from intent.runtime.array import Array
from intent.runtime.in_place import same_elements

__all__ = ["check_overlap", "check_writable_layout", "overlaps", "writable_pairs"]

_WORK: Final = 1 << 20
"""Most candidates that the exact search looks at; what is not decided within it counts as an overlap."""


class _Layout:
    """Address and strides as numpy reads them; the memory behind them is never touched."""

    def __init__(self, pointer: int, shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> None:
        self.__array_interface__ = {
            "version": 3,
            "data": (pointer, False),
            "shape": shape,
            "strides": strides,
            "typestr": f"|V{itemsize}",
        }


def _layout(array: Array, *, first: tuple[int, slice] | None = None) -> NDArray[Any]:
    made = np.asarray(_Layout(array.pointer, array.shape, array.byte_strides, array.itemsize))
    if first is not None:
        axis, part = first
        made = made[(slice(None),) * axis + (part,)]
    return made


def overlaps(a: Array, b: Array) -> bool:
    """Whether some byte belongs to an element of both. Undecided within the work bound counts as True."""
    if a.empty or b.empty or a.device != b.device:
        return False
    (a_low, a_high), (b_low, b_high) = a.bounds(), b.bounds()
    if a_high <= b_low or b_high <= a_low:
        return False
    return _shared(_layout(a), _layout(b))


def _shared(a: NDArray[Any], b: NDArray[Any]) -> bool:
    try:
        return bool(np.shares_memory(a, b, max_work=_WORK))
    except np.exceptions.TooHardError:
        return True


def repeats_itself(array: Array) -> bool:
    """Whether two different index tuples of the array name one place, for example a broadcast axis."""
    if array.empty:
        return False
    reach = array.itemsize
    axes = sorted(
        (abs(s), extent) for extent, s in zip(array.shape, array.byte_strides, strict=True) if extent > 1
    )
    for stride, extent in axes:
        if stride < reach:
            break
        reach += stride * (extent - 1)
    else:
        return False  # every axis steps over everything that the smaller ones reach
    # Two tuples that differ first on axis k: shift one of them to 0 there, the other to 1 or more.
    return any(
        _shared(_layout(array, first=(axis, slice(1, None))), _layout(array, first=(axis, slice(0, 1))))
        for axis, extent in enumerate(array.shape)
        if extent > 1
    )


def check_writable_layout(view: View, array: Array) -> None:
    """A view that is written has one place per element.

    Raises:
        ZeroStrideWritable: Several elements share a place.
    """
    if repeats_itself(array):
        raise ZeroStrideWritable(view.name, shape=array.shape, strides=array.strides, span=view.span)


def writable_pairs(kernel: Kernel) -> Iterator[tuple[View, View]]:
    """Pairs (written, other) whose disjointness is not declared: not one alias group, no noalias promise."""
    views = list(kernel.views)
    for k, a in enumerate(views):
        for b in views[k + 1 :]:
            if a.noalias or b.noalias or (a.alias is not None and a.alias == b.alias):
                continue
            if a.mode != "in":
                yield a, b
            elif b.mode != "in":
                yield b, a


def check_overlap(
    written: View, other: View, a: Array, b: Array, *, may_share: Callable[[str, str], bool]
) -> bool:
    """Whether a written view is the very same elements as another one; any other shared element is refused.

    ``may_share(written, other)`` says whether the kernel can run in place on the very same elements.

    Raises:
        OverlappingViews: Names both parameters and their byte ranges.
    """
    if not overlaps(a, b):
        return False
    notes = []
    if same_elements(a, b):
        if other.mode == "in" and may_share(written.name, other.name):
            return True
        again = "reads" if other.mode == "in" else "uses"
        notes.append(
            f"they are the same elements, but this kernel {again} '{other.name}' again after it writes"
        )
    ranges = {written.name: _range(a), other.name: _range(b)}
    raise OverlappingViews(written.name, other.name, ranges=ranges, notes=notes, span=written.span)


def _range(array: Array) -> str:
    low, high = array.bounds()
    return f"bytes [{low:#x}, {high:#x}) of {array.device}"
