"""Which programs a process verifies: each once, whoever it is for."""

from __future__ import annotations

from dataclasses import replace

import intent
import intent.language as I
from intent.planning import default_plan
from intent.provider.registry import registry
from intent.runtime import compile as compiling
from intent.runtime import variants
from intent.runtime.cache import Memory


@intent.kernel
def doubled(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = x[...] * 2.0


def test_programs_that_differ_in_settings_are_verified_once(monkeypatch):
    seen = []
    real = variants.verify
    monkeypatch.setattr(variants, "verify", lambda program, *rest: seen.append(rest) or real(program, *rest))
    monkeypatch.setattr(variants, "_VARIANTS", Memory())
    monkeypatch.setattr(variants, "_VERIFIED", Memory())
    kernel = compiling.lowered(doubled, {})
    plan = default_plan(kernel, registry().get("reference").capabilities)
    for knobs in ((), (("num_warps", 2),), (("num_warps", 4),)):
        intent.compile(kernel, "reference", plan=replace(plan, knobs=knobs))
    assert len([rest for rest in seen if rest]) == 1
    group = replace(plan.groups[0], instance=tuple((label, 2) for label, _ in plan.groups[0].instance))
    intent.compile(kernel, "reference", plan=replace(plan, groups=(group,)))
    assert len([rest for rest in seen if rest]) == 2
