"""Where a launch runs: on the caller's GPU, or on the CPU by emulation or by a provider that needs no GPU."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from weakref import WeakSet

from intent.diagnostics import NoDevice
from intent.provider import Provider
from intent.provider.registry import emulating
from intent.runtime.array import Array, Library
from intent.runtime.libraries import NUMPY, gpu_library

__all__ = ["library_of", "runs_on_gpu"]


_USABLE: Final[WeakSet[Provider]] = WeakSet()
"""Providers that have said that they can launch: a device does not go away, and asking costs time."""


def runs_on_gpu(provider: Provider) -> bool:
    """Whether launches of ``provider`` go to a GPU now; False when they run on the CPU.

    Reads ``INTENT_EXECUTION`` at every question, so that a test may change it.

    Raises:
        NoDevice: The provider needs a GPU, emulation is not asked for, and no launch is possible here.
    """
    if not provider.capabilities.needs_gpu or emulating():
        return False
    if provider not in _USABLE:
        reason = provider.available()
        if reason is not None:
            raise NoDevice(provider.name, reason=reason)
        _USABLE.add(provider)
    return True


def library_of(arrays: Iterable[Array], *, on_gpu: bool) -> Library:
    """The caller's array library: that of the first array; without arrays one that can allocate here."""
    for array in arrays:
        return array.library
    return (gpu_library() or NUMPY) if on_gpu else NUMPY
