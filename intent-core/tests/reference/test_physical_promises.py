"""A promise that is false is the author's, not the compiler's."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.diagnostics import FalseBoundsPromise


@intent.kernel
def trusting_read(at: I.In[I.i64, ("K",)], x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("K",)]):
    i = I.cast(at[...], I.index)
    I.assume_in_bounds(i, x, 0)
    y[...] = x[i]


@intent.kernel
def trusting_write(at: I.In[I.i64, ("K",)], x: I.In[I.i32, ("K",)], y: I.InOut[I.i32, ("N",)]):
    i = I.cast(at[...], I.index)
    I.assume_in_bounds(i, y, 0)
    I.scatter_unique(y, index=i, value=x[...])


def test_a_false_promise_about_a_read():
    artifact = intent.compile(trusting_read, "reference")
    np.testing.assert_array_equal(artifact.run(np.array([2, 0]), np.arange(3, dtype=np.int32)), [2, 0])
    with pytest.raises(FalseBoundsPromise, match=r"axis 0 of 'x' is false") as error:
        artifact.run(np.array([2, 7]), np.arange(3, dtype=np.int32))
    assert error.value.seen["the index"] == "7"
    assert "y[...] = x[i]" in str(error.value)


def test_a_false_promise_about_a_write():
    artifact = intent.compile(trusting_write, "reference")
    y = np.zeros(3, np.int32)
    with pytest.raises(FalseBoundsPromise, match=r"axis 0 of 'y' is false"):
        artifact(np.array([-1]), np.ones(1, np.int32), y)
    assert y.tolist() == [0, 0, 0]
