"""Folds whose carry goes into the slice: one accumulator, the stated bound, and refusals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import intent
import intent.language as I
from intent.passes import Permissions
from intent.passes.absorption import absorption
from intent.passes.rewriting import map_operations
from intent.physical import Cast, Contract, Dim, Fragment, Loop, Op, Pointwise, Program
from intent.physical.verify import verify
from intent.types.dtypes import F32
from intent_testkit.programs.builder import Builder, view

BLOCKS = {"axis": 8, "axis_M": 4}
EXTENTS = ((1, 1), (5, 0), (5, 7), (9, 8), (9, 37))


@intent.fn
def attend(kv, q, keep):
    logits = I.mask(I.matmul(q, kv.k, transpose_rhs=True), kv.at[None, :] < keep[:, None], -I.inf)
    peak = I.reduce.max(logits, axis=1)
    safe = I.select(peak == -I.inf, 0.0, peak)
    weights = I.exp(logits - safe[:, None])
    return I.record(peak=peak, total=I.reduce.sum(weights, axis=1), out=I.matmul(weights, kv.v))


@intent.fn
def merge(a, b):
    peak = I.maximum(a.peak, b.peak)
    safe = I.select(peak == -I.inf, 0.0, peak)
    left, right = I.exp(a.peak - safe), I.exp(b.peak - safe)
    return I.record(
        peak=peak,
        total=a.total * left + b.total * right,
        out=a.out * left[:, None] + b.out * right[:, None],
    )


@intent.kernel
def attention(
    q: I.In[I.f32, ("M", 4)],
    k: I.In[I.f32, ("N", 4)],
    v: I.In[I.f32, ("N", 3)],
    keep: I.In[I.i32, ("M",)],
    y: I.Out[I.f32, ("M", 3)],
    peak: I.Out[I.f32, ("M",)],
):
    """``keep[m]`` keys of row m count; none gives zeros."""
    M = q.shape[0]
    axis = I.domain(0, k.shape[0])
    start = I.record(peak=I.full((M,), -I.inf, I.f32), total=I.zeros((M,), I.f32), out=I.zeros((M, 3), I.f32))
    s = I.region_fold(
        source=I.record(k=k[axis, :], v=v[axis, :], at=I.indices(axis)),
        axis=0,
        summarize=attend,
        combine=merge,
        identity=start,
        operands=(q[...], I.cast(keep[...], I.index)),
    )
    y[...] = I.select(s.total[:, None] > 0.0, s.out / s.total[:, None], 0.0)
    peak[...] = s.peak


def drawn(rng, m, n, *, scale=1.0):
    """Arguments, and the result in f64; rows keep nothing, something in any block, everything."""
    q, k, v = (rng.normal(size=s).astype(np.float32) for s in ((m, 4), (n, 4), (n, 3)))
    q *= np.float32(scale)
    keep = rng.integers(0, n + 1, m).astype(np.int32)
    keep[: m // 3] = 0
    logits = np.where(np.arange(n) < keep[:, None], q.astype(np.float64) @ k.T.astype(np.float64), -np.inf)
    peak = logits.max(1, initial=-np.inf)
    weights = np.exp(logits - np.where(np.isneginf(peak), 0.0, peak)[:, None])
    total = weights.sum(1, keepdims=True)
    y = np.where(total > 0, weights @ v / np.where(total > 0, total, 1), 0.0)
    given = {"q": q, "k": k, "v": v, "keep": keep, "y": np.full((m, 3), 7, np.float32)}
    return {**given, "peak": np.full(m, 7, np.float32)}, {"y": y, "peak": peak}


@pytest.mark.parametrize(("m", "n"), EXTENTS)
@pytest.mark.parametrize("relaxed", [False, True])
def test_the_loop_has_one_accumulator(stages, rng, m, n, relaxed):
    given, wanted = drawn(rng, m, n)
    permissions = Permissions(relaxed=relaxed)
    made = stages(attention, BLOCKS, given, wanted, tolerance=1e-5, permissions=permissions)
    assert made.changed("absorption")
    for loop in made.loops():
        products = [op for op in loop.body.ops if isinstance(op, Contract) and op.accumulator is not None]
        exponentials = [op for op in loop.body.ops if isinstance(op, Pointwise) and op.fn == "exp"]
        assert len(products) == 1
        assert sorted(len(op.result.dims) for op in exponentials) == [1, 2]


def test_strict_keeps_the_authors_combine(stages, rng):
    given, wanted = drawn(rng, 9, 37)
    made = stages(attention, BLOCKS, given, wanted, tolerance=1e-5, permissions=Permissions(fold_law=False))
    assert not made.changed("absorption")


def test_large_logits_meet_the_bound(stages, rng):
    """Differences of logits up to some hundred: the error stays at a few f32 ulps times the exponent's size."""
    given, wanted = drawn(rng, 9, 37, scale=60.0)
    made = stages(attention, BLOCKS, given, wanted, tolerance=2e-4)
    assert made.changed("absorption")


@intent.kernel
def sums(
    q: I.In[I.f32, ("M", 4)],
    k: I.In[I.f32, ("N", 4)],
    v: I.In[I.f32, ("N", 3)],
    keep: I.In[I.i32, ("M",)],
    out: I.Out[I.f32, ("M", 3)],
    total: I.Out[I.f32, ("M",)],
):
    """The summary itself, not normalised."""
    M = q.shape[0]
    axis = I.domain(0, k.shape[0])
    start = I.record(peak=I.full((M,), -I.inf, I.f32), total=I.zeros((M,), I.f32), out=I.zeros((M, 3), I.f32))
    s = I.region_fold(
        source=I.record(k=k[axis, :], v=v[axis, :], at=I.indices(axis)),
        axis=0,
        summarize=attend,
        combine=merge,
        identity=start,
        operands=(q[...], I.cast(keep[...], I.index)),
    )
    out[...] = s.out
    total[...] = s.total


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_both_forms_agree_to_the_bound_of_the_docs(stages, rng, scale):
    """|t| * u * (2 d + 13 + 2 n + 2 s) a term, from the logits that both forms compute alike."""
    m, n = 24, 61
    given, _ = drawn(rng, m, n, scale=scale)
    given |= {"out": np.zeros((m, 3), np.float32), "total": np.zeros(m, np.float32)}
    del given["y"], given["peak"]
    made = stages(sums, BLOCKS, given, {})
    assert made.changed("absorption")
    before, after = (made.outputs(name, given) for name in ("narrowing", "absorption"))
    x = np.where(np.arange(n) < given["keep"][:, None], given["q"] @ given["k"].T, -np.inf).astype(np.float64)
    peak = x.max(1, initial=-np.inf)
    d = np.where(np.isneginf(peak), 0.0, peak)[:, None] - x
    terms = np.exp(-d)
    size = 2.0**-24 * (2 * np.where(terms > 0, d, 0.0) + 13 + 2 * n + 2 * -(-n // 8)) * terms
    assert (np.abs(before["total"].astype(np.float64) - after["total"]) <= size.sum(1)).all()
    assert (np.abs(before["out"].astype(np.float64) - after["out"]) <= size @ np.abs(given["v"])).all()
    assert any(not np.array_equal(before[name], after[name]) for name in ("out", "total"))


def test_rows_that_keep_nothing_in_the_first_blocks(stages, rng):
    """A prefix without a member: no ``inf - inf`` when the first member comes."""

    @intent.fn
    def late(kv, q, first):
        logits = I.mask(I.matmul(q, kv.k, transpose_rhs=True), kv.at[None, :] >= first[:, None], -I.inf)
        peak = I.reduce.max(logits, axis=1)
        safe = I.select(peak == -I.inf, 0.0, peak)
        weights = I.exp(logits - safe[:, None])
        return I.record(peak=peak, total=I.reduce.sum(weights, axis=1), out=I.matmul(weights, kv.v))

    @intent.kernel
    def suffix(
        q: I.In[I.f32, ("M", 4)],
        k: I.In[I.f32, ("N", 4)],
        v: I.In[I.f32, ("N", 3)],
        first: I.In[I.i32, ("M",)],
        y: I.Out[I.f32, ("M", 3)],
    ):
        M = q.shape[0]
        axis = I.domain(0, k.shape[0])
        start = I.record(
            peak=I.full((M,), -I.inf, I.f32), total=I.zeros((M,), I.f32), out=I.zeros((M, 3), I.f32)
        )
        s = I.region_fold(
            source=I.record(k=k[axis, :], v=v[axis, :], at=I.indices(axis)),
            axis=0,
            summarize=late,
            combine=merge,
            identity=start,
            operands=(q[...], I.cast(first[...], I.index)),
        )
        y[...] = s.out / s.total[:, None]

    q, k, v = (rng.normal(size=s).astype(np.float32) for s in ((6, 4), (37, 4), (37, 3)))
    first = np.array([0, 7, 8, 31, 36, 37], np.int32)
    logits = np.where(np.arange(37) >= first[:, None], q @ k.T, -np.inf)
    with np.errstate(all="ignore"):
        weights = np.exp(logits - logits.max(1, keepdims=True))
        wanted = weights @ v / weights.sum(1, keepdims=True)
    assert np.isnan(wanted[5]).all()
    given = {"q": q, "k": k, "v": v, "first": first, "y": np.full((6, 3), 7, np.float32)}
    for permissions in (Permissions(), Permissions(relaxed=True)):
        made = stages(suffix, BLOCKS, given, {"y": wanted}, tolerance=1e-5, permissions=permissions)
        assert made.changed("absorption")
    assert made.loops("constructed")[0].begin != made.loops("narrowing")[0].begin


def test_a_weight_that_the_maximum_leaves_out_keeps_its_own_exponent(stages, rng):
    """The sum counts members that the maximum does not: for an empty maximum they weigh ``exp(x)``, times 0."""

    @intent.fn
    def part(kv):
        seen = I.mask(kv.x, kv.keep > 0, -I.inf)
        peak = I.reduce.max(seen, axis=1)
        safe = I.select(peak == -I.inf, 0.0, peak)
        return I.record(peak=peak, total=I.reduce.sum(I.exp(kv.x - safe[:, None]), axis=1))

    @intent.fn
    def joined(a, b):
        peak = I.maximum(a.peak, b.peak)
        safe = I.select(peak == -I.inf, 0.0, peak)
        return I.record(peak=peak, total=a.total * I.exp(a.peak - safe) + b.total * I.exp(b.peak - safe))

    @intent.kernel
    def odd(x: I.In[I.f32, ("M", "N")], keep: I.In[I.i32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
        M = x.shape[0]
        start = I.record(peak=I.full((M,), -I.inf, I.f32), total=I.zeros((M,), I.f32))
        s = I.region_fold(
            source=I.record(x=x[...], keep=keep[...]), axis=1, summarize=part, combine=joined, identity=start
        )
        y[...] = s.total

    x = rng.normal(size=(3, 16)).astype(np.float32)
    keep = np.zeros((3, 16), np.int32)
    keep[:, 9] = 1
    wanted = np.exp(x[:, 8:].astype(np.float64) - x[:, 9:10]).sum(1)
    made = stages(
        odd,
        {"axis": 8, "axis_N": 8, "axis_M": 2},
        {"x": x, "keep": keep, "y": np.zeros(3, np.float32)},
        {"y": wanted},
        tolerance=1e-5,
    )
    assert not made.changed("absorption")


@intent.fn
def guarded_merge(a, b):
    """Factors that are 0 for an empty side, and a maximum that is not guarded."""
    peak = I.maximum(a.peak, b.peak)
    left = I.select(a.peak == -I.inf, 0.0, I.exp(a.peak - peak))
    right = I.select(b.peak == -I.inf, 0.0, I.exp(b.peak - peak))
    return I.record(
        peak=peak,
        total=a.total * left + b.total * right,
        out=a.out * left[:, None] + b.out * right[:, None],
    )


@intent.kernel
def guarded(
    q: I.In[I.f32, ("M", 4)],
    k: I.In[I.f32, ("N", 4)],
    v: I.In[I.f32, ("N", 3)],
    keep: I.In[I.i32, ("M",)],
    y: I.Out[I.f32, ("M", 3)],
    peak: I.Out[I.f32, ("M",)],
):
    M = q.shape[0]
    axis = I.domain(0, k.shape[0])
    start = I.record(peak=I.full((M,), -I.inf, I.f32), total=I.zeros((M,), I.f32), out=I.zeros((M, 3), I.f32))
    s = I.region_fold(
        source=I.record(k=k[axis, :], v=v[axis, :], at=I.indices(axis)),
        axis=0,
        summarize=attend,
        combine=guarded_merge,
        identity=start,
        operands=(q[...], I.cast(keep[...], I.index)),
    )
    y[...] = I.select(s.total[:, None] > 0.0, s.out / s.total[:, None], 0.0)
    peak[...] = s.peak


@pytest.mark.parametrize(("m", "n"), EXTENTS)
def test_factors_that_are_nothing_for_an_empty_side(stages, rng, m, n):
    """Rows without a member stay free of ``inf - inf`` although the author's maximum is not guarded."""
    given, wanted = drawn(rng, m, n)
    made = stages(guarded, BLOCKS, given, wanted, tolerance=1e-5)
    assert made.changed("absorption")
    for loop in made.loops():
        wide = [
            op
            for op in loop.body.ops
            if isinstance(op, Pointwise) and op.fn == "exp" and len(op.result.dims) > 1
        ]
        assert len(wide) == 1


def test_half_precision_weights_take_the_factor_before_they_are_rounded(stages, rng):
    @intent.fn
    def narrow(kv, q):
        logits = I.matmul(q, kv.k, transpose_rhs=True, acc_dtype=I.f32)
        peak = I.reduce.max(logits, axis=1)
        weights = I.exp2((logits - peak[:, None]) * 0.5)
        out = I.matmul(I.cast(weights, I.bf16), kv.v, acc_dtype=I.f32)
        return I.record(peak=peak, total=I.reduce.sum(weights, axis=1), out=out)

    @intent.fn
    def narrow_merge(a, b):
        peak = I.maximum(a.peak, b.peak)
        left, right = I.exp2((a.peak - peak) * 0.5), I.exp2((b.peak - peak) * 0.5)
        out = b.out * right[:, None] + left[:, None] * a.out
        return I.record(peak=peak, total=right * b.total + a.total * left, out=out)

    @intent.kernel
    def halves(
        q: I.In[I.bf16, ("M", 4)],
        k: I.In[I.bf16, ("N", 4)],
        v: I.In[I.bf16, ("N", 3)],
        y: I.Out[I.f32, ("M", 3)],
    ):
        M = q.shape[0]
        start = I.record(
            peak=I.full((M,), -I.inf, I.f32), total=I.zeros((M,), I.f32), out=I.zeros((M, 3), I.f32)
        )
        s = I.region_fold(
            source=I.record(k=k[...], v=v[...]),
            axis=0,
            summarize=narrow,
            combine=narrow_merge,
            identity=start,
            operands=(q[...],),
        )
        y[...] = s.out / s.total[:, None]

    import ml_dtypes

    q, k, v = (rng.normal(size=s).astype(ml_dtypes.bfloat16) for s in ((9, 4), (37, 4), (37, 3)))
    logits = q.astype(np.float64) @ k.astype(np.float64).T
    weights = np.exp2((logits - logits.max(1, keepdims=True)) * 0.5)
    wanted = weights @ v.astype(np.float64) / weights.sum(1, keepdims=True)
    given = {"q": q, "k": k, "v": v, "y": np.zeros((9, 3), np.float32)}
    made = stages(halves, BLOCKS, given, {"y": wanted}, tolerance=2.0**-8)
    assert made.changed("absorption")
    assert all(len(op.result.dims) == 2 for op in made.ops(Cast) if op.result.dtype.name == "bf16")


R, L, C = Dim("r", 2), Dim("l", 4), Dim("c", 3)
ROWS, COLUMNS, OUT = view("x", "f32", "2 8"), view("v", "f32", "8 3"), view("y", "f32", "2 3", "out")
Part = Callable[[Builder, Fragment, Fragment], Fragment]


def weighed(b: Builder, weights: Fragment, at: Fragment) -> Fragment:
    return b.contract(weights, b.load(COLUMNS, at, b.lane(C)), L, dtype=F32)


def on_top(b: Builder, weights: Fragment, at: Fragment) -> Fragment:
    start = b.broadcast(b.constant(0.5, F32), R, C)
    return b.contract(weights, b.load(COLUMNS, at, b.lane(C)), L, dtype=F32, accumulator=start)


def largest(b: Builder, weights: Fragment, at: Fragment) -> Fragment:
    return b.reduce(weights, L, kind="max")


def summed(b: Builder, weights: Fragment, at: Fragment) -> Fragment:
    return b.reduce(weights, L)


def fold(*, total: Part = weighed, joined: str = "add", times: str = "mul") -> Program:
    """A fold whose slices have a maximum, and a total of what weighs by it."""
    b = Builder(R, L, C)
    sides: list[Fragment] = []

    def step(i: Fragment, peak: Fragment, held: Fragment) -> tuple[Fragment, Fragment]:
        at = b.op("add", i, b.lane(L))
        x = b.load(ROWS, b.lane(R), at)
        own = b.reduce(x, L, kind="max")
        found = total(b, b.op("exp", b.op("sub", x, own)), at)
        top = b.op("maximum", peak, own)
        before, after = (b.op("exp", b.op("sub", m, top)) for m in (peak, own))
        sides.extend((own, found))
        return top, b.op(joined, b.op("mul", held, before), b.op(times, found, after))

    def body(_: Fragment) -> None:
        dims = (R,) if total in (summed, largest) else (R, C)
        least, nothing = (b.broadcast(b.constant(v, F32), *d) for v, d in ((-100.0, (R,)), (0.0, dims)))
        _, held = b.loop(*map(b.constant, (0, 8, 4)), [least, nothing], step)
        b.store(OUT, [b.lane(R), b.lane(C)], b.broadcast(held, R, C))

    program = b.program("fold", [ROWS, COLUMNS, OUT], b.segment([("one", 1, 1)], body))

    def as_fold(op: Op) -> Op:
        return replace(op, summary=tuple(sides)) if isinstance(op, Loop) else op

    return map_operations(program, as_fold)


@pytest.mark.parametrize("total", [weighed, summed])
def test_a_fold_by_hand_is_absorbed(total, run, rng):
    program = fold(total=total)
    new = absorption(program, Permissions())
    assert new is not program
    verify(new)
    given = {
        v.name: rng.normal(size=[e.const for e in v.shape]).astype(np.float32) for v in (ROWS, COLUMNS, OUT)
    }
    np.testing.assert_allclose(run(new, given)["y"], run(program, given)["y"], rtol=1e-5)


@pytest.mark.parametrize(
    "parts",
    [{"total": on_top}, {"total": largest}, {"joined": "sub"}, {"times": "div"}],
    ids=["a total from something on", "a maximum", "a difference", "a quotient"],
)
def test_near_misses_of_folds_stay(parts):
    program = fold(**parts)
    assert absorption(program, Permissions()) is program
