"""Which provider the demo uses: a GPU if usable, else emitted source on the CPU, else the reference."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from dataclasses import dataclass

from intent.diagnostics import BrokenProvider, MissingProvider, MissingToolkit, NoDevice
from intent.provider.registry import emulating, registry

__all__ = ["UNUSABLE", "Choice", "broken", "candidates"]

UNUSABLE = (BrokenProvider, MissingProvider, MissingToolkit, NoDevice)
"""Errors that mean "not on this machine": the next candidate is tried."""

_GPU_LIBRARIES = ("torch", "cupy")


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A provider and how it runs. ``library`` makes GPU arrays, None for numpy arrays on the CPU."""

    provider: str
    how: str
    library: str | None = None
    emulate: bool = False

    def enter(self) -> None:
        """Set the process up for this choice; emulation has to be asked for before the first launch."""
        if self.emulate:
            os.environ["INTENT_EXECUTION"] = "emulate"


def broken() -> Iterator[tuple[str, str]]:
    """Name and reason of each installed provider that cannot be loaded."""
    statuses = map(registry().status, registry().names())
    return ((s.name, s.detail) for s in statuses if s.state in ("broken", "duplicate"))


def candidates(requested: str | None) -> Iterator[Choice]:
    """Choices from best to last resort; only those of provider ``requested`` if it is given.

    Raises:
        MissingProvider, BrokenProvider, DuplicateProvider: the requested provider cannot be used at all.
    """
    known = registry()
    if requested is not None:
        known.get(requested)
    names = known.names() if requested is None else (requested,)
    working = [known.get(name) for name in names if known.status(name).state in ("ready", "no device")]
    working.sort(key=lambda provider: -provider.capabilities.preference)
    on_gpu = [provider for provider in working if provider.capabilities.needs_gpu]
    library = next((name for name in _GPU_LIBRARIES if importlib.util.find_spec(name)), None)
    if library is not None and not emulating():
        for provider in on_gpu:
            if provider.available() is None:
                how = f"on the GPU, with {library} arrays"
                yield Choice(provider=provider.name, how=how, library=library)
    for provider in on_gpu:
        yield Choice(provider=provider.name, how="emitted source emulated on the CPU", emulate=True)
    for provider in working:
        if not provider.capabilities.needs_gpu:
            yield Choice(provider=provider.name, how="on the CPU, with numpy")
