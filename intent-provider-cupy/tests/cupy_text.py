"""Runs CUDA C++ written by hand in emulation: what the shim does is tested without emission."""

from __future__ import annotations

import numpy as np

from intent.types.dtypes import ALL
from intent_provider_cupy import prelude
from intent_provider_cupy.emit.interface import C_TYPES, Parameter, Signature
from intent_provider_cupy.emulate.compile import kernel
from intent_provider_cupy.emulate.runtime import Memory, Run, run

DTYPES = {np.dtype(dtype.numpy).name: dtype.name for dtype in ALL if dtype.kind != "index"}
TYPES = {numpy_name: C_TYPES[name] for numpy_name, name in DTYPES.items()}


def emulate(body, *, threads=32, blocks=1, shared=0, seed=0, **arrays):
    """Run ``body`` as a kernel whose parameters are pointers to ``arrays``, by their names."""
    parameters = tuple(
        Parameter(emitted=name, kind="view", dtype=DTYPES[array.dtype.name], view=name)
        for name, array in arrays.items()
    )
    declared = ", ".join(f"{p.type} {p.emitted}" for p in parameters)
    kernel_text = f'extern "C" __global__ void by_hand({declared}) {{\n{body}\n}}\n'
    text = f"{prelude.needed(kernel_text)}\n#line 1\n{kernel_text}"
    signature = Signature(parameters=parameters, threads=threads, shared_bytes=shared)
    what = Run(
        name="by_hand",
        entry=kernel(text, "by_hand", signature),
        arguments=[array.ctypes.data.to_bytes(8, "little") for array in arrays.values()],
        memory=[memory_of(name, array) for name, array in arrays.items()],
        blocks=blocks,
        threads=threads,
        shared_bytes=shared,
        seed=seed,
    )
    run(what)


def memory_of(name, array):
    start = array.ctypes.data
    return Memory(name=name, pointer=start, low=start, high=start + array.nbytes, itemsize=array.itemsize)


def zeros(n, dtype=np.float32):
    return np.zeros(n, dtype)
