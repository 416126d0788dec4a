"""Memory of the program evaluator over arrays of every element type."""

import numpy as np
import pytest

from intent.reference.physical.memory import Memory
from intent.types import dtypes


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=lambda d: d.name)
def test_every_dtype_in_any_strides(dtype):
    array = np.arange(12).astype(dtype.numpy).reshape(3, 4).T[::-1]
    memory = Memory(array)
    at = [np.arange(4).reshape(4, 1), np.arange(3).reshape(1, 3)]
    read = memory.read(at, None, np.zeros((1, 1), dtype.numpy))
    np.testing.assert_array_equal(read.astype(np.float64), array.astype(np.float64))
