"""Loops around a loop of products are joined with it, and every bit stays."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.passes import refine
from intent.passes.joining import joining
from intent.physical import Loop
from intent.physical.verify import verify
from intent.physical.walk import walk


@intent.kernel
def taps(x: I.In[I.f32, ("R", "M", "K")], w: I.In[I.f32, (3, 2, "K", "N")], y: I.Out[I.f32, ("M", "N")]):
    R, M, K = x.shape
    row = I.indices(I.domain(0, M))
    total = I.zeros((M, w.shape[3]), I.f32)
    for r in range(3):
        for s in range(2):
            at = row + r - s
            inside = (at >= 0) & (at < M)
            moved = I.gather(
                x, index=(s, at[:, None], I.indices(I.domain(0, K))[None, :]), valid=inside[:, None]
            )
            total = total + I.matmul(moved, w[r, s, :, :])
    y[...] = total


@intent.kernel
def stepped(x: I.In[I.f32, ("R", "M", "K")], w: I.In[I.f32, ("K", "N")], y: I.Out[I.f32, ("M", "N")]):
    R, M, K = x.shape
    total = I.full((M, w.shape[1]), 0.5, I.f32)
    for r in range(1, R, 2):
        total = total + I.matmul(x[r, :, :], w[...])
    y[...] = total


@intent.kernel
def doubly(x: I.In[I.f32, ("M", "R", "K")], w: I.In[I.f32, ("R", "K", "N")], y: I.Out[I.f32, ("M", "N")]):
    y[...] = I.contract(x[...], w[...], reduce=((1, 0), (2, 1)))


@intent.kernel
def damped(x: I.In[I.f32, ("R", "M", "K")], w: I.In[I.f32, ("K", "N")], y: I.Out[I.f32, ("M", "N")]):
    R, M, K = x.shape
    total = I.zeros((M, w.shape[1]), I.f32)
    for r in range(R):
        total = total * 0.5 + I.matmul(x[r, :, :], w[...])
    y[...] = total


@intent.kernel
def looked_up(
    x: I.In[I.f32, ("P", "M", "K")],
    page: I.In[I.i32, ("R",)],
    w: I.In[I.f32, ("K", "N")],
    y: I.Out[I.f32, ("M", "N")],
):
    P, M, K = x.shape
    total = I.zeros((M, w.shape[1]), I.f32)
    for r in range(page.shape[0]):
        total = total + I.matmul(x[page[r], :, :], w[...])
    y[...] = total


BLOCKS = {"axis_M": 4, "axis_N": 4, "axis_K": 4, "axis_R": 2}


def loops(program):
    return [op for s in program.segments for op in walk(s.body) if isinstance(op, Loop)]


def joined(constructed, kernel):
    """The program before and after the pass, which is legal by itself."""
    program, lowered = constructed(kernel, BLOCKS)
    before = refine(program)
    verify(before, lowered)
    after = joining(before)
    verify(after)
    return before, after


SHAPES = {
    taps: lambda r, m, k, n: {"x": (r + 2, m, k), "w": (3, 2, k, n)},
    stepped: lambda r, m, k, n: {"x": (r, m, k), "w": (k, n)},
    doubly: lambda r, m, k, n: {"x": (m, r, k), "w": (r, k, n)},
}


@pytest.mark.parametrize("kernel", SHAPES, ids=lambda k: k.__name__)
@pytest.mark.parametrize("r, m, k, n", [(4, 7, 9, 5), (1, 4, 4, 4), (0, 3, 5, 2), (3, 5, 0, 4), (2, 6, 1, 3)])
def test_every_bit_stays(constructed, results, rng, kernel, r, m, k, n):
    before, after = joined(constructed, kernel)
    shapes = SHAPES[kernel](r, m, k, n)
    arguments = {name: rng.normal(size=shape).astype("f4") for name, shape in shapes.items()}
    arguments["y"] = np.full((m, n), np.nan, "f4")
    wanted, found = results(before, arguments)["y"], results(after, arguments)["y"]
    assert np.isfinite(wanted).all()
    np.testing.assert_array_equal(found.view("u4"), wanted.view("u4"))


@pytest.mark.parametrize(("kernel", "depth"), [(taps, 3), (stepped, 2), (doubly, 2)])
def test_one_loop_is_left(constructed, kernel, depth):
    before, after = joined(constructed, kernel)
    assert len(loops(before)) % depth == 0
    assert len(loops(after)) == len(loops(before)) // depth


@pytest.mark.parametrize("kernel", [damped, looked_up])
def test_what_does_more_than_arithmetic_between_the_loops_stays(constructed, kernel):
    before, after = joined(constructed, kernel)
    assert after is before
