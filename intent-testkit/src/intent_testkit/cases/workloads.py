"""Cases of the programs of the benchmark that no other family holds."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from scipy.special import logsumexp

from intent_testkit.cases.case import Case, Values, out, segment, sizes, view
from intent_testkit.cases.draw import coordinates, normal
from intent_testkit.cases.ragged import LAYOUTS, boundaries
from intent_testkit.cases.tolerance import EXACT, Tolerance, accumulated, ulps
from intent_testkit.kernels import workloads as k

BF16 = Tolerance(rtol=2.0**-8, atol=2e-5, reason="f32 sums and rsqrt of a row; rounded to bf16 once")


def _layer_norm(v: Values) -> dict[str, object]:
    centred = v.x - v.x.mean(axis=1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
    return {"y": scaled * v.weight + v.bias}


def _cross_entropy(v: Values) -> dict[str, object]:
    hit = np.take_along_axis(v.logits, v.target[:, None], axis=1)[:, 0]
    return {"loss": logsumexp(v.logits, axis=1) - hit}


def _quantised(v: Values) -> dict[str, object]:
    """In the kernel's own f32 arithmetic: a bound on a quantised value would be a whole step."""
    x = v.raw("x").astype(np.float32)
    peak = np.maximum(np.abs(x).max(axis=1, initial=0), np.float32(1e-12))
    y = (x * (np.float32(448) / peak)[:, None]).astype(ml_dtypes.float8_e4m3fn)
    return {"y": y.astype(np.float64), "scale": peak.astype(np.float64) / 448}


def _csr(v: Values) -> dict[str, object]:
    rows = [slice(a, b) for a, b in zip(v.offsets[:-1], v.offsets[1:], strict=True)]
    return {"y": np.array([(v.values[row] * v.x[v.columns[row]]).sum() for row in rows])}


CASES = (
    Case(
        name="layer_norm_bf16",
        kernel=k.layer_norm_bf16,
        parameters=(
            view("x", "bf16", "M N", normal()),
            view("weight", "bf16", "N", normal()),
            view("bias", "bf16", "N", normal()),
            out("y", "bf16", "M N"),
        ),
        oracle=_layer_norm,
        tolerance=BF16,
        extents=sizes("M N", (0, 3), (1, 1), (5, 7), (3, 130)),
        segments=(segment("M"),),
    ),
    Case(
        name="rms_norm_bf16",
        kernel=k.rms_norm_bf16,
        parameters=(
            view("x", "bf16", "M N", normal()),
            view("weight", "bf16", "N", normal()),
            out("y", "bf16", "M N"),
        ),
        oracle=lambda v: {"y": v.x / np.sqrt((v.x**2).mean(axis=1, keepdims=True) + 1e-6) * v.weight},
        tolerance=BF16,
        extents=sizes("M N", (0, 3), (1, 1), (5, 7), (3, 130)),
        segments=(segment("M"),),
    ),
    Case(
        name="cross_entropy_bf16",
        kernel=k.cross_entropy_bf16,
        parameters=(
            view("logits", "bf16", "M N", normal(3.0)),
            view("target", "i64", "M", coordinates("N")),
            out("loss", "f32", "M"),
        ),
        oracle=_cross_entropy,
        tolerance=Tolerance(rtol=2e-6, atol=4e-6, reason="exp and log within 2 ULP, a f32 sum of 130 terms"),
        extents=sizes("M N", (0, 3), (1, 1), (5, 7), (3, 130)),
        segments=(segment("M"),),
    ),
    Case(
        name="quantise_rows",
        kernel=k.quantise_rows,
        parameters=(
            view("x", "bf16", "M N", normal()),
            out("y", "f8e4m3fn", "M N"),
            out("scale", "f32", "M"),
        ),
        oracle=_quantised,
        tolerance={"y": EXACT, "scale": ulps(0.5, "one division, correctly rounded")},
        extents=sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (3, 130)),
        segments=(segment("M"),),
    ),
    Case(
        name="sum_of_vector",
        kernel=k.sum_of_vector,
        parameters=(view("x", "f32", "N", normal()), out("y", "f32", "")),
        oracle=lambda v: {"y": v.x.sum()},
        tolerance=accumulated(300),
        extents=sizes("N", 0, 1, 7, 300),
        segments=(segment("", "1"),),
    ),
    Case(
        name="gather_rows_bf16",
        kernel=k.gather_rows_bf16,
        parameters=(
            view("table", "bf16", "V D", normal()),
            view("ids", "i64", "N", coordinates("V")),
            out("y", "bf16", "N D"),
        ),
        oracle=lambda v: {"y": v.table[v.ids]},
        extents=sizes("V D N", (3, 0, 2), (2, 3, 0), (1, 1, 1), (9, 40, 13)),
        segments=(segment("N D"),),
    ),
    Case(
        name="csr_matvec",
        kernel=k.csr_matvec,
        parameters=(
            view("values", "f32", "K", normal()),
            view("columns", "i32", "K", coordinates("N")),
            view("offsets", "i32", "P", boundaries("K")),
            view("x", "f32", "N", normal()),
            out("y", "f32", "M"),
        ),
        oracle=_csr,
        tolerance=accumulated(70, scale=2),
        extents=sizes("M P K N", (0, 1, 2, 3), (1, 2, 1, 1), (4, 5, 0, 3), (5, 6, 23, 9), (7, 8, 70, 20)),
        variants=LAYOUTS[:2],
        segments=(segment("M"),),
    ),
)
