"""Kernels as operators of torch, of which a stand-in records what is registered."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import intent
import intent.language as I
from intent.diagnostics import NotSupportedYet, OptionError, UndeterminedOut
from intent.runtime.torch_op import schema


@intent.kernel
def scaled(
    x: I.In[I.f32, ("M", "N")],
    a: I.f32,
    z: I.InOut[I.f32, ("M",)],
    y: I.Out[I.bf16, ("N", "M")],
    last: I.bool,
    s: I.Out[I.i64, ("M", 2)],
    n: I.i32,
):
    y[...] = I.cast(I.transpose(x[...]) * a, I.bf16)
    if last:
        z[...] = z[...] + I.reduce.sum(x[...], axis=1)
    s[...] = I.full(s.shape, I.cast(n, I.i64), I.i64)


@intent.kernel
def doubled(x: I.InOut[I.f32, ("N",)]):
    x[...] = x[...] * 2


@intent.kernel
def ramp(y: I.Out[I.f32, ("N",)]):
    y[...] = I.cast(I.indices(I.domain(0, y.shape[0])), I.f32)


class Operator:
    def __init__(self, name, function, mutates_args, schema):
        self.name, self.function, self.mutated, self.schema = name, function, mutates_args, schema

    def __call__(self, *args):
        return self.function(*args)

    def register_fake(self, function):
        self.fake = function


@pytest.fixture
def torch(monkeypatch):
    made = ModuleType("torch")
    for name in (
        "bool",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
    ):
        setattr(made, name, name)
    made.Tensor = type("Tensor", (), {"is_neg": lambda self: False})
    made.cuda = SimpleNamespace(current_device=lambda: 0)
    made.library = SimpleNamespace(custom_op=Operator)
    made.empty = lambda shape, dtype, device: (shape, dtype, device)
    monkeypatch.setitem(sys.modules, "torch", made)
    return made


def test_the_operator_takes_what_run_takes(torch):
    operator = intent.compile(scaled, "reference").as_torch_op("mine::scaled")
    assert operator.name == "mine::scaled"
    assert operator.schema == "(Tensor x, float a, Tensor(a!) z, bool last, int n) -> (Tensor, Tensor)"
    assert operator.mutated == {"z"}
    x, z = np.ones((2, 3), np.float32), np.zeros(2, np.float32)
    y, s = operator(x, 2.0, z, True, 5)
    assert y.shape == (3, 2)
    assert s.tolist() == [[5, 5], [5, 5]]
    assert z.tolist() == [3, 3]


def test_shapes_are_known_without_running(torch):
    operator = intent.compile(scaled, "reference").as_torch_op("mine::scaled")
    x, z = SimpleNamespace(shape=(4, 7), device="cuda:1"), SimpleNamespace(shape=(4,), device="cuda:1")
    assert operator.fake(x, 2.0, z, True, 5) == (
        ((7, 4), "bfloat16", "cuda:1"),
        ((4, 2), "int64", "cuda:1"),
    )


def test_without_outs_nothing_is_returned(torch):
    artifact = intent.compile(doubled, "reference")
    operator = artifact.as_torch_op("mine::doubled")
    assert schema(artifact.kir) == "(Tensor(a!) x) -> ()"
    x = np.ones(3, np.float32)
    assert operator(x) is None
    assert x.tolist() == [2, 2, 2]
    assert operator.fake(SimpleNamespace(shape=(3,), device="cpu")) is None


@pytest.mark.parametrize("name", ["scaled", "mine::", "mine.scaled", "my ns::scaled", "a::b::c"])
def test_a_name_has_a_namespace(torch, name):
    with pytest.raises(OptionError, match="mine::softmax"):
        intent.compile(doubled, "reference").as_torch_op(name)


def test_outs_must_follow_from_the_inputs(torch):
    with pytest.raises(UndeterminedOut, match="'y'"):
        intent.compile(ramp, "reference").as_torch_op("mine::ramp")


def test_torch_is_the_callers(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    with pytest.raises(NotSupportedYet, match="import torch first"):
        intent.compile(doubled, "reference").as_torch_op("mine::doubled")
