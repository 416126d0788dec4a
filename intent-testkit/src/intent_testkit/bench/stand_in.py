"""A GPU that is not there: arrays like torch's, and a CUDA driver whose launches do nothing.

With it everything that Python does for a launch runs, and can be timed and tested, up to the driver's call.
"""

# The driver's own names; ctypes.byref shows its object as _obj only; what a process remembers of devices is private.
# ruff: noqa: N802, N815, SLF001

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any, Final
from unittest import mock

from intent_testkit.bench.exchange import Described, exchange_table

__all__ = ["Driver", "Tensor", "Torch", "gpu"]

_BASE: Final = 0x7F00_0000_0000
_ATTRIBUTES: Final = {16: 132, 75: 9, 76: 0, 97: 227 << 10}
"""132 multiprocessors of compute capability 9.0 and their shared memory, by the driver's numbers of attributes."""


@dataclass(frozen=True)
class DType:
    """An element type, the same object at every use, like torch's."""

    name: str
    itemsize: int


class Tensor:
    """What the runtime reads of a torch tensor; the memory does not exist."""

    def __init__(
        self, shape: tuple[int, ...], dtype: DType, *, stride: tuple[int, ...] | None = None,
        pointer: int = _BASE, device: int = 0, negative: bool = False,
    ) -> None:  # fmt: skip
        self.shape, self.dtype, self.device, self.layout = shape, dtype, f"cuda:{device}", "strided"
        self._stride = stride if stride is not None else _row_major(shape)
        self._pointer, self._number, self._negative = pointer, device, negative

    def stride(self) -> tuple[int, ...]:
        return self._stride

    def data_ptr(self) -> int:
        return self._pointer

    def element_size(self) -> int:
        return self.dtype.itemsize

    def get_device(self) -> int:
        return self._number

    def is_neg(self) -> bool:
        return self._negative

    def is_conj(self) -> bool:
        return False

    def __getitem__(self, part: slice) -> Tensor:
        size = (self.shape[0] - part.start,)
        pointer = self._pointer + part.start * self.dtype.itemsize
        return type(self)(size, self.dtype, pointer=pointer, device=self._number)


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


class Torch(ModuleType):
    """As much of torch as the runtime uses. ``current`` is the device; ``handles`` its streams by device.

    With ``exchange`` its tensors have DLPack's exchange table, made of Python functions.
    """

    def __init__(self, *, exchange: bool = False) -> None:
        super().__init__("torch")
        sizes = {"bool": 1, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "float16": 2, "bfloat16": 2,
                 "float32": 4, "float64": 8, "float8_e4m3fn": 1, "float8_e5m2": 1}  # fmt: skip
        for name, size in sizes.items():
            setattr(self, name, DType(name, size))
        self.Tensor: type[Tensor] = Tensor
        self.strided = "strided"
        if exchange:
            table = exchange_table(_describe, lambda number: self.handles[number])
            self.Tensor = type("Tensor", (Tensor,), {"__dlpack_c_exchange_api__": table})
        self.current, self.handles, self.capture, self.next = 0, {0: 16, 1: 32}, False, _BASE
        self.cuda = SimpleNamespace(
            device=self._device,
            current_device=lambda: self.current,
            is_current_stream_capturing=lambda: self.capture,
        )
        self._C = SimpleNamespace(
            _cuda_getDevice=lambda: self.current, _cuda_getCurrentRawStream=self.handles.__getitem__
        )

    @contextmanager
    def _device(self, number: int) -> Iterator[None]:
        before, self.current = self.current, number
        try:
            yield
        finally:
            self.current = before

    def empty(self, *sizes: Any, dtype: DType | None = None, device: int = 0) -> Tensor:
        """A row-major tensor at an address of its own, which 512 divides; sizes or a tuple of them."""
        shape = sizes[0] if sizes and isinstance(sizes[0], tuple) else sizes
        return self.empty_strided(shape, _row_major(shape), dtype or vars(self)["float32"], f"cuda:{device}")

    def empty_strided(
        self, shape: tuple[int, ...], stride: tuple[int, ...], dtype: DType, device: str
    ) -> Tensor:
        reach = 1 + sum((n - 1) * s for n, s in zip(shape, stride, strict=True)) if 0 not in shape else 0
        pointer, self.next = self.next, self.next + -(-reach * dtype.itemsize // 512) * 512 + 512
        number = int(device.partition(":")[2])
        return self.Tensor(shape, dtype, stride=stride, pointer=pointer if reach else 0, device=number)


def _describe(tensor: Any) -> Described:
    kinds = {"b": 6, "i": 0, "u": 1, "f": 2}
    return Described(
        pointer=tensor.data_ptr(),
        shape=tensor.shape,
        strides=tensor.stride(),
        code=4 if tensor.dtype.name == "bfloat16" else kinds[tensor.dtype.name[0]],
        bits=8 * tensor.dtype.itemsize,
        device=tensor.get_device(),
    )


@dataclass
class Driver:
    """A CUDA driver of two devices. ``context`` is the current one: device 0's is 101, device 1's is 102.

    ``seen`` gets every launch that succeeds: its configuration (56 bytes) and the address of its arguments'
    addresses; ``statuses`` are the results of the next launches. Without ``seen`` launches cost next to
    nothing, and the context is none, that of all devices.
    """

    seen: Callable[[bytes, int], None] | None = None
    context: int | None = 101
    statuses: list[int] = field(default_factory=list)
    loaded: int = 0
    cuLaunchKernelEx: Any = None
    cuCtxGetCurrent: Any = None

    def __post_init__(self) -> None:
        if self.seen is not None:
            pointer = ctypes.c_void_p
            self.cuLaunchKernelEx = ctypes.CFUNCTYPE(ctypes.c_int, pointer, pointer, pointer, pointer)(
                self._launch
            )
            self.cuCtxGetCurrent = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(pointer))(self._current)
            return
        # Two C functions that cost next to nothing and give 0: one compares two addresses that differ, the
        # other writes a zero where it is told.
        self.context = None
        self.cuLaunchKernelEx = ctypes.CDLL(None).pthread_equal
        self.cuCtxGetCurrent = ctypes.CDLL(None).pthread_mutexattr_init

    def _launch(self, config: int, function: int, pointers: int, extra: None) -> int:
        del function, extra
        status = self.statuses.pop(0) if self.statuses else 0
        if not status and self.seen is not None:
            self.seen(ctypes.string_at(config, 56), pointers)
        return status

    def _current(self, found: Any) -> int:
        found[0] = self.context
        return 0

    def cuInit(self, flags: int) -> int:
        return flags

    def cuDeviceGetCount(self, count: Any) -> int:
        count._obj.value = 2
        return 0

    def cuDeviceGet(self, handle: Any, ordinal: int) -> int:
        handle._obj.value = ordinal
        return 0

    def cuDevicePrimaryCtxRetain(self, context: Any, handle: int) -> int:
        context._obj.value = 0 if self.seen is None else 101 + handle
        return 0

    def cuDeviceGetAttribute(self, value: Any, which: int, handle: int) -> int:
        del handle
        value._obj.value = _ATTRIBUTES[which]
        return 0

    def cuCtxPushCurrent_v2(self, context: Any) -> int:
        self._before, self.context = self.context, context.value
        return 0

    def cuCtxPopCurrent_v2(self, found: Any) -> int:
        found._obj.value, self.context = self.context, self._before
        return 0

    def cuModuleLoadData(self, module: Any, code: bytes) -> int:
        del code
        self.loaded += 1
        module._obj.value = self.loaded
        return 0

    def cuModuleGetFunction(self, function: Any, module: Any, name: bytes) -> int:
        del name
        function._obj.value = 1000 + module.value
        return 0

    def cuFuncSetAttribute(self, function: Any, which: int, value: int) -> int:
        del function, which, value
        return 0

    def cuGetErrorString(self, status: int, text: Any) -> int:
        text._obj.value = f"stand-in error {status}".encode()
        return 0


@contextmanager
def gpu(driver: Driver | None = None, *, exchange: bool = False) -> Iterator[tuple[Torch, Driver]]:
    """Put the stand-ins in the place of torch and of the CUDA driver, and forget all launchers afterwards."""
    from intent.provider.cuda import driver as real
    from intent.runtime import cache, devices, foreign, variants

    torch, made = Torch(exchange=exchange), driver or Driver()

    def library() -> Driver:
        return made

    before = sys.modules.get("torch")
    sys.modules["torch"] = torch
    try:
        with (
            mock.patch.object(real, "library", new=library),
            mock.patch.dict(foreign._BY_TYPE, clear=True),
            mock.patch.object(devices, "_USABLE", set()),
            mock.patch.object(variants, "_VARIANTS", cache.Memory()),
        ):
            yield torch, made
    finally:
        # Not mock.patch.dict: it would also forget every module that was imported meanwhile.
        del sys.modules["torch"]
        if before is not None:
            sys.modules["torch"] = before
