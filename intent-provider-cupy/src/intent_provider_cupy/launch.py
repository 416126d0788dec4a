"""Launching built kernels on the caller's stream and device.

Arrays of CuPy, torch, DLPack or ``__cuda_array_interface__``, the current stream of the library they come from, and the
workspace from that library's pool reach a launcher through the invocation.
"""

from __future__ import annotations

from dataclasses import replace

from intent.provider import Invocation, Source
from intent.provider.cuda.binding import Build, Packing, packing
from intent.provider.cuda.launcher import CudaLauncher, argument_of, open_device
from intent_provider_cupy.arguments import layout_of
from intent_provider_cupy.build import cubin
from intent_provider_cupy.capabilities import too_much_shared
from intent_provider_cupy.emit import emit
from intent_provider_cupy.emit.interface import Layout
from intent_provider_cupy.toolkit import PROVIDER, nvrtc

_OWN_CODE = frozenset({90, 100, 103, 110})
"""Compute capabilities with instructions of their own, which a build for ``sm_90a`` has and one for ``sm_90`` lacks."""


class CuPyLauncher(CudaLauncher[Layout]):
    """Runs one source on one device.

    The layout: which strides are 1, the powers of two that divide what the text asks about, and whether 32-bit index
    arithmetic is proven safe.
    """

    def __init__(self, source: Source, device: str) -> None:
        opened = open_device(device, PROVIDER)
        nvrtc()
        # Tiles may have to be fewer than in the source, which is written for the GPUs with most shared memory.
        emitted = emit(source.program, opened.shared_bytes)
        self._signature = emitted.signature
        source = replace(source, text=emitted.text)
        super().__init__(source, self._signature, opened)

    def layout(self, invocation: Invocation) -> Layout:
        """What a build for this call may rely on."""
        return layout_of(self._signature, invocation)

    def load(self, layout: Layout) -> Packing:
        """Raises BuildFailure, and CapabilityError for more shared memory than the device has."""
        signature = self._signature
        if signature.shared_bytes > self.device.shared_bytes:
            raise too_much_shared(signature.shared_bytes, self.device.shared_bytes)
        code = cubin(self.source, target_of(self.device.capability), layout, signature)
        build = Build(
            function=self.device.load(code, self.source.entry, signature.shared_bytes),
            threads=signature.threads,
            shared=signature.shared_bytes,
            device=self.device,
        )
        arguments = [argument_of(p, small=layout.small) for p in signature.parameters]
        return packing(arguments, build, self.views, self.scalars)


def target_of(capability: int) -> str:
    """The target that a device of this compute capability runs: 90 is ``sm_90a``, 86 is ``sm_86``."""
    return f"sm_{capability}{'a' if capability in _OWN_CODE else ''}"
