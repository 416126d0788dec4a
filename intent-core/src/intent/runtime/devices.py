"""Where a launch runs: on the caller's GPU, or on the CPU by emulation or by a provider that needs no GPU."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from intent.diagnostics import NoDevice
from intent.provider import Provider
from intent.provider.registry import emulating
from intent.runtime.array import Array, Library
from intent.runtime.libraries import NUMPY, gpu_library

__all__ = ["current_device", "current_stream", "library_of", "runs_on_gpu"]


def runs_on_gpu(provider: Provider) -> bool:
    """Whether launches of ``provider`` go to a GPU now; False when they run on the CPU.

    Reads ``INTENT_EXECUTION`` at every question, so that a test may change it.

    Raises:
        NoDevice: The provider needs a GPU, emulation is not asked for, and no launch is possible here.
    """
    if not provider.capabilities.needs_gpu or emulating():
        return False
    reason = provider.available()
    if reason is not None:
        raise NoDevice(provider.name, reason=reason)
    return True


def library_of(arrays: Iterable[Array], *, on_gpu: bool) -> Library:
    """The caller's array library: that of the first array; without arrays one that can allocate here."""
    for array in arrays:
        return array.library
    return (gpu_library() or NUMPY) if on_gpu else NUMPY


def current_stream(library: Library, device: str) -> int | None:
    """The caller's current stream on ``device``; None on the CPU."""
    return None if device == "cpu" else library.stream(device)


@contextmanager
def current_device(library: Library, device: str) -> Iterator[None]:
    """Make ``device`` the current one, and restore the caller's afterwards."""
    if device == "cpu":
        yield
        return
    with library.current(device):
        yield
