"""A case: one kernel, how to feed it, what it must give, and how its program space must look."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from intent.types.dtypes import BY_NAME
from intent_testkit.cases.draw import Array, Extents, Sampler
from intent_testkit.cases.tolerance import EXACT, Tolerance

Role = Literal["in", "out", "inout"]


@dataclass(frozen=True, kw_only=True)
class ViewSpec:
    """One view parameter. ``shape`` mixes symbols and numbers; ``draw`` fills In and InOut views."""

    name: str
    dtype: str
    shape: tuple[str | int, ...]
    role: Role
    draw: Sampler | None = None

    @property
    def numpy(self) -> np.dtype[Any]:
        """The dtype that stores one element on the host."""
        return BY_NAME[self.dtype].numpy

    def extents(self, extents: Extents) -> tuple[int, ...]:
        """The shape for one assignment of the symbols."""
        return tuple(extents[axis] if isinstance(axis, str) else axis for axis in self.shape)


@dataclass(frozen=True, kw_only=True)
class ScalarSpec:
    """One runtime scalar parameter; ``value`` is a number or a function of the extents."""

    name: str
    dtype: str
    value: float | bool | Callable[[Extents], int | float]

    def of(self, extents: Extents) -> Any:
        """The Python number to pass."""
        return self.value(extents) if callable(self.value) else self.value


@dataclass(frozen=True, kw_only=True)
class SegmentSpec:
    """One expected segment under the minimal plan: the extents of its axes and its length, as text."""

    axes: tuple[str, ...]
    length: str


class Values:
    """What an oracle sees: every argument by name, floats widened to float64, and ``extents``.

    Outs hold what their allocation held before the call. ``raw(name)`` is the stored array itself.
    """

    def __init__(self, stored: Mapping[str, Any], extents: Extents) -> None:
        self._stored = dict(stored)
        self.extents = extents

    def raw(self, name: str) -> Any:
        """The argument as stored, not widened."""
        return self._stored[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = self._stored[name]
        if (
            isinstance(value, np.ndarray)
            and not np.issubdtype(value.dtype, np.integer)
            and value.dtype != np.bool_
        ):
            return value.astype(np.float64)
        return value.copy() if isinstance(value, np.ndarray) else value


Oracle = Callable[[Values], Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True, repr=False)
class Case:
    """One kernel with everything needed to judge any provider on it.

    ``oracle`` gives every Out and InOut (float64 or exact integers), never through an evaluator of this
    project. ``tolerance`` is one bound or one per output. ``segments`` is what the minimal plan must give.
    ``variants`` limits the view layouts; None means all that the views allow.
    """

    name: str
    kernel: Any
    parameters: tuple[ViewSpec | ScalarSpec, ...]
    oracle: Oracle
    extents: tuple[Extents, ...]
    segments: tuple[SegmentSpec, ...]
    tolerance: Tolerance | Mapping[str, Tolerance] = EXACT
    constexprs: Mapping[str, Any] = field(default_factory=dict)
    variants: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        return f"<case {self.name}>"

    @property
    def views(self) -> tuple[ViewSpec, ...]:
        """The view parameters, in order."""
        return tuple(p for p in self.parameters if isinstance(p, ViewSpec))

    def bound(self, output: str) -> Tolerance:
        """The tolerance of one output."""
        return self.tolerance if isinstance(self.tolerance, Tolerance) else self.tolerance[output]


def view(name: str, dtype: str, shape: str, draw: Sampler) -> ViewSpec:
    """An In view; ``shape`` is written ``"M N"``."""
    return ViewSpec(name=name, dtype=dtype, shape=_axes(shape), role="in", draw=draw)


def out(name: str, dtype: str, shape: str) -> ViewSpec:
    """An Out view, poisoned before the call."""
    return ViewSpec(name=name, dtype=dtype, shape=_axes(shape), role="out")


def inout(name: str, dtype: str, shape: str, draw: Sampler) -> ViewSpec:
    """An InOut view."""
    return ViewSpec(name=name, dtype=dtype, shape=_axes(shape), role="inout", draw=draw)


def scalar(name: str, dtype: str, value: float | bool | Callable[[Extents], int | float]) -> ScalarSpec:
    """A runtime scalar."""
    return ScalarSpec(name=name, dtype=dtype, value=value)


def segment(axes: str, length: str | None = None) -> SegmentSpec:
    """An expected segment; the length defaults to the product of the axes' extents as core prints it."""
    names = tuple(axes.split())
    return SegmentSpec(axes=names, length=length if length is not None else "*".join(sorted(names)) or "1")


def sizes(symbols: str, *rows: tuple[int, ...] | int) -> tuple[Extents, ...]:
    """Assignments of extents: ``sizes("M N", (0, 3), (1, 1), (33, 130))``."""
    names = symbols.split()
    listed = [(row,) if isinstance(row, int) else row for row in rows]
    for row in listed:
        if len(row) != len(names):
            raise ValueError(f"{row} does not bind {names}")
    return tuple(dict(zip(names, row, strict=True)) for row in listed)


def _axes(shape: str) -> tuple[str | int, ...]:
    return tuple(int(axis) if axis.isdigit() else axis for axis in shape.split())


def as_array(values: Any, spec: ViewSpec) -> Array:
    """Drawn values as the spec's dtype. Out-of-range values raise rather than wrap silently."""
    array = np.asarray(values)
    stored = array.astype(spec.numpy)
    if BY_NAME[spec.dtype].is_integer and not np.array_equal(stored, array):
        raise ValueError(f"values drawn for '{spec.name}' do not fit {spec.dtype}")
    return stored
