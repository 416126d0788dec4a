"""Default plans keep fragments within registers, whatever axes meet in one value."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import intent
import intent.language as I
from intent.construct import analyze, construct
from intent.frontend import lower
from intent.physical import Program, Store
from intent.physical.verify import verify
from intent.physical.walk import walk
from intent.planning import default_plan
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


def _program(kernel: intent.Definition, **extents: int) -> Program:
    lowered = lower(kernel)
    analysis = analyze(lowered)
    program = construct(lowered, default_plan(analysis, CAPABILITIES, extents), analysis)
    verify(program)
    return program


def _widest(program: Program) -> int:
    return max(
        prod(d.size for d in r.dims) for s in program.segments for op in walk(s.body) for r in op.results
    )


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
    stores = [op for s in program.segments for op in walk(s.body) if isinstance(op, Store)]
    assert [s.target.name for s in stores] == ["state", "y"]


def test_a_short_carried_row_stays_in_registers() -> None:
    program = _program(turned, T=4, N=32)
    assert program.workspace == ()
