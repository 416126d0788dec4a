"""Binding the arguments of a call to the parameters of a kernel (spec: kernel-and-host 6).

Positions and names, kinds, element types and ranks are checked here; what needs several arguments together is
checked in :mod:`intent.runtime.conditions`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from intent.diagnostics import (
    ArgumentDType,
    ArgumentKind,
    ArgumentRank,
    LaunchCondition,
    RepeatedArgument,
    UnknownArgument,
    WrongArgumentCount,
)
from intent.kir.kernel import Kernel
from intent.kir.value import ScalarParam, View
from intent.provider import BoundView
from intent.runtime.array import Array, memory_of
from intent.runtime.foreign import recognize
from intent.runtime.scalars import bind_scalar

__all__ = ["Bound", "bind", "bind_named", "bound_view", "check_alignment"]


class Bound(NamedTuple):
    """The arguments of one call by parameter name, in the kernel's order."""

    arrays: dict[str, Array]
    scalars: dict[str, bool | int | float]


def bind_named(
    kernel: Kernel, names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any], method: str = ""
) -> dict[str, Any]:
    """Arguments by name: ``args`` fill ``names`` in order, ``kwargs`` the rest; each exactly once.

    ``method``: what of the artifact was called, for errors.

    Raises:
        UnknownArgument: A keyword is none of ``names``.
        RepeatedArgument: An argument is given by position and by keyword.
        WrongArgumentCount: Too many or too few.
    """
    called = f"{kernel.name}.{method}" if method else kernel.name
    if len(args) > len(names):
        raise WrongArgumentCount(called, expected=names, given=len(args) + len(kwargs), span=kernel.span)
    given = dict(zip(names, args, strict=False))
    for name, value in kwargs.items():
        if name not in names:
            raise UnknownArgument(called, name, names, span=kernel.span)
        if name in given:
            raise RepeatedArgument(f"'{called}'", name, spelling=name, span=kernel.span)
        given[name] = value
    if len(given) < len(names):
        raise WrongArgumentCount(called, expected=names, given=len(given), span=kernel.span)
    return given


def bind(kernel: Kernel, given: Mapping[str, Any]) -> Bound:
    """Recognise arrays and scalars and check each against its own parameter.

    Raises:
        ArgumentKind: Not an array where a view is declared.
        ArgumentDType, ArgumentRank: The element type or the rank is another one.
        ScalarArgument: A scalar of the wrong kind or out of range.
        LaunchCondition: Elements do not lie at multiples of their size.
    """
    arrays: dict[str, Array] = {}
    scalars: dict[str, bool | int | float] = {}
    for parameter in kernel.params:
        if isinstance(parameter, ScalarParam):
            if parameter.name in given:
                value = given[parameter.name]
                scalars[parameter.name] = bind_scalar(
                    parameter.name, parameter.value.dtype, value, parameter.span
                )
        elif parameter.name in given:
            arrays[parameter.name] = _bind_view(parameter, given[parameter.name])
    return Bound(arrays=arrays, scalars=scalars)


def _bind_view(view: View, value: object) -> Array:
    array = recognize(value)
    if array is None:
        rank = len(view.shape)
        expected = f"an array of {view.dtype} with {rank} {'axis' if rank == 1 else 'axes'}"
        raise ArgumentKind(view.name, expected=expected, found=value, span=view.span)
    # The host has no type of its own for ``index``: its 64-bit integers store it.
    stored = "i64" if view.dtype.name == "index" else view.dtype.name
    if array.dtype != stored:
        raise ArgumentDType(view.name, expected=view.dtype, found=array.dtype, span=view.span)
    if len(array.shape) != len(view.shape):
        raise ArgumentRank(view.name, expected=view.shape, found=array.shape, span=view.span)
    if array.pointer % array.itemsize:
        check_alignment(view, array)
    return array


def check_alignment(view: View, array: Array) -> None:
    """Elements must lie at multiples of their size: providers address in elements.

    Raises:
        LaunchCondition: The address or a stride is no multiple of the element size.
    """
    size = array.itemsize
    if array.empty:
        return
    steps = [s for extent, s in zip(array.shape, array.byte_strides, strict=True) if extent > 1]
    if array.pointer % size or any(step % size for step in steps):
        raise LaunchCondition(
            f"the elements of '{view.name}' lie at multiples of {size} bytes",
            values={"the address": hex(array.pointer), "the strides in bytes": array.byte_strides},
            needed_by=f"dtype {view.dtype}",
            span=view.span,
        )


def bound_view(view: View, array: Array, strides: tuple[int, ...]) -> BoundView:
    """The array as providers receive it; on the CPU as a numpy array over the same memory."""
    caller = array.owner
    if array.device == "cpu" and not isinstance(caller, np.ndarray):
        caller = memory_of(array, view.dtype.numpy)
    return BoundView(
        name=view.name,
        pointer=array.pointer,
        shape=array.shape,
        strides=strides,
        dtype=view.dtype.name,
        device=array.device,
        array=caller,
    )
