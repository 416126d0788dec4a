"""What a program computes, as the page writes it."""

from __future__ import annotations

import intent
import intent.language as I
from intent.construct.plan import GroupPlan, Plan, resident, serial


def lines(artifact, *kinds):
    return [o.text for s in artifact.report().segments for o in s.operations if o.kind in kinds]


def written(artifact):
    return {
        o.text.split("[")[0]: o.value for s in artifact.report().segments for o in s.operations if o.value
    }


@intent.kernel
def softmax(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    e = I.exp(x[...] - I.reduce.max(x[...], axis=1)[:, None])
    y[...] = e / I.reduce.sum(e, axis=1)[:, None]


def test_values_without_a_name_stand_where_they_are_used():
    plan = Plan(groups=(GroupPlan(instance=(("axis_M", 4),), inner=(("axis_N", resident(64)),)),))
    artifact = intent.compile(softmax, "reference", plan=plan)
    assert lines(artifact, "compute") == ["e = exp(x - max(x))"]
    assert lines(artifact, "reduce") == ["reduce x by max over axis_N:64", "reduce e by sum over axis_N:64"]
    assert written(artifact) == {"write y": "e / sum(e)"}


@intent.kernel
def formula(a: I.In[I.f32, ("N",)], b: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, ("N",)]):
    y[...] = (a[...] - (b[...] - 2.0)) * -a[...] / (a[...] * b[...] + 0.5)
    z[...] = I.select(a[...] > 0.0, a[...], b[...]) * (a[...] + b[...]) * (a[...] + b[...])


def test_parentheses_stand_where_they_matter():
    artifact = intent.compile(formula, "reference")
    values = written(artifact)
    assert values["write y"] == "(a - (b - 2)) * -a / (a * b + 0.5)"
    (shared,) = lines(artifact, "compute")
    number, text = shared.split(" = ")
    assert text == "a + b", "what is used twice has a line"
    assert values["write z"] == f"select(a > 0, a, b) * {number} * {number}"


@intent.kernel
def matmul(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], c: I.Out[I.f32, ("M", "N")]):
    c[...] = I.matmul(a[...], b[...]) * 2.0


def test_a_carry_says_what_a_pass_makes_of_it():
    group = GroupPlan(instance=(("axis_M", 16), ("axis_N", 16)), inner=(("axis_K", serial(16)),))
    artifact = intent.compile(matmul, "reference", plan=Plan(groups=(group,)))
    updates = lines(artifact, "carry")
    assert updates
    assert set(updates) <= {"carry ← carry + a @ b", "carry.2 ← carry.2 + a @ b"}
    assert written(artifact)["write c"].endswith(" * 2")


@intent.kernel
def moments(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        s = I.record(first=0.0, second=0.0)
        n = 0
        for j in range(x.shape[1]):
            v = x[i, j]
            s = I.record(first=s.first + v, second=s.second + v * v)
            n = n + 1
        y[i] = s.second / s.first


def test_carries_of_one_name_are_told_apart():
    artifact = intent.compile(moments, "reference")
    updates = lines(artifact, "carry")
    first, second = ("s.0", "s.1") if "s.0 ← s.0 + v" in updates else ("s.1", "s.0")
    assert f"{first} ← {first} + v" in updates
    assert f"{second} ← {second} + v * v" in updates
    assert written(artifact) == {"write y": f"{second} / {first}"}
    assert any("carrying s.0, s.1" in line for line in lines(artifact, "loop"))
