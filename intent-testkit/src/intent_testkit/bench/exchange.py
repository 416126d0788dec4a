"""DLPack's exchange table over arrays that Python functions describe, for tests of compiled callers."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["Described", "exchange_table"]

_CUDA = 2


class Described(NamedTuple):
    """An array on a GPU as DLPack describes it; strides in elements."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    code: int
    bits: int
    device: int


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("kind", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    )


_DESCRIBE = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(_Tensor))
_STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class _Table(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("export_owned", ctypes.c_void_p),
        ("import_owned", ctypes.c_void_p),
        ("describe", _DESCRIBE),
        ("stream", _STREAM),
    )


_KEPT: list[Any] = []
"""Tables live as long as the process, as the protocol asks; so does what they point to."""


def exchange_table(describe: Callable[[Any], Described], stream: Callable[[int], int]) -> object:
    """A capsule as ``__dlpack_c_exchange_api__``. What ``describe`` raises becomes a failure of the table."""
    dims: dict[tuple[int, ...], Any] = {}

    def array(values: tuple[int, ...]) -> Any:
        return dims.setdefault(values, (ctypes.c_int64 * len(values))(*values))

    def fill(item: Any, out: Any) -> int:
        try:
            found = describe(item)
        except Exception:  # noqa: BLE001 - a C function reports by its result
            return -1
        out[0] = _Tensor(
            found.pointer, _CUDA, found.device, len(found.shape), found.code, found.bits, 1,
            array(found.shape), array(found.strides), 0,
        )  # fmt: skip
        return 0

    def current(kind: int, number: int, out: Any) -> int:
        del kind
        out[0] = stream(number)
        return 0

    table = _Table(1, 3, None, None, None, None, _DESCRIBE(fill), _STREAM(current))
    _KEPT.append((table, dims))
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    capsule: object = new(ctypes.addressof(table), b"dlpack_exchange_api", None)
    return capsule
