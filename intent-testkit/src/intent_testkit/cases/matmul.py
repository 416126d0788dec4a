"""Cases of products. Inputs are unit normal, so a dot of K terms has size sqrt(K)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import erf, softmax

from intent_testkit.cases.case import Case, Values, ViewSpec, out, segment, sizes, view
from intent_testkit.cases.draw import integers, normal
from intent_testkit.cases.tolerance import Tolerance, accumulated
from intent_testkit.kernels import matmul as k

MNK = sizes(
    "M N K", (0, 2, 3), (2, 0, 3), (3, 2, 0), (1, 1, 1), (5, 7, 3), (17, 16, 15), (33, 18, 65), (65, 70, 33)
)
BMNK = sizes("B M N K", (0, 2, 3, 4), (2, 3, 2, 0), (1, 1, 1, 1), (3, 5, 7, 4), (2, 17, 33, 19))
F32 = accumulated(65, scale=2)


def _pair(dtype: str, left: str = "M K", right: str = "K N") -> tuple[ViewSpec, ViewSpec]:
    draw = integers(-128, 127) if dtype == "i8" else normal()
    return view("a", dtype, left, draw), view("b", dtype, right, draw)


def _gelu(v: Values) -> dict[str, object]:
    x = v.a @ v.b + v.bias
    return {"c": 0.5 * x * (1 + erf(x / np.sqrt(2)))}


def _attention(v: Values) -> dict[str, object]:
    return {"y": softmax(v.q @ v.k.T * 0.25, axis=1) @ v.v}


def _with_norm(v: Values) -> dict[str, object]:
    t = v.a @ v.b
    return {"c": t, "s": (t * t).sum(axis=1)}


def _product(name: str, kernel: Any, dtype: str, result: str, tolerance: Tolerance) -> Case:
    return Case(
        name=name,
        kernel=kernel,
        parameters=(*_pair(dtype), out("c", result, "M N")),
        oracle=lambda v: {
            "c": v.raw("a").astype(np.int64) @ v.raw("b").astype(np.int64) if dtype == "i8" else v.a @ v.b
        },
        tolerance=tolerance,
        extents=MNK,
        segments=(segment("M N"),),
    )


CASES = (
    _product("matmul", k.matmul, "f32", "f32", F32),
    _product("matmul_f16", k.matmul_f16, "f16", "f16", accumulated(65, scale=2, dtype="f16")),
    _product("matmul_bf16", k.matmul_bf16, "bf16", "bf16", accumulated(65, scale=2, dtype="bf16")),
    _product("matmul_i8", k.matmul_i8, "i8", "i32", F32),
    _product("matmul_f64", k.matmul_f64, "f64", "f64", accumulated(65, scale=2, dtype="f64")),
    Case(
        name="matmul_bias_gelu",
        kernel=k.matmul_bias_gelu,
        parameters=(*_pair("f16"), view("bias", "f32", "N", normal()), out("c", "f16", "M N")),
        oracle=_gelu,
        tolerance=accumulated(65, scale=2, dtype="f16"),
        extents=MNK,
        segments=(segment("M N"),),
    ),
    Case(
        name="matmul_transposed",
        kernel=k.matmul_transposed,
        parameters=(*_pair("f32", "K M", "N K"), out("c", "f32", "M N")),
        oracle=lambda v: {"c": v.a.T @ v.b.T},
        tolerance=F32,
        extents=MNK,
        segments=(segment("M N"),),
    ),
    Case(
        name="linear",
        kernel=k.linear,
        parameters=(
            view("x", "f32", "M K", normal()),
            view("w", "f32", "N K", normal()),
            out("y", "f32", "M N"),
        ),
        oracle=lambda v: {"y": v.x @ v.w.T},
        tolerance=F32,
        extents=MNK,
        segments=(segment("M N"),),
    ),
    Case(
        name="matmul_batched",
        kernel=k.matmul_batched,
        parameters=(*_pair("f32", "B M K", "B K N"), out("c", "f32", "B M N")),
        oracle=lambda v: {"c": v.a @ v.b},
        tolerance=F32,
        extents=BMNK,
        segments=(segment("B M N"),),
    ),
    Case(
        name="matmul_shared_rhs",
        kernel=k.matmul_shared_rhs,
        parameters=(*_pair("f32", "B M K", "K N"), out("c", "f32", "B M N")),
        oracle=lambda v: {"c": v.a @ v.b},
        tolerance=F32,
        extents=BMNK,
        segments=(segment("B M N"),),
    ),
    Case(
        name="contract_leading",
        kernel=k.contract_leading,
        parameters=(*_pair("f32", "K M", "K N"), out("c", "f32", "M N")),
        oracle=lambda v: {"c": v.a.T @ v.b},
        # A broadcast operand repeats one product K times: the signs are no longer random.
        tolerance=accumulated(65, scale=4, biased=True),
        extents=MNK,
        segments=(segment("M N"),),
    ),
    Case(
        name="matvec",
        kernel=k.matvec,
        parameters=(view("a", "f32", "M K", normal()), view("x", "f32", "K", normal()), out("y", "f32", "M")),
        oracle=lambda v: {"y": v.a @ v.x},
        tolerance=accumulated(257, scale=2),
        extents=sizes("M K", (0, 3), (3, 0), (1, 1), (7, 5), (33, 257)),
        segments=(segment("M"),),
    ),
    Case(
        name="vecmat",
        kernel=k.vecmat,
        parameters=(view("x", "f32", "K", normal()), view("a", "f32", "K N", normal()), out("y", "f32", "N")),
        oracle=lambda v: {"y": v.x @ v.a},
        tolerance=accumulated(257, scale=2, biased=True),
        extents=sizes("N K", (0, 3), (3, 0), (1, 1), (7, 5), (33, 257)),
        segments=(segment("N"),),
    ),
    Case(
        name="dot",
        kernel=k.dot,
        parameters=(view("x", "f32", "K", normal()), view("y", "f32", "K", normal()), out("z", "f32", "")),
        oracle=lambda v: {"z": v.x @ v.y},
        tolerance=accumulated(1025, scale=2, biased=True),
        extents=sizes("K", 0, 1, 127, 1025),
        segments=(segment(""),),
    ),
    Case(
        name="outer",
        kernel=k.outer,
        parameters=(view("x", "f32", "M", normal()), view("y", "f32", "N", normal()), out("z", "f32", "M N")),
        oracle=lambda v: {"z": np.outer(v.x, v.y)},
        extents=sizes("M N", (0, 3), (3, 0), (1, 1), (17, 33)),
        segments=(segment("M N"),),
    ),
    Case(
        name="gram",
        kernel=k.gram,
        parameters=(view("a", "f32", "M K", normal()), out("c", "f32", "M M")),
        oracle=lambda v: {"c": v.a @ v.a.T},
        tolerance=accumulated(33, scale=3),
        extents=sizes("M K", (0, 3), (3, 0), (1, 1), (7, 5), (34, 33)),
        segments=(segment("M M"),),
    ),
    Case(
        name="chained",
        kernel=k.chained,
        parameters=(*_pair("f32"), view("w", "f32", "N P", normal()), out("y", "f32", "M P")),
        oracle=lambda v: {"y": v.a @ v.b @ v.w},
        tolerance=accumulated(20 * 17, scale=2),
        extents=sizes(
            "M K N P", (0, 1, 2, 3), (2, 0, 3, 4), (2, 3, 0, 4), (1, 1, 1, 1), (5, 4, 3, 7), (18, 17, 20, 16)
        ),
        segments=(segment("M"),),
    ),
    Case(
        name="attention_scores",
        kernel=k.attention_scores,
        parameters=(
            view("q", "f32", "M D", normal()),
            view("k", "f32", "N D", normal()),
            view("v", "f32", "N D", normal()),
            out("y", "f32", "M D"),
        ),
        oracle=_attention,
        tolerance=Tolerance(
            rtol=1e-5, atol=1e-5, reason="f32 scores below 10, exp within 2 ULP, a mean of unit values"
        ),
        extents=sizes("M N D", (0, 2, 3), (1, 1, 1), (5, 7, 4), (17, 33, 16)),
        segments=(segment("M"),),
    ),
    Case(
        name="matmul_row_norm",
        kernel=k.matmul_row_norm,
        parameters=(*_pair("f32"), out("c", "f32", "M N"), out("s", "f32", "M")),
        oracle=_with_norm,
        tolerance={
            "c": F32,
            "s": Tolerance(rtol=1e-5, atol=1e-5, reason="squares of f32 dots, all positive"),
        },
        extents=MNK,
        segments=(segment("M"),),
    ),
)
