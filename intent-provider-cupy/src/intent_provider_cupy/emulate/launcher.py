"""Launching emulated programs over numpy arrays."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from intent.provider import BoundView, Invocation, Source
from intent.provider.emission import value_of
from intent.types.dtypes import BY_NAME
from intent_provider_cupy.arguments import layout_of, packed
from intent_provider_cupy.blame import failure
from intent_provider_cupy.capabilities import MOST_SHARED_BYTES, too_much_shared
from intent_provider_cupy.emit import emit
from intent_provider_cupy.emit.interface import Layout, specialised
from intent_provider_cupy.emulate.compile import Refusal, kernel
from intent_provider_cupy.emulate.runtime import Memory, Run, run

SEED: Final = "INTENT_CUPY_SEED"
"""The environment variable that chooses the order in which threads and blocks run; 0 if not set."""


class EmulatedLauncher:
    """Runs the text of one source, block after block; a build per layout of the arguments.

    Raises CapabilityError for a block with more shared memory than a GPU has.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._signature = emit(source.program).signature
        if self._signature.shared_bytes > MOST_SHARED_BYTES:
            raise too_much_shared(self._signature.shared_bytes, MOST_SHARED_BYTES)
        self._entries: dict[Layout, int] = {}

    def __call__(self, invocation: Invocation) -> None:
        """Run all programs of the launch; outputs are written in place.

        Raises:
            BuildFailure: g++ refuses the text; the error shows the author's line.
            EmulationFault: The text does what a GPU does not define.
        """
        signature = self._signature
        layout = layout_of(signature, invocation)
        if layout not in self._entries:
            self._entries[layout] = self._built(layout)
        what = Run(
            name=self._source.entry,
            entry=self._entries[layout],
            arguments=[packed(p, value_of(p, invocation), small=layout.small) for p in signature.parameters],
            memory=[*_views(invocation), *self._buffers(invocation)],
            blocks=invocation.length,
            threads=signature.threads,
            shared_bytes=signature.shared_bytes,
            seed=int(os.environ.get(SEED, "0")),
        )
        run(what)

    def _built(self, layout: Layout) -> int:
        text = specialised(self._source.text, self._signature, layout)
        try:
            return kernel(text, self._source.entry, self._signature)
        except Refusal as refusal:
            raise failure(text, self._source.program, "the CPU", str(refusal)) from refusal

    def _buffers(self, invocation: Invocation) -> Iterator[Memory]:
        """Each workspace buffer from its offset to the next one's."""
        space, offsets = invocation.workspace, invocation.workspace_offsets
        if space is None or offsets is None:
            return
        ends = [*sorted(offsets.values())[1:], space.shape[0]]
        end_of = dict(zip(sorted(offsets.values()), ends, strict=True))
        for buffer in self._source.program.workspace:
            low = space.pointer + offsets[buffer.id]
            yield Memory(
                name=buffer.name, pointer=low, low=low, high=space.pointer + end_of[offsets[buffer.id]],
                itemsize=buffer.dtype.bytes,
            )  # fmt: skip


def _views(invocation: Invocation) -> Iterator[Memory]:
    for view in invocation.views.values():
        yield _memory(view)


def _memory(view: BoundView) -> Memory:
    """The bytes between the first and the last element of a view of any strides."""
    itemsize = BY_NAME[view.dtype].bytes
    spans = [(n - 1) * s for n, s in zip(view.shape, view.strides, strict=True)]
    empty = 0 in view.shape
    low = 0 if empty else sum(s for s in spans if s < 0)
    high = 0 if empty else sum(s for s in spans if s > 0) + 1
    return Memory(
        name=view.name, pointer=view.pointer, low=view.pointer + low * itemsize,
        high=view.pointer + high * itemsize, itemsize=itemsize,
    )  # fmt: skip
