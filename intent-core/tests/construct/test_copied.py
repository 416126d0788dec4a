"""Stores that read what they overwrite, in more elements than lanes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import analyze, construct, serial
from intent.diagnostics import PlanError
from intent.frontend import lower
from intent.passes import refine
from intent.physical.verify import verify
from intent.planning import default_plan, minimal_plan
from intent.provider.registry import registry
from intent.reference.physical import execute

CAPABILITIES = registry().get("reference").capabilities


@intent.kernel
def shift(x: I.InOut[I.i32, ("M", "N")]):
    N = x.shape[1]
    x[:, 1:N] = x[:, 0 : N - 1] + 1


@intent.kernel
def turn(x: I.InOut[I.i32, ("N", "N")]):
    x[...] = I.transpose(x[...])


@intent.kernel
def permuted(x: I.InOut[I.i32, ("N",)], at: I.In[I.i32, ("N",)]):
    x[...] = I.gather(x, index=at[...])


@intent.kernel
def in_points(x: I.InOut[I.i32, ("M", "N")]):
    N = x.shape[1]
    for i in I.parallel(I.domain(0, x.shape[0])):
        x[i, 0 : N - 1] = x[i, 1:N] * 2


@intent.kernel
def goes_where_it_says(x: I.InOut[I.i32, ("N",)]):
    at = I.cast(x[...], I.index)
    I.scatter_unique(x, index=at, value=x[...] + 0)


def _arguments():
    rng = np.random.default_rng(4)
    return {
        "shift": ({"x": rng.integers(0, 99, (3, 37), dtype=np.int32)}, {"M": 3, "N": 37}),
        "turn": ({"x": rng.integers(0, 99, (9, 9), dtype=np.int32)}, {"N": 9}),
        "permuted": (
            {"x": np.arange(41, dtype=np.int32), "at": rng.permutation(41).astype(np.int32)},
            {"N": 41},
        ),
        "in_points": ({"x": rng.integers(0, 99, (4, 21), dtype=np.int32)}, {"M": 4, "N": 21}),
    }


def _wanted(name, x, at=None):
    if name == "shift":
        return np.concatenate((x[:, :1], x[:, :-1] + 1), axis=1)
    if name == "in_points":
        return np.concatenate((x[:, 1:] * 2, x[:, -1:]), axis=1)
    return x.T if name == "turn" else x[at]


@pytest.mark.parametrize("kernel", [shift, turn, permuted, in_points])
@pytest.mark.parametrize("block", [1, 4, 64])
@pytest.mark.parametrize("inside", [True, False])
def test_any_block_gives_what_it_gives_at_once(kernel, block, inside):
    lowered = lower(kernel, {})
    analysis = analyze(lowered)
    views, extents = _arguments()[str(lowered.name)]
    wanted = _wanted(str(lowered.name), **views).copy()
    plan = minimal_plan(analysis, CAPABILITIES, extents)
    (group,) = plan.groups
    group = replace(
        group,
        inner=tuple((label, serial(block)) for label in analysis.inner),
        instance=() if inside else group.instance,
    )
    program = construct(lowered, replace(plan, groups=(group,)), analysis)
    verify(program, lowered)
    execute(program, views, {}, extents, order=np.random.default_rng(1), find_races=True)
    np.testing.assert_array_equal(views["x"], wanted)


def test_the_default_plan_does_not_grow_with_the_array():
    analysis = analyze(lower(shift, {}))
    plan = default_plan(analysis, CAPABILITIES, {"M": 3, "N": 5_000_000})
    assert max(inner.size for _, inner in plan.groups[0].inner) <= 32768


def test_where_the_destinations_are_overwritten_too_all_is_decided_at_once():
    lowered = lower(goes_where_it_says, {})
    analysis = analyze(lowered)
    plan = minimal_plan(analysis, CAPABILITIES, {"N": 16})
    x = np.random.default_rng(2).permutation(16).astype(np.int32)
    wanted = np.zeros_like(x)
    wanted[x] = x
    program = construct(lowered, plan, analysis)
    execute(program, {"x": x}, {}, {"N": 16}, find_races=True)
    np.testing.assert_array_equal(x, wanted)
    (group,) = plan.groups
    walked = replace(group, inner=tuple((label, serial(1)) for label, _ in group.inner))
    with pytest.raises(PlanError, match="what it overwrites says"):
        construct(lowered, replace(plan, groups=(walked,)), analysis)


@intent.kernel
def rows_from_means(x: I.InOut[I.f32, ("M", "N")]):
    M, N = x.shape
    means = I.reduce.sum(x[...], axis=1) / I.cast(N, I.f32)
    x[1:M, :] = x[1:M, :] - means[0 : M - 1][:, None]


def test_parts_of_nested_loops_that_write_are_fenced():
    lowered = lower(rows_from_means, {})
    analysis = analyze(lowered)
    plan = minimal_plan(analysis, CAPABILITIES)
    (group,) = plan.groups
    sizes = {label: serial(64 if number else 4) for number, label in enumerate(sorted(analysis.inner))}
    program = refine(
        construct(lowered, replace(plan, groups=(replace(group, inner=tuple(sizes.items())),)), analysis)
    )
    verify(program, lowered)
    x = np.arange(11 * 150, dtype=np.float32).reshape(11, 150) % 7
    wanted = x.copy()
    wanted[1:] -= x[:-1].mean(axis=1, keepdims=True)
    execute(program, {"x": x}, {}, {"M": 11, "N": 150}, find_races=True)
    np.testing.assert_allclose(x, wanted, rtol=1e-5, atol=1e-5)


@intent.kernel
def share_of_all(x: I.InOut[I.i32, ("N",)]):
    x[...] = x[...] * 100 // I.reduce.sum(x[...], axis=0)


@intent.kernel
def share_of_rows(x: I.InOut[I.i32, ("M", "N")]):
    x[...] = x[...] * 100 // I.reduce.sum(x[...], axis=1)[:, None]


@intent.kernel
def share_of_all_before(x: I.InOut[I.i32, ("N",)]):
    x[...] = x[...] * 100 // I.cumsum(x[...], axis=0)


@intent.kernel
def share_of_first(x: I.InOut[I.i32, ("N",)]):
    x[...] = x[...] * 100 // x[0]


SHARES = {
    share_of_all: lambda x: x * 100 // x.sum(),
    share_of_rows: lambda x: x * 100 // x.sum(1, keepdims=True),
    share_of_all_before: lambda x: x * 100 // np.cumsum(x),
    share_of_first: lambda x: x * 100 // x[0],
}


@pytest.mark.parametrize("block", [1, 4])
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("kernel", SHARES, ids=lambda kernel: kernel.__name__)
def test_a_store_goes_through_a_buffer_only_if_a_pass_reads_what_another_one_writes(kernel, parts, block):
    """A sum stands in front of the passes, which read the very elements that they write."""
    lowered = lower(kernel)
    analysis, rng = analyze(lowered), np.random.default_rng(5)
    plan = minimal_plan(analysis, CAPABILITIES)
    (group,) = plan.groups
    inner = tuple((label, serial(block)) for label in analysis.inner)
    group = replace(group, inner=inner, split=("axis_N", parts) if parts > 1 else None)
    reads_ahead = kernel in (share_of_all_before, share_of_first)
    if parts > 1 and reads_ahead:
        with pytest.raises(PlanError):
            construct(lowered, replace(plan, groups=(group,)), analysis)
        return
    program = construct(lowered, replace(plan, groups=(group,)), analysis)
    verify(program, lowered)
    assert any(b.role == "" for b in program.workspace) == reads_ahead
    extents = {"M": 3, "N": 11} if kernel is share_of_rows else {"N": 11}
    x = rng.integers(1, 9, tuple(extents.values()), dtype=np.int32)
    wanted = SHARES[kernel](x)
    execute(program, {"x": x}, {}, extents, order=rng, find_races=True)
    np.testing.assert_array_equal(x, wanted)
