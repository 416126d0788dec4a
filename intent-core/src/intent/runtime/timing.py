"""Seconds per stage of a compilation, for ``explain()``."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["stage"]


@contextmanager
def stage(seconds: dict[str, float], name: str) -> Iterator[None]:
    """Add the time of the body to ``seconds[name]``, also when it raises."""
    begin = time.perf_counter()
    try:
        yield
    finally:
        seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - begin
