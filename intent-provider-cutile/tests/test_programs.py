"""Whole programs against numpy: masks, tails, loops, branches, segments, workspace, strides."""

from __future__ import annotations

import cutile_programs as programs
import numpy as np
import pytest
from cutile_execution import run
from test_pointwise import same

RNG = np.random.default_rng(3)


def f32(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("n", [0, 1, 127, 128, 129, 1000])
def test_add(n):
    x, y, out = f32(n), f32(n), np.zeros(n, np.float32)
    run(programs.add(), {"x": x, "y": y, "out": out})
    same(out, x + y)


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 700), (2, 1024)])
def test_softmax(shape, dtype):
    program = programs.softmax(1024, dtype)
    x = f32(*shape).astype(program.params[0].dtype.numpy)
    y = np.zeros_like(x)
    run(program, {"x": x, "y": y})
    wide = x.astype(np.float64)
    wanted = np.exp(wide - wide.max(1, keepdims=True))
    wanted /= wanted.sum(1, keepdims=True)
    eps = {"f32": 1e-6, "f16": 1e-3, "bf16": 8e-3}[dtype]
    np.testing.assert_allclose(y.astype(np.float64), wanted, rtol=eps, atol=1e-7)


@pytest.mark.parametrize("n", [0, 1, 64, 65, 300])
def test_loop_with_a_tensor_carry(n):
    x, y = f32(5, n), np.zeros(5, np.float32)
    run(programs.row_sum_loop(), {"x": x, "y": y})
    np.testing.assert_allclose(y, x.astype(np.float64).sum(1), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("n", "m", "k"), [(130, 7, 100), (1, 3, 1), (64, 1, 64), (5, 0, 3), (0, 4, 3)])
def test_segments_of_one_launch(n, m, k):
    x, w, y, s = f32(n), f32(m, k), np.zeros(n, np.float32), np.zeros(m, np.float32)
    run(programs.two_segments(), {"x": x, "w": w, "y": y, "s": s})
    same(y, x + x)
    np.testing.assert_allclose(s, w.astype(np.float64).sum(1), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("flip", [False, True])
def test_branches(flip):
    x, y = f32(9), np.full(9, 7, np.float32)
    run(programs.branches(), {"x": x, "y": y}, {"flip": flip})
    value = -x if flip else x * x
    same(y, np.where(value > 0, value, np.float32(7)))


@pytest.mark.parametrize("shape", [(1, 1), (16, 16), (20, 33)])
def test_transpose(shape):
    x, y = f32(*shape), np.zeros(shape[::-1], np.float32)
    run(programs.transpose(), {"x": x, "y": y})
    same(y, x.T)


@pytest.mark.parametrize("index", ["i32", "i64", "u8"])
def test_gather_skips_invalid_rows(index):
    table = f32(11, 20)
    rows = np.array([3, 255 if index == "u8" else -1, 10, 0]).astype(
        index.replace("i", "int").replace("u", "uint")
    )
    if index == "u8":
        rows[1] = 1
    out = np.full((4, 20), 5, np.float32)
    run(programs.gather(index=index), {"table": table, "rows": rows, "out": out})
    safe = rows.astype(np.int64)
    same(out, np.where(safe[:, None] >= 0, table[safe], np.float32(0)))


def test_workspace_holds_one_slice_per_program():
    x, y = f32(4, 27), np.zeros((4, 27), np.float32)
    run(programs.workspace(), {"x": x, "y": y})
    same(y, x[:, ::-1])


def test_while_with_two_carries():
    x, y = np.array([8, -12, 0, 7, -64, 1 << 30], np.int32), np.zeros(6, np.int32)
    run(programs.halving(), {"x": x, "y": y})
    same(y, np.array([3, 2, 0, 0, 6, 30], np.int32))
