"""Workspaces that launches on a GPU use in turn: one for each stream of an artifact, and number of arrivals.

Launches on one stream run one after the other, so they may use the same memory; launches on two streams may
not. Memory that a graph captured belongs to its replays, so a captured launch has memory of its own.
"""

from __future__ import annotations

import threading
from typing import Final

from intent.provider import BoundView
from intent.runtime.array import Library
from intent.runtime.workspace import Workspace, allocate

__all__ = ["Workspaces"]

_KEPT_BYTES: Final = 64 << 20
"""A larger workspace is allocated for each launch, which then takes long enough to hide that, unless some of it
has to be zero: setting it would be another launch."""

_KEPT_STREAMS: Final = 64
_PER_THREAD_STREAM: Final = 2
"""The handle that names another stream in every thread."""


class Workspaces:
    """The workspaces of one artifact, kept between launches."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, int, int, int], BoundView] = {}

    def get(self, space: Workspace, library: Library, device: str, stream: int) -> BoundView | None:
        """Memory for one launch on ``stream``, the current one of ``device``; None when there are no buffers.

        The caller holds it until the launch is on its stream.
        """
        large = space.size > _KEPT_BYTES and not space.zeroed
        if large or not space.offsets or library.capturing(device):
            return allocate(space, library, device)
        thread = threading.get_ident() if stream == _PER_THREAD_STREAM else 0
        key = (device, stream, thread, space.zeroed)
        found = self._kept.get(key)
        if found is None or found.shape[0] < space.size:
            found = allocate(space, library, device)
            assert found is not None, "there are buffers"
            if len(self._kept) >= _KEPT_STREAMS:
                self._kept.clear()
            self._kept[key] = found
        return found

    def drop(self) -> None:
        """Forget all memory: after a failed launch nobody knows what still writes to it."""
        self._kept.clear()
