"""Allocation of Outs for ``.run``: extents from the inputs, the library from the caller (language decision 21)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from intent.diagnostics import NotSupportedYet, UndeterminedOut
from intent.kir.kernel import Kernel
from intent.kir.value import View
from intent.runtime.arguments import Bound
from intent.runtime.array import Library
from intent.runtime.extents import bind_extents
from intent.runtime.libraries import NUMPY
from intent.types import DType
from intent.types.extent import Atom, Symbol

__all__ = ["OutLayout", "allocate_outs", "input_names", "out_layouts", "outs"]


def outs(kernel: Kernel) -> list[View]:
    """The views that ``.run`` allocates, in the kernel's order."""
    return [view for view in kernel.views if view.mode == "out"]


def input_names(kernel: Kernel) -> tuple[str, ...]:
    """What ``.run`` takes: every runtime parameter but the Outs, in the kernel's order."""
    allocated = {view.name for view in outs(kernel)}
    return tuple(p.name for p in kernel.params if p.name not in allocated)


class OutLayout(NamedTuple):
    """What the library allocates for one Out; strides in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: DType
    device: str


def out_layouts(kernel: Kernel, inputs: Bound, library: Library, device: str) -> list[OutLayout]:
    """The layout of every Out, in the kernel's order, on the inputs' device.

    Raises:
        UndeterminedOut: An extent of an Out follows from no input.
        NotSupportedYet: The inputs' library cannot allocate on this device.
    """
    if device != "cpu" and library is NUMPY:
        raise NotSupportedYet(
            "allocating Outs on a GPU beside arrays of this library",
            fix="import torch or cupy first, or allocate the Outs and call the artifact with every argument",
        )
    env = bind_extents(kernel, inputs)
    return [_layout(view, env, device) for view in outs(kernel)]


def allocate_outs(kernel: Kernel, inputs: Bound, library: Library, device: str) -> dict[str, Any]:
    """A new uninitialised array for every Out by name; raises as :func:`out_layouts`."""
    layouts = out_layouts(kernel, inputs, library, device)
    return {view.name: library.empty(*layout) for view, layout in zip(outs(kernel), layouts, strict=True)}


def _layout(view: View, env: Mapping[Atom, int], device: str) -> OutLayout:
    unknown = {
        str(a) for extent in view.shape for a in extent.atoms() if isinstance(a, Symbol) and a not in env
    }
    if unknown:
        raise UndeterminedOut(view.name, shape=view.shape, unknown=sorted(unknown), span=view.span)
    shape = tuple(extent.evaluate(env) for extent in view.shape)
    return OutLayout(shape, _strides(view, shape, env), view.dtype, device)


def _strides(view: View, shape: tuple[int, ...], env: Mapping[Atom, int]) -> tuple[int, ...]:
    """Row-major, except where the view declares a stride whose value is known."""
    strides: list[int] = []
    step = 1
    for axis in reversed(range(len(shape))):
        declared = view.strides[axis] if view.strides is not None else None
        if isinstance(declared, str):
            declared = env.get(Symbol(declared))
        strides.append(step if declared is None else declared)
        step = max(step, strides[-1] * max(shape[axis], 1))
    return tuple(reversed(strides))
