"""The provider object, registered as ``intent.providers: cupy``.

Importing this module imports neither CuPy nor NVRTC nor a driver.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from intent.physical import Program
from intent.provider import Binary, Capabilities, Launcher, Provider, Source, hookimpl
from intent.provider.versions import version_with
from intent_provider_cupy.capabilities import CAPABILITIES
from intent_provider_cupy.emit import emit
from intent_provider_cupy.toolkit import why_no_nvrtc


class CuPyProvider:
    """Spells programs in CUDA C++ (spec: kir-to-gpu-program 8)."""

    name = "cupy"

    @property
    def version(self) -> str:
        """Version of this package, with NVRTC's bindings'."""
        return version_with("intent-provider-cupy", "cuda-bindings")

    @property
    def capabilities(self) -> Capabilities:
        return CAPABILITIES

    def knobs(self) -> Mapping[str, Sequence[int]]:
        """Warps of a block, stages of a pipelined loop, bytes of an access, kilobytes of rows kept between walks."""
        return {
            "num_warps": (1, 2, 4, 8, 16, 32),
            "num_stages": (1, 2, 3, 4),
            "vector_bytes": (4, 8, 16),
            "kept_kilobytes": (0, 16, 64, 96, 192),
        }

    def grid(self, length: int) -> tuple[int, ...]:
        """One dimension; never rounded."""
        return (length,)

    def serialize(self, program: Program) -> Source:
        """The program as one readable file. Raises CapabilityError for what CUDA C++ cannot say."""
        emitted = emit(program)
        return Source(text=emitted.text, entry=emitted.entry, suffix=".cu", program=program)

    def build(self, source: Source, target: str) -> Binary:
        """A cubin for ``sm_80``, ``sm_90a``, ... Raises BuildFailure or MissingToolkit."""
        from intent_provider_cupy.build import build

        return build(source, target)

    def load(self, source: Source, device: str) -> Launcher:
        """A launcher on ``cuda:N``. Raises NoDevice without a usable GPU, MissingToolkit without NVRTC."""
        from intent_provider_cupy.launch import CuPyLauncher

        return CuPyLauncher(source, device)

    def emulate(self, source: Source) -> Launcher:
        """A launcher that runs the text on the CPU over numpy arrays. Raises MissingToolkit without g++."""
        from intent_provider_cupy.emulate.launcher import EmulatedLauncher
        from intent_provider_cupy.toolkit import compiler

        compiler()
        return EmulatedLauncher(source)

    def available(self) -> str | None:
        """None if a GPU launch is possible here, else why not."""
        reason = why_no_nvrtc()
        if reason is not None:
            return reason
        from intent.provider.cuda.driver import unavailable

        return unavailable()


class Plugin:
    """What pluggy calls."""

    @hookimpl
    def intent_provider(self) -> Provider:
        return CuPyProvider()


plugin = Plugin()
