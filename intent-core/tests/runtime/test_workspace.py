from __future__ import annotations

import gc

import numpy as np

from intent.runtime.libraries import NumpyLibrary
from intent.runtime.workspace import Workspace, allocate


def test_the_memory_of_a_workspace_lives_as_long_as_its_view():
    bound = allocate(Workspace(size=1000, offsets={1: 0}), NumpyLibrary(), "cpu")
    gc.collect()
    owner = bound.array
    while owner.base is not None:
        owner = owner.base
    assert isinstance(owner, np.ndarray)
    assert owner.flags.owndata
    assert owner.ctypes.data <= bound.pointer
    assert bound.pointer + 1000 <= owner.ctypes.data + owner.nbytes


def test_a_workspace_begins_at_an_aligned_address():
    for size in (0, 1, 127, 128, 4097):
        bound = allocate(Workspace(size=size, offsets={1: 0}), NumpyLibrary(), "cpu")
        assert bound.pointer % 128 == 0
        assert bound.array.nbytes == size
