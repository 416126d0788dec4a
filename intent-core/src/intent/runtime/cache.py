"""Caches of compilations, keyed by content: two kernels that mean the same text are compiled once.

The key of a kernel is its lowered form, in which helpers are inlined and constexprs are bound, with the
author's lines (they appear in emitted text). Emitted source can also be published as a file, for debuggers
and profilers.
"""

from __future__ import annotations

import hashlib
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Final, Generic, TypeVar

from intent.kir.kernel import Kernel
from intent.kir.text import print_kernel
from intent.kir.walk import walk
from intent.provider import Source
from intent.provider.folder import cache_folder

__all__ = ["Memory", "kernel_key", "publish"]

_T = TypeVar("_T")
_LIMIT: Final = 1024


def kernel_key(kernel: Kernel) -> str:
    """A digest of what the kernel means and of the author's lines that its parts come from."""
    digest = hashlib.sha256(print_kernel(kernel).encode())
    for op in walk(kernel.body):
        digest.update(f"{op.span}|{op.span.source}\n".encode())
    return digest.hexdigest()


class Memory(Generic[_T]):
    """A bounded in-memory cache, least recently used out first. Values are made once, also under threads."""

    def __init__(self, limit: int = _LIMIT) -> None:
        self._limit = limit
        self._values: OrderedDict[Hashable, _T] = OrderedDict()
        self._lock = threading.RLock()

    def get(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """The value of ``key``; ``make`` makes it when it is not there. What ``make`` raises is not kept."""
        with self._lock:
            if key not in self._values:
                self._values[key] = make()
                if len(self._values) > self._limit:
                    self._values.popitem(last=False)
            self._values.move_to_end(key)
            return self._values[key]

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()


def publish(source: Source) -> Path:
    """Write emitted text to a file named by its content, atomically, and return the path.

    Readers see the whole file or none; writers of the same content may race.
    """
    digest = hashlib.sha256(source.text.encode()).hexdigest()[:16]
    folder = cache_folder() / "sources"
    path = folder / f"{source.entry}-{digest}{source.suffix}"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=folder, delete=False) as file:
        file.write(source.text)
    Path(file.name).replace(path)
    return path
