"""Nothing stays in a program that nothing uses, and bounds of an author's loop are exact."""

from __future__ import annotations

import pytest

import intent
import intent.language as I
from intent import physical as ph
from intent.physical.walk import operands_of, regions_of, walk
from intent.planning import minimal_plan
from intent.provider.registry import registry
from intent.types.extent import const, symbol

from .conftest import built

EFFECTS = ph.Store | ph.Atomic | ph.Fence | ph.BufferAlloc


@intent.kernel
def normalised(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    v = x[...]
    y[...] = v / I.reduce.sum(v, axis=1)[:, None]


@intent.kernel
def halved(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        v = x[i]
        steps = 0
        doubled = 0
        while v > 1:
            v //= 2
            steps += 1
            doubled = doubled * 2 + v
        y[i] = steps


@intent.kernel
def counted_on(x: I.In[I.i32, ("N",)], n: I.i32, y: I.Out[I.i32, ()]):
    total, doubled = I.cast(0, I.i32), I.cast(0, I.i32)
    for i in range(n):
        doubled = doubled * 2 + total
        total = total + x[0] * I.cast(i, I.i32)
    y[()] = total


def _program(kernel) -> ph.Program:
    taken = built(kernel)
    return taken.program(
        minimal_plan(taken.analysis, registry().get("reference").capabilities, {"M": 3, "N": 5})
    )


@pytest.mark.parametrize("kernel", [normalised, halved])
def test_every_result_is_used(kernel) -> None:
    for segment in _program(kernel).segments:
        ops = list(walk(segment.body))
        used = {f.id for op in ops for f in operands_of(op)}
        used |= {f.id for op in ops for region in regions_of(op) for f in region.yields}
        for op in ops:
            assert isinstance(op, EFFECTS) or not op.results or any(r.id in used for r in op.results), op


def test_a_loop_carries_what_somebody_wants() -> None:
    (loop,) = (op for s in _program(halved).segments for op in walk(s.body) if isinstance(op, ph.While))
    assert len(loop.results) == 3, "whether it goes on, the value, the steps; nobody asks what was doubled"


def test_a_counted_loop_carries_what_somebody_wants() -> None:
    (loop,) = (op for s in _program(counted_on).segments for op in walk(s.body) if isinstance(op, ph.Loop))
    assert len(loop.results) == 1, "the total; nobody asks what was doubled"


@intent.kernel
def summed(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ()]):
    for i in range(2, x.shape[0]):
        y[()] = y[()] + x[i]


def test_the_last_point_of_a_loop_is_the_one_before_its_end() -> None:
    bounds = built(summed).analysis.bounds.facts.dyn
    assert set(bounds.values()) == {(const(2), symbol("N") - 1)}
