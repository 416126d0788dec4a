"""Launching emulated programs over numpy arrays."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from intent.provider import Invocation, Source
from intent_provider_cutile.arguments import value_of
from intent_provider_cutile.build import Layout, divisible_arguments, specialised
from intent_provider_cutile.emit.literals import TYPES
from intent_provider_cutile.emit.signature import PASSING, Parameter
from intent_provider_cutile.emulate.carries import instrumented
from intent_provider_cutile.emulate.dtypes import ALL, INT32, INT64, DType
from intent_provider_cutile.emulate.language import Language
from intent_provider_cutile.emulate.memory import BaseArray, Memory, memory_of
from intent_provider_cutile.emulate.tile import Tile
from intent_provider_cutile.variants import Text, Texts

MULTIPROCESSORS: Final = 3
"""So few that small cases, too, have blocks that take several instances in turn."""


class EmulatedLauncher:
    """Runs the text of one source, block after block."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._texts = Texts(source)
        self._loaded: dict[tuple[str, Layout], tuple[Language, Any]] = {}

    def __call__(self, invocation: Invocation) -> None:
        """Run all blocks of the launch; outputs are written in place."""
        chosen = self._texts.of(invocation)
        parameters = chosen.signature.parameters
        small = chosen.signature.small(invocation)
        values = [value_of(p, invocation) if p.kind in ("stride", "extent") else None for p in parameters]
        layout = Layout(small=small, divisible=divisible_arguments(chosen.signature, values))
        language, kernel = self._kernel(chosen, layout)
        arguments = [_argument(p, invocation, small=small) for p in parameters]
        with np.errstate(all="ignore"):
            language.blocks = chosen.blocks(invocation.length, MULTIPROCESSORS)
            for block in range(language.blocks):
                language.block = block
                kernel(*arguments)

    def _kernel(self, chosen: Text, layout: Layout) -> tuple[Language, Any]:
        """The kernel function of the text for a layout."""
        key = chosen.text, layout
        if key not in self._loaded:
            text = specialised(chosen.text, chosen.signature, layout)
            language = Language()
            namespace = language.namespace(self._source.entry)
            name = f"<emitted {self._source.entry}{self._source.suffix}>"
            exec(instrumented(text, name), namespace)  # noqa: S102 - the emitted text is what an emulation runs
            self._loaded[key] = language, namespace[self._source.entry]
        return self._loaded[key]


def _argument(parameter: Parameter, invocation: Invocation, *, small: bool) -> Any:
    """An array, or a scalar in the dtype in which a launch passes it."""
    if parameter.kind == "view":
        view = invocation.views[parameter.view]
        array = np.asarray(view.array)
        return BaseArray(memory_of(view.name, array, view.pointer, _element(parameter)))
    if parameter.kind == "buffer":
        return BaseArray(_workspace(parameter, invocation))
    value = value_of(parameter, invocation)
    if parameter.index:
        dtype = INT32 if small else INT64
        return Tile(np.asarray(int(value), dtype.numpy), dtype)
    dtype = ALL[PASSING[parameter.dtype].argument]
    return Tile(np.asarray(value, dtype.numpy), dtype)


def _element(parameter: Parameter) -> DType:
    return ALL[TYPES[parameter.dtype].removeprefix("ct.")]


def _workspace(parameter: Parameter, invocation: Invocation) -> Memory:
    """One buffer of the hidden argument, up to where the next one starts."""
    workspace, offsets = invocation.workspace, invocation.workspace_offsets
    assert workspace is not None
    assert offsets is not None
    start = offsets[parameter.buffer]
    later = [o for o in offsets.values() if o > start]
    end = min(later, default=int(np.asarray(workspace.array).nbytes))
    first, dtype = workspace.pointer + start, _element(parameter)
    return Memory(parameter.emitted, first, workspace.pointer + end, first, dtype)
