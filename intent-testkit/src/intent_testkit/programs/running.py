"""Runs a hand-written program on a provider: serialised, then launched or emulated, as the runtime would."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from intent.passes.expand import expand
from intent.physical import Program
from intent.provider import BoundView, Invocation, Source
from intent.provider.registry import registry
from intent.runtime import workspace
from intent.types.extent import Atom, Symbol
from intent_testkit.cases.draw import Array
from intent_testkit.suite import Suite


def run(
    provider: str,
    program: Program,
    arrays: Mapping[str, Array],
    scalars: Mapping[str, bool | int | float] | None = None,
) -> None:
    """Run ``program`` on C-contiguous numpy arrays by view name; outputs are written in place.

    On a GPU where there is one, else under emulation. What the provider lacks is expanded before.
    A program space without programs launches nothing.
    """
    target = registry().get(provider)
    known = target.capabilities
    program = expand(program, known.functions, known.histogram, known.atomics)
    source = target.serialize(program)
    call = invocation(program, arrays, scalars)
    if not call.length:
        return
    with Suite.execution(provider) as (kind, _):
        if kind == "gpu":
            _launch(provider, source, call)
        else:
            target.emulate(source)(call)


def invocation(
    program: Program, arrays: Mapping[str, Array], scalars: Mapping[str, bool | int | float] | None = None
) -> Invocation:
    """The call on host memory: every symbol bound by an axis that it names alone, the workspace allocated."""
    extents: dict[str, int] = {}
    for view in program.views:
        for extent, size in zip(view.shape, arrays[view.name].shape, strict=True):
            if isinstance(alone := _symbol(extent.terms), Symbol):
                extents[alone.name] = size
    env: dict[Atom, int] = {Symbol(name): size for name, size in extents.items()}
    length = program.length.evaluate(env)
    space = workspace.layout(program, env, length)
    memory = np.zeros(space.size, np.uint8)
    return Invocation(
        views={v.name: bound(v.name, arrays[v.name], v.dtype.name) for v in program.views},
        scalars=scalars or {},
        extents=extents,
        length=length,
        workspace=bound("workspace", memory, "u8") if program.workspace else None,
        workspace_offsets=space.offsets,
    )


def _symbol(terms: tuple[tuple[tuple[Atom, ...], int], ...]) -> Atom | None:
    """The atom, where the terms are one atom and nothing else."""
    match terms:
        case (((atom,), 1),):
            return atom
        case _:
            return None


def bound(name: str, array: Array, dtype: str) -> BoundView:
    """A numpy array as providers receive it."""
    strides = tuple(s // array.itemsize for s in array.strides)
    return BoundView(
        name=name, pointer=array.ctypes.data, shape=array.shape, strides=strides, dtype=dtype, device="cpu",
        array=array,
    )  # fmt: skip


def _launch(provider: str, source: Source, call: Invocation) -> None:
    """Copy the arrays to the GPU, launch on torch's current stream, and copy them back."""
    import torch

    device = "cuda:0"

    def moved(view: BoundView) -> tuple[BoundView, Any]:
        flat = np.ascontiguousarray(view.array).reshape(-1).view(np.uint8)
        there = torch.from_numpy(flat.copy()).to(device)
        return replace(view, pointer=there.data_ptr(), device=device), there

    pairs = {name: moved(view) for name, view in call.views.items()}
    memory = moved(call.workspace) if call.workspace is not None else None
    there = replace(
        call, views={name: view for name, (view, _) in pairs.items()}, workspace=memory and memory[0],
        stream=torch.cuda.current_stream().cuda_stream,
    )  # fmt: skip
    registry().get(provider).load(source, device)(there)
    torch.cuda.synchronize()
    for name, (_, tensor) in pairs.items():
        array = call.views[name].array
        array[...] = tensor.cpu().numpy().view(array.dtype).reshape(array.shape)
