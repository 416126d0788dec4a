"""Launching built kernels on the caller's stream and device.

The driver starts cubins of Tile IR as it starts others, of blocks of one thread: how many threads compute, and the
descriptors of bulk copies, are in the cubin.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from intent.diagnostics import NoDevice
from intent.provider import Invocation, Source
from intent.provider.binder import Start
from intent.provider.cuda.binding import Argument, Build, Packing, code_of, packing
from intent.provider.cuda.driver import DriverError
from intent.provider.cuda.launcher import CudaLauncher, argument_of, open_device
from intent.provider.emission import value_of
from intent_provider_cutile.build import Layout, cubin, divisible_arguments, gpu_code
from intent_provider_cutile.emit.signature import PASSING, Parameter
from intent_provider_cutile.toolkit import tile_module
from intent_provider_cutile.tools import INSTALL, require_compiler
from intent_provider_cutile.variants import Text, Texts

ALIGNED: Final = 16
OLD_DRIVER: Final = "cuTile needs a driver of CUDA 13 (580 or newer) and a tileiras that matches"


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The text of a launch, whole tiles or not, and what its build assumes of the arguments."""

    tiled: bool
    layout: Layout


class CuTileLauncher(CudaLauncher[Chosen]):
    """Runs one source on one device.

    The layout: which text, the index width, which strides are 1, which strides and extents 16 divides, and which
    addresses. No build depends on an exact shape.
    """

    def __init__(self, source: Source, device: str) -> None:
        opened = open_device(device, "cutile")
        require_compiler()
        tile_module()
        self._texts = Texts(source)
        super().__init__(source, self._texts.usual.signature, opened)

    @property
    def assumes(self) -> frozenset[str]:
        """Names of the symbols and scalars whose values a binding relies on."""
        return frozenset().union(*(text.signature.assumes() for text in self._texts.all))

    def layout(self, invocation: Invocation) -> Chosen:
        """What a build for this call may rely on."""
        text = self._texts.of(invocation)
        parameters = text.signature.parameters
        values = [value_of(p, invocation) for p in parameters]
        layout = Layout(
            small=text.signature.small(invocation),
            ones=frozenset(i for i, p in enumerate(parameters) if p.kind == "stride" and values[i] == 1),
            divisible=divisible_arguments(text.signature, values),
            aligned=frozenset(
                i
                for i, p in enumerate(parameters)
                if p.kind in ("view", "buffer") and not values[i] % ALIGNED
            ),
        )
        return Chosen(tiled=text is self._texts.usual, layout=layout)

    def bind(self, invocation: Invocation) -> Start:
        """A launch for the layout of ``invocation``, of as many blocks as its text wants."""
        blocks = self._texts.of(invocation).blocks(invocation.length, self.device.multiprocessors)
        return super().bind(replace(invocation, length=blocks))

    def load(self, layout: Chosen) -> Packing:
        """Raises BuildFailure, MissingToolkit, and NoDevice where the driver does not know Tile IR."""
        text = self._texts.usual if layout.tiled else self._texts.backward
        source = replace(self.source, text=text.text)
        code = cubin(source, text.signature, layout.layout, gpu_code(f"sm_{self.device.capability}"))
        try:
            function = self.device.load(code, source.entry, 0)
        except DriverError as error:
            raise NoDevice("cutile", reason=f"{error}; {OLD_DRIVER}: {INSTALL}") from error
        build = Build(function=function, threads=1, shared=0, device=self.device)
        return packing(list(_arguments(text, layout.layout)), build, self.views, self.scalars)


def _arguments(text: Text, layout: Layout) -> Iterator[Argument]:
    """How the parameters are packed, in the order of the calling convention; those that are 1 are not passed.

    An array is its address, its length and its stride, of which the text uses the address alone.
    """
    for i, parameter in enumerate(text.signature.parameters):
        if i in layout.ones:
            continue
        if parameter.kind == "scalar" and not parameter.index:
            yield _scalar(parameter)
            continue
        yield argument_of(parameter, small=layout.small)
        if parameter.kind in ("view", "buffer"):
            yield from (_ONE, _ONE)


def _scalar(parameter: Parameter) -> Argument:
    """A scalar in the type that stands for its own; 64 bits that stand for 64 others are the same bits."""
    dtype = parameter.dtype
    code = code_of(dtype) if dtype in ("f64", "u64") else _CODES[PASSING[dtype].argument]
    return Argument(kind="scalar", code=code, name=parameter.name, dtype=dtype)


_ONE: Final = Argument(kind="fixed", code="q", value=lambda _: 1)
_CODES: Final = {"bool_": "?", "int32": "i", "int64": "q", "float32": "f"}
