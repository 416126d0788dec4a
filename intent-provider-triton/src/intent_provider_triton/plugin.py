"""The provider object, registered as ``intent.providers: triton``.

Importing this module imports neither Triton nor a driver.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import util

from intent.physical import Program
from intent.provider import Binary, Capabilities, Launcher, Provider, Source, hookimpl
from intent.provider.versions import version_with
from intent_provider_triton.capabilities import CAPABILITIES
from intent_provider_triton.emit import emit


class TritonProvider:
    """Spells programs in Triton (spec: kir-to-gpu-program 8)."""

    name = "triton"

    @property
    def version(self) -> str:
        """Version of this package, with Triton's."""
        return version_with("intent-provider-triton", "triton")

    @property
    def capabilities(self) -> Capabilities:
        return CAPABILITIES

    def knobs(self) -> Mapping[str, Sequence[int]]:
        """Warps per program, software pipeline stages, and a cap on registers (absent: the compiler's choice)."""
        return {
            "num_warps": (1, 2, 4, 8, 16, 32),
            "num_stages": (1, 2, 3, 4, 5, 6),
            "maxnreg": (64, 96, 128, 168, 255),
        }

    def grid(self, length: int) -> tuple[int, ...]:
        """One dimension; never rounded."""
        return (length,)

    def serialize(self, program: Program) -> Source:
        """The program as one readable file. Raises CapabilityError for what Triton cannot say."""
        emitted = emit(program)
        return Source(text=emitted.text, entry=emitted.entry, suffix=".py", program=program)

    def build(self, source: Source, target: str) -> Binary:
        """A cubin and its PTX for ``sm_80``, ``sm_90``, ... Raises BuildFailure or MissingToolkit."""
        from intent_provider_triton.build import build

        return build(source, target)

    def load(self, source: Source, device: str) -> Launcher:
        """A launcher on ``cuda:N``. Raises NoDevice without a usable GPU."""
        from intent_provider_triton.launch import TritonLauncher

        return TritonLauncher(source, device)

    def emulate(self, source: Source) -> Launcher:
        """A launcher that runs the text on the CPU over numpy arrays. Raises MissingToolkit without Triton."""
        from intent_provider_triton.toolkit import triton

        triton()
        from intent_provider_triton.emulate import EmulatedLauncher

        return EmulatedLauncher(source)

    def available(self) -> str | None:
        """None if a GPU launch is possible here, else why not."""
        if util.find_spec("triton") is None:
            return "the triton package is not installed"
        from intent.provider.cuda.driver import unavailable

        return unavailable()


class Plugin:
    """What pluggy calls."""

    @hookimpl
    def intent_provider(self) -> Provider:
        return TritonProvider()


plugin = Plugin()
