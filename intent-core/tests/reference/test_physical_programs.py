"""Whole physical programs against numpy."""

from __future__ import annotations

import time

import numpy as np
import pytest

from intent import physical
from intent.physical import Dim
from intent.reference.physical import execute
from intent.types import extent
from intent.types.dtypes import BOOL, F32

M, N = extent.symbol("M"), extent.symbol("N")


def softmax_rows(b, block):
    """One row per program, the whole row resident in ``block`` lanes."""
    x, y = b.view("x", F32, ("M", "N")), b.view("y", F32, ("M", "N"), "out")
    cols = Dim("cols", block)

    def body(row):
        lane = b.lane(cols)
        valid = b.pw("lt", lane, b.launch(N), dtype=BOOL)
        value = b.load(x, row, lane, valid=valid, fill=b.const(-np.inf, F32))
        top = b.op(physical.Reduce, (F32, ()), operands=(value,), dims=(cols,), kind="max")
        shifted = b.pw("exp", b.pw("sub", value, top))
        total = b.op(physical.Reduce, (F32, ()), operands=(shifted,), dims=(cols,), kind="sum")
        b.store(y, b.pw("div", shifted, total), row, lane, valid=valid)

    return b.program(M, body)


def softmax(x):
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("shape", [(1, 1), (7, 64), (130, 37)])
@pytest.mark.parametrize("shuffled", [False, True])
def test_softmax_of_resident_rows(assemble, shape, shuffled):
    rng = np.random.default_rng(0)
    x = rng.normal(size=shape).astype(np.float32)
    y = np.zeros_like(x)
    program = softmax_rows(assemble, 64)
    order = rng if shuffled else None
    execute(program, {"x": x, "y": y}, {}, {"M": shape[0], "N": shape[1]}, order=order)
    np.testing.assert_allclose(y, softmax(x), rtol=1e-5)


def test_large_softmax_takes_under_two_seconds(assemble):
    x = np.random.default_rng(0).normal(size=(4096, 4096)).astype(np.float32)
    y = np.zeros_like(x)
    program = softmax_rows(assemble, 4096)
    begin = time.process_time()  # other work on the machine does not count
    execute(program, {"x": x, "y": y}, {}, {"M": 4096, "N": 4096})
    seconds = time.process_time() - begin
    np.testing.assert_allclose(y[::97], softmax(x[::97]), rtol=1e-5)
    assert seconds < 2, seconds
