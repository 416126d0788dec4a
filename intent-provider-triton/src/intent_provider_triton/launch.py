"""Launching built kernels on the caller's stream and device."""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final

import ml_dtypes
import numpy as np

from intent.diagnostics import CapabilityError, NoDevice
from intent.provider import Invocation, Source
from intent_provider_triton import driver
from intent_provider_triton.arguments import index_is_small, value_of
from intent_provider_triton.build import Layout, compiled, type_of
from intent_provider_triton.emit import emit
from intent_provider_triton.emit.signature import Parameter, Signature
from intent_provider_triton.toolkit import kernel_of

_PACK: Final = {
    "i1": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
    "fp16": "H", "bf16": "H", "fp32": "f", "fp64": "d",
}  # fmt: skip
_HALF: Final = {"fp16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16)}
_SCRATCH: Final = "QQ"
"""Triton appends two scratch pointers, null for kernels that ask for none."""


@dataclass(frozen=True)
class Variant:
    """One loaded build: how to start it and how its arguments lie in memory."""

    function: ctypes.c_void_p
    threads: int
    shared: int
    pack: Callable[..., None]
    choose: Callable[[tuple[Any, ...]], tuple[Any, ...]]
    buffer: Any
    pointers: Any


class TritonLauncher:
    """Runs one source on one device; builds a variant per layout class of the arguments, never per exact shape.

    The layout class: which strides are 1, which addresses, strides and extents 16 divides, and whether 32-bit index
    arithmetic is proven safe. Calls are cached by their integer arguments, so that a repeated shape looks nothing up.
    """

    def __init__(self, source: Source, device: str) -> None:
        kind, _, ordinal = device.partition(":")
        reason = f"'{device}' is no CUDA device" if kind != "cuda" else driver.unavailable()
        if reason is not None:
            raise NoDevice("triton", reason=reason)
        self._source = source
        self._device = driver.Device(int(ordinal or 0))
        self._signature = emit(source.program).signature
        self._kernel = kernel_of(source.text, source.entry)
        self._variants: dict[Layout, Variant] = {}
        self._calls: dict[tuple[object, ...], Variant] = {}
        self._read = _reader(self._signature)
        self._lock = threading.Lock()

    def __call__(self, invocation: Invocation) -> None:
        """Start the kernel on ``invocation.stream``; never waits for it."""
        key, arguments = self._read(invocation)
        variant = self._calls.get(key)
        if variant is None:
            variant = self._calls[key] = self._variant(self._layout(invocation))
        with self._lock:  # the packed arguments are copied by the driver before it returns
            variant.pack(variant.buffer, 0, *variant.choose(arguments), 0, 0)
            if self._device.is_current():
                self._start(variant, invocation)
            else:
                with self._device.current():
                    self._start(variant, invocation)

    def _start(self, variant: Variant, invocation: Invocation) -> None:
        stream = invocation.stream or 0
        driver.launch(
            variant.function, invocation.length, variant.threads, variant.shared, stream, variant.pointers
        )

    def _layout(self, invocation: Invocation) -> Layout:
        ones, divisible = [], []
        for i, parameter in enumerate(self._signature.parameters):
            value = value_of(parameter, invocation)
            if parameter.kind == "stride" and value == 1:
                ones.append(i)
            elif (parameter.kind in ("view", "buffer") or parameter.index) and int(value) % 16 == 0:
                divisible.append(i)
        small = index_is_small(self._signature, invocation)
        return Layout(small=small, ones=frozenset(ones), divisible=frozenset(divisible))

    def _variant(self, layout: Layout) -> Variant:
        if layout not in self._variants:
            self._variants[layout] = self._load(layout)
        return self._variants[layout]

    def _load(self, layout: Layout) -> Variant:
        made = compiled(self._source, self._signature, layout, self._device.capability, self._kernel)
        metadata = made.metadata
        if metadata.shared > self._device.shared_bytes:
            raise CapabilityError(
                "triton", capability="this much shared memory", needed=f"{metadata.shared} bytes",
                offered=f"{self._device.shared_bytes} bytes", fix="use smaller blocks or fewer stages",
            )  # fmt: skip
        function = self._device.load(made.asm["cubin"], metadata.name, metadata.shared)
        passed = [i for i in range(len(self._signature.parameters)) if i not in layout.ones]
        types = [_pack_of(self._signature.parameters[i], small=layout.small) for i in passed]
        packing = struct.Struct("@" + "".join(types) + _SCRATCH)
        buffer = ctypes.create_string_buffer(packing.size)
        pointers = _pointers(buffer, [*types, *_SCRATCH])
        threads = 32 * metadata.num_warps
        return Variant(
            function, threads, metadata.shared, packing.pack_into, _choice(passed), buffer, pointers
        )


def _choice(places: Sequence[int]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """A function that takes the items at ``places`` of a tuple."""
    if len(places) < 2:
        return lambda items: tuple(items[i] for i in places)
    return itemgetter(*places)


def _pack_of(parameter: Parameter, *, small: bool) -> str:
    kind = type_of(parameter, small=small)
    return "Q" if kind.startswith("*") else _PACK[kind]


def _pointers(buffer: Any, types: Sequence[str]) -> Any:
    """Where each argument lies, as cuLaunchKernel wants it."""
    base = ctypes.addressof(buffer)
    places = []
    for i in range(len(types)):
        before = struct.calcsize("@" + "".join(types[: i + 1])) - struct.calcsize(types[i])
        places.append(base + before)
    return (ctypes.c_void_p * len(places))(*places)


Reader = Callable[[Invocation], tuple[tuple[object, ...], tuple[Any, ...]]]


def _reader(signature: Signature) -> Reader:
    """Reads (cache key, arguments in order) of an invocation.

    Written out as straight code for this signature: it runs at every launch. The key holds all that a layout
    depends on: alignment, strides, extents (which fix the views' shapes) and scalars.
    """
    lines = ["def read(call):", "    views, extents, scalars = call.views, call.extents, call.scalars"]
    names: dict[str, str] = {}
    for p in signature.parameters:
        if p.view and p.view not in names:
            names[p.view] = f"v{len(names)}"
            lines.append(f"    {names[p.view]} = views[{p.view!r}]")
    terms = {i: _term(p, names) for i, p in enumerate(signature.parameters)}
    lines += [f"    a{i} = {term}" for i, term in terms.items()]
    addresses = [i for i, p in enumerate(signature.parameters) if p.kind in ("view", "buffer")]
    union = " | ".join(f"a{i}" for i in addresses) or "0"
    each = ", ".join(f"a{i} & 15" for i in addresses)
    others = "".join(f"a{i}, " for i in terms if i not in addresses)
    lines += [
        f"    key = (0 if not ({union}) & 15 else ({each},), {others}*extents.values())",
        f"    return key, ({''.join(f'a{i}, ' for i in terms)})",
    ]
    namespace: dict[str, Any] = {"half_bits": _half_bits}
    exec("\n".join(lines), namespace)  # noqa: S102 - built from the signature above, names quoted
    read: Reader = namespace["read"]
    return read


def _term(parameter: Parameter, names: Mapping[str, str]) -> str:
    """The expression of one argument in the reader."""
    if parameter.kind == "view":
        return f"{names[parameter.view]}.pointer"
    if parameter.kind == "stride":
        return f"{names[parameter.view]}.strides[{parameter.axis}]"
    if parameter.kind == "extent":
        return f"extents[{parameter.name!r}]"
    if parameter.kind == "buffer":
        return f"call.workspace.pointer + call.workspace_offsets[{parameter.buffer}]"
    if parameter.type in _HALF:
        return f"half_bits({parameter.type!r}, scalars[{parameter.name!r}])"
    return f"scalars[{parameter.name!r}]"


def _half_bits(kind: str, value: float) -> int:
    """16-bit float scalars travel as their bits."""
    return int(np.asarray(value, _HALF[kind]).view(np.uint16))
