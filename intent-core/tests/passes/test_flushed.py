"""Subnormal results may be zero where a constant swallows them, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.passes import Permissions
from intent.passes.flushed import flushed
from intent.physical import Pointwise


@intent.kernel
def swallowed(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    v = x[...]
    y[...] = (1.0 + I.erf(v)) * (I.erf(2.0 * v) - 0.5) * I.exp2(v)


@intent.kernel
def seen(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    e = I.erf(x[...])
    y[...] = (1.0 + e) * e


@intent.kernel
def by_little(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = 1e-20 + I.erf(x[...])


@intent.kernel
def by_each_other(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = I.erf(x[...]) + I.exp2(x[...] * 2.0)


@intent.kernel
def by_itself(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    e = I.erf(x[...])
    y[...] = e + e


@intent.kernel
def by_the_least(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = 2.0**-64 + I.erf(x[...])


@intent.kernel
def of_another_function(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = (1.0 + I.exp2(x[...])) * (1.0 + I.erf(x[...]))


@intent.kernel
def of_another_dtype(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    v = x[...]
    wide = 1.0 + I.erf(I.cast(v, I.f64))
    y[...] = I.cast(wide, I.f32) * (1.0 + I.erf(v))


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (swallowed, ["erf", "erf"]),
        (seen, []),
        (by_little, []),
        (by_each_other, []),
        (by_itself, []),
        (by_the_least, ["erf"]),
        (of_another_function, ["erf"]),
        (of_another_dtype, ["erf"]),
    ],
)
def test_only_what_a_constant_swallows_may_be_flushed(stages, rng, kernel, expected):
    made = stages(kernel, {"axis_N": 8}, {"x": rng.normal(size=21).astype("f4"), "y": np.zeros(21, "f4")}, {})
    assert [op.fn for op in made.ops(Pointwise) if op.flush_to_zero] == expected
    assert flushed(made.last, Permissions()) is made.last, "what is marked stays the same object"


def test_what_may_differ_is_less_than_half_of_a_last_place_of_the_least_constant():
    tiny = np.float32(2.0**-99)
    for c in (2.0**-64, -(2.0**-64), 1.0, 3.0):
        assert np.float32(c) + tiny == np.float32(c)
        assert np.float32(c) - tiny == np.float32(c)
