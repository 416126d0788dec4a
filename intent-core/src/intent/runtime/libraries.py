"""The array libraries that the runtime knows: numpy always, torch and CuPy when the caller has imported them.

Nothing here imports torch or CuPy: whoever passes one of their arrays has.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from intent.runtime.array import Array, Library, Reading
from intent.types import DType
from intent.types.dtypes import from_numpy

__all__ = ["NUMPY", "CupyLibrary", "NumpyLibrary", "TorchLibrary", "gpu_library", "libraries", "ordinal"]


def ordinal(device: str) -> int:
    """The number of a device: 1 for ``cuda:1``."""
    return int(device.partition(":")[2] or 0)


@cache
def _element_name(dtype: np.dtype[Any]) -> str:
    """The language's name for a native numpy dtype, else numpy's own."""
    known = from_numpy(dtype) if dtype.isnative else None
    return known.name if known is not None else str(dtype)


class NumpyLibrary:
    """numpy arrays: provider ``reference`` and emulation."""

    name = "numpy"
    reading: Reading | None = None

    def recognize(self, value: object) -> Array | None:
        if not isinstance(value, np.ndarray):
            return None
        return Array(
            pointer=value.__array_interface__["data"][0],
            shape=value.shape,
            byte_strides=value.strides,
            itemsize=value.itemsize,
            dtype=_element_name(value.dtype),
            device="cpu",
            readonly=not value.flags.writeable,
            owner=value,
            library=self,
        )

    def empty(self, shape: tuple[int, ...], strides: tuple[int, ...], dtype: DType, device: str) -> Any:
        del device
        base = np.empty(_span(shape, strides), dtype.numpy)
        return np.ndarray(shape, dtype.numpy, base, strides=[s * dtype.bytes for s in strides])

    def stream(self, device: str) -> int | None:
        del device
        return None

    def capturing(self, device: str) -> bool:
        del device
        return False

    def current(self, device: str) -> AbstractContextManager[Any]:
        del device
        return nullcontext()


class TorchLibrary:
    """torch tensors, on the CPU or a GPU."""

    name = "torch"

    def __init__(self, torch: ModuleType) -> None:
        self._torch = torch
        self._dtypes: dict[str, Any] = {
            "bool": torch.bool, "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32,
            "f64": torch.float64, "index": torch.int64,
            **{f"i{bits}": getattr(torch, f"int{bits}") for bits in (8, 16, 32, 64)},
            "u8": torch.uint8,
        }  # fmt: skip
        later = {"u16": "uint16", "u32": "uint32", "u64": "uint64", "f8e4m3fn": "float8_e4m3fn",
                 "f8e5m2": "float8_e5m2"}  # fmt: skip
        self._dtypes |= {
            ours: getattr(torch, theirs) for ours, theirs in later.items() if hasattr(torch, theirs)
        }
        self._devices: dict[Any, str] = {}
        self._names = {theirs: ours for ours, theirs in self._dtypes.items() if ours != "index"}
        # The raw handle without a Stream object around it, and the device without torch's lazy start before
        # it, where this torch has them.
        inner = getattr(torch, "_C", None)
        self._stream = getattr(inner, "_cuda_getCurrentRawStream", None) or self._public_stream
        device = getattr(inner, "_cuda_getDevice", None) or torch.cuda.current_device
        # A tensor without strides (sparse, nested) raises. Only complex tensors, whose dtypes no kernel
        # has, can be lazily conjugated; others can be lazily negated.
        layout = "type({0}), {0}.dtype, {0}.shape, {0}.stride(), {0}.get_device(), {0}.is_neg()"
        self.reading = Reading(
            layout=layout,
            address="{0}.data_ptr()",
            device=device,
            stream=self._stream,
            exchange=getattr(torch.Tensor, "__dlpack_c_exchange_api__", None),
            negated=torch.Tensor.is_neg,
        )

    def recognize(self, value: object) -> Array | None:
        if not isinstance(value, self._torch.Tensor) or value.layout is not self._torch.strided:
            return None
        if value.is_neg() or value.is_conj():  # lazily negated memory does not hold the values
            return None
        size = value.element_size()
        device = self._devices.get(value.device)
        if device is None:
            device = self._devices[value.device] = str(value.device)
        return Array(
            pointer=value.data_ptr(),
            shape=tuple(value.shape),
            byte_strides=tuple([s * size for s in value.stride()]),
            itemsize=size,
            dtype=self._names.get(value.dtype, str(value.dtype)),
            device=device,
            readonly=False,
            owner=value,
            library=self,
        )

    def empty(self, shape: tuple[int, ...], strides: tuple[int, ...], dtype: DType, device: str) -> Any:
        return self._torch.empty_strided(shape, strides, dtype=self.dtype(dtype), device=device)

    def dtype(self, dtype: DType) -> Any:
        """Torch's dtype for one of the language."""
        return self._dtypes[dtype.name]

    def stream(self, device: str) -> int | None:
        if device == "cpu":
            return None
        handle: int = self._stream(ordinal(device))
        return handle

    def _public_stream(self, number: int) -> int:
        handle: int = self._torch.cuda.current_stream(number).cuda_stream
        return handle

    def capturing(self, device: str) -> bool:
        return device != "cpu" and bool(self._torch.cuda.is_current_stream_capturing())

    def current(self, device: str) -> AbstractContextManager[Any]:
        if device == "cpu":
            return nullcontext()
        number = ordinal(device)
        if self._torch.cuda.current_device() == number:
            return nullcontext()
        context: AbstractContextManager[Any] = self._torch.cuda.device(number)
        return context


class CupyLibrary:
    """CuPy arrays."""

    name = "cupy"

    def __init__(self, cupy: ModuleType) -> None:
        self._cupy = cupy
        self.reading = Reading(
            layout="type({0}), {0}.dtype, {0}.shape, {0}.strides, {0}.data.device_id",
            address="{0}.data.ptr",
            device=self._device,
            stream=self._stream,
        )

    def _device(self) -> int:
        number: int = self._cupy.cuda.runtime.getDevice()
        return number

    def _stream(self, number: int) -> int:
        del number  # the current one
        handle: int = self._cupy.cuda.get_current_stream().ptr
        return handle

    def recognize(self, value: object) -> Array | None:
        if not isinstance(value, self._cupy.ndarray):
            return None
        return Array(
            pointer=value.data.ptr,
            shape=tuple(value.shape),
            byte_strides=tuple(value.strides),
            itemsize=value.itemsize,
            dtype=_element_name(value.dtype),
            device=f"cuda:{value.device.id}",
            readonly=False,
            owner=value,
            library=self,
        )

    def empty(self, shape: tuple[int, ...], strides: tuple[int, ...], dtype: DType, device: str) -> Any:
        with self.current(device):
            base = self._cupy.empty(_span(shape, strides), dtype.numpy)
            return self._cupy.ndarray(
                shape, dtype.numpy, memptr=base.data, strides=[s * dtype.bytes for s in strides]
            )

    def stream(self, device: str) -> int | None:
        with self.current(device):
            return self._stream(ordinal(device))

    def capturing(self, device: str) -> bool:
        del device
        return bool(self._cupy.cuda.get_current_stream().is_capturing())

    def current(self, device: str) -> AbstractContextManager[Any]:
        context: AbstractContextManager[Any] = self._cupy.cuda.Device(ordinal(device))
        return context


def _span(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """Elements of storage that a view of this shape and these non-negative strides needs."""
    if 0 in shape:
        return 0
    return 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))


NUMPY = NumpyLibrary()


@cache
def _torch(module: ModuleType) -> TorchLibrary:
    return TorchLibrary(module)


@cache
def _cupy(module: ModuleType) -> CupyLibrary:
    return CupyLibrary(module)


def gpu_library() -> Library | None:
    """A library that the caller has imported and that can allocate on a GPU, torch first."""
    if (torch := sys.modules.get("torch")) is not None and hasattr(torch, "Tensor"):
        return _torch(torch)
    if (cupy := sys.modules.get("cupy")) is not None and hasattr(cupy, "ndarray"):
        return _cupy(cupy)
    return None


def libraries() -> list[Library]:
    """numpy, and torch and CuPy if they are imported."""
    found: list[Library] = [NUMPY]
    if (torch := sys.modules.get("torch")) is not None and hasattr(torch, "Tensor"):
        found.append(_torch(torch))
    if (cupy := sys.modules.get("cupy")) is not None and hasattr(cupy, "ndarray"):
        found.append(_cupy(cupy))
    return found
