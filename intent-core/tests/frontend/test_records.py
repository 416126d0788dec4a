"""The fields of a record are known by name: in whatever order they are written, it is one type."""

from __future__ import annotations

import numpy as np
import pytest

import intent.language as I
from intent.diagnostics import ReturnTypesDiffer, SchemaMismatch, WrongDType
from intent.frontend import lower
from intent.language.definitions import fn, kernel

X = I.In[I.f32, ("N",)]
Y = I.Out[I.f32, ("M",)]


@fn
def joined(a, b):
    return I.record(high=I.maximum(a.high, b.high), low=I.minimum(a.low, b.low))


@fn
def summary(part):
    return I.record(low=I.reduce.min(part, axis=0), high=I.reduce.max(part, axis=0))


@fn
def clipped(v):
    if v < 0.0:
        return I.record(value=v * 0.0, below=True)
    return I.record(below=False, value=v)


@kernel
def every_order(x: X, y: Y):
    v = x[...]
    r = I.reduce(I.record(low=v, high=v), axis=0, identity=I.record(high=-I.inf, low=I.inf), combine=joined)
    s = I.region_fold(
        source=v, axis=0, summarize=summary, combine=joined, identity=I.record(high=-I.inf, low=I.inf)
    )
    p = I.scan(I.record(low=v, high=v), axis=0, identity=I.record(high=-I.inf, low=I.inf), combine=joined)
    y[0], y[1], y[2], y[3], y[4] = r.low, r.high, s.low, s.high, p.low[1]
    swapped = I.record(low=x[0], high=x[1])
    for i in range(x.shape[0]):
        if x[i] < 0.0:
            swapped = I.record(high=swapped.low, low=swapped.high)
    other = I.select(x[0] < 0.0, swapped, I.record(high=1.0, low=0.0))
    y[5], y[6] = swapped.low, other.high
    c = clipped(x[0])
    y[7] = I.select(c.below, -1.0, c.value)


def test_fields_in_another_order_are_the_same_record(run):
    x, y = np.array([-3.0, 4.0, -5.0, -1.0], np.float32), np.zeros(8, np.float32)
    run(every_order, x, y)
    assert y.tolist() == [-5.0, 4.0, -5.0, 4.0, -3.0, 4.0, -3.0, -1.0]


@fn
def renamed(a, b):
    return I.record(high=I.maximum(a.high, b.high), lows=I.minimum(a.low, b.low))


@kernel
def other_fields(x: X, y: Y):
    v = x[...]
    r = I.reduce(I.record(low=v, high=v), axis=0, identity=I.record(low=0.0, high=0.0), combine=renamed)
    y[0] = r.low


@fn
def sometimes_a_pair(v, n):
    if n > 0:
        return v
    return (v, v)


@kernel
def returns_differ(x: X, n: I.i32, y: Y):
    y[0] = sometimes_a_pair(x[0], n)


@kernel
def floats_as_offsets(x: X, at: I.In[I.f32, ("G1",)], y: Y):
    groups = I.ragged(outer=I.domain(0, y.shape[0]), members=I.domain(0, x.shape[0]), offsets=at)
    for g in I.parallel(groups.outer):
        y[g] = I.reduce.sum(x[groups[g]], axis=0)


def test_other_fields_are_another_record(refused):
    call = "I.reduce(I.record(low=v, high=v), axis=0, identity=I.record(low=0.0, high=0.0), combine=renamed)"
    error = refused(other_fields, SchemaMismatch, call)
    assert error.seen["the type found"] == "{high: f32, lows: f32}"


def test_the_return_that_differs_is_blamed(refused):
    error = refused(returns_differ, ReturnTypesDiffer, "(v, v)")
    assert error.seen == {"the first return": "f32", "this return": "(f32, f32)"}


def test_offsets_are_integers_where_the_relation_is_made():
    with pytest.raises(WrongDType, match=r"offsets= of I\.ragged") as caught:
        lower(floats_as_offsets)
    assert caught.value.span is not None
    assert "I.ragged" in caught.value.span.source
