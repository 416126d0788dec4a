"""Launching built kernels on the caller's stream and device.

Arrays of CuPy, torch, DLPack or ``__cuda_array_interface__``, the current stream of the library they come from, and the
workspace from that library's pool reach a launcher through the invocation.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

from intent.diagnostics import NoDevice
from intent.provider import Invocation, Source
from intent.provider.binder import Start
from intent.provider.cuda import driver
from intent.provider.cuda.binding import Argument, Build, Packing, code_of, packing
from intent.types.extent import Scalar, Symbol
from intent_provider_cupy.arguments import layout_of, value_of
from intent_provider_cupy.build import cubin
from intent_provider_cupy.capabilities import too_much_shared
from intent_provider_cupy.emit import emit
from intent_provider_cupy.emit.interface import Layout, Parameter, Signature
from intent_provider_cupy.toolkit import PROVIDER, nvrtc

_OWN_CODE = frozenset({90, 100, 103, 110})
"""Compute capabilities with instructions of their own, which a build for ``sm_90a`` has and one for ``sm_90`` lacks."""


class CuPyLauncher:
    """Runs one source on one device; builds a variant per layout of the arguments, never per exact shape.

    The layout: which strides are 1, the powers of two that divide what the text asks about, and whether 32-bit index
    arithmetic is proven safe. A binding holds it for one set of strides and extents.
    """

    def __init__(self, source: Source, device: str) -> None:
        kind, _, ordinal = device.partition(":")
        reason = f"'{device}' is no CUDA device" if kind != "cuda" else driver.unavailable()
        if reason is not None:
            raise NoDevice(PROVIDER, reason=reason)
        nvrtc()
        self._source = source
        self._device = driver.Device(int(ordinal or 0))
        self._signature = emit(source.program).signature
        self._views = [view.name for view in source.program.views]
        self._scalars = [scalar.name for scalar in source.program.scalars]
        self._builds: dict[Layout, Packing] = {}
        self._lock = threading.Lock()
        self.assumes = _assumed(self._signature)

    def __call__(self, invocation: Invocation) -> None:
        """Start the kernel on ``invocation.stream``; never waits for it."""
        start = self.bind(invocation)
        values: list[Any] = [invocation.views[name].pointer for name in self._views]
        values += [invocation.scalars[name] for name in self._scalars]
        if invocation.workspace is not None:
            values.append(invocation.workspace.pointer)
        with self._device.current():
            start(invocation.stream or 0, *values)

    def bind(self, invocation: Invocation) -> Start:
        """A launch for the layout of ``invocation``, built if no launch has had it before."""
        layout = layout_of(self._signature, invocation)
        with self._lock:
            found = self._builds.get(layout)
            if found is None:
                found = self._builds[layout] = self._load(layout)
        return found.bind(invocation)

    def _load(self, layout: Layout) -> Packing:
        signature = self._signature
        if signature.shared_bytes > self._device.shared_bytes:
            raise too_much_shared(signature.shared_bytes, self._device.shared_bytes)
        code = cubin(self._source, target_of(self._device.capability), layout)
        build = Build(
            function=self._device.load(code, self._source.entry, signature.shared_bytes),
            threads=signature.threads,
            shared=signature.shared_bytes,
            device=self._device,
        )
        arguments = [_argument(p, small=layout.small) for p in signature.parameters]
        return packing(arguments, build, self._views, self._scalars)


def target_of(capability: int) -> str:
    """The target that a device of this compute capability runs: 90 is ``sm_90a``, 86 is ``sm_86``."""
    return f"sm_{capability}{'a' if capability in _OWN_CODE else ''}"


def _argument(parameter: Parameter, *, small: bool) -> Argument:
    if parameter.kind == "view":
        return Argument(kind="view", code="Q", name=parameter.view)
    if parameter.kind == "buffer":
        return Argument(kind="buffer", code="Q", buffer=parameter.buffer)
    if parameter.kind == "scalar" and not parameter.index:
        code = code_of(parameter.dtype)
        return Argument(kind="scalar", code=code, name=parameter.name, dtype=parameter.dtype)
    code = code_of("i32" if parameter.index and small else "i64")
    return Argument(kind="fixed", code=code, value=partial(value_of, parameter))


def _assumed(signature: Signature) -> frozenset[str]:
    """Symbols and scalars that layouts depend on: index arguments, and all that the bounds of indices mention."""
    extents = [*signature.signs, *(e for fact in signature.facts for e in fact)]
    bounds = {a.name for e in extents for a in e.atoms() if isinstance(a, (Symbol, Scalar))}
    return frozenset(bounds | {p.name for p in signature.parameters if p.index and p.name})
