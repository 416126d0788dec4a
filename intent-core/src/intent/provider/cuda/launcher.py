"""Launching an emitted kernel on one device: a build for each layout of the arguments, never for an exact shape."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Hashable
from functools import partial
from typing import Any, Generic, TypeVar

from intent.diagnostics import NoDevice
from intent.provider import Invocation, Source
from intent.provider.binder import Start
from intent.provider.cuda import driver
from intent.provider.cuda.binding import Argument, Packing, code_of
from intent.provider.emission import Parameter, Signature, value_of

__all__ = ["CudaLauncher", "argument_of", "open_device"]

L = TypeVar("L", bound=Hashable)


def open_device(name: str, provider: str) -> driver.Device:
    """The device called ``cuda`` or ``cuda:N``. Raises NoDevice for another name, and where there is no usable GPU."""
    kind, _, ordinal = name.partition(":")
    reason = f"'{name}' is no CUDA device" if kind != "cuda" else driver.unavailable()
    if reason is not None:
        raise NoDevice(provider, reason=reason)
    return driver.Device(int(ordinal or 0))


class CudaLauncher(ABC, Generic[L]):
    """Runs one source on one device (a :class:`~intent.provider.binder.Binder`).

    A provider says which layout the arguments of a call have, and loads the build for a layout. A binding holds its
    layout for one set of strides and extents.
    """

    def __init__(self, source: Source, signature: Signature[Any], device: driver.Device) -> None:
        self.source = source
        self.device = device
        self.views = tuple(view.name for view in source.program.views)
        self.scalars = tuple(scalar.name for scalar in source.program.scalars)
        self._assumes = signature.assumes()
        self._builds: dict[L, Packing] = {}
        self._lock = threading.Lock()

    @property
    def assumes(self) -> frozenset[str]:
        """Names of the symbols and scalars whose values a binding relies on."""
        return self._assumes

    @abstractmethod
    def layout(self, invocation: Invocation) -> L:
        """What a build for this call may rely on."""

    @abstractmethod
    def load(self, layout: L) -> Packing:
        """Build for ``layout``, and load it on the device."""

    def __call__(self, invocation: Invocation) -> None:
        """Start the kernel on ``invocation.stream``; never waits for it."""
        start = self.bind(invocation)
        values: list[Any] = [invocation.views[name].pointer for name in self.views]
        values += [invocation.scalars[name] for name in self.scalars]
        if invocation.workspace is not None:
            values.append(invocation.workspace.pointer)
        with self.device.current():
            start(invocation.stream or 0, *values)

    def bind(self, invocation: Invocation) -> Start:
        """A launch for the layout of ``invocation``, built if no launch has had it before."""
        layout = self.layout(invocation)
        with self._lock:
            found = self._builds.get(layout)
            if found is None:
                found = self._builds[layout] = self.load(layout)
        return found.bind(invocation)


def argument_of(parameter: Parameter, *, small: bool) -> Argument:
    """How a parameter is packed; ``small``: values of the index type are 32 bits wide."""
    if parameter.kind == "view":
        return Argument(kind="view", code="Q", name=parameter.view)
    if parameter.kind == "buffer":
        return Argument(kind="buffer", code="Q", buffer=parameter.buffer)
    if parameter.kind == "scalar" and not parameter.index:
        code = code_of(parameter.dtype)
        return Argument(kind="scalar", code=code, name=parameter.name, dtype=parameter.dtype)
    code = code_of("i32" if parameter.index and small else "i64")
    return Argument(kind="fixed", code=code, value=partial(value_of, parameter))
