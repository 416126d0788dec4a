"""Runs a program under emulation with numpy arrays."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np

from intent.physical import Program
from intent.provider import BoundView, Invocation, Source
from intent.types.extent import Symbol
from intent_provider_cutile.emit import emit
from intent_provider_cutile.emulate import EmulatedLauncher


def bind(name: str, array: np.ndarray, dtype: str) -> BoundView:
    strides = tuple(s // array.itemsize for s in array.strides)
    return BoundView(
        name=name,
        pointer=array.ctypes.data,
        shape=array.shape,
        strides=strides,
        dtype=dtype,
        device="cpu",
        array=array,
    )


def invocation(program: Program, arrays: dict, scalars: dict | None = None) -> Invocation:
    views, extents = {}, {}
    for view in program.views:
        array = arrays[view.name]
        views[view.name] = bind(view.name, array, view.dtype.name)
        for extent, size in zip(view.shape, array.shape, strict=True):
            for atom in extent.atoms():
                if isinstance(atom, Symbol) and extent.terms == ((((atom,), 1)),):
                    extents[atom.name] = size
    length = program.length.evaluate({Symbol(k): v for k, v in extents.items()})
    offsets, total = {}, 0
    for buffer in program.workspace:
        offsets[buffer.id] = total
        elements = 1
        for e in buffer.shape:
            elements *= e.evaluate({Symbol(k): v for k, v in extents.items()})
        copies = 1 if buffer.scope == "invocation" else length
        total += -(-elements * copies * buffer.dtype.bytes // 16) * 16
    memory = np.zeros(total, np.uint8)
    workspace = bind("workspace", memory, "u8") if program.workspace else None
    return Invocation(
        views=views,
        scalars=scalars or {},
        extents=extents,
        length=length,
        workspace=workspace,
        workspace_offsets=offsets,
    )


DEVICE = os.environ.get("INTENT_CUTILE_DEVICE", "")
"""``cuda:0`` runs the same tests on a GPU; empty means emulation."""


def run(program: Program, arrays: dict, scalars: dict | None = None) -> None:
    """Emit, then emulate or launch. Outputs are written in place; nothing runs when there are no programs."""
    emitted = emit(program)
    source = Source(text=emitted.text, entry=emitted.entry, suffix=".py", program=program)
    call = invocation(program, arrays, scalars)
    if not call.length:
        return
    if not DEVICE:
        EmulatedLauncher(source)(call)
        return
    launch(source, call)


def launch(source: Source, call: Invocation) -> None:
    """Copy contiguous arrays to the GPU, launch on torch's current stream, and copy them back."""
    import torch

    from intent_provider_cutile.launch import CuTileLauncher

    def moved(view: BoundView) -> tuple[BoundView, object]:
        flat = np.ascontiguousarray(view.array).reshape(-1).view(np.uint8)
        there = torch.from_numpy(flat.copy()).to(DEVICE)
        return replace(view, pointer=there.data_ptr(), device=DEVICE), there

    pairs = {name: moved(view) for name, view in call.views.items()}
    workspace = moved(call.workspace) if call.workspace is not None else None
    there = replace(
        call, views={name: view for name, (view, _) in pairs.items()},
        workspace=workspace[0] if workspace else None, stream=torch.cuda.current_stream().cuda_stream,
    )  # fmt: skip
    CuTileLauncher(source, DEVICE)(there)
    torch.cuda.synchronize()
    for name, (_, tensor) in pairs.items():
        array = call.views[name].array
        array[...] = tensor.cpu().numpy().view(array.dtype).reshape(array.shape)
