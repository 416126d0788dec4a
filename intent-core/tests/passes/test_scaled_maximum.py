"""Positive factors leave maxima and minima without changing a bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import intent
import intent.language as I
from intent.passes.scaled_maximum import scaled_maximum
from intent.physical import Dim, Fragment, Guard, Pointwise, Program, Reduce
from intent.physical.verify import verify
from intent.physical.walk import walk
from intent.types.dtypes import F32
from intent.types.extent import symbol
from intent_testkit.programs.builder import Builder, view


@intent.kernel
def halved(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)], z: I.Out[I.f32, ("M", "N")]):
    v = x[...] * 0.3
    y[...] = I.reduce.max(v, axis=1)
    z[...] = I.exp2(v - I.reduce.max(v, axis=1)[:, None])


@intent.kernel
def least(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.min(0.3 * x[...], axis=1)


@intent.kernel
def masked(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    M, N = x.shape
    keep = I.indices(I.domain(0, N))[None, :] % 3 != 0
    y[...] = I.reduce.max(I.mask(x[...] * 0.3, keep, -I.inf), axis=1)


@intent.kernel
def turned(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.max(x[...] * -0.3, axis=1)


@intent.kernel
def by_column(x: I.In[I.f32, ("M", "N")], w: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.max(x[...] * w[...][None, :], axis=1)


@intent.kernel
def of_integers(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M",)]):
    """Products wrap."""
    y[...] = I.reduce.max(x[...] * 3, axis=1)


@intent.kernel
def summed(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.sum(x[...] * 0.3, axis=1)


@intent.kernel
def moved(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.max(x[...] + 0.3, axis=1)


@intent.kernel
def divided(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.max(x[...] / 0.3, axis=1)


@intent.kernel
def beside_zero(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    keep = I.indices(I.domain(0, x.shape[1]))[None, :] % 3 != 0
    y[...] = I.select(keep, x[...] * 0.3, 0.0) - I.reduce.max(x[...], axis=1)[:, None]


@intent.kernel
def normed(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    M, N = x.shape
    y[...] = I.reduce.max(x[...] * (I.rsqrt(I.cast(N, I.f32)) * I.LOG2E), axis=1)


def ops(program: Program, kind):
    return [op for s in program.segments for op in walk(s.body) if isinstance(op, kind)]


def multiplied(program: Program) -> set[int]:
    """The values that are products."""
    return {op.result.id for op in ops(program, Pointwise) if op.fn == "mul"}


def taken_out(program: Program) -> Program:
    """After the pass, which leaves a legal program without an extreme of products."""
    new = scaled_maximum(program)
    verify(new)
    reduced = [op for op in ops(new, Reduce) if op.kind in ("max", "min")]
    assert reduced
    assert not any(op.operands[0].id in multiplied(new) for op in reduced)
    return new


def values(rng) -> np.ndarray:
    """Rows of ordinary numbers, subnormals, infinities, NaN, and nothing but -inf."""
    x = rng.standard_normal((6, 20)).astype(np.float32)
    x[1] *= 1e-39
    x[2, 3], x[2, 7] = np.inf, -np.inf
    x[3, 5] = np.nan
    x[4] = -np.inf
    x[5] = 3e38
    return x


@pytest.mark.parametrize("kernel", [halved, least, masked])
@pytest.mark.parametrize("walked", [False, True])
def test_every_bit_stays(kernel, walked, constructed, run, rng):
    program, _ = constructed(kernel, {"axis_N": 8} if walked else {})
    x = values(rng)
    outputs = {name: np.full((6, 20) if name == "z" else 6, 7, np.float32) for name in ("y", "z")}
    given = {"x": x} | {v.name: outputs[v.name] for v in program.views if v.name != "x"}
    before, after = run(program, given), run(taken_out(program), given)
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value)


def test_the_products_that_are_left_have_one_use(constructed):
    program = taken_out(constructed(halved, {"axis_M": 2})[0])
    wide = {op.result.id for op in ops(program, Pointwise) if op.fn == "mul" and len(op.result.dims) == 2}
    uses = [o.id for op in ops(program, Pointwise) for o in op.operands if o.id in wide]
    assert len(uses) == len(set(uses)) == 1


@pytest.mark.parametrize("kernel", [turned, by_column, of_integers, summed, moved, divided, beside_zero])
def test_other_factors_stay(kernel, constructed):
    program, _ = constructed(kernel, {})
    assert scaled_maximum(program) is program


def test_a_factor_of_an_extent_needs_its_value(constructed):
    program, _ = constructed(normed, {})
    assert scaled_maximum(program) is program
    known = replace(program, guards=(Guard(kind="equal", extent=symbol("N"), bound=20),))
    assert taken_out(known) is not known
    none = replace(program, guards=(Guard(kind="equal", extent=symbol("N"), bound=0),))
    assert scaled_maximum(none) is none


def test_a_factor_that_alone_has_the_members_stays():
    rows, lanes = Dim("r", 2), Dim("l", 4)
    x, y = view("x", "f32", "2"), view("y", "f32", "2", "out")
    b = Builder(rows, lanes)

    def body(_: Fragment) -> None:
        spread = b.broadcast(b.constant(0.3, F32), lanes)
        best = b.reduce(b.op("mul", b.load(x, b.lane(rows)), spread), lanes, kind="max")
        b.store(y, [b.lane(rows)], best)

    program = b.program("spread", [x, y], b.segment([("one", 1, 1)], body))
    verify(program)
    assert scaled_maximum(program) is program
