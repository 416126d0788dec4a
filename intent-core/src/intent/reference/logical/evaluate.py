"""Running a kernel on numpy arrays: binding of arguments, launch conditions, evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.diagnostics import (
    ArgumentDType,
    ArgumentRank,
    ExtentMismatch,
    LaunchCondition,
    WrongArgumentCount,
)
from intent.reference.logical.choices import Choices
from intent.reference.logical.dispatch import TABLE
from intent.reference.logical.machine import Machine
from intent.reference.logical.observer import Observer
from intent.reference.logical.rounding import narrow
from intent.types import DType
from intent.types.extent import Atom, Scalar, Symbol

Array = NDArray[Any]


def evaluate(
    kernel: kir.Kernel,
    args: Sequence[Any],
    adversary: Choices | None = None,
    observer: Observer | None = None,
) -> None:
    """Run ``kernel`` on ``args``, which stand in the order of ``kernel.params``.

    Views take numpy arrays of the declared dtype (any strides); Out and InOut arrays are written in place.
    Scalars take Python numbers. ``adversary`` decides what the language leaves open; without one the plainest
    choices are made. Raises the errors of a call for arguments that do not fit. ``assume_in_bounds`` and
    uniqueness promises are not tested here, but ``observer`` may: it hears every operation, and ends the
    evaluation by raising :class:`~intent.reference.logical.observer.Stop`, which this function passes on.
    """
    if len(args) != len(kernel.params):
        raise WrongArgumentCount(str(kernel.name), expected=[p.name for p in kernel.params], given=len(args))
    views: dict[str, Array] = {}
    atoms: dict[Atom, int] = {}
    scalars: list[Array] = []
    origin: dict[Atom, str] = {}
    for param, arg in zip(kernel.params, args, strict=True):
        if isinstance(param, kir.View):
            views[param.name] = _view(param, arg, atoms, origin)
        else:
            scalars.append(_scalar(param.value.dtype, arg))
            if param.value.dtype.is_integer or param.value.dtype.kind == "bool":
                atoms[Scalar(param.name)] = int(scalars[-1])
    machine = Machine(TABLE, adversary or Choices(), views, atoms, observer)
    _check(kernel, machine, views)
    if observer is not None:
        observer.started(machine, kernel)
    with np.errstate(all="ignore"):
        machine.run(kernel.body, scalars)


def _view(view: kir.View, given: Any, atoms: dict[Atom, int], origin: dict[Atom, str]) -> Array:
    array: Array = np.asarray(given)
    if array.dtype != view.dtype.numpy:
        raise ArgumentDType(view.name, expected=view.dtype, found=array.dtype, span=view.span)
    if array.ndim != view.rank:
        raise ArgumentRank(view.name, expected=view.shape, found=array.shape, span=view.span)
    for axis, extent in enumerate(view.shape):
        if len(extent.terms) == 1 and extent.terms[0][1] == 1 and len(extent.terms[0][0]) == 1:
            atom = extent.terms[0][0][0]
            if isinstance(atom, Symbol):
                _bind(atom, array.shape[axis], f"{view.name}.shape[{axis}]", atoms, origin)
    for axis, stride in enumerate(view.strides or ()):
        if isinstance(stride, str):
            found = array.strides[axis] // array.itemsize
            _bind(Symbol(stride), found, f"the stride of {view.name}, axis {axis}", atoms, origin)
    return array


def _bind(atom: Symbol, value: int, where: str, atoms: dict[Atom, int], origin: dict[Atom, str]) -> None:
    known = atoms.setdefault(atom, value)
    first = origin.setdefault(atom, where)
    if known != value:
        raise ExtentMismatch(atom.name, {first: known, where: value})


def _scalar(dtype: DType, value: Any) -> Array:
    if dtype.is_float:
        return narrow(np.asarray(float(value), np.float64), dtype)
    return np.array(value, dtype.numpy)


def _check(kernel: kir.Kernel, machine: Machine, views: dict[str, Array]) -> None:
    for view in kernel.views:
        for axis, extent in enumerate(view.shape):
            expected, found = machine.extent(extent), views[view.name].shape[axis]
            if expected != found:
                symbol = extent if extent.const is None else extent.const
                raise ExtentMismatch(symbol, {f"{view.name}.shape[{axis}]": found, str(extent): expected})
    for condition in kernel.conditions:
        if not condition.asked(machine.extent):
            continue
        lhs, rhs = machine.extent(condition.lhs), machine.extent(condition.rhs)
        if not condition.holds(lhs, rhs):
            raise LaunchCondition(
                condition.text,
                values={str(condition.lhs): lhs, str(condition.rhs): rhs},
                needed_by=condition.reason,
                span=condition.span,
            )
