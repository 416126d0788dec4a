"""Where arguments live: host memory for the reference and for emulation, GPU memory otherwise."""

from __future__ import annotations

import os
from functools import cache
from typing import Any, Protocol

import numpy as np

from intent_testkit.cases.draw import Array
from intent_testkit.memory import Allocation


class Place(Protocol):
    """Turns allocations into arguments and brings their bytes back."""

    name: str

    def argument(self, allocation: Allocation) -> Any:
        """The object to pass for this view."""

    def fetch(self, allocation: Allocation) -> None:
        """Make ``allocation.block`` hold what the device holds now."""


class Host:
    """Arguments are numpy views of the blocks themselves."""

    name = "host"

    def argument(self, allocation: Allocation) -> Array:
        """The numpy view."""
        return allocation.view

    def fetch(self, allocation: Allocation) -> None:
        """Nothing to do: the block is the memory under test."""


class Gpu:
    """Arguments are torch tensors, or CuPy arrays where torch has no such strides."""

    name = "gpu"

    def __init__(self) -> None:
        self._blocks: dict[int, Any] = {}

    def argument(self, allocation: Allocation) -> Any:
        """A device view with the layout of the allocation, over a copy of its whole block."""
        import torch

        block = torch.from_numpy(allocation.block.copy()).cuda()
        self._blocks[id(allocation)] = block
        placed, item = allocation.layout, allocation.spec.numpy.itemsize
        if any(stride < 0 for stride in placed.strides):
            return self._cupy_view(block, allocation)
        usable = block[: block.numel() // item * item]
        typed = usable.view(torch_dtype(allocation.spec.dtype))
        return torch.as_strided(typed, placed.shape, placed.strides, allocation.start // item)

    @staticmethod
    def _cupy_view(block: Any, allocation: Allocation) -> Any:
        import cupy

        memory = cupy.cuda.UnownedMemory(block.data_ptr(), block.numel(), block)
        pointer = cupy.cuda.MemoryPointer(memory, allocation.start)
        item = allocation.spec.numpy.itemsize
        strides = tuple(stride * item for stride in allocation.layout.strides)
        return cupy.ndarray(allocation.layout.shape, allocation.spec.numpy, memptr=pointer, strides=strides)

    def fetch(self, allocation: Allocation) -> None:
        """Copy the whole block back, guards included."""
        np.copyto(allocation.block, self._blocks.pop(id(allocation)).cpu().numpy())


_TORCH = {
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
}


def torch_dtype(name: str) -> Any:
    """Torch's dtype for one of the language's."""
    import torch

    return getattr(torch, _TORCH.get(name, name))


@cache
def has_gpu() -> bool:
    """Whether torch sees a CUDA device; without torch there is none to test on."""
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


def choose_place(provider_needs_gpu: bool) -> Place:
    """Host memory when the provider runs there or emulates, else the GPU."""
    emulating = os.environ.get("INTENT_EXECUTION") == "emulate"
    return Gpu() if provider_needs_gpu and not emulating else Host()
