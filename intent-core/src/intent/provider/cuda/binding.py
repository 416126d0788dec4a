"""Launches whose layout is settled: packed arguments, of which only addresses and scalars change.

A *slot* is one buffer for ``cuLaunchKernelEx``: the launch configuration, then the arguments, then where each
lies. A call takes a slot, writes the stream and the changing arguments in one go, launches, and gives it back;
the driver has copied the arguments by then. Threads never share a slot, and none waits for another.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final, Literal

import numpy as np

from intent.provider import Invocation
from intent.provider.binder import NativeStart, Start, Value
from intent.provider.cuda import driver
from intent.types.dtypes import BY_NAME

__all__ = ["Argument", "Build", "Packing", "bits_of", "code_of", "packing"]

_GRID: Final = struct.Struct("@7I")
_STREAM: Final = "Q16x"
"""After the grid, at byte 32: the stream, then no attributes."""
_STREAM_AT: Final = 32
_IMAGE_AT: Final = 56
"""Where the configuration ends and the arguments begin."""
_COMPILED: Final = frozenset("?bhiqBHIQfd")
"""The codes that compiled callers write."""
_CODES: Final = {
    "bool": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "index": "q", "u8": "B", "u16": "H", "u32": "I",
    "u64": "Q", "f16": "e", "bf16": "H", "f32": "f", "f64": "d", "f8e4m3fn": "B", "f8e5m2": "B",
}  # fmt: skip
_AS_BITS: Final = frozenset({"bf16", "f8e4m3fn", "f8e5m2"})
"""Floats that :mod:`struct` does not know: they travel as their bits, unless the kernel takes them as wider floats."""
_NARROW: Final = _AS_BITS | {"f16"}
"""Floats that compiled callers do not round to."""


def code_of(dtype: str) -> str:
    """The code of :mod:`struct` with which a scalar of ``dtype`` is packed."""
    return _CODES[dtype]


@dataclass(frozen=True, kw_only=True)
class Argument:
    """One argument of a kernel, packed with ``code``.

    A ``view``'s address, a ``buffer``'s address in the workspace and a ``scalar`` of ``dtype`` change from call to
    call; ``fixed`` ones are settled with the layout and have a ``value``. ``name`` is a view's or a scalar's.
    """

    kind: Literal["view", "buffer", "scalar", "fixed"]
    code: str
    name: str = ""
    buffer: int = -1
    dtype: str = ""
    value: Callable[[Invocation], Value] | None = None


@dataclass(frozen=True, kw_only=True)
class Build:
    """One loaded build: its function, and how many threads and shared bytes a block of it has."""

    function: ctypes.c_void_p
    threads: int
    shared: int
    device: driver.Device


@dataclass(frozen=True, kw_only=True)
class Packing:
    """How the arguments of one build lie in a slot; makes its bindings.

    In a slot: what changes, then what is fixed. ``order`` is the kernel's own order of both; ``layout`` the packing of
    what changes; ``sources`` its places among views and scalars, None if one is a workspace buffer or has to be
    converted first.
    """

    build: Build
    changing: tuple[Argument, ...]
    fixed: tuple[Argument, ...]
    order: tuple[int, ...]
    layout: str
    sources: tuple[int, ...] | None
    close: Callable[..., Start]

    def bind(self, invocation: Invocation) -> Start:
        """A binding for the layout of ``invocation``."""
        constants = struct.Struct("@" + "".join(_codes(self.fixed)))
        fixed = constants.pack(*(a.value(invocation) for a in self.fixed if a.value is not None))
        offsets = invocation.workspace_offsets or {}
        free: list[Slot] = []

        def fresh() -> Slot:
            return self._slot(invocation.length, fixed)

        free.append(fresh())
        start: Any = self.close(
            free.pop, free.append, fresh, struct.Struct("@" + _STREAM + self.layout).pack_into,
            driver.library().cuLaunchKernelEx, self.build.function, self._failed,
            tuple(bits_of(a.dtype) if _as_bits(a) else None for a in self.changing),
            tuple(offsets.get(a.buffer, 0) for a in self.changing),
        )  # fmt: skip
        start.native = partial(self._native, invocation.length, fixed)
        bound: Start = start
        return bound

    def _native(self, length: int, fixed: bytes) -> NativeStart | None:
        """The same start for compiled callers, which know neither workspaces nor 16-bit floats."""
        cuda = driver.library()
        launch, current = driver.address(cuda.cuLaunchKernelEx), driver.address(cuda.cuCtxGetCurrent)
        types = _codes(self.changing)
        if launch is None or current is None or self.sources is None or not _COMPILED.issuperset(types):
            return None
        slot = self._slot(length, fixed)
        image = ctypes.string_at(slot[1], ctypes.sizeof(slot[0]))
        first = ctypes.addressof(slot[0]) + _IMAGE_AT
        places = (ctypes.c_void_p * len(self.order)).from_address(slot[2].value or 0)
        at = [at - (_IMAGE_AT - _STREAM_AT) for at in _places(_STREAM, types)]
        return NativeStart(
            launch=launch,
            current=current,
            context=self.build.device.context or 0,
            function=self.build.function.value or 0,
            config=image[:_IMAGE_AT],
            stream_at=_STREAM_AT,
            image=image[_IMAGE_AT:],
            places=tuple((place or 0) - first for place in places),
            changes=tuple(zip(self.sources, at, types, strict=True)),
            owner=self,
        )

    def _slot(self, length: int, fixed: bytes) -> Slot:
        changing = _STREAM + self.layout
        begin = _aligned(_STREAM_AT + struct.calcsize("@" + changing))
        buffer = ctypes.create_string_buffer(begin + len(fixed))
        _GRID.pack_into(buffer, 0, length, 1, 1, self.build.threads, 1, 1, self.build.shared)
        ctypes.memmove(ctypes.addressof(buffer) + begin, fixed, len(fixed))
        base = ctypes.addressof(buffer)
        places = [base + _STREAM_AT + at for at in _places(_STREAM, _codes(self.changing))]
        places += [base + begin + at for at in _places("", _codes(self.fixed))]
        pointers = (ctypes.c_void_p * len(places))(*(places[k] for k in self.order))
        return buffer, ctypes.c_void_p(base), ctypes.cast(pointers, ctypes.c_void_p)

    def _failed(self, status: int, config: ctypes.c_void_p, pointers: ctypes.c_void_p) -> None:
        """A thread that has not used CUDA yet has no context: launch in ours. Any other failure raises."""
        launch = driver.library().cuLaunchKernelEx
        if status in driver.WRONG_CONTEXT:
            with self.build.device.current():
                status = launch(config, self.build.function, pointers, None)
        driver.check(status, "cuLaunchKernelEx")


Slot = tuple[Any, ctypes.c_void_p, ctypes.c_void_p]
"""The buffer, its address as the configuration, and the address of the arguments' places."""


def packing(
    arguments: Sequence[Argument], build: Build, views: Sequence[str], scalars: Sequence[str]
) -> Packing:
    """The packing of a build, for calls that pass the addresses of ``views`` and then ``scalars``."""
    changing = tuple(a for a in arguments if a.kind != "fixed")
    fixed = tuple(a for a in arguments if a.kind == "fixed")
    places = {id(a): k for k, a in enumerate([*changing, *fixed])}
    return Packing(
        build=build,
        changing=changing,
        fixed=fixed,
        order=tuple(places[id(a)] for a in arguments),
        layout="".join(_codes(changing)),
        sources=_sources(changing, views, scalars),
        close=_closure(changing, views, scalars),
    )


def _as_bits(argument: Argument) -> bool:
    """Whether the argument's bits are passed in an unsigned integer."""
    return argument.dtype in _AS_BITS and argument.code == _CODES[argument.dtype]


def _codes(arguments: Sequence[Argument]) -> list[str]:
    return [a.code for a in arguments]


def _sources(
    changing: Sequence[Argument], views: Sequence[str], scalars: Sequence[str]
) -> tuple[int, ...] | None:
    if any(a.kind == "buffer" or a.dtype in _NARROW for a in changing):
        return None
    names = [*(("view", name) for name in views), *(("scalar", name) for name in scalars)]
    return tuple(names.index((a.kind, a.name)) for a in changing)


def _closure(
    changing: Sequence[Argument], views: Sequence[str], scalars: Sequence[str]
) -> Callable[..., Start]:
    """Makes start functions, written out as straight code for one signature: they run at every launch."""
    names = {("view", name): f"v{k}" for k, name in enumerate(views)}
    names |= {("scalar", name): f"s{k}" for k, name in enumerate(scalars)}
    packed = "".join(f", {_term(a, k, names)}" for k, a in enumerate(changing))
    text = f"""\
def close(pop, push, fresh, pack, launch, function, failed, bits, offsets):
    def start(stream, {"".join(f"{name}, " for name in names.values())}workspace=0):
        try:
            slot = pop()
        except IndexError:
            slot = fresh()
        buffer, config, pointers = slot
        pack(buffer, {_STREAM_AT}, stream{packed})
        status = launch(config, function, pointers, None)
        if status:
            failed(status, config, pointers)
        push(slot)
    return start
"""
    namespace: dict[str, Any] = {}
    exec(text, namespace)  # noqa: S102 - built from positions only, no name of the author's is in it
    close: Callable[..., Start] = namespace["close"]
    return close


def _term(argument: Argument, position: int, names: dict[tuple[str, str], str]) -> str:
    if argument.kind == "buffer":
        return f"workspace + offsets[{position}]"
    name = names[argument.kind, argument.name]
    return f"bits[{position}]({name})" if _as_bits(argument) else name


def _places(before: str, types: Sequence[str]) -> list[int]:
    """Where each item lies in a structure of ``before`` and then ``types``."""
    ends = [struct.calcsize("@" + before + "".join(types[: k + 1])) for k in range(len(types))]
    return [end - struct.calcsize(kind) for end, kind in zip(ends, types, strict=True)]


def _aligned(size: int) -> int:
    return -(-size // 16) * 16


@cache
def bits_of(dtype: str) -> Callable[[float], int]:
    """A function that rounds a number to the float type ``dtype``, once, and gives its bits.

    It raises OverflowError for a number beyond every one of ``dtype``.
    """
    target = BY_NAME[dtype].numpy
    word = np.dtype(f"u{target.itemsize}")

    def bits(value: float) -> int:
        with np.errstate(over="ignore", invalid="ignore"):
            rounded = np.asarray(value, np.float64).astype(target)
        if np.isfinite(value) and not np.isfinite(rounded):
            raise OverflowError(value)
        return int(rounded.view(word))

    return bits
