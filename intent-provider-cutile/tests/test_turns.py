"""Blocks that take instances of a product in turn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import intent
import intent.language as I
from intent import physical as ph
from intent.construct import analyze
from intent.frontend import lower
from intent.planning import default_plan
from intent.types.dtypes import BOOL, F32
from intent.types.extent import const
from intent_provider_cutile.build import bytecode
from intent_provider_cutile.capabilities import CAPABILITIES
from intent_provider_cutile.emit import emit
from intent_provider_cutile.emit.turns import blocks_each, started
from intent_testkit.kernels import matmul, softmax, workloads

RNG = np.random.default_rng(13)


@intent.kernel
def product(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], c: I.Out[I.f32, ("M", "N")]):
    c[...] = I.matmul(a[...], b[...])


@intent.kernel
def twice(
    a: I.In[I.f32, ("M", "K")],
    b: I.In[I.f32, ("K", "N")],
    c: I.Out[I.f32, ("M", "N")],
    d: I.Out[I.f32, ("M",)],
):
    c[...] = I.matmul(a[...], b[...])
    d[...] = I.reduce.sum(a[...], axis=1)


def planned(kernel, each=1, **extents):
    """The default plan with tiles of 16 x 16 and ``each`` blocks on a multiprocessor."""
    plan = default_plan(analyze(lower(kernel, {})), CAPABILITIES, extents)
    small = tuple(
        replace(g, instance=tuple((label, min(block, 16)) for label, block in g.instance))
        for g in plan.groups
    )
    return replace(plan, groups=small, guards=(), knobs=(("persistent", each),))


@pytest.fixture(autouse=True)
def emulated(monkeypatch):
    monkeypatch.setenv("INTENT_EXECUTION", "emulate")


@pytest.mark.parametrize(("m", "n", "k"), [(16, 16, 32), (64, 48, 32), (70, 41, 35), (33, 16, 200)])
@pytest.mark.parametrize("flip", [False, True])
def test_every_instance_is_taken_once(m, n, k, flip):
    a, b = RNG.integers(-4, 5, (m, k)).astype(np.float32), RNG.integers(-4, 5, (k, n)).astype(np.float32)
    a = a[::-1] if flip else a
    c = np.full((m, n), np.nan, np.float32)
    artifact = intent.compile(product, "cutile", plan=planned(product, M=m, N=n, K=k))
    artifact(a, b, c)
    np.testing.assert_array_equal(c, a @ b)
    assert "ct.num_blocks(0)" in artifact.variant.source.text
    bytecode(artifact.variant.source)


def test_blocks_that_a_launch_starts():
    assert started(1000, 132, 1, 1) == 132
    assert started(1000, 132, 2, 1) == 264
    assert started(1000, 132, 1, 2) == 66
    assert started(7, 132, 1, 1) == 7
    assert started(7, 1, 1, 2) == 1


@pytest.mark.parametrize("kernel", [softmax.softmax, workloads.sum_of_vector, twice])
def test_other_programs_have_a_block_for_each_instance(kernel):
    plan = replace(default_plan(analyze(lower(kernel, {})), CAPABILITIES, {}), knobs=(("persistent", 1),))
    artifact = intent.compile(kernel, "cutile", plan=plan)
    assert "num_blocks" not in artifact.variant.source.text
    assert emit(artifact.variant.program).each == 0


def _fence(view):
    return (ph.Fence(id=10**6, results=(), target=view),)


def _buffer(view):
    buffer = ph.Buffer(id=10**6, name="held", dtype=F32, shape=(const(4),))
    return (ph.BufferAlloc(id=10**6, results=(), buffer=buffer),)


def _branch(view):
    truth = ph.Constant(id=10**6, results=(ph.Fragment(id=10**6, dtype=BOOL, dims=(), name=""),), value=True)
    empty = ph.Region(args=(), ops=(), yields=())
    return truth, ph.If(id=10**6 + 1, results=(), condition=truth.results[0], then=empty, orelse=empty)


@pytest.mark.parametrize("add", [None, _fence, _buffer, _branch])
def test_products_that_meet_or_branch_have_a_block_for_each_instance(add):
    """Where instances meet in memory one may wait for another; the compiler takes reads out of branches in loops."""
    artifact = intent.compile(product, "cutile", plan=planned(product, M=64, N=64, K=32))
    program = artifact.variant.program
    (segment,) = program.segments
    more = add(next(program.views)) if add else ()
    body = replace(segment.body, ops=(*segment.body.ops, *more))
    assert blocks_each(replace(program, segments=(replace(segment, body=body),))) == (0 if add else 1)


def test_segments_without_instances_do_not_count():
    artifact = intent.compile(product, "cutile", plan=planned(product, M=64, N=64, K=32))
    program = artifact.variant.program
    (segment,) = program.segments
    silent = replace(segment, length=const(0))
    assert blocks_each(replace(program, segments=(segment, silent))) == 1
    assert blocks_each(replace(program, segments=(segment, segment))) == 0


def test_the_number_behind_the_last_instance_fits_the_index_type():
    """With 2^30 instances and more, a 32-bit number of the next one would be below zero."""
    program = intent.compile(matmul.matmul_bf16, "cutile", plan=planned(matmul.matmul_bf16)).variant.program
    assert program.length + program.length in {fact.high for fact in emit(program).signature.facts}
