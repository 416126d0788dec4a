"""Default plans of products with a vector, of matrix states, and of gathers."""

from __future__ import annotations

from dataclasses import replace

import pytest

import intent
import intent.language as I
from intent.construct import GroupPlan, analyze, resident, serial
from intent.frontend import lower
from intent.planning import default_plan
from intent.provider import PlanTable, Walk
from intent.provider.registry import registry

CAPABILITIES = replace(
    registry().get("reference").capabilities,
    plans=PlanTable(warps="num_warps", warp_counts=(1, 2, 4, 8)),
    dot_dtypes=frozenset({("f32", "f32")}),
)


@intent.kernel
def matvec(a: I.In[I.f32, ("M", "K")], x: I.In[I.f32, ("K",)], y: I.Out[I.f32, ("M",)]):
    y[...] = I.matvec(a[...], x[...])


@intent.kernel
def batched_matvec(a: I.In[I.f32, ("B", "M", "K")], x: I.In[I.f32, ("B", "K")], y: I.Out[I.f32, ("B", "M")]):
    y[...] = I.contract(a[...], x[...], reduce=((2, 1),), batch=((0, 0),))


@intent.kernel
def rows(table: I.In[I.bf16, ("V", "D")], ids: I.In[I.i64, ("N",)], y: I.Out[I.bf16, ("N", "D")]):
    y[...] = table[I.cast(ids[...], I.index), :]


@intent.fn
def outer_of(part):
    return I.matmul(part.k, part.v, transpose_lhs=True)


@intent.fn
def plus(a, b):
    return a + b


@intent.fn
def emitted(part, state):
    return I.matmul(part.k, state)


@intent.kernel
def states(k: I.In[I.f32, ("T", "D")], v: I.In[I.f32, ("T", "E")], y: I.Out[I.f32, ("T", "E")]):
    zero = I.zeros((k.shape[1], v.shape[1]), I.f32)
    outputs, _ = I.region_scan(
        source=I.record(k=k[...], v=v[...]),
        axis=0,
        summarize=outer_of,
        combine=plus,
        identity=zero,
        initial_state=zero,
        apply=plus,
        emit=emitted,
    )
    y[...] = outputs


@intent.fn
def emitted_within(part, state):
    """``k k^T`` has no column of the state: instances along these repeat it."""
    return I.matmul(part.k, state) + I.matmul(I.matmul(part.k, part.k, transpose_rhs=True), part.v)


@intent.kernel
def states_of_heads(
    k: I.In[I.f32, ("H", "T", "D")], v: I.In[I.f32, ("H", "T", "E")], y: I.Out[I.f32, ("H", "T", "E")]
):
    H, _, D = k.shape
    zero = I.zeros((D, v.shape[2]), I.f32)
    for h in I.parallel(I.domain(0, H)):
        outputs, _ = I.region_scan(
            source=I.record(k=k[h, :, :], v=v[h, :, :]),
            axis=0,
            summarize=outer_of,
            combine=plus,
            identity=zero,
            initial_state=zero,
            apply=plus,
            emit=emitted_within,
        )
        y[h, :, :] = outputs


def _plan(kernel: intent.Definition, **extents: int) -> GroupPlan:
    (group,) = default_plan(analyze(lower(kernel)), CAPABILITIES, extents).groups
    return group


def test_rows_share_the_pieces_of_a_vector() -> None:
    group = _plan(matvec, M=16384, K=16384)
    assert dict(group.instance) == {"axis_M": 4}
    assert group.traversal("axis_K") == serial(4096)


@pytest.mark.parametrize(("block", "walked"), [(1024, 1024), (4096, 4096), (8192, 4096)])
def test_pieces_of_a_vector_are_no_longer_than_those_of_rows(block, walked) -> None:
    target = replace(CAPABILITIES, plans=replace(CAPABILITIES.plans, walks=(Walk(block=block),)))
    (group,) = default_plan(analyze(lower(matvec)), target, {"M": 16384, "K": 1 << 17}).groups
    assert group.traversal("axis_K") == serial(walked)


def test_a_short_vector_is_whole() -> None:
    group = _plan(matvec, M=4096, K=1024)
    assert group.traversal("axis_K") == resident(1024)
    assert group.block("axis_M") >= 4


def test_a_batch_of_vectors_is_no_matrix() -> None:
    group = _plan(batched_matvec, B=64, M=1024, K=16384)
    assert dict(group.instance) == {"axis_B": 1, "axis_M": 4}
    assert group.traversal("axis_K") == serial(4096)


def test_slices_of_a_scan_over_states_are_what_products_want() -> None:
    group = _plan(states, T=4096, D=64, E=64)
    assert group.traversal("axis_T") == serial(32)


@pytest.mark.parametrize(("heads", "block"), [(64, 32), (1, 16), (128, 64), (1000, 64)])
def test_columns_of_a_state_are_shared_out_until_instances_fill_a_device(heads, block) -> None:
    group = _plan(states_of_heads, H=heads, T=4096, D=64, E=64)
    assert dict(group.instance) == {"axis": 1, "axis_E": block}
    assert group.traversal("axis_T") == serial(16)


@pytest.mark.parametrize(("d", "block"), [(4096, CAPABILITIES.plans.pointwise_bytes // 2), (64, 64)])
def test_coordinates_do_not_narrow_a_gather(d, block) -> None:
    assert _plan(rows, V=1000, N=500, D=d).block("axis_D") == block
