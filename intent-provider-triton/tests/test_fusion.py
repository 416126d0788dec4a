"""Products and sums are contracted but where threads that hold one element must agree on it."""

from __future__ import annotations

import pytest

import intent
import intent.language as I
from intent_provider_triton.build import options_of
from intent_testkit.cases import BY_NAME
from intent_testkit.suite import compile_case


@intent.kernel
def halvings(x: I.In[I.f32, ("N",)], y: I.Out[I.i32, ()]):
    n = I.cast(0, I.i32)
    s = I.reduce.sum(x[...] * x[...], axis=0)
    while s > 1.0:
        s = s * 0.5
        n = n + 1
    y[()] = n


@intent.fn
def merged(a, b):
    return a * b + 1.0


@intent.kernel
def counted(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)], n: I.InOut[I.i32, ()]):
    y[...] = I.reduce(x[...], axis=1, combine=merged, identity=1.0)
    I.atomic.add(n[()], 1)


@pytest.mark.parametrize("kernel", [halvings, counted])
def test_not_before_a_branch_or_shared_memory(kernel):
    assert not options_of(intent.compile(kernel, provider="triton").program)["enable_fp_fusion"]


def test_not_in_what_a_buffer_keeps():
    program = compile_case("triton", BY_NAME["ragged_attention"]).program
    assert program.workspace
    assert not options_of(program)["enable_fp_fusion"]


@pytest.mark.parametrize("name", ["layer_norm", "softmax", "matmul", "running_total"])
def test_elsewhere(name):
    assert options_of(compile_case("triton", BY_NAME[name]).program)["enable_fp_fusion"]
