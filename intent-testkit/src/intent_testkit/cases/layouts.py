"""Cases of transpose, reshape and join: pure movement, compared exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

from intent_testkit.cases.case import Case, Values, out, segment, sizes, view
from intent_testkit.cases.draw import integers, normal
from intent_testkit.cases.tolerance import Tolerance, accumulated
from intent_testkit.kernels import layouts as k

PLANE = sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (16, 17), (33, 129), (65, 63))
LINES = sizes("M", 0, 1, 5, 16, 65)
I32 = (-(2**31), 2**31 - 1)


def _moved(kernel: Any, dtype: str, shape: str, result: str, *, move: Any, extents: Any, axes: Any) -> Case:
    draw = integers(*I32) if dtype == "i32" else normal()
    return Case(
        name=kernel.name,
        kernel=kernel,
        parameters=(view("x", dtype, shape, draw), out("y", dtype, result)),
        oracle=lambda v: {"y": move(v.x)},
        extents=extents,
        segments=(axes,),
    )


def _rope(v: Values) -> dict[str, object]:
    even, odd = v.x[:, 0::2], v.x[:, 1::2]
    y = np.empty_like(v.x)
    y[:, 0::2] = even * v.cosine - odd * v.sine
    y[:, 1::2] = even * v.sine + odd * v.cosine
    return {"y": y}


CASES = (
    _moved(k.transpose, "f32", "M N", "N M", move=np.transpose, extents=PLANE, axes=segment("N M")),
    _moved(k.transpose_f16, "f16", "M N", "N M", move=np.transpose, extents=PLANE, axes=segment("N M")),
    _moved(
        k.permute,
        "i32",
        "A B C",
        "C A B",
        move=lambda x: x.transpose(2, 0, 1),
        extents=sizes("A B C", (0, 2, 3), (2, 0, 3), (1, 1, 1), (3, 5, 7), (2, 17, 33)),
        axes=segment("C A B"),
    ),
    _moved(
        k.flatten,
        "f32",
        "M N",
        "L",
        move=np.ravel,
        extents=sizes("M N L", (0, 3, 0), (1, 1, 1), (5, 7, 35), (33, 17, 561)),
        axes=segment("L"),
    ),
    _moved(
        k.split_last,
        "f32",
        "M 12",
        "M 3 4",
        move=lambda x: x.reshape(-1, 3, 4),
        extents=LINES[1:],
        axes=segment("M 3 4", "12*M"),
    ),
    _moved(
        k.transpose_blocks,
        "f32",
        "M 6",
        "M 6",
        move=lambda x: x.reshape(-1, 2, 3).transpose(0, 2, 1).reshape(-1, 6),
        extents=LINES[1:],
        axes=segment("M 6", "6*M"),
    ),
    _moved(
        k.refold,
        "f32",
        "M N",
        "N M",
        move=lambda x: x.reshape(x.shape[::-1]),
        extents=PLANE,
        axes=segment("N M"),
    ),
    Case(
        name="join_pairs",
        kernel=k.join_pairs,
        parameters=(
            view("a", "f32", "M N", normal()),
            view("b", "f32", "M N", normal()),
            out("y", "f32", "M N 2"),
        ),
        oracle=lambda v: {"y": np.stack((v.a, v.b), axis=-1)},
        extents=PLANE,
        segments=(segment("M N 2", "2*M*N"),),
    ),
    Case(
        name="interleave",
        kernel=k.interleave,
        parameters=(
            view("a", "i32", "N", integers(*I32)),
            view("b", "i32", "N", integers(*I32)),
            out("y", "i32", "L"),
        ),
        oracle=lambda v: {"y": np.stack((v.a, v.b), axis=-1).reshape(-1)},
        extents=sizes("N L", (0, 0), (1, 2), (7, 14), (129, 258)),
        segments=(segment("L"),),
    ),
    Case(
        name="rope",
        kernel=k.rope,
        parameters=(
            view("x", "f32", "M 8", normal()),
            view("cosine", "f32", "M 4", normal()),
            view("sine", "f32", "M 4", normal()),
            out("y", "f32", "M 8"),
        ),
        oracle=_rope,
        tolerance=Tolerance(
            rtol=2.0**-23, atol=2.0**-21, reason="two products of unit values and one sum, fused or not"
        ),
        extents=LINES,
        segments=(segment("M 8", "8*M"),),
    ),
    Case(
        name="sum_of_blocks",
        kernel=k.sum_of_blocks,
        parameters=(view("x", "f32", "M 8", normal()), out("y", "f32", "M 2")),
        oracle=lambda v: {"y": v.x.reshape(-1, 2, 4).sum(axis=2)},
        tolerance=accumulated(4, scale=2),
        extents=LINES,
        segments=(segment("M 2", "2*M"),),
    ),
)
