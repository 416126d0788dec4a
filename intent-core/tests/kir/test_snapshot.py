"""Kernels rewritten for views that are the same elements."""

from __future__ import annotations

import numpy as np

import intent
import intent.language as I
from intent.frontend import lower
from intent.kir import Load, View
from intent.kir.parse import parse_kernel
from intent.kir.snapshot import can_copy, with_copies
from intent.kir.verify import verify
from intent.kir.walk import walk
from intent.reference.logical import evaluate


@intent.kernel
def kernel(
    n: I.i32,
    x: I.In[I.f32, ("M", "N")],
    w: I.In[I.f32, ("N",)],
    s: I.In[I.f32, ()],
    y: I.Out[I.f32, ("M", "N")],
):
    for i in range(x.shape[0]):
        y[i, :] = x[x.shape[0] - 1 - i, :] * w[...] + s[()]
        if n > 2:
            y[i, :] = y[i, :] + x[i, :]


def test_copies_stand_first_and_everything_reads_them():
    lowered = lower(kernel, {})
    made = with_copies(lowered, [("y", "x")])
    verify(made)
    assert parse_kernel(str(made)) == made
    reads = [op.source for op in walk(made.body) if isinstance(op, Load) and isinstance(op.source, View)]
    (read,) = [source for source in reads if source.name == "x"]
    assert read.alias == "in place"
    assert {v.name for v in made.views if v.coincident} == {"x", "y"}


def test_the_meaning_is_that_of_views_apart():
    lowered = lower(kernel, {})
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(4, 3)).astype(np.float32), rng.normal(size=3).astype(np.float32)
    wanted = np.zeros_like(x)
    evaluate(lowered, [3, x, w, np.float32(2), wanted])
    evaluate(with_copies(lowered, [("y", "x")]), [3, x, w, np.float32(2), x])
    np.testing.assert_array_equal(x, wanted)


def test_what_cannot_be_copied():
    lowered = lower(kernel, {})
    assert can_copy(lowered, [("y", "x")])
    assert can_copy(lowered, [("y", "x"), ("y", "w")])
    assert not can_copy(lowered, [("x", "y")])
