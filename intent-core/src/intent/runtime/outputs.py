"""Allocation of Outs for ``.run``: extents from the inputs, the library from the caller (decision 21)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from intent.diagnostics import NotSupportedYet, UndeterminedOut
from intent.kir.kernel import Kernel
from intent.kir.value import View
from intent.runtime.arguments import Bound
from intent.runtime.array import Library
from intent.runtime.extents import bind_extents
from intent.runtime.libraries import NUMPY
from intent.types.extent import Atom, Symbol

__all__ = ["allocate_outs", "input_names", "outs"]


def outs(kernel: Kernel) -> list[View]:
    """The views that ``.run`` allocates, in the kernel's order."""
    return [view for view in kernel.views if view.mode == "out"]


def input_names(kernel: Kernel) -> tuple[str, ...]:
    """What ``.run`` takes: every runtime parameter but the Outs, in the kernel's order."""
    allocated = {view.name for view in outs(kernel)}
    return tuple(p.name for p in kernel.params if p.name not in allocated)


def allocate_outs(kernel: Kernel, inputs: Bound, library: Library, device: str) -> dict[str, Any]:
    """A new uninitialised array for every Out, on the inputs' device.

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
    return {view.name: _allocate(view, env, library, device) for view in outs(kernel)}


def _allocate(view: View, env: Mapping[Atom, int], library: Library, device: str) -> Any:
    unknown = {
        str(a) for extent in view.shape for a in extent.atoms() if isinstance(a, Symbol) and a not in env
    }
    if unknown:
        raise UndeterminedOut(view.name, shape=view.shape, unknown=sorted(unknown), span=view.span)
    shape = tuple(extent.evaluate(env) for extent in view.shape)
    return library.empty(shape, _strides(view, shape, env), view.dtype, device)


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
