"""Dims of different products in one fragment: products that want the same threads for them do without."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I


@intent.kernel
def shared_keys(
    q: I.In[I.f16, ("M", "D")],
    k: I.In[I.f16, ("N", "D")],
    o: I.Out[I.f32, ("M", "D")],
    z: I.Out[I.f32, ("M",)],
):
    """The keys are values too, and a pointwise value has the rows of one product and the columns of the other."""
    s = I.matmul(q[...], k[...], transpose_rhs=True, acc_dtype=I.f32)
    twice = k[...] * I.cast(2.0, I.f16)
    wide = I.cast(twice, I.f32)
    o[...] = (
        I.matmul(I.cast(s, I.f16), twice, acc_dtype=I.f32) + I.reduce.sum(wide * I.abs(wide), axis=0)[None, :]
    )
    z[...] = I.reduce.max(s, axis=1)


@pytest.mark.parametrize("n", [16, 32, 60])
def test_keys_that_are_values(monkeypatch, n):
    monkeypatch.setenv("INTENT_EXECUTION", "emulate")
    rng = np.random.default_rng(n)
    q, k = ((rng.normal(size=(n, 32)) * 0.3).astype(np.float16) for _ in range(2))
    o, z = np.zeros((n, 32), np.float32), np.zeros(n, np.float32)
    intent.compile(shared_keys, provider="cupy")(q, k, o, z)
    s = q.astype(np.float64) @ k.astype(np.float64).T
    twice = (k * np.float16(2)).astype(np.float64)
    wanted = s.astype(np.float16).astype(np.float64) @ twice + (twice * abs(twice)).sum(0)
    # The scores are rounded to f16 from f32 sums here and from f64 sums there: an ulp apart at most, n times.
    np.testing.assert_allclose(o, wanted, atol=n * 2e-3)
    np.testing.assert_allclose(z, s.max(1), atol=1e-5)


@intent.kernel
def faded(
    k: I.In[I.f16, ("T", "D")],
    v: I.In[I.f16, ("T", "E")],
    gate: I.In[I.f32, ("T",)],
    q: I.In[I.f16, ("T", "D")],
    state: I.Out[I.f32, ("D", "E")],
    y: I.Out[I.f32, ("T", "E")],
):
    """Of rows that are weighed by their prefix sums: a product whose rows are summed by the other one."""
    since = I.cumsum(gate[...], axis=0)
    keys = I.cast(I.cast(k[...], I.f32) * since[:, None], I.f16)
    made = I.matmul(keys, v[...], transpose_lhs=True, acc_dtype=I.f32)
    state[...] = made
    y[...] = I.matmul(q[...], I.cast(made, I.f16), acc_dtype=I.f32) * since[:, None]


def test_factors_of_fewer_dims_are_brought_to_the_table_of_an_operand(monkeypatch):
    monkeypatch.setenv("INTENT_EXECUTION", "emulate")
    compiled = intent.compile(faded, provider="cupy")
    rng = np.random.default_rng(0)
    T, D, E = 64, 64, 32
    k, v, q = (rng.normal(size=s).astype(np.float16) for s in ((T, D), (T, E), (T, D)))
    gate = rng.uniform(0, 0.1, T).astype(np.float32)
    state, y = np.empty((D, E), np.float32), np.empty((T, E), np.float32)
    compiled(k, v, gate, q, state, y)
    since = np.cumsum(gate.astype(np.float64))
    want = (k * since[:, None]).T @ v.astype(np.float64)
    assert np.abs(state - want).max() < 4e-3 * np.abs(want).max()
    want = (q.astype(np.float64) @ want) * since[:, None]
    assert np.abs(y - want).max() < 4e-3 * np.abs(want).max()
    assert "fmaf(factor" not in compiled.source  # all on tensor cores
