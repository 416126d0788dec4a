"""Which provider the demo uses: a GPU if usable, else emitted source on the CPU, else the reference."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from dataclasses import dataclass

import intent
from intent.diagnostics import MissingProvider, MissingToolkit, NoDevice

__all__ = ["UNUSABLE", "Choice", "candidates"]

UNUSABLE = (MissingProvider, MissingToolkit, NoDevice)
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


def candidates(requested: str | None) -> Iterator[Choice]:
    """Choices from best to last resort; only those of provider ``requested`` if it is given."""
    providers = intent.providers()
    if requested is not None and requested not in providers:
        raise MissingProvider(requested, providers)
    names = sorted(providers) if requested is None else [requested]
    on_gpu = [name for name in names if providers[name].capabilities.needs_gpu]
    library = next((name for name in _GPU_LIBRARIES if importlib.util.find_spec(name)), None)
    if os.environ.get("INTENT_EXECUTION") != "emulate" and library is not None:
        for name in on_gpu:
            if providers[name].available() is None:
                yield Choice(provider=name, how=f"on the GPU, with {library} arrays", library=library)
    for name in on_gpu:
        yield Choice(provider=name, how="emitted source emulated on the CPU", emulate=True)
    for name in names:
        if name not in on_gpu:
            yield Choice(provider=name, how="on the CPU, with numpy")
