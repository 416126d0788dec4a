"""Inputs of kernels; makes the module of edits importable."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from intent.kir import Kernel

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def arguments() -> Callable[..., dict[str, np.ndarray]]:
    """``arguments(kernel, M=.., N=..)``: random views of a kernel; index views hold their own position."""

    def draw(kernel: Kernel, **extents: int) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(5)
        found = {}
        for view in kernel.views:
            shape = tuple(e.const if e.const is not None else extents[str(e)] for e in view.shape)
            if view.dtype.is_float:
                found[view.name] = rng.standard_normal(shape).astype(view.dtype.numpy)
            else:
                found[view.name] = np.broadcast_to(np.arange(shape[-1]), shape).astype(view.dtype.numpy)
        return found

    return draw
