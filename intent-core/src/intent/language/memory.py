"""Indexed reads and writes, kernel-local buffers and promises about indices (spec: logical-program 9)."""

from __future__ import annotations

from intent.language.intrinsic import intrinsic
from intent.language.kinds import Buffer, Helper, Index, Shape, Value, View
from intent.types import DType

__all__ = [
    "assume_in_bounds",
    "buffer",
    "gather",
    "mutable_load",
    "scatter_reduce",
    "scatter_unique",
    "store",
]


@intrinsic("gather")
def gather(source: View, index: Index, valid: Value = True, fill: Value = 0) -> Value:
    """``source[index]`` where ``valid`` holds and ``fill`` elsewhere; inactive elements touch no memory.

    Args:
        source: a view, buffer or tensor.
        index: one entry for each axis of ``source``.
        valid: a bool that broadcasts to the result.
        fill: a value of the source's dtype that broadcasts to the result.

    Raises:
        WrongRank, WrongDType, MixedDTypes, ShapeMismatch.

    spec: logical-program 9
    """


@intrinsic("scatter_unique", destination="target")
def scatter_unique(target: View, index: Index, value: Value, valid: Value = True) -> None:
    """``target[index] = value`` where ``valid`` holds; the author promises distinct destinations.

    Raises:
        WriteToReadOnly, CollidingWrites, WrongRank, MixedDTypes, ShapeMismatch.

    spec: logical-program 9
    """


@intrinsic("scatter_reduce", destination="target")
def scatter_reduce(target: View, index: Index, value: Value, combine: Helper, valid: Value = True) -> None:
    """Combine each valid ``value`` into its destination; the old value of the target takes part.

    ``combine`` is a pure helper of two elements, or I.add, I.maximum, I.minimum; it is associative and
    commutative by declaration.

    Raises:
        WriteToReadOnly, ImpureHelper, WrongRank, MixedDTypes, ShapeMismatch.

    spec: logical-program 9
    """


@intrinsic("store", destination="target")
def store(target: View, index: Index, value: Value) -> None:
    """``target[index] = value`` for a view or a buffer.

    Raises:
        WriteToReadOnly, NonInjectiveAssignment, WrongRank, MixedDTypes, ShapeMismatch.

    spec: logical-program 9
    """


@intrinsic("mutable_load", source="target")
def mutable_load(target: View, index: Index) -> Value:
    """``target[index]`` of a view or a buffer, read at this place of the program.

    spec: logical-program 9
    """


@intrinsic("buffer")
def buffer(shape: Shape, dtype: DType, init: Value = None) -> Buffer:
    """Mutable storage of the kernel's own; without ``init`` every element must be written before it is read.

    Args:
        shape: extents that are known where the buffer is made.
        dtype: the element type.
        init: a scalar, or a tensor that broadcasts to ``shape``.

    spec: kernel-and-host 6
    """


@intrinsic("assume_in_bounds")
def assume_in_bounds(index: Value, view: View, axis: int) -> None:
    """A statement: the author promises ``0 <= index < view.shape[axis]`` for every active element.

    spec: kir-to-gpu-program 9
    """
