"""Arrays that reach over gigabytes of addresses and touch a few kilobytes of memory.

On the host the block is mapped and not reserved, so that only touched pages exist; on a GPU it is allocated and
not initialised. Tests of wide offsets use it instead of arrays that no machine could fill.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from intent_testkit.device import Gpu, Place, torch_dtype

NO_RESERVE: Final = 0x4000
"""Linux's ``MAP_NORESERVE``, which the module ``mmap`` does not name before Python 3.13."""


@dataclass(kw_only=True)
class Sparse:
    """A view of ``shape`` and element ``strides`` (non-negative) at the start of a block just large enough."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    place: Place

    def __post_init__(self) -> None:
        """Map the block and make the view ``array`` of it."""
        reach = sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))
        kind = np.dtype({"i8": np.int8, "i32": np.int32, "f64": np.float64}[self.dtype])
        self.bytes = (reach + 1) * kind.itemsize
        self.array: Any
        if isinstance(self.place, Gpu):
            import torch

            block = torch.empty(reach + 1, dtype=torch_dtype(self.dtype), device="cuda")
            self.array = torch.as_strided(block, self.shape, self.strides)
        else:
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE
            block = mmap.mmap(-1, self.bytes, flags=flags)
            steps = tuple(s * kind.itemsize for s in self.strides)
            self.array = np.ndarray(self.shape, kind, buffer=block, strides=steps)

    def fill(self, values: Any) -> None:
        """Write the elements."""
        if isinstance(self.place, Gpu):
            import torch

            self.array.copy_(torch.from_numpy(np.ascontiguousarray(values)))
        else:
            self.array[...] = values

    def read(self) -> Any:
        """The elements as a new numpy array."""
        if isinstance(self.place, Gpu):
            return self.array.contiguous().cpu().numpy()
        return self.array.copy()
