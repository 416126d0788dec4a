"""region_fold and region_scan: every segmentation and parenthesisation gives the same."""

from __future__ import annotations

import numpy as np
import pytest

from intent import kir
from intent.reference.logical import Adversary
from intent.types import extent
from intent.types.dtypes import F32, I32

SEEDS = [None, *range(12)]
SLICE = extent.dyn(10_000)


def adversary(seed):
    return None if seed is None else Adversary(np.random.default_rng(seed))


def softmax_statistics(b, source, rows):
    """(max, sum of exp) of the columns of each row."""
    total = (SLICE,)

    def summarize(x):
        top = b.op(kir.Reduce, (F32, (rows,)), operands=(x,), axes=(1,), kind="max")
        wide = b.op(kir.Broadcast, (F32, (rows, *total)), value=top, axes=(0,))
        e = b.pw("exp", b.pw("sub", x, wide))
        return top, b.op(kir.Reduce, (F32, (rows,)), operands=(e,), axes=(1,), kind="sum")

    def combine(m1, s1, m2, s2):
        m = b.pw("maximum", m1, m2)
        parts = [b.pw("mul", s, b.pw("exp", b.pw("sub", k, m))) for k, s in ((m1, s1), (m2, s2))]
        return m, b.pw("add", *parts)

    return b.op(
        kir.RegionFold, *[(F32, (rows,))] * 2, source=(source,), axis=1, slice_extent=SLICE,
        identity=(b.const(-1e30, F32), b.const(0.0, F32)),
        summarize=b.region([(F32, (rows, SLICE))], summarize),
        combine=b.region([(F32, (rows,))] * 4, combine),
    )  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("count", [0, 1, 5, 61])
def test_fold(apply_op, seed, count):
    x = np.random.default_rng(0).normal(size=(3, count)).astype(np.float32)
    top, total = apply_op(
        lambda b, v: softmax_statistics(b, v, 3), [(F32, (3,))] * 2, x, adversary=adversary(seed)
    )
    if count == 0:
        assert top.tolist() == [np.float32(-1e30)] * 3
        assert total.tolist() == [0] * 3
        return
    assert (top == x.max(axis=1)).all()
    np.testing.assert_allclose(
        total, np.exp(x.astype(np.float64) - x.max(axis=1)[:, None]).sum(axis=1), rtol=1e-5
    )


def test_a_fold_that_is_no_homomorphism_is_exposed(apply_op):
    """Counting segments: only an illegal kernel depends on the segmentation, and the adversary shows it."""

    def make(b, v):
        return b.op(
            kir.RegionFold, (I32, ()), source=(v,), axis=0, slice_extent=SLICE, identity=(b.const(0, I32),),
            summarize=b.region([(F32, (SLICE,))], lambda _: b.const(1, I32)),
            combine=b.region([(I32, ())] * 2, lambda a, c: b.pw("add", a, c)),
        )  # fmt: skip

    x = np.zeros(50, np.float32)
    assert apply_op(make, [(I32, ())], x) == 1
    assert len({int(apply_op(make, [(I32, ())], x, adversary=adversary(s))) for s in range(12)}) > 3


def linear_recurrence(b, a, c, count, initial, weight):
    """``state = a[i] * state + c[i]``; the output is ``weight * state`` before each step."""

    def summarize(first, second, _):
        pair = b.region([(I32, ())] * 4, compose)
        return b.op(
            kir.Reduce, *[(I32, ())] * 2, operands=(first, second), axes=(0,), combine=pair,
            identity=(b.const(1, I32), b.const(0, I32)),
        )  # fmt: skip

    def compose(a1, b1, a2, b2):
        return b.pw("mul", a1, a2), b.pw("add", b.pw("mul", b1, a2), b2)

    def emit(first, second, state, w):
        maps = b.region([(I32, ())] * 4, compose)
        a_before, c_before = b.op(
            kir.Scan, *[(I32, (SLICE,))] * 2, operands=(first, second), axis=0, inclusive=False, combine=maps,
            identity=(b.const(1, I32), b.const(0, I32)),
        )  # fmt: skip
        wide = b.op(kir.Broadcast, (I32, (SLICE,)), value=state, axes=())
        factor = b.op(kir.Broadcast, (I32, (SLICE,)), value=w, axes=())
        return b.pw("mul", factor, b.pw("add", b.pw("mul", a_before, wide), c_before))

    source = [(I32, (SLICE,))] * 2
    return b.op(
        kir.RegionScan, (I32, (count,)), (I32, ()), source=(a, c), axis=0, slice_extent=SLICE,
        identity=(b.const(1, I32), b.const(0, I32)), initial=(initial,), captures=(weight,),
        outputs=1, output_axis=0,
        summarize=b.region([*source, (I32, ())], summarize),
        combine=b.region([(I32, ())] * 4, compose),
        apply=b.region([(I32, ())] * 3, lambda a, c, s: b.pw("add", b.pw("mul", a, s), c)),
        emit=b.region([*source, (I32, ()), (I32, ())], emit),
    )  # fmt: skip


@pytest.mark.parametrize("seed", [None, "sequential-reduce"])
@pytest.mark.parametrize("count", [0, 1, 2, 40])
def test_scan(apply_op, seed, count):
    rng = np.random.default_rng(1)
    a, c = (rng.integers(-3, 4, size=count).astype(np.int32) for _ in range(2))

    class Ordered(Adversary):
        """Reduce in order: the summaries of this test use reduce for a product that does not commute."""

        def permutation(self, _):
            return None

        def chunks(self, _):
            return 1

    expected, state = [], 7
    for x, y in zip(a.tolist(), c.tolist(), strict=True):
        expected.append(5 * state)
        state = x * state + y
    wrap = [(v + 2**31) % 2**32 - 2**31 for v in [*expected, state]]
    for s in range(1 if seed is None else 12):
        choices = Ordered(np.random.default_rng(s if seed else 99))
        if seed is None:
            choices.segments = lambda extent: [(0, extent)]
        outputs, final = apply_op(
            lambda b, x, y: linear_recurrence(b, x, y, count, b.const(7, I32), b.const(5, I32)),
            [(I32, (count,)), (I32, ())], a, c, adversary=choices,
        )  # fmt: skip
        assert [*outputs.tolist(), int(final)] == wrap
