"""Default plans keep fragments within registers, whatever axes meet in one value."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest

import intent
import intent.language as I
from intent.construct import analyze, construct
from intent.construct.plan_record import plan_of_record, record_of_plan
from intent.frontend import lower
from intent.physical import Buffer, Program, Store
from intent.physical.verify import verify
from intent.physical.walk import walk
from intent.planning import default_plan
from intent.planning.candidates import candidates
from intent.planning.widest import LANES
from intent.provider import PlanTable
from intent.provider.registry import registry

CAPABILITIES = replace(
    registry().get("reference").capabilities, plans=PlanTable(warps="num_warps", warp_counts=(1, 2, 4, 8))
)


@intent.kernel
def chained(
    a: I.In[I.f32, ("M", "K")],
    b: I.In[I.f32, ("K", "N")],
    w: I.In[I.f32, ("N", "P")],
    y: I.Out[I.f32, ("M", "P")],
):
    y[...] = I.matmul(I.matmul(a[...], b[...]), w[...])


@intent.kernel
def rows_of_points(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        row = I.buffer((N,), I.f32)
        row[...] = x[i, :]
        y[i, :] = row[N - 1 - I.indices(I.domain(0, N))] - row[...]


@intent.kernel
def turned(x: I.In[I.f32, ("T", "N")], y: I.Out[I.f32, ("N",)]):
    T, N = x.shape
    state = I.zeros((N,), I.f32)
    i = I.indices(I.domain(0, N))
    for t in range(T):
        state = state[(i + 1) % N] * 0.5 + x[t, :]
    y[...] = state


@intent.kernel
def best_paths(e: I.In[I.f32, ("T", "N")], step: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N",)]):
    best = e[0, :]
    for t in range(1, e.shape[0]):
        best = I.reduce.max(best[:, None] + step[...], axis=0) + e[t, :]
    y[...] = best


@intent.kernel
def forward(e: I.In[I.f32, ("T", "N")], step: I.In[I.f32, ("N", "N")], y: I.Out[I.f32, ("N",)]):
    chance = e[0, :]
    for t in range(1, e.shape[0]):
        chance = I.vecmat(chance, step[...]) * e[t, :]
    y[...] = chance


@intent.kernel
def squares(x: I.In[I.f32, ("T", "N", "N")], y: I.Out[I.f32, ("N", "N")]):
    state = I.zeros((y.shape[0], y.shape[0]), I.f32)
    for t in range(x.shape[0]):
        state = I.transpose(state) + x[t, :, :]
    y[...] = state


def _program(kernel: intent.Definition, **extents: int) -> Program:
    lowered = lower(kernel)
    analysis = analyze(lowered)
    program = construct(lowered, default_plan(analysis, CAPABILITIES, extents or None), analysis)
    verify(program, lowered)
    return program


def _widest(program: Program) -> int:
    return max(
        prod(d.size for d in r.dims) for s in program.segments for op in walk(s.body) for r in op.results
    )


def _ops(program: Program, kind: type[Store]) -> list[Store]:
    return [op for s in program.segments for op in walk(s.body) if isinstance(op, kind)]


def test_results_of_a_product_that_stay_inside_are_walked_in_blocks() -> None:
    assert _widest(_program(chained, M=4096, K=512, N=512, P=4096)) <= LANES


def test_points_and_what_each_of_them_holds_share_the_lanes() -> None:
    program = _program(rows_of_points, M=4096, N=4096)
    assert _widest(program) <= LANES
    assert dict(program.knobs)["num_warps"] == 8


def test_a_narrowed_axis_keeps_the_guard_that_spares_its_masks() -> None:
    program = _program(rows_of_points, M=4096, N=4096)
    assert any(g.kind == "divisible" and str(g.extent) == "M" for g in program.guards)


def test_a_long_carried_row_moves_through_a_buffer() -> None:
    """Comparing all lanes with all coordinates would take 4096 x 4096 lanes."""
    program = _program(turned, T=4, N=4096)
    assert _widest(program) == 4096
    assert [s.target.name for s in _ops(program, Store)] == ["state", "y"]


def test_a_short_carried_row_stays_in_registers() -> None:
    program = _program(turned, T=4, N=32)
    assert program.workspace == ()


@pytest.mark.parametrize("kernel", [best_paths, forward])
@pytest.mark.parametrize("extents", [{}, {"T": 4, "N": 1024}, {"T": 4, "N": 200}])
def test_a_carried_vector_goes_through_a_matrix_in_blocks(kernel, extents) -> None:
    """Both axes of the matrix are of the vector's class, which has to be resident."""
    program = _program(kernel, **extents)
    assert _widest(program) <= LANES
    (best,) = [s.target for s in _ops(program, Store) if isinstance(s.target, Buffer)]
    assert [str(e) for e in best.shape] == ["256" if extents.get("N") == 200 else "1024"]


def test_a_vector_and_a_matrix_that_fit_stay_in_lanes() -> None:
    program = _program(best_paths, T=4, N=64)
    assert _widest(program) == 64 * 64
    assert program.workspace == ()


def test_a_carried_matrix_is_not_walked_in_vain() -> None:
    """No reduction meets its axes, so that blocks would only slow down others."""
    lowered = lower(squares)
    plan = default_plan(analyze(lowered), CAPABILITIES, {"T": 2, "N": 256})
    assert all(group.beside == () for group in plan.groups)


def test_blocks_beside_are_recorded_and_tuned() -> None:
    lowered = lower(best_paths)
    analysis = analyze(lowered)
    plan = default_plan(analysis, CAPABILITIES, {"T": 4, "N": 1024})
    assert "axis_N beside(32)" in str(plan)
    record = record_of_plan(plan)
    assert plan_of_record(record) == plan
    del record["groups"][0]["beside"]
    assert plan_of_record(record).groups[0].beside == (), "as plans were before"
    near = {p.groups[0].beside for p in candidates(analysis, CAPABILITIES, {"T": 4, "N": 1024}, {}, 20)}
    assert {(("axis_N", 16),), (("axis_N", 64),)} <= near
