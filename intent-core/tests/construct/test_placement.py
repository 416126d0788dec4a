"""Where operations stand: loads once, loops where their operands live, values held instead of computed again."""

from __future__ import annotations

from collections.abc import Mapping
from math import log2, prod

import numpy as np
import pytest

import intent
import intent.language as I
from intent import physical as ph
from intent.physical.walk import regions_of, walk
from intent.planning import minimal_plan
from intent.provider.registry import registry
from intent.types.extent import Symbol

from .conftest import built


def minimal(kernel, extents):
    taken = built(kernel)
    plan = minimal_plan(taken.analysis, registry().get("reference").capabilities, extents)
    return taken.program(plan)


class Work:
    """Element operations that a program executes at some extents; trip counts are evaluated, not guessed."""

    def __init__(self, program: ph.Program, extents: Mapping[str, int]) -> None:
        self.environment = {Symbol(n): v for n, v in extents.items()}
        self.defined: dict[int, ph.Op] = {}
        self.total = sum(s.length.evaluate(self.environment) * self.region(s.body) for s in program.segments)

    def region(self, region: ph.Region) -> int:
        total = 0
        for op in region.ops:
            self.defined.update((r.id, op) for r in op.results)
            inner = sum(map(self.region, regions_of(op)))
            lanes = max([1, *(prod(d.size for d in r.dims) for r in op.results)])
            total += self.trips(op) * (1 + inner) if isinstance(op, ph.Loop) else lanes + inner
        return total

    def trips(self, op: ph.Loop) -> int:
        begin, end, step = (self.value(f) for f in (op.begin, op.end, op.step))
        return max(0, -((begin - end) // step))

    def value(self, fragment: ph.Fragment) -> int:
        op = self.defined[fragment.id]
        if isinstance(op, ph.Constant):
            return int(op.value)
        assert isinstance(op, ph.LaunchValue), f"a bound of the minimal plan that is not an extent: {op}"
        return op.extent.evaluate(self.environment)


def exponent(kernel, symbols: str, **fixed: int) -> float:
    """How the work of the minimal plan grows with all of ``symbols`` together."""
    found = []
    for n in (64, 128):
        extents = dict.fromkeys(symbols, n) | fixed
        found.append(Work(minimal(kernel, extents), extents).total)
    return log2(found[1] / found[0])


@intent.kernel
def stacked(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    v = x[...]
    a = v / I.reduce.sum(v, axis=1)[:, None]
    b = a / I.reduce.max(a, axis=1)[:, None]
    c = b / I.reduce.sum(b * b, axis=1)[:, None]
    y[...] = c / I.reduce.max(c, axis=1)[:, None]


@intent.kernel
def rows_columns_rows(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N", "N")]):
    v = I.abs(x[...]) + 1.0
    r = v / I.reduce.sum(v, axis=1)[:, None]
    c = r / I.reduce.sum(r, axis=0)[None, :]
    y[...] = c / I.reduce.sum(c, axis=1)[:, None]


@intent.kernel
def column_sums_of_softmax(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("N",)]):
    v = x[...]
    e = I.exp(v - I.reduce.max(v, axis=1)[:, None])
    y[...] = I.reduce.sum(e / I.reduce.sum(e, axis=1)[:, None], axis=0)


@intent.kernel
def variance_of_rows(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ()]):
    v = x[...]
    d = v - I.reduce.sum(v, axis=1)[:, None]
    y[...] = I.reduce.sum(d * d, axis=(0, 1))


@intent.kernel
def two_layers(
    x: I.In[I.f32, ("M", "K")],
    w: I.In[I.f32, ("K", "H")],
    u: I.In[I.f32, ("H", "N")],
    y: I.Out[I.f32, ("M", "N")],
):
    y[...] = I.matmul(I.maximum(I.matmul(x[...], w[...]), 0.0), u[...])


@intent.kernel
def cube(x: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N", "N")]):
    v = x[...]
    y[...] = I.matmul(I.matmul(v, v), v)


@intent.kernel
def prefix_share(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    s = I.cumsum(x[...], axis=1)
    y[...] = s / I.reduce.sum(s, axis=1)[:, None]


@intent.kernel
def summed_area(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    y[...] = I.cumsum(I.cumsum(x[...], axis=1), axis=0)


@pytest.mark.parametrize(
    ("kernel", "symbols", "power"),
    [
        (stacked, "MN", 2),
        (rows_columns_rows, "N", 2),
        (column_sums_of_softmax, "MN", 2),
        (variance_of_rows, "MN", 2),
        (two_layers, "MKHN", 3),
        (cube, "N", 3),
        (prefix_share, "MN", 2),
        (summed_area, "MN", 2),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_the_minimal_plan_computes_every_reduction_once(kernel, symbols, power):
    # Computing a reduction again in every pass of an unrelated loop would add 1 or 2 to the exponent.
    assert exponent(kernel, symbols) < power + 0.1


@pytest.mark.parametrize("n", [1, 5, 17])
def test_held_values_are_the_computed_ones(differ, rng, n):
    x = rng.normal(size=(n, n)).astype(np.float32)
    v = np.abs(x.astype(np.float64)) + 1
    r = v / v.sum(1, keepdims=True)
    c = r / r.sum(0, keepdims=True)
    out = np.zeros((n, n), np.float32)
    differ(rows_columns_rows, {"x": x, "y": out}, {"y": c / c.sum(1, keepdims=True)}, count=10)
    wanted = np.cumsum(np.cumsum(x.astype(np.float64), axis=1), axis=0)
    differ(summed_area, {"x": x, "y": out}, {"y": wanted}, tolerance=1e-4, count=10)


@intent.kernel
def repeated(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = x[...] * x[...] + I.exp(x[...]) - x[...]


@intent.kernel
def unrelated_loop(x: I.In[I.f32, ("N",)], a: I.In[I.f32, ("K",)], y: I.Out[I.f32, ("N",)]):
    y[...] = x[...] * I.reduce.sum(a[...], axis=0)


def test_equal_loads_are_one_load():
    loads = [
        op for s in minimal(repeated, {"N": 5}).segments for op in walk(s.body) if isinstance(op, ph.Load)
    ]
    assert len(loads) == 1


def test_a_loop_stands_where_its_operands_live():
    taken = built(unrelated_loop)
    (group,) = taken.analysis.groups
    from intent.construct import GroupPlan, Plan

    # The store's loop over N stays inside the instance; the sum does not depend on it.
    program = taken.program(Plan(groups=(GroupPlan(),)))
    (segment,) = program.segments
    outer = [op for op in segment.body.ops if isinstance(op, ph.Loop)]
    assert len(outer) == 2
    assert not any(isinstance(op, ph.Loop) for loop in outer for op in walk(loop.body))
    assert group.axes


@intent.kernel
def eliminated(a: I.InOut[I.f64, ("M", "N")]):
    """Inside the loops of the store, a product that is held outside of them needs what they have read already."""
    M, N = a.shape
    rows = I.domain(0, M)
    for k in range(N):
        below = rows[k:M]
        v = a[below, k] - a[k, k]
        a[below, :] = a[below, :] - I.outer(v, I.vecmat(v, a[below, :]))


@pytest.mark.parametrize(("m", "n"), [(2, 0), (1, 1), (4, 3)])
def test_what_a_loop_has_read_is_not_there_outside_of_it(differ, rng, m, n):
    a = rng.normal(size=(m, n)) / 4
    wanted = a.copy()
    for k in range(n):
        v = wanted[k:, k] - wanted[k, k]
        wanted[k:] -= np.outer(v, v @ wanted[k:])
    differ(eliminated, {"a": a}, {"a": wanted}, tolerance=1e-12)
