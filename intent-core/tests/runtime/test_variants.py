from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.diagnostics import NotSupportedYet, PlanError, VerificationError
from intent.runtime import variants
from intent.runtime.cache import Memory
from intent.runtime.variants import bucket
from intent.types.extent import Symbol

N = Symbol("N")


def square(rows, columns):
    return np.ones((rows, columns), np.float32)


def test_a_new_shape_inside_a_bucket_compiles_nothing(scale, toy):
    scale.run(square(96, 600), 2.0)
    built = len(toy.builds)
    variant = scale.variant
    for rows, columns in ((95, 601), (70, 999), (127, 517)):
        result = scale.run(square(rows, columns), 3.0)
        np.testing.assert_array_equal(result, 3.0)
    scale.run(square(96, 600), 2.0)
    odd = {id(source.program) for source in toy.builds}
    assert scale.variant is variant
    assert len(odd) == len(toy.builds)
    before = len(toy.builds)
    for rows, columns in ((95, 601), (93, 605), (77, 701), (65, 1001)):
        scale.run(square(rows, columns), 3.0)
    assert len(toy.builds) == before
    assert built >= 1


def test_the_guards_of_what_is_launched_always_hold(scale, toy):
    for rows in (1, 2, 15, 16, 17, 64, 65):
        for columns in (1, 31, 32, 64, 100, 128, 1000, 1024, 5000):
            scale.run(square(rows, columns), 1.0)
            values = {Symbol("M"): rows, N: columns}
            assert all(g.holds(g.extent.evaluate(values)) for g in scale.program.guards)


def test_equal_kernels_share_variants(compiled, kernels, toy, x):
    compiled(kernels.scale(), toy).run(x, 1.0)
    built = len(toy.builds)
    compiled(kernels.scale(), toy).run(x, 1.0)
    assert len(toy.builds) == built
    compiled(kernels.scale(mode="inout"), toy)(x, x.copy(), 1.0)
    assert len(toy.builds) == built + 1


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [(96, 160, False), (1, 2, False), (3, 5, False), (33, 35, True), (96, 32 * 5, False), (128, 64, False),
     (600, 616, True), (600, 604, False), (0, 1, False), (0, 0, True), (-1, -3, False), (1 << 20, 3 << 19, False)],
)  # fmt: skip
def test_buckets(a, b, same):
    assert (bucket({N: a}) == bucket({N: b})) is same


@intent.kernel
def halved(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    y[...] = x[...] * 0.5


def test_a_default_plan_that_does_not_fit_makes_way_for_the_initial_one(monkeypatch):
    plan = intent.compile(halved, "reference").plan
    ill = type(plan)(groups=plan.groups * 2)
    monkeypatch.setattr(variants, "default_plan", lambda *_: ill)
    artifact = intent.compile(halved, "reference")
    np.testing.assert_array_equal(artifact.run(square(3, 5)), 0.5)
    with pytest.raises(PlanError):
        intent.compile(halved, "reference", plan=ill)


def test_a_planned_program_that_is_refused_makes_way_with_a_warning(monkeypatch):
    wished = intent.compile(halved, "reference").plan
    real = variants.construct

    def refuse(kernel, plan, analysis):
        if plan == wished:
            raise VerificationError("coordinates", "made to fail")
        return real(kernel, plan, analysis)

    monkeypatch.setattr(variants, "construct", refuse)
    monkeypatch.setattr(variants, "_VARIANTS", Memory())
    with pytest.warns(RuntimeWarning, match="the initial one runs"):
        artifact = intent.compile(halved, "reference")
    assert artifact.plan != wished


@intent.kernel
def kept_without_bound(n: I.In[I.i32, ()], y: I.Out[I.f32, ()]):
    v = I.full((n[()],), 1.0, I.f32)
    for _ in range(3):
        v = v * 2.0 + 1.0
    y[...] = I.reduce.sum(v, axis=0)


def test_a_kernel_without_any_plan_is_refused_where_its_value_stands():
    with pytest.raises(NotSupportedYet, match="nothing known before launch bounds the extent") as caught:
        intent.compile(kept_without_bound, "reference")
    assert caught.value.span is not None
    assert caught.value.span.line > 0
    assert "x[0:n]" in str(caught.value.fix)
