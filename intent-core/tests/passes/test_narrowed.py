"""Quotients, exponentials and logistic functions that are only narrowed may be approximate; nothing else may."""

from __future__ import annotations

import numpy as np
import pytest
from ml_dtypes import bfloat16

import intent
import intent.language as I
from intent.passes import Permissions
from intent.passes.expand import expand
from intent.passes.narrowed import narrowed
from intent.physical import Pointwise
from intent.physical.walk import walk

BLOCKS = {"axis_N": 8, "axis_M": 4}


def marked(made):
    """Functions of approximate operations, and those of the others that could have been."""
    ops = [op for op in made.ops(Pointwise) if op.fn in ("div", "exp", "sigmoid")]
    return sorted(op.fn for op in ops if op.approximate), sorted(op.fn for op in ops if not op.approximate)


@pytest.fixture
def made(stages, rng):
    """``made(kernel, **views)``: all stages of a kernel over 21 elements, or rows, run on random inputs."""

    def run(kernel, wanted=None, **dtypes):
        arrays = {name: rng.normal(size=21).astype(dtype) for name, dtype in dtypes.items()}
        values = {name: v.astype(np.float64) for name, v in arrays.items()}
        found = stages(kernel, BLOCKS, arrays, wanted(values) if wanted else {}, tolerance=2**-8)
        assert narrowed(found.last, Permissions()) is found.last, "what is marked stays the same object"
        return found

    return run


@intent.kernel
def gated(x: I.In[I.f32, ("N",)], u: I.In[I.f32, ("N",)], y: I.Out[I.bf16, ("N",)]):
    v = x[...]
    y[...] = I.cast(I.select(v > 0.0, v * I.sigmoid(v), -I.exp(v)) / (2.0 + I.abs(u[...])), I.bf16)


def test_factors_of_what_is_narrowed_are_approximate(made):
    def wanted(v):
        x = v["x"]
        return {"y": np.where(x > 0, x / (1 + np.exp(-x)), -np.exp(x)) / (2 + abs(v["u"]))}

    assert marked(made(gated, wanted, x="f4", u="f4", y=bfloat16)) == (["div", "exp", "sigmoid"], [])


@intent.kernel
def summed(x: I.In[I.f32, ("N",)], u: I.In[I.f32, ("N",)], y: I.Out[I.bf16, ("N",)]):
    y[...] = I.cast(x[...] * I.sigmoid(x[...]) + u[...], I.bf16)


@intent.kernel
def compared(x: I.In[I.f32, ("N",)], u: I.In[I.f32, ("N",)], y: I.Out[I.bf16, ("N",)]):
    e = I.exp(x[...])
    y[...] = I.cast(I.select(e > 1.0, e, u[...]), I.bf16)


@intent.kernel
def kept(x: I.In[I.f32, ("N",)], z: I.Out[I.f32, ("N",)], y: I.Out[I.bf16, ("N",)]):
    q = x[...] / 3.0
    z[...] = q
    y[...] = I.cast(q, I.bf16)


@intent.kernel
def exponent(x: I.In[I.f32, ("N",)], y: I.Out[I.bf16, ("N",)]):
    """The error of an exponent is no relative error of the power."""
    y[...] = I.cast(I.exp(I.exp(x[...])), I.bf16)


@intent.kernel
def condition(x: I.In[I.f32, ("N",)], y: I.Out[I.bf16, ("N",)]):
    y[...] = I.cast(I.cast(I.sigmoid(x[...]) > 0.5, I.f32), I.bf16)


@intent.kernel
def rounded(
    x: I.In[I.f32, ("N",)], z: I.Out[I.i16, ("N",)], w: I.Out[I.f64, ("N",)], y: I.Out[I.bf16, ("N",)]
):
    """A whole number is another one for the least of errors, and a wide one shows it."""
    v = x[...]
    z[...] = I.cast(I.exp(v) * 100.0, I.i16)
    w[...] = I.cast(I.sigmoid(v), I.f64)
    y[...] = I.cast(v, I.bf16)


@intent.kernel
def wide(x: I.In[I.f64, ("N",)], y: I.Out[I.bf16, ("N",)]):
    y[...] = I.cast(I.exp(x[...]) / 3.0, I.bf16)


@pytest.mark.parametrize(
    ("kernel", "views", "rest"),
    [
        (summed, {"x": "f4", "u": "f4"}, ["sigmoid"]),
        (compared, {"x": "f4", "u": "f4"}, ["exp"]),
        (kept, {"x": "f4", "z": "f4"}, ["div"]),
        (condition, {"x": "f4"}, ["sigmoid"]),
        (rounded, {"x": "f4", "z": "i2", "w": "f8"}, ["exp", "sigmoid"]),
        (wide, {"x": "f8"}, ["div", "exp"]),
    ],
)
def test_what_has_another_use_stays_as_it_is(made, kernel, views, rest):
    assert marked(made(kernel, **views, y=bfloat16)) == ([], rest)


def test_only_the_outer_one_of_two_exponentials_is_a_factor(made):
    assert marked(made(exponent, x="f4", y=bfloat16)) == (["exp"], ["exp"])


@intent.kernel
def rows(x: I.In[I.bf16, ("M", "N")], y: I.Out[I.bf16, ("M", "N")]):
    v = I.cast(x[...], I.f32)
    e = I.exp(v - I.reduce.max(v, axis=1)[:, None])
    y[...] = I.cast(e / I.reduce.sum(e, axis=1)[:, None], I.bf16)


def test_the_sum_of_a_walked_softmax_keeps_exact_exponentials(stages, rng):
    """The walk that sums has one, the walk that writes has the other; peeling doubled both."""
    x = rng.normal(size=(5, 21)).astype(bfloat16)
    e = np.exp(x.astype(np.float64))
    arrays = {"x": x, "y": np.zeros((5, 21), bfloat16)}
    found = stages(rows, BLOCKS, arrays, {"y": e / e.sum(1, keepdims=True)}, tolerance=2**-8)
    approximate, exact = marked(found)
    assert set(approximate) == {"div", "exp"}
    assert set(exact) == {"exp"}
    assert approximate.count("exp") == len(exact)


def test_an_expanded_function_is_approximate_inside(made):
    expanded = expand(made(gated, x="f4", u="f4", y=bfloat16).last, [])
    ops = [op for s in expanded.segments for op in walk(s.body) if isinstance(op, Pointwise)]
    assert all(op.approximate for op in ops if op.fn in ("div", "exp"))
    assert not any(op.fn == "sigmoid" for op in ops)
