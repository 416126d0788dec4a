"""Runs a program under emulation with numpy arrays."""

from __future__ import annotations

import numpy as np
from intent.physical import Program
from intent.provider import BoundView, Invocation, Source
from intent.types.extent import Symbol
from intent_provider_triton.emit import emit
from intent_provider_triton.emulate import EmulatedLauncher


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


def run(program: Program, arrays: dict, scalars: dict | None = None, text: str | None = None) -> None:
    emitted = emit(program)
    source = Source(text=text or emitted.text, entry=emitted.entry, suffix=".py", program=program)
    call = invocation(program, arrays, scalars)
    if call.length:
        EmulatedLauncher(source)(call)
