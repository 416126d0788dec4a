"""Softmax without a fold becomes the fold's loop, by permission only."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.physical import Contract, Load, Pointwise, Reduce, Store
from intent.physical.walk import walk

BLOCKS = {"axis_N": 8, "axis_M": 4}


def f32(rng, *shape):
    return rng.normal(size=shape).astype(np.float32)


def empty(*shape):
    return np.full(shape, 7, np.float32)


def softmax_of(logits):
    with np.errstate(all="ignore"):
        e = np.exp(logits - logits.max(1, initial=-np.inf, keepdims=True))
        return e / e.sum(1, keepdims=True)


@intent.kernel
def attention(
    q: I.In[I.f32, ("M", 4)],
    k: I.In[I.f32, ("N", 4)],
    v: I.In[I.f32, ("N", 3)],
    y: I.Out[I.f32, ("M", 3)],
    CAUSAL: I.Constexpr[bool],
):
    logits = I.matmul(q[...], k[...], transpose_rhs=True)
    if CAUSAL:
        rows, columns = I.indices(I.domain(0, q.shape[0])), I.indices(I.domain(0, k.shape[0]))
        logits = I.mask(logits, columns[None, :] <= rows[:, None], -I.inf)
    e = I.exp(logits - I.reduce.max(logits, axis=1)[:, None])
    y[...] = I.matmul(e / I.reduce.sum(e, axis=1)[:, None], v[...])


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (5, 7), (9, 37), (37, 37)])
def test_plain_attention_emits_the_loop_of_a_fold(stages, rng, relaxed, m, n, causal):
    q, k, v = f32(rng, m, 4), f32(rng, n, 4), f32(rng, n, 3)
    logits = q.astype(np.float64) @ k.T
    if causal:
        logits = np.where(np.tri(m, n, dtype=bool), logits, -np.inf)
    given = {"q": q, "k": k, "v": v, "y": empty(m, 3)}
    wanted = {"y": softmax_of(logits) @ v}
    made = stages(attention, BLOCKS, given, wanted, tolerance=1e-5, permissions=relaxed, CAUSAL=causal)
    assert made.changed("online")
    assert len(made.loops("constructed")) == 3
    (loop,) = made.loops("absorption")
    assert len(loop.results) == 3
    accumulated = [op for op in loop.body.ops if isinstance(op, Contract) and op.accumulator is not None]
    assert len(accumulated) == 1
    assert len([op for op in loop.body.ops if isinstance(op, Load)]) == 2
    assert made.changed("narrowing") == causal


def test_nothing_is_fused_without_permission(stages, rng):
    q, k, v = f32(rng, 9, 4), f32(rng, 37, 4), f32(rng, 37, 3)
    wanted = {"y": softmax_of(q.astype(np.float64) @ k.T) @ v}
    given = {"q": q, "k": k, "v": v, "y": empty(9, 3)}
    assert not stages(attention, BLOCKS, given, wanted, tolerance=1e-5, CAUSAL=False).changed("online")


def test_no_work_is_done_past_the_diagonal(stages, rng, relaxed):
    """Values that only blocks past the diagonal read are poison: no such block is walked."""
    q, k, v = f32(rng, 16, 4), f32(rng, 40, 4), f32(rng, 40, 3)
    logits = np.where(np.tri(16, 40, dtype=bool), q.astype(np.float64) @ k.T, -np.inf)
    wanted = {"y": softmax_of(logits) @ v}
    given = {"q": q, "k": k, "v": v, "y": empty(16, 3)}
    made = stages(attention, BLOCKS, given, wanted, tolerance=1e-5, permissions=relaxed, CAUSAL=True)
    v[16:] = np.nan
    made.rerun(given, wanted, tolerance=1e-5)


@intent.kernel
def softmax(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    v = x[...]
    e = I.exp(v - I.reduce.max(v, axis=1)[:, None])
    y[...] = e / I.reduce.sum(e, axis=1)[:, None]


@pytest.mark.parametrize("n", [1, 7, 8, 37])
def test_rows_are_read_twice_instead_of_three_times(stages, rng, relaxed, n):
    x = f32(rng, 9, n)
    x[2, : n // 2] = -np.inf
    given, wanted = {"x": x, "y": empty(9, n)}, {"y": softmax_of(x.astype(np.float64))}
    made = stages(softmax, BLOCKS, given, wanted, tolerance=1e-5, permissions=relaxed)
    assert len(made.loops("constructed")) == 3
    assert len(made.loops("online")) == 2


def test_a_row_of_nothing_is_as_it_was(stages, rng, relaxed):
    x = f32(rng, 5, 19)
    x[1] = -np.inf
    wanted = {"y": softmax_of(x.astype(np.float64))}
    assert np.isnan(wanted["y"][1]).all()
    made = stages(softmax, BLOCKS, {"x": x, "y": empty(5, 19)}, wanted, tolerance=1e-5, permissions=relaxed)
    assert made.changed("online")


def test_scaled_exponents_and_several_sums_share_one_walk(stages, rng, relaxed):
    @intent.kernel
    def moments(
        x: I.In[I.f32, ("M", "N")], w: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M",)], z: I.Out[I.f32, ("M",)]
    ):
        v = x[...]
        e = I.exp2((v - I.reduce.max(v, axis=1)[:, None]) * 0.25)
        total = I.reduce.sum(e, axis=1)
        y[...] = I.reduce.sum(e * w[...][None, :], axis=1) / total
        z[...] = I.log(total)

    x, w = f32(rng, 9, 37), f32(rng, 37)
    e = np.exp2((x.astype(np.float64) - x.max(1, keepdims=True)) * 0.25)
    wanted = {"y": (e * w).sum(1) / e.sum(1), "z": np.log(e.sum(1))}
    given = {"x": x, "w": w, "y": empty(9), "z": empty(9)}
    made = stages(moments, BLOCKS, given, wanted, tolerance=1e-5, permissions=relaxed)
    assert len(made.loops("online")) == 1


def test_an_exponent_that_falls_is_left_alone(stages, rng, relaxed):
    """``exp(-(x - m))`` grows as the running maximum does: rescaling could overflow."""

    @intent.kernel
    def inverse(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
        v = x[...]
        y[...] = I.reduce.sum(I.exp((v - I.reduce.max(v, axis=1)[:, None]) * -0.5), axis=1)

    x = f32(rng, 9, 37)
    wanted = np.exp((x.astype(np.float64) - x.max(1, keepdims=True)) * -0.5).sum(1)
    made = stages(
        inverse, BLOCKS, {"x": x, "y": empty(9)}, {"y": wanted}, tolerance=1e-5, permissions=relaxed
    )
    assert not made.changed("online")


@pytest.mark.parametrize("form", ["other", "shifted", "squared", "outside"])
def test_sums_that_are_not_proportional_are_left_alone(stages, rng, relaxed, form):
    @intent.kernel
    def mixed(
        x: I.In[I.f32, ("M", "N")],
        w: I.In[I.f32, ("M", "N")],
        y: I.Out[I.f32, ("M",)],
        FORM: I.Constexpr[int],
    ):
        v = x[...]
        m = I.reduce.max(v, axis=1)[:, None]
        if FORM == 0:
            terms = I.exp(w[...] - m)
        elif FORM == 1:
            terms = I.exp(v - m) + 1.0
        elif FORM == 2:
            terms = I.exp(v - m) * I.exp(v - m)
        else:
            terms = I.exp(v - m) * m
        y[...] = I.reduce.sum(terms, axis=1)

    number = ["other", "shifted", "squared", "outside"].index(form)
    x, w = f32(rng, 9, 37), f32(rng, 9, 37)
    e, m = np.exp(x.astype(np.float64) - x.max(1, keepdims=True)), x.max(1, keepdims=True)
    wanted = [np.exp(w - m), e + 1.0, e * e, e * m][number].sum(1)
    given = {"x": x, "w": w, "y": empty(9)}
    made = stages(mixed, BLOCKS, given, {"y": wanted}, tolerance=1e-5, permissions=relaxed, FORM=number)
    assert not made.changed("online")


def test_effects_between_the_walks_keep_their_place(stages, rng, relaxed):
    @intent.kernel
    def stored(x: I.In[I.f32, ("M", "N")], top: I.Out[I.f32, ("M",)], y: I.Out[I.f32, ("M",)]):
        v = x[...]
        m = I.reduce.max(v, axis=1)
        top[...] = m
        y[...] = I.reduce.sum(I.exp(v - m[:, None]), axis=1)

    x = f32(rng, 9, 37)
    wanted = {"top": x.max(1), "y": np.exp(x.astype(np.float64) - x.max(1, keepdims=True)).sum(1)}
    made = stages(
        stored, BLOCKS, {"x": x, "top": empty(9), "y": empty(9)}, wanted, tolerance=1e-5, permissions=relaxed
    )
    assert len(made.ops(Store)) == 2
    assert made.ops(Pointwise)


def in_loops(made, kind, fn=None):
    """Operations of a kind inside loops, after all passes."""
    found = [op for loop in made.loops() for op in walk(loop.body) if isinstance(op, kind)]
    return [op for op in found if fn is None or op.fn == fn]


@intent.kernel
def log_sum_exp(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    v = x[...]
    m = I.reduce.max(v, axis=1)
    y[...] = m + I.log(I.reduce.sum(I.exp(v - m[:, None]), axis=1))


@pytest.mark.parametrize("n", [1, 7, 8, 16, 37])
def test_lanes_meet_behind_the_loop(stages, rng, relaxed, n):
    """One exponential a member; what lanes have to agree on stands outside of the loop, which peeling then splits."""
    x = f32(rng, 9, n) * 8
    x[3, 1::2] = -np.inf
    x[4, n // 2] = 3e38
    x[5] = -3e38
    x[6, -1] = np.nan
    wide = x.astype(np.float64)
    top = wide.max(1)
    with np.errstate(all="ignore"):
        wanted = {"y": top + np.log(np.exp(wide - top[:, None]).sum(1))}
    made = stages(log_sum_exp, BLOCKS, {"x": x, "y": empty(9)}, wanted, tolerance=1e-5, permissions=relaxed)
    assert not in_loops(made, Reduce)
    assert len(in_loops(made, Pointwise, "exp")) == len(made.loops())
    assert len(made.ops(Reduce)) == 2


def test_members_in_falling_and_rising_order_are_equally_exact(stages, rng, relaxed):
    """Every member of a falling row meets the greater maximum, every one of a rising row is the new one."""
    rising = np.linspace(-60, 60, 61, dtype=np.float32)
    x = np.stack([rising, rising[::-1], np.where(np.arange(61) % 2, rising, -rising)])
    wide = x.astype(np.float64)
    wanted = {"y": 60 + np.log(np.exp(wide - 60).sum(1))}
    stages(log_sum_exp, BLOCKS, {"x": x, "y": empty(3)}, wanted, tolerance=3e-7, permissions=relaxed)


@pytest.mark.parametrize("twice", [False, True])
def test_masked_members_count_for_nothing_in_their_lane(stages, rng, relaxed, twice):
    """Blocks without a member are not walked, whether the sum has a mask of its own or not."""

    @intent.kernel
    def valid(
        x: I.In[I.f32, ("M", "N")],
        lengths: I.In[I.i32, ("M",)],
        y: I.Out[I.f32, ("M",)],
        TWICE: I.Constexpr[bool],
    ):
        inside = I.indices(I.domain(0, x.shape[1]))[None, :] < I.cast(lengths[...], I.index)[:, None]
        v = I.mask(x[...], inside, -I.inf)
        e = I.exp(v - I.reduce.max(v, axis=1)[:, None])
        if TWICE:
            e = I.mask(e, inside, 0.0)
        y[...] = I.reduce.sum(e, axis=1)

    x, lengths = f32(rng, 6, 37), np.array([1, 5, 8, 9, 36, 37], np.int32)
    e = np.where(np.arange(37) < lengths[:, None], x.astype(np.float64), -np.inf)
    wanted = {"y": np.exp(e - e.max(1, keepdims=True)).sum(1)}
    given = {"x": x, "lengths": lengths, "y": empty(6)}
    made = stages(valid, BLOCKS, given, wanted, tolerance=1e-5, permissions=relaxed, TWICE=twice)
    assert not in_loops(made, Reduce)
    assert made.changed("narrowing")


LONG = {"axis_N": 4096, "axis_M": 1}


@pytest.mark.parametrize("n", [1, 1025, 4096, 9000])
def test_a_long_block_is_taken_in_parts_side_by_side(stages, rng, relaxed, n):
    """Four members a lane and pass are rescaled once: five exponentials, and carries of a quarter of the lanes."""
    x = f32(rng, 2, n) * 8
    x[1, n // 2 :] = -np.inf
    x[1, 0] = 1
    wide = x.astype(np.float64)
    top = wide.max(1)
    wanted = {"y": top + np.log(np.exp(wide - top[:, None]).sum(1))}
    made = stages(log_sum_exp, LONG, {"x": x, "y": empty(2)}, wanted, tolerance=1e-5, permissions=relaxed)
    assert not in_loops(made, Reduce)
    assert len(in_loops(made, Pointwise, "exp")) == 5 * len(made.loops())
    assert {d.size for loop in made.loops() for r in loop.results for d in r.dims} == {1024}


def test_parts_of_masked_rows_with_weights(stages, rng, relaxed):
    """A mask, a weight that is read beside, one that depends on the place, and a factor for behind the loop."""

    @intent.kernel
    def weighed(
        x: I.In[I.f32, ("M", "N")],
        w: I.In[I.f32, ("N",)],
        length: I.In[I.i32, ("M",)],
        y: I.Out[I.f32, ("M",)],
    ):
        places = I.indices(I.domain(0, x.shape[1]))
        inside = places[None, :] < I.cast(length[...], I.index)[:, None]
        v = I.mask(x[...], inside, -I.inf)
        e = I.exp(v - I.reduce.max(v, axis=1)[:, None])
        p = e / I.reduce.sum(e, axis=1)[:, None]
        y[...] = I.reduce.sum(p * w[...][None, :] * I.cast(places, I.f32)[None, :], axis=1)

    x, w, length = f32(rng, 3, 9001), f32(rng, 9001), np.array([1, 4097, 9001], np.int32)
    e = np.where(np.arange(9001) < length[:, None], np.exp(x.astype(np.float64)), 0)
    wanted = {"y": (e / e.sum(1, keepdims=True) * w * np.arange(9001)).sum(1)}
    given = {"x": x, "w": w, "length": length, "y": empty(3)}
    made = stages(weighed, LONG, given, wanted, tolerance=2e-3, permissions=relaxed)
    assert not in_loops(made, Reduce)
    assert {d.size for loop in made.loops() for r in loop.results for d in r.dims} == {1024}


def test_a_reduction_over_another_axis_inside_the_walk_is_made_for_every_part(stages, rng, relaxed):
    @intent.kernel
    def shared(x: I.In[I.f32, ("M", "N")], w: I.In[I.f32, ("K", "N")], y: I.Out[I.f32, ("M",)]):
        v = x[...] + I.reduce.sum(w[...], axis=0)[None, :]
        m = I.reduce.max(v, axis=1)
        y[...] = m + I.log(I.reduce.sum(I.exp(v - m[:, None]), axis=1))

    x, w = f32(rng, 2, 4500), f32(rng, 3, 4500)
    v = x.astype(np.float64) + w.sum(0)
    wanted = {"y": v.max(1) + np.log(np.exp(v - v.max(1, keepdims=True)).sum(1))}
    given = {"x": x, "w": w, "y": empty(2)}
    made = stages(shared, LONG, given, wanted, tolerance=1e-5, permissions=relaxed)
    assert {d.size for loop in made.loops() for r in loop.results for d in r.dims} == {1024}
