"""The few calls of the CUDA driver that tell whether a launch is possible and make its device current."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


class DriverError(RuntimeError):
    """A call of the CUDA driver failed."""


@cache
def library() -> Any:
    """libcuda, initialised. Raises OSError without a driver and DriverError without a usable device."""
    cuda = ctypes.CDLL("libcuda.so.1")
    _check(cuda, cuda.cuInit(0), "cuInit")
    return cuda


def _check(cuda: Any, status: int, call: str) -> None:
    if status:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(status, ctypes.byref(text))
        raise DriverError(f"{call}: {text.value.decode() if text.value else f'error {status}'}")


def unavailable() -> str | None:
    """None when a device can be used, else the reason in one sentence."""
    try:
        cuda = library()
        count = ctypes.c_int()
        _check(cuda, cuda.cuDeviceGetCount(ctypes.byref(count)), "cuDeviceGetCount")
    except OSError:
        return "the CUDA driver (libcuda.so.1) is not installed"
    except DriverError as error:
        return f"the CUDA driver cannot be used ({error})"
    return None if count.value else "the CUDA driver sees no device"


class Device:
    """One GPU and its primary context."""

    def __init__(self, ordinal: int) -> None:
        self._cuda = library()
        handle = ctypes.c_int()
        self._check(self._cuda.cuDeviceGet(ctypes.byref(handle), ordinal), "cuDeviceGet")
        self._context = ctypes.c_void_p()
        retained = self._cuda.cuDevicePrimaryCtxRetain(ctypes.byref(self._context), handle)
        self._check(retained, "cuDevicePrimaryCtxRetain")

    @contextmanager
    def current(self) -> Iterator[None]:
        """The device's context is the calling thread's inside the block."""
        now = ctypes.c_void_p()
        self._check(self._cuda.cuCtxGetCurrent(ctypes.byref(now)), "cuCtxGetCurrent")
        if now.value == self._context.value:
            yield
            return
        self._check(self._cuda.cuCtxPushCurrent_v2(self._context), "cuCtxPushCurrent")
        try:
            yield
        finally:
            popped = ctypes.c_void_p()
            self._cuda.cuCtxPopCurrent_v2(ctypes.byref(popped))

    def _check(self, status: int, call: str) -> None:
        _check(self._cuda, status, call)
