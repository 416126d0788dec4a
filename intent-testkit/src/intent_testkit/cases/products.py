"""Cases of products of narrow floats: epilogue, eight bits, batches, groups, convolution."""

from __future__ import annotations

import numpy as np
from scipy.special import erf

from intent_testkit.cases.case import Case, Values, inout, out, segment, sizes, view
from intent_testkit.cases.draw import normal
from intent_testkit.cases.ragged import LAYOUTS, boundaries
from intent_testkit.cases.tolerance import Tolerance, accumulated
from intent_testkit.kernels import products as k

BF16 = accumulated(40, dtype="bf16")


def _gelu(v: Values) -> dict[str, object]:
    hidden = v.a @ v.b + v.bias
    return {"c": 0.5 * hidden * (1 + erf(hidden / np.sqrt(2)))}


def _groups(v: Values) -> dict[str, object]:
    y = v.y.copy()
    for g, (begin, end) in enumerate(zip(v.offsets[:-1], v.offsets[1:], strict=True)):
        y[begin:end] = v.x[begin:end] @ v.w[g]
    return {"y": y}


def _convolved(v: Values) -> dict[str, object]:
    b, h, w, _ = v.x.shape
    padded = np.pad(v.x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    taps = [(r, s) for r in range(3) for s in range(3)]
    images = sum(padded[:, r : r + h, s : s + w] @ v.w[:, r, s].T for r, s in taps)
    return {"y": np.reshape(images, (b * h * w, v.w.shape[0]))}


CASES = (
    Case(
        name="linear_gelu_bf16",
        kernel=k.linear_gelu_bf16,
        parameters=(
            view("a", "bf16", "M K", normal()),
            view("b", "bf16", "K N", normal()),
            view("bias", "bf16", "N", normal()),
            out("c", "bf16", "M N"),
        ),
        oracle=_gelu,
        tolerance=Tolerance(
            rtol=2.0**-8, atol=2e-5, reason="f32 sums of 40 products, erf within 2 ULP; rounded to bf16 once"
        ),
        extents=sizes("M N K", (0, 2, 3), (3, 4, 0), (1, 1, 1), (17, 33, 40)),
        segments=(segment("M N"),),
    ),
    Case(
        name="linear_f8",
        kernel=k.linear_f8,
        parameters=(
            view("x", "f8e4m3fn", "M K", normal()),
            view("w", "f8e4m3fn", "N K", normal()),
            out("y", "bf16", "M N"),
        ),
        oracle=lambda v: {"y": v.x @ v.w.T},
        tolerance=BF16,
        extents=sizes("M N K", (0, 2, 3), (3, 4, 0), (1, 1, 1), (17, 33, 40)),
        segments=(segment("M N"),),
    ),
    Case(
        name="matmul_batched_bf16",
        kernel=k.matmul_batched_bf16,
        parameters=(
            view("a", "bf16", "B M K", normal()),
            view("b", "bf16", "B K N", normal()),
            out("c", "bf16", "B M N"),
        ),
        oracle=lambda v: {"c": v.a @ v.b},
        tolerance=BF16,
        extents=sizes("B M N K", (0, 1, 2, 3), (2, 3, 4, 0), (1, 1, 1, 1), (3, 17, 9, 40)),
        segments=(segment("B M N"),),
    ),
    Case(
        name="grouped_matmul_bf16",
        kernel=k.grouped_matmul_bf16,
        parameters=(
            view("x", "bf16", "N K", normal()),
            view("w", "bf16", "G K E", normal()),
            view("offsets", "i32", "P", boundaries("N")),
            inout("y", "bf16", "N E", normal()),
        ),
        oracle=_groups,
        tolerance=BF16,
        extents=sizes("G P N K E", (1, 2, 1, 1, 1), (4, 5, 0, 3, 2), (5, 6, 23, 4, 3), (3, 4, 37, 40, 5)),
        variants=LAYOUTS,
        segments=(segment("G E"),),
    ),
    Case(
        name="convolution_bf16",
        kernel=k.convolution_bf16,
        parameters=(
            view("x", "bf16", "B H W C", normal()),
            view("w", "bf16", "O 3 3 C", normal()),
            out("y", "bf16", "P O"),
        ),
        oracle=_convolved,
        tolerance=accumulated(54, dtype="bf16"),
        extents=sizes(
            "B H W P C O", (0, 2, 2, 0, 2, 2), (1, 1, 1, 1, 1, 1), (1, 3, 2, 6, 0, 2), (2, 5, 4, 40, 6, 3)
        ),
        segments=(segment("P O"),),
    ),
)
