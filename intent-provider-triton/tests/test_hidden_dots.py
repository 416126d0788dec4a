"""Triton turns some sums of products into tf32 dots; emitted text must not invite it."""

from __future__ import annotations

import pytest

import intent
import intent.language as I
from intent.construct import GroupPlan, Plan, analyze, resident
from intent.frontend import lower
from intent_provider_triton.build import compiled, default_layout
from intent_provider_triton.emit import emit


@intent.kernel
def product_sum_rows(x: I.In[I.f32, (16, 4)], w: I.In[I.f32, (4, 16)], y: I.Out[I.f32, (16, 16)]):
    y[...] = I.reduce.sum(x[...][:, :, None] * w[...][None, :, :], axis=1)


@intent.kernel
def product_sum_first(x: I.In[I.f32, (16, 16)], w: I.In[I.f32, (16, 16)], y: I.Out[I.f32, (16, 16)]):
    y[...] = I.reduce.sum(x[...][:, :, None] * w[...][None, :, :], axis=0)


@intent.kernel
def short_matmul(x: I.In[I.f32, (16, 4)], w: I.In[I.f32, (4, 16)], y: I.Out[I.f32, (16, 16)]):
    y[...] = I.matmul(x[...], w[...])


def _everything_resident(kernel: object) -> Plan:
    """One instance that holds every axis in lanes."""
    labels = {a.label for g in intent.compile(kernel, provider="triton").program.segments for a in g.axes}
    inner = analyze(lower(kernel, {})).inner
    sizes = {label: resident(axis.extent.const or 16) for label, axis in inner.items()}
    sizes |= {label.split(".")[0]: resident(16) for label in labels if label.split(".")[0] not in sizes}
    return Plan(groups=(GroupPlan(inner=tuple(sizes.items())),))


@pytest.mark.parametrize("kernel", [product_sum_rows, product_sum_first, short_matmul])
@pytest.mark.parametrize("whole", [False, True])
def test_no_product_becomes_tf32(kernel: object, whole: bool) -> None:
    artifact = intent.compile(kernel, provider="triton", plan=_everything_resident(kernel) if whole else None)
    source = artifact.variant.source
    signature = emit(source.program).signature
    made = compiled(source, signature, default_layout(signature), 90)
    assert "tf32" not in made.asm["ttir"].lower()
