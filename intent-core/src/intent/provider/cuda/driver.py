"""The few calls of the CUDA driver that loading and launching need; no torch, no CuPy, no compiled shim.

Launches call ``library().cuLaunchKernelEx`` with four pointers that ctypes need not convert: it declares no
argument types, so every argument must be a ``c_void_p`` or None.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

_MAX_SHARED_OPTIN: Final = 97
_MULTIPROCESSORS: Final = 16
_CAPABILITY_MAJOR: Final = 75
_CAPABILITY_MINOR: Final = 76
_FUNCTION_MAX_DYNAMIC_SHARED: Final = 8
_STATIC_LIMIT: Final = 48 << 10
WRONG_CONTEXT: Final = (201, 400)
"""Statuses of a launch whose context is not current (or whose stream is of another one): nothing has run."""


class DriverError(RuntimeError):
    """A call of the CUDA driver failed."""


@cache
def library() -> Any:
    """libcuda, initialised. Raises OSError without a driver and DriverError without a usable device."""
    cuda = ctypes.CDLL("libcuda.so.1")
    _check(cuda, cuda.cuInit(0), "cuInit")
    return cuda


def check(status: int, call: str) -> None:
    """Raises DriverError with the driver's own words unless ``status`` is 0."""
    if status:
        _check(library(), status, call)


def address(function: Any) -> int | None:
    """Where a function of the driver lies, for compiled callers; None if it is no C function."""
    try:
        return ctypes.cast(function, ctypes.c_void_p).value
    except ctypes.ArgumentError:
        return None


def _check(cuda: Any, status: int, call: str) -> None:
    if status:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(status, ctypes.byref(text))
        message = text.value.decode() if text.value else f"error {status}"
        raise DriverError(f"{call}: {message}")


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
        cuda = library()
        handle = ctypes.c_int()
        _check(cuda, cuda.cuDeviceGet(ctypes.byref(handle), ordinal), "cuDeviceGet")
        self._handle = handle.value
        context = ctypes.c_void_p()
        _check(
            cuda,
            cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), self._handle),
            "cuDevicePrimaryCtxRetain",
        )
        self.context = context.value

    @property
    def capability(self) -> int:
        """Compute capability, for example 90."""
        return self._attribute(_CAPABILITY_MAJOR) * 10 + self._attribute(_CAPABILITY_MINOR)

    @property
    def multiprocessors(self) -> int:
        """How many multiprocessors it has."""
        return self._attribute(_MULTIPROCESSORS)

    @property
    def shared_bytes(self) -> int:
        """Most shared memory of one block."""
        return self._attribute(_MAX_SHARED_OPTIN)

    def _attribute(self, which: int) -> int:
        cuda, value = library(), ctypes.c_int()
        _check(
            cuda, cuda.cuDeviceGetAttribute(ctypes.byref(value), which, self._handle), "cuDeviceGetAttribute"
        )
        return value.value

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make this device's context current for the calls inside, and put the caller's back."""
        cuda, found = library(), ctypes.c_void_p()
        _check(cuda, cuda.cuCtxGetCurrent(ctypes.byref(found)), "cuCtxGetCurrent")
        if found.value == self.context:
            yield
            return
        _check(cuda, cuda.cuCtxPushCurrent_v2(ctypes.c_void_p(self.context)), "cuCtxPushCurrent")
        try:
            yield
        finally:
            _check(cuda, cuda.cuCtxPopCurrent_v2(ctypes.byref(found)), "cuCtxPopCurrent")

    def load(self, cubin: bytes, name: str, shared: int) -> ctypes.c_void_p:
        """The function ``name`` of a cubin, allowed to use ``shared`` bytes of dynamic shared memory."""
        cuda, module, function = library(), ctypes.c_void_p(), ctypes.c_void_p()
        with self.current():
            _check(cuda, cuda.cuModuleLoadData(ctypes.byref(module), cubin), "cuModuleLoadData")
            _check(
                cuda,
                cuda.cuModuleGetFunction(ctypes.byref(function), module, name.encode()),
                "cuModuleGetFunction",
            )
            if shared > _STATIC_LIMIT:
                status = cuda.cuFuncSetAttribute(function, _FUNCTION_MAX_DYNAMIC_SHARED, shared)
                _check(cuda, status, "cuFuncSetAttribute")
        return function
