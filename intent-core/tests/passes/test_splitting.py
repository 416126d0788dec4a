"""f32 contractions may be made of products of bf16 parts where the caller permits it, and how exact that is."""

from __future__ import annotations

import numpy as np
import pytest
from ml_dtypes import bfloat16

import intent
import intent.language as I
from intent.passes import Permissions
from intent.passes.splitting import splitting
from intent.physical import Contract
from intent.physical.walk import walk

SPLIT = intent.CompileOptions(products="split")


def product(dtype):
    @intent.kernel
    def made(
        a: I.In[I.dtype(dtype), ("M", "K")],
        b: I.In[I.dtype(dtype), ("K", "N")],
        c: I.Out[I.dtype("f64" if dtype == "f64" else "f32"), ("M", "N")],
    ):
        c[...] = I.matmul(a[...], b[...])

    return made


def marks(dtype, options):
    program = intent.compile(product(dtype), "reference", options=options).program
    return {op.split for s in program.segments for op in walk(s.body) if isinstance(op, Contract)}


@pytest.mark.parametrize(
    ("dtype", "options", "expected"),
    [
        ("f32", SPLIT, {True}), ("f32", None, {False}), ("f16", SPLIT, {False}), ("f64", SPLIT, {False}),
        ("f32", intent.CompileOptions(numerics="relaxed_normalization"), {False}),
    ],
)  # fmt: skip
def test_only_f32_and_only_by_permission(dtype, options, expected):
    assert marks(dtype, options) == expected


def test_what_is_marked_stays_the_same_object():
    program = intent.compile(product("f32"), "reference", options=SPLIT).program
    assert splitting(program, Permissions(split=True)) is program


def parts(x):
    """Three bf16 numbers whose sum is the f32 number, as f64."""
    found = []
    for _ in range(3):
        found.append(x.astype(bfloat16).astype(np.float32))
        x = (x - found[-1]).astype(np.float32)
    return [p.astype(np.float64) for p in found]


def six(a, b):
    """The sum of the six largest products of parts, in f64."""
    (a0, a1, a2), (b0, b1, b2) = parts(a), parts(b)
    return a0 * b0 + a0 * b1 + a1 * b0 + a1 * b1 + a0 * b2 + a2 * b0


def test_six_products_are_within_two_roundings_of_f32(rng):
    scale = 2.0 ** rng.integers(-40, 40, (2, 200_000))
    a, b = (scale * rng.normal(size=scale.shape)).astype(np.float32)
    exact = a.astype(np.float64) * b.astype(np.float64)
    assert (sum(parts(a)) == a).all()
    worst = (abs(six(a, b) - exact) / abs(exact)).max()
    assert 2.0**-26 < worst <= 2.0**-23


def test_what_is_exact_in_f32_is_exact_in_parts(rng):
    """Integers whose product has at most 24 bits: counts, one-hot rows, 2049 * 2049."""
    for bits in range(1, 24):
        a = rng.integers(0, 2**bits, 4000) * 2 + 1
        b = rng.integers(0, max(1, 2 ** (23 - bits)), 4000)
        got = six(a.astype(np.float32), b.astype(np.float32))
        assert (got == a.astype(np.float64) * b).all()
    odd = np.float32([2049, 4095, 16777215])
    assert (six(odd, np.float32([2049, 4095, 1])) == [2049**2, 4095**2, 16777215]).all()
