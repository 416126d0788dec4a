"""Launching built kernels on the caller's stream and device."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any, Final

from intent.diagnostics import CapabilityError, NoDevice
from intent.provider import Invocation, Source
from intent.provider.binder import Start
from intent.provider.cuda import driver
from intent.provider.cuda.binding import Argument, Build, Packing, code_of, packing
from intent.provider.emission import value_of
from intent_provider_triton.build import Layout, compiled, divisor, type_of
from intent_provider_triton.emit import emit
from intent_provider_triton.emit.literals import SIGNATURE
from intent_provider_triton.emit.signature import Parameter
from intent_provider_triton.toolkit import kernel_of


class TritonLauncher:
    """Runs one source on one device; builds a variant per layout class of the arguments, never per exact shape.

    The layout class: which strides are 1, which powers of two up to 16 divide addresses, strides and extents, and
    whether 32-bit index arithmetic is proven safe. A binding holds it for one set of strides and extents.
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
        self._views = [view.name for view in source.program.views]
        self._scalars = [scalar.name for scalar in source.program.scalars]
        self._builds: dict[Layout, Packing] = {}
        self._lock = threading.Lock()
        self.assumes = self._signature.assumes()

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
        layout = self._layout(invocation)
        with self._lock:
            found = self._builds.get(layout)
            if found is None:
                found = self._builds[layout] = self._load(layout)
        return found.bind(invocation)

    def _layout(self, invocation: Invocation) -> Layout:
        ones, divisors = [], []
        for i, parameter in enumerate(self._signature.parameters):
            value = value_of(parameter, invocation)
            if parameter.kind == "stride" and value == 1:
                ones.append(i)
            elif (parameter.kind in ("view", "buffer") or parameter.index) and int(value) % 2 == 0:
                divisors.append((i, divisor(int(value))))
        return Layout(
            small=self._signature.small(invocation), ones=frozenset(ones), divisors=frozenset(divisors)
        )

    def _load(self, layout: Layout) -> Packing:
        made = compiled(self._source, self._signature, layout, self._device.capability, self._kernel)
        metadata = made.metadata
        if metadata.shared > self._device.shared_bytes:
            raise CapabilityError(
                "triton", capability="this much shared memory", needed=f"{metadata.shared} bytes",
                offered=f"{self._device.shared_bytes} bytes", fix="use smaller blocks or fewer stages",
            )  # fmt: skip
        build = Build(
            function=self._device.load(made.asm["cubin"], metadata.name, metadata.shared),
            threads=32 * metadata.num_warps,
            shared=metadata.shared,
            device=self._device,
        )
        passed = [p for i, p in enumerate(self._signature.parameters) if i not in layout.ones]
        arguments = [_argument(p, small=layout.small) for p in passed]
        return packing([*arguments, *_SCRATCH], build, self._views, self._scalars)


_SCRATCH: Final = tuple(Argument(kind="fixed", code="Q", value=lambda _: 0) for _ in range(2))
"""Triton appends two scratch pointers, null for kernels that ask for none."""
_DTYPES: Final = {emitted: name for name, emitted in SIGNATURE.items() if name != "index"}


def _argument(parameter: Parameter, *, small: bool) -> Argument:
    if parameter.kind == "view":
        return Argument(kind="view", code="Q", name=parameter.view)
    if parameter.kind == "buffer":
        return Argument(kind="buffer", code="Q", buffer=parameter.buffer)
    dtype = _DTYPES[type_of(parameter, small=small)]
    if parameter.kind == "scalar" and not parameter.index:
        return Argument(kind="scalar", code=code_of(dtype), name=parameter.name, dtype=dtype)
    return Argument(kind="fixed", code=code_of(dtype), value=partial(value_of, parameter))
