"""Arrays of libraries that the runtime does not know: DLPack first, then ``__cuda_array_interface__``.

DLPack comes first because it names the device and orders the producer's stream.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from intent.runtime.array import Array, Library
from intent.runtime.dlpack import export
from intent.runtime.libraries import NUMPY, gpu_library, libraries
from intent.types.dtypes import from_numpy

__all__ = ["known_library", "recognize"]


_BY_TYPE: dict[type, Library] = {}
"""The library that recognised a value of this type before."""


def recognize(value: object) -> Array | None:
    """``value`` as an Array, or None when it is an array of no known kind."""
    kind = type(value)
    library = _BY_TYPE.get(kind)
    if library is not None:
        return library.recognize(value)
    for library in libraries():
        found = library.recognize(value)
        if found is not None:
            _BY_TYPE[kind] = library
            return found
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        return _from_dlpack(value)
    if hasattr(value, "__cuda_array_interface__"):
        return _from_interface(value)
    return None


def known_library(kind: type) -> Library | None:
    """The library whose own arrays are of this type, once one has been recognised."""
    return _BY_TYPE.get(kind)


def _library(device: str) -> Library:
    """Where outputs beside a foreign array are allocated; numpy stands in until a GPU library is there."""
    return NUMPY if device == "cpu" else (gpu_library() or NUMPY)


def _from_dlpack(value: Any) -> Array | None:
    library = gpu_library()
    on_gpu = value.__dlpack_device__()[0] in (2, 13)
    device = f"cuda:{value.__dlpack_device__()[1]}"
    exported = export(value, library.stream(device) if on_gpu and library is not None else None)
    if exported is None or exported.bits % 8:
        return None
    size = exported.bits // 8
    return Array(
        pointer=exported.pointer,
        shape=exported.shape,
        byte_strides=tuple(s * size for s in exported.strides),
        itemsize=size,
        dtype=exported.dtype,
        device=exported.device,
        readonly=False,
        owner=(value, exported.capsule),
        library=_library(exported.device),
    )


def _from_interface(value: Any) -> Array | None:
    interface: dict[str, Any] = value.__cuda_array_interface__
    dtype = np.dtype(interface["typestr"])
    pointer, readonly = interface["data"]
    device = _device_of(value, pointer)
    if device is None or interface.get("mask") is not None:
        return None
    shape = tuple(interface["shape"])
    strides = interface.get("strides")
    known = from_numpy(dtype)
    return Array(
        pointer=pointer or 0,
        shape=shape,
        byte_strides=tuple(strides) if strides is not None else _row_major(shape, dtype.itemsize),
        itemsize=dtype.itemsize,
        dtype=str(dtype) if known is None else known.name,
        device=device,
        readonly=bool(readonly),
        owner=value,
        library=_library(device),
    )


def _row_major(shape: tuple[int, ...], step: int) -> tuple[int, ...]:
    strides = []
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def _device_of(value: Any, pointer: int | None) -> str | None:
    """The interface does not say where the memory is: ask the driver through a library that is loaded."""
    if not pointer:
        return "cuda:0"
    if (cupy := sys.modules.get("cupy")) is not None:
        return f"cuda:{cupy.cuda.runtime.pointerGetAttributes(pointer).device}"
    if (torch := sys.modules.get("torch")) is not None:
        return str(torch.as_tensor(value, device="cuda").device)
    return "cuda:0"
