"""Reading the address and layout of an array that offers DLPack, without another library's help.

The capsule stays unconsumed: its producer frees it when the capsule dies, which is after the launch.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["Exported", "export"]

_CPU: Final = (1, 3)  # kDLCPU, kDLCUDAHost: memory that the CPU can address
_GPU: Final = (2, 13)  # kDLCUDA, kDLCUDAManaged
_CODES: Final = {0: "i", 1: "u", 2: "f", 4: "bf", 6: "bool", 10: "f8e4m3fn", 12: "f8e5m2"}


class _Device(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int32), ("ordinal", ctypes.c_int32))


class _Type(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("rank", ctypes.c_int32),
        ("dtype", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What a capsule says; ``strides`` in elements, ``device`` as in :class:`intent.runtime.array.Array`."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    bits: int
    dtype: str
    device: str
    capsule: Any


def export(value: Any, stream: int | None) -> Exported | None:
    """Ask ``value`` for a capsule and read it; None if the memory is of a kind that no provider uses.

    ``stream`` is the raw handle of the stream that will use a GPU array: the producer orders its work before.
    """
    kind, number = value.__dlpack_device__()
    if kind in _CPU:
        capsule, device = value.__dlpack__(), "cpu"
    elif kind in _GPU:
        # 0 is ambiguous in the protocol: 1 names the legacy default stream.
        capsule, device = value.__dlpack__(stream=stream or 1), f"cuda:{number}"
    else:
        return None
    tensor = _Tensor.from_address(_pointer(capsule, b"dltensor"))
    shape = tuple(tensor.shape[k] for k in range(tensor.rank))
    strides = tuple(tensor.strides[k] for k in range(tensor.rank)) if tensor.strides else _row_major(shape)
    code = _CODES.get(tensor.dtype.code, f"code {tensor.dtype.code} ")
    named = code in ("bool", "f8e4m3fn", "f8e5m2")
    return Exported(
        pointer=(tensor.data or 0) + tensor.byte_offset,
        shape=shape,
        strides=strides,
        bits=tensor.dtype.bits * tensor.dtype.lanes,
        dtype=code if named and tensor.dtype.lanes == 1 else f"{code}{tensor.dtype.bits}",
        device=device,
        capsule=capsule,
    )


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def _pointer(capsule: object, name: bytes) -> int:
    api = ctypes.pythonapi.PyCapsule_GetPointer
    api.restype = ctypes.c_void_p
    api.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address: int = api(capsule, name)
    return address
