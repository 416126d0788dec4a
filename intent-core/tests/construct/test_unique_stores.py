"""What a store's elements being distinct rests on: a proof with its facts, or a promise with its doubt."""

from __future__ import annotations

import pytest

import intent
import intent.language as I
from intent.construct.unique import unique_stores
from intent.frontend import lower


@intent.kernel
def copied(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = x[...]


@intent.kernel
def point_by_point(x: I.In[I.f32, ("N", "M")], y: I.Out[I.f32, ("N", "M")]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i, :] = x[i, :]


@intent.kernel
def one(x: I.In[I.f32, (1,)], y: I.Out[I.f32, (1,)]):
    y[0] = x[0]


@intent.kernel
def thrown(x: I.In[I.f32, ("N",)], at: I.In[I.index, ("N",)], y: I.InOut[I.f32, ("M",)]):
    I.assume_in_bounds(at, y, axis=0)
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[at[i]] = x[i]


@pytest.mark.parametrize(
    ("kernel", "kind"),
    [(copied, "interval"), (point_by_point, "interval"), (one, "static"), (thrown, "assumed")],
)
def test_what_is_proved_is_not_promised(kernel, kind) -> None:
    (proof,) = unique_stores(lower(kernel, {})).values()
    assert proof.kind == kind
    if kind != "static":
        assert proof.text, "people read why"
