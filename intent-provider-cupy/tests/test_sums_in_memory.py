"""Atomic sums of neighbouring lanes: in one instruction where the layout allows it, else by a warp side by side."""

from __future__ import annotations

import re
from dataclasses import replace

import cupy_kernels as kernels
import ml_dtypes
import numpy as np
import pytest

import intent.language as I
from intent import kernel
from intent_provider_cupy.build import build
from intent_provider_cupy.plugin import CuPyProvider


@pytest.fixture(autouse=True)
def emulation(monkeypatch):
    monkeypatch.setenv("INTENT_EXECUTION", "emulate")


@kernel
def rows_f32(x: I.In[I.f32, ("N", "D")], at: I.In[I.i32, ("N",)], y: I.InOut[I.f32, ("K", "D")]):
    columns = I.indices(I.domain(0, x.shape[1]))
    I.scatter_reduce(y, index=(at[...][:, None], columns[None, :]), value=x[...], combine=I.add)


@kernel
def rows_bf16(x: I.In[I.bf16, ("N", "D")], at: I.In[I.i32, ("N",)], y: I.InOut[I.bf16, ("K", "D")]):
    columns = I.indices(I.domain(0, x.shape[1]))
    I.scatter_reduce(y, index=(at[...][:, None], columns[None, :]), value=x[...], combine=I.add)


@kernel
def rows_i32(x: I.In[I.i32, ("N", "D")], at: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("K", "D")]):
    columns = I.indices(I.domain(0, x.shape[1]))
    I.scatter_reduce(y, index=(at[...][:, None], columns[None, :]), value=x[...], combine=I.add)


ROWS = {"f32": (rows_f32, np.float32), "bf16": (rows_bf16, ml_dtypes.bfloat16), "i32": (rows_i32, np.int32)}


def made(name, n, d, rows, **knobs):
    return kernels.compiled(ROWS[name][0], {"N": n, "D": d, "K": rows}, **knobs)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize(("d", "skipped"), [(512, 0), (384, 8), (384, 2), (100, 1), (37, 0)])
def test_rows_are_added_wherever_they_begin(name, d, skipped):
    """Rows of any length, and of matrices whose rows are apart: aligned ones, and others."""
    n, rows, dtype = 24, 5, ROWS[name][1]
    rng = np.random.default_rng(d)
    x = rng.integers(-4, 5, (n, d + skipped)).astype(dtype)[:, :d]
    at = rng.integers(0, rows, n).astype(np.int32)
    y = rng.integers(-4, 5, (rows, d + skipped)).astype(dtype)[:, :d]
    wanted = y.astype(np.float64)
    np.add.at(wanted, at, x.astype(np.float64))
    made(name, n, d, rows)(x, at, y)
    assert (y.astype(np.float64) == wanted).all()


@pytest.mark.parametrize(("name", "elements"), [("f32", 4), ("bf16", 8)])
def test_one_instruction_adds_to_neighbouring_elements(name, elements):
    text = kernels.kernel_text(made(name, 64, 2048, 16))
    assert f"it_atomic_add_all<{elements}, IT_DEVICE>(y, " in text
    assert f"it_load_once<{elements}>(&x_value[axis_D_r], x, " in text, "what is added leaves the caches to y"
    assert "it_atomic_add<IT_RELAXED, IT_DEVICE>(y, " in text, "where the layout does not allow it"


def test_what_has_no_such_instruction_keeps_the_lanes_of_a_warp_together():
    text = kernels.kernel_text(made("i32", 64, 2048, 16))
    assert "it_atomic_add_all" not in text
    assert "it_load<" not in text, "each lane is loaded where it is added"


@kernel
def counted(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)], old: I.Out[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        old[i] = I.atomic.add(y[i], x[i])


def test_old_values_are_wanted_one_by_one():
    artifact = kernels.compiled(counted, {"N": 4096})
    assert "it_atomic_add_all" not in kernels.kernel_text(artifact)
    x, y, old = (np.arange(4096, dtype=np.float32) + k for k in range(3))
    artifact(x, y, old)
    assert (old == np.arange(4096) + 1).all()
    assert (y == 2 * np.arange(4096) + 1).all()


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_the_instructions_name_the_memory(name, target):
    """Without a state space an access asks where its address lies, and waits for the old value."""
    artifact = made(name, 64, 2048, 16)
    source = CuPyProvider().serialize(artifact.program)
    aligned = re.sub(r"(_divisor = )\d+", r"\g<1>16", source.text)
    listing = build(replace(source, text=aligned), target).listing
    atomics = re.findall(r"(?:atom|red)\.\S+", listing)
    assert atomics
    assert all(".global." in a or ".shared::cta." in a for a in atomics)
    vectors = [a for a in atomics if re.search(r"\.v[248]\.", a)]
    assert bool(vectors) == (target == "sm_90a" and name != "i32")
