"""Launching built kernels on the caller's stream and device."""

from __future__ import annotations

from typing import Final

from intent.diagnostics import CapabilityError
from intent.provider import Invocation, Source
from intent.provider.cuda.binding import Argument, Build, Packing, packing
from intent.provider.cuda.launcher import CudaLauncher, argument_of, open_device
from intent.provider.emission import value_of
from intent_provider_triton.build import Layout, compiled, divisor
from intent_provider_triton.emit import emit
from intent_provider_triton.toolkit import kernel_of


class TritonLauncher(CudaLauncher[Layout]):
    """Runs one source on one device.

    The layout: which strides are 1, which powers of two up to 16 divide addresses, strides and extents, and whether
    32-bit index arithmetic is proven safe.
    """

    def __init__(self, source: Source, device: str) -> None:
        self._signature = emit(source.program).signature
        super().__init__(source, self._signature, open_device(device, "triton"))
        self._kernel = kernel_of(source.text, source.entry)

    def layout(self, invocation: Invocation) -> Layout:
        """What a build for this call may rely on."""
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

    def load(self, layout: Layout) -> Packing:
        """Raises BuildFailure, and CapabilityError for more shared memory than the device has."""
        made = compiled(self.source, self._signature, layout, self.device.capability, self._kernel)
        metadata = made.metadata
        if metadata.shared > self.device.shared_bytes:
            raise CapabilityError(
                "triton", capability="this much shared memory", needed=f"{metadata.shared} bytes",
                offered=f"{self.device.shared_bytes} bytes", fix="use smaller blocks or fewer stages",
            )  # fmt: skip
        build = Build(
            function=self.device.load(made.asm["cubin"], metadata.name, metadata.shared),
            threads=32 * metadata.num_warps,
            shared=metadata.shared,
            device=self.device,
        )
        passed = [p for i, p in enumerate(self._signature.parameters) if i not in layout.ones]
        arguments = [argument_of(p, small=layout.small) for p in passed]
        return packing([*arguments, *_SCRATCH], build, self.views, self.scalars)


_SCRATCH: Final = tuple(Argument(kind="fixed", code="Q", value=lambda _: 0) for _ in range(2))
"""Triton appends two scratch pointers, null for kernels that ask for none."""
