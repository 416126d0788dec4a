"""The provider object, registered as ``intent.providers: cutile``.

Importing this module imports neither ``cuda.tile`` nor a driver.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from intent.physical import Program
from intent.provider import Binary, Capabilities, Launcher, Provider, Source, hookimpl
from intent.provider.versions import version_with
from intent_provider_cutile.capabilities import CAPABILITIES
from intent_provider_cutile.emit import emit


class CuTileProvider:
    """Spells programs in cuTile (spec: kir-to-gpu-program 8)."""

    name = "cutile"

    @property
    def version(self) -> str:
        """Version of this package, with cuda-tile's."""
        return version_with("intent-provider-cutile", "cuda-tile")

    @property
    def capabilities(self) -> Capabilities:
        return CAPABILITIES

    def knobs(self) -> Mapping[str, Sequence[int]]:
        """Warps that compute, blocks per SM to aim at, thread blocks of a cluster, and how early loops load.

        ``persistent``: blocks of a product that each SM gets and that take its instances in turn.

        tileiras 13.4 takes no other numbers of warps.
        """
        return {
            "num_worker_warps": (4, 8),
            "occupancy": (1, 2, 3, 4, 6, 8),
            "num_ctas": (1, 2),
            "latency": (1, 2, 3, 4, 6),
            "persistent": (1, 2),
        }

    def grid(self, length: int) -> tuple[int, ...]:
        """One dimension; never rounded."""
        return (length,)

    def serialize(self, program: Program) -> Source:
        """The program as one readable file. Raises CapabilityError for what cuTile cannot say."""
        emitted = emit(program)
        return Source(text=emitted.text, entry=emitted.entry, suffix=".py", program=program)

    def build(self, source: Source, target: str) -> Binary:
        """A cubin for ``sm_80``, ``sm_90``, ... Raises BuildFailure or MissingToolkit."""
        from intent_provider_cutile.build import build

        return build(source, target)

    def load(self, source: Source, device: str) -> Launcher:
        """A launcher on ``cuda:N``. Raises NoDevice without a usable GPU, MissingToolkit without a compiler."""
        from intent_provider_cutile.launch import CuTileLauncher

        return CuTileLauncher(source, device)

    def emulate(self, source: Source) -> Launcher:
        """A launcher that runs the text on the CPU over numpy arrays; needs no toolkit."""
        from intent_provider_cutile.emulate import EmulatedLauncher

        return EmulatedLauncher(source)

    def available(self) -> str | None:
        """None if a GPU launch is possible here, else why not."""
        from intent_provider_cutile.tools import unavailable

        return unavailable()


class Plugin:
    """What pluggy calls."""

    @hookimpl
    def intent_provider(self) -> Provider:
        return CuTileProvider()


plugin = Plugin()
