"""The default plans of many kernels, written down: what planning decides changes on purpose only.

The files in ``plans`` say what each kernel's instances own, for a target with matrix units and settings and for one
without, and for calls of several sizes. ``INTENT_UPDATE_GOLDENS=1`` writes them again; the change is read in the diff.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import Analysis, analyze, construct
from intent.frontend import lower
from intent.planning import default_plan, random_plan
from intent.planning.candidates import candidates
from intent.provider import Capabilities, PlanTable, Walk
from intent_testkit.cases import ALL
from intent_testkit.golden import check_golden

from .conftest import IN_PARTS, NATIVE, PLAIN, TARGETS, sizes

FOLDER: Final = Path(__file__).parent / "plans"
KERNELS: Final = (
    "add", "axpy_bf16", "swiglu", "add_row_and_column", "outer_sum", "transpose", "transpose_f16", "permute",
    "softmax_rows", "softmax_bf16", "softmax_columns", "layer_norm", "rms_norm_bf16", "cross_entropy", "batch_norm",
    "sum_rows", "sum_columns", "sum_all", "sum_middle_axis", "sum_outer_axes", "row_max", "norms_of_columns", "welford",
    "matmul", "matmul_f16", "matmul_bf16", "matmul_i8", "matmul_f64", "linear_gelu_bf16", "matmul_batched_bf16",
    "matmul_shared_rhs", "contract_leading", "matvec", "vecmat", "dot", "chained", "attention_forward_causal",
    "flash_full", "flash_causal", "flash_window", "softmax_attention", "linear_attention", "gated_linear_attention",
    "running_sum", "running_sum_of_columns", "summed_area", "prefix_transposed", "argmax_rows", "folds_in_folds",
    "histogram_of_bytes", "histogram_of_rows", "histogram_of_many_bins", "histograms_of_halves", "csr_matvec",
    "paged_decode", "grouped_matmul_bf16", "ragged_attention", "rows_of_read_lengths", "scatter_add", "matrix_power_5",
    "permute_columns", "gather_rows_bf16", "embedding", "rotate_in_place", "recurrence", "collatz",
    "sparse_two_of_four",
    "scaled_mixed", "triangle_rows", "levenshtein", "compact", "sort_rows", "carried_diagonal",
)  # fmt: skip
_CASES: Final = {case.name: case for case in ALL}


@intent.kernel
def carried_span(x: I.In[I.f32, ("N",)], offsets: I.In[I.i32, ("P",)], y: I.InOut[I.f32, ("N",)]):
    """A tensor as long as data says is carried by a loop."""
    axis = I.domain(0, x.shape[0])
    for p in I.parallel(I.domain(0, offsets.shape[0] - 1)):
        span = axis[I.cast(offsets[p], I.index) : I.cast(offsets[p + 1], I.index)]
        value = x[span]
        for _ in range(3):
            value = value * 0.5 + I.reduce.max(value, axis=0)
        y[span] = value


@intent.kernel
def two_spans(
    x: I.In[I.f32, ("N",)], z: I.In[I.f32, ("K",)], ends: I.In[I.i32, ("P",)], others: I.In[I.i32, ("P",)],
    y: I.Out[I.f32, ("M",)],
):  # fmt: skip
    """Each point walks two ranges of its own."""
    first, second = I.domain(0, x.shape[0]), I.domain(0, z.shape[0])
    for p in I.parallel(I.domain(0, y.shape[0])):
        one = first[I.cast(ends[p], I.index) : I.cast(ends[p + 1], I.index)]
        two = second[I.cast(others[p], I.index) : I.cast(others[p + 1], I.index)]
        y[p] = I.reduce.sum(x[one], axis=0) + I.reduce.max(z[two], axis=0)


@intent.kernel
def planes_of_spans(x: I.In[I.f32, ("B", "N")], ends: I.In[I.i32, ("P",)], y: I.Out[I.f32, ("B", "M")]):
    """Points in a plane walk ranges that one of their numbers gives."""
    axis = I.domain(0, x.shape[1])
    for b in I.parallel(I.domain(0, x.shape[0])):
        for p in I.parallel(I.domain(0, y.shape[1])):
            span = axis[I.cast(ends[p], I.index) : I.cast(ends[p + 1], I.index)]
            y[b, p] = I.reduce.sum(x[b, span], axis=0)


@intent.kernel
def counts_in_rows(x: I.In[I.i32, ("N",)], w: I.In[I.i32, ("M",)], y: I.Out[I.i32, ("M", 64)]):
    """Every row has the same counts: rows are nothing that instances would own."""
    y[...] = I.histogram(x[...], bins=64)[None, :] + w[...][:, None]


@intent.kernel
def points_in_steps(x: I.In[I.f32, ("M",)], steps: I.In[I.i32, ("M",)], y: I.Out[I.f32, ("M",)]):
    """Each point goes in steps of its own: no two share an instance."""
    for p in I.parallel(I.domain(0, x.shape[0])):
        total = x[p]
        for i in range(0, 100, I.cast(steps[p], I.index)):
            total = total + I.cast(i, I.f32)
        y[p] = total


@intent.kernel
def columns_in_steps(x: I.In[I.f32, ("N", "M")], steps: I.In[I.i32, ("M",)], y: I.Out[I.f32, ("M",)]):
    """The same, and memory runs along the points."""
    for p in I.parallel(I.domain(0, y.shape[0])):
        total = I.reduce.sum(x[:, p], axis=0)
        for i in range(0, 100, I.cast(steps[p], I.index)):
            total = total + I.cast(i, I.f32)
        y[p] = total


def attention(mask: str, head: int | str = "D") -> Any:
    """Attention of bf16 where keys are left out by their place, by the row's place, by both, or by their value."""

    @intent.kernel
    def attended(
        q: I.In[I.bf16, ("M", head)],
        k: I.In[I.bf16, ("N", head)],
        v: I.In[I.bf16, ("N", head)],
        y: I.Out[I.bf16, ("M", head)],
        MASK: I.Constexpr[int],
    ):
        logits = I.matmul(q[...], k[...], transpose_rhs=True, acc_dtype=I.f32)
        rows = I.indices(I.domain(0, q.shape[0]))[:, None]
        columns = I.indices(I.domain(0, k.shape[0]))[None, :]
        if MASK == 1:
            logits = I.mask(logits, columns < 100, -I.inf)
        elif MASK == 2:
            logits = I.mask(logits, rows < 100, -I.inf)
        elif MASK == 3:
            logits = I.mask(logits, columns <= rows, -I.inf)
        elif MASK == 4:
            logits = I.mask(logits, logits > 0.0, -I.inf)
        e = I.exp(logits - I.reduce.max(logits, axis=1)[:, None])
        weights = e / I.reduce.sum(e, axis=1)[:, None]
        y[...] = I.cast(I.matmul(I.cast(weights, I.bf16), v[...], acc_dtype=I.f32), I.bf16)

    return lower(attended, {"MASK": MASKS.index(mask)})


OWN: Final = {
    k.__name__: k
    for k in (carried_span, two_spans, planes_of_spans, counts_in_rows, points_in_steps, columns_in_steps)
}
MASKS: Final = ("none", "place", "row", "both", "value")


def said(analysis: Analysis, targets: Mapping[str, Capabilities] = TARGETS) -> str:
    """Every plan of the kernel, with the target and the call that it is for."""
    lines = []
    for extents in sizes(analysis):
        call = "no call" if extents is None else " ".join(f"{k}={v}" for k, v in extents.items())
        for target, capabilities in targets.items():
            plan = str(default_plan(analysis, capabilities, extents))
            lines += [f"{target}, {call}", *(f"    {line}" for line in plan.splitlines())]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", KERNELS)
def test_the_default_plans_of(name):
    case = _CASES[name]
    check_golden(FOLDER / f"{name}.txt", said(analyze(lower(case.kernel, dict(case.constexprs)))))


@pytest.mark.parametrize("name", OWN)
def test_the_default_plans_of_rare_kernels(name):
    check_golden(FOLDER / f"{name}.txt", said(analyze(lower(OWN[name]))))


@pytest.mark.parametrize(("mask", "head"), [*((mask, "D") for mask in MASKS), ("none", 256)])
def test_the_default_plans_of_attention(mask, head):
    check_golden(FOLDER / f"attention_{mask}_{head}.txt", said(analyze(attention(mask, head))))


@pytest.mark.parametrize("name", ["linear_attention", "gated_linear_attention", "chained", "matmul"])
def test_the_default_plans_of_products_in_parts(name):
    case = _CASES[name]
    text = said(analyze(lower(case.kernel, dict(case.constexprs))), {"in parts": IN_PARTS})
    check_golden(FOLDER / f"parts_{name}.txt", text)


SETTINGS: Final = {"warps": (1, 2, 4, 8, 16), "stages": (1, 2, 3, 4), "other": (0, 1)}


def worth_measuring(name: str, extents: Mapping[str, int], capabilities: Capabilities, count: int) -> str:
    """The default plan and its neighbours, by name."""
    case = _CASES[name]
    analysis = analyze(lower(case.kernel, dict(case.constexprs)))
    found = candidates(analysis, capabilities, extents, SETTINGS, count)
    return "\n".join(f"{plan.name}\n{plan}" for plan in found if plan.name != "random") + "\n"


ELEMENTWISE: Final = replace(PLAIN, plans=PlanTable(resident=1, walks=(Walk(block=1),)))
TRIED: Final = {
    "matmul_bf16": ({"M": 8192, "N": 8192, "K": 4096}, NATIVE),
    "grouped_matmul_bf16": ({"N": 400, "K": 512, "G": 2, "E": 4096, "P": 3}, NATIVE),
    "sum_all": ({"M": 8192, "N": 8192}, NATIVE),
    "sum_rows": ({"M": 100, "N": 5}, ELEMENTWISE),
    "softmax_rows": ({"M": 100, "N": 300}, NATIVE),
}


@pytest.mark.parametrize("name", TRIED)
def test_the_neighbours_of(name):
    check_golden(FOLDER / f"neighbours_{name}.txt", worth_measuring(name, *TRIED[name], 40))


def test_no_plan_is_tried_twice():
    case = _CASES["sum_rows"]
    found = candidates(analyze(lower(case.kernel)), PLAIN, {"M": 3, "N": 3}, {}, 100)
    assert len(found) == len(set(found)) < 100


@pytest.mark.parametrize(
    ("kernel", "extents"),
    [(lower(carried_span), {"N": 64, "P": 9}), (attention("both", 16), {"M": 16, "N": 16})],
    ids=["of lengths that data gives", "of constants"],
)
def test_random_plans_guard_what_a_launch_decides(kernel, extents):
    analysis, rng = analyze(kernel), np.random.default_rng(5)
    for _ in range(12):
        plan = random_plan(analysis, PLAIN, rng, extents)
        assert all(g.extent.launch_visible and g.extent.const is None for g in plan.guards)
        construct(kernel, plan, analysis)
