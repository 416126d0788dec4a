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
from functools import partial
from typing import Any, Final

import ml_dtypes
import numpy as np

from intent.provider import Invocation
from intent.provider.binder import NativeStart, Start
from intent_provider_triton import driver
from intent_provider_triton.arguments import value_of
from intent_provider_triton.build import type_of
from intent_provider_triton.emit.signature import Parameter, Signature

_PACK: Final = {
    "i1": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
    "fp16": "e", "bf16": "H", "fp32": "f", "fp64": "d",
}  # fmt: skip
_GRID: Final = struct.Struct("@7I")
_STREAM: Final = "Q16x"
"""After the grid, at byte 32: the stream, then no attributes."""
_STREAM_AT: Final = 32
_IMAGE_AT: Final = 56
"""Where the configuration ends and the arguments begin."""
_COMPILED: Final = frozenset("?bhiqBHIQfd")
_SCRATCH: Final = "QQ"
"""Triton appends two scratch pointers, null for kernels that ask for none."""


@dataclass(frozen=True, kw_only=True)
class Build:
    """One loaded build: its function, threads and shared bytes, and which parameters are compiled in."""

    function: ctypes.c_void_p
    threads: int
    shared: int
    small: bool
    folded: frozenset[int]
    device: driver.Device


@dataclass(frozen=True, kw_only=True)
class Packing:
    """How the arguments of one build lie in a slot; makes its bindings.

    In a slot: what changes, what is fixed, Triton's scratch. ``order`` is the kernel's own order of the first
    two; ``layout`` the packing of what changes; ``sources`` its places among views and scalars, None if one is
    a workspace buffer or has to be converted first.
    """

    build: Build
    changing: tuple[Parameter, ...]
    fixed: tuple[Parameter, ...]
    order: tuple[int, ...]
    layout: str
    sources: tuple[int, ...] | None
    close: Callable[..., Start]

    def bind(self, invocation: Invocation) -> Start:
        """A binding for the layout of ``invocation``."""
        constants = struct.Struct("@" + "".join(self._types(self.fixed)) + _SCRATCH)
        fixed = constants.pack(*(value_of(p, invocation) for p in self.fixed), 0, 0)
        offsets = invocation.workspace_offsets or {}
        free: list[Slot] = []

        def fresh() -> Slot:
            return self._slot(invocation.length, fixed)

        free.append(fresh())
        start: Any = self.close(
            free.pop, free.append, fresh, struct.Struct("@" + _STREAM + self.layout).pack_into,
            driver.library().cuLaunchKernelEx, self.build.function, self._failed, _bf16_bits,
            tuple(offsets.get(p.buffer, 0) for p in self.changing),
        )  # fmt: skip
        start.native = partial(self._native, invocation.length, fixed)
        bound: Start = start
        return bound

    def _native(self, length: int, fixed: bytes) -> NativeStart | None:
        """The same start for compiled callers, which know neither workspaces nor 16-bit floats."""
        cuda = driver.library()
        launch, current = driver.address(cuda.cuLaunchKernelEx), driver.address(cuda.cuCtxGetCurrent)
        types = self._types(self.changing)
        if launch is None or current is None or self.sources is None or not _COMPILED.issuperset(types):
            return None
        slot = self._slot(length, fixed)
        image = ctypes.string_at(slot[1], ctypes.sizeof(slot[0]))
        first = ctypes.addressof(slot[0]) + _IMAGE_AT
        places = (ctypes.c_void_p * (len(self.order) + 2)).from_address(slot[2].value or 0)
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

    def _types(self, parameters: Sequence[Parameter]) -> list[str]:
        return [_pack_of(p, small=self.build.small) for p in parameters]

    def _slot(self, length: int, fixed: bytes) -> Slot:
        changing = _STREAM + self.layout
        begin = _aligned(_STREAM_AT + struct.calcsize("@" + changing))
        buffer = ctypes.create_string_buffer(begin + len(fixed))
        _GRID.pack_into(buffer, 0, length, 1, 1, self.build.threads, 1, 1, self.build.shared)
        ctypes.memmove(ctypes.addressof(buffer) + begin, fixed, len(fixed))
        base = ctypes.addressof(buffer)
        places = [base + _STREAM_AT + at for at in _places(_STREAM, self._types(self.changing))]
        places += [base + begin + at for at in _places("", [*self._types(self.fixed), *_SCRATCH])]
        pointers = (ctypes.c_void_p * len(places))(
            *(places[k] for k in (*self.order, len(places) - 2, len(places) - 1))
        )
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


def packing(signature: Signature, build: Build, views: Sequence[str], scalars: Sequence[str]) -> Packing:
    """The packing of a build, for calls that pass the addresses of ``views`` and then ``scalars``."""
    passed = [p for i, p in enumerate(signature.parameters) if i not in build.folded]
    changing = tuple(
        p for p in passed if p.kind in ("view", "buffer") or (p.kind == "scalar" and not p.index)
    )
    fixed = tuple(p for p in passed if p not in changing)
    arranged = [*changing, *fixed]
    return Packing(
        build=build,
        changing=changing,
        fixed=fixed,
        order=tuple(arranged.index(p) for p in passed),
        layout="".join(_pack_of(p, small=build.small) for p in changing),
        sources=_sources(changing, views, scalars),
        close=_closure(changing, views, scalars),
    )


def _sources(
    changing: Sequence[Parameter], views: Sequence[str], scalars: Sequence[str]
) -> tuple[int, ...] | None:
    if any(p.kind == "buffer" or p.type in ("fp16", "bf16") for p in changing):
        return None
    names = [*(("view", name) for name in views), *(("scalar", name) for name in scalars)]
    return tuple(names.index((p.kind, p.view if p.kind == "view" else p.name)) for p in changing)


def _closure(
    changing: Sequence[Parameter], views: Sequence[str], scalars: Sequence[str]
) -> Callable[..., Start]:
    """Makes start functions, written out as straight code for one signature: they run at every launch."""
    names = {("view", name): f"v{k}" for k, name in enumerate(views)}
    names |= {("scalar", name): f"s{k}" for k, name in enumerate(scalars)}
    packed = "".join(f", {_term(p, k, names)}" for k, p in enumerate(changing))
    text = f"""\
def close(pop, push, fresh, pack, launch, function, failed, bf16_bits, offsets):
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


def _term(parameter: Parameter, position: int, names: dict[tuple[str, str], str]) -> str:
    if parameter.kind == "buffer":
        return f"workspace + offsets[{position}]"
    if parameter.kind == "view":
        return names["view", parameter.view]
    name = names["scalar", parameter.name]
    return f"bf16_bits({name})" if parameter.type == "bf16" else name


def _pack_of(parameter: Parameter, *, small: bool) -> str:
    kind = type_of(parameter, small=small)
    return "Q" if kind.startswith("*") else _PACK[kind]


def _places(before: str, types: Sequence[str]) -> list[int]:
    """Where each item lies in a structure of ``before`` and then ``types``."""
    ends = [struct.calcsize("@" + before + "".join(types[: k + 1])) for k in range(len(types))]
    return [end - struct.calcsize(kind) for end, kind in zip(ends, types, strict=True)]


def _aligned(size: int) -> int:
    return -(-size // 16) * 16


def _bf16_bits(value: float) -> int:
    """A bf16 scalar travels as its bits. Raises OverflowError for a number beyond every bf16."""
    with np.errstate(over="ignore"):
        rounded = np.asarray(value, np.float64).astype(ml_dtypes.bfloat16)
    if np.isinf(rounded) and np.isfinite(value):
        raise OverflowError(value)
    return int(rounded.view(np.uint16))
