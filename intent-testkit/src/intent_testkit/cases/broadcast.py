"""Cases of broadcasting."""

from __future__ import annotations

import numpy as np

from intent_testkit.cases.case import Case, out, scalar, segment, sizes, view
from intent_testkit.cases.draw import normal
from intent_testkit.cases.tolerance import Tolerance
from intent_testkit.kernels import broadcast as k

PLANE = sizes("M N", (0, 3), (3, 0), (1, 1), (1, 5), (6, 1), (5, 7), (17, 131))
FUSED = Tolerance(
    rtol=2.0**-23, atol=2.0**-22, reason="a*b+c of unit-sized values may be one FMA or two roundings"
)
TWO_ROUNDINGS = Tolerance(rtol=2.0**-23, reason="two f32 roundings, no cancellation after the first")

CASES = (
    Case(
        name="add_row_and_column",
        kernel=k.add_row_and_column,
        parameters=(
            view("x", "f32", "M N", normal()),
            view("row", "f32", "N", normal()),
            view("column", "f32", "M", normal()),
            out("y", "f32", "M N"),
        ),
        oracle=lambda v: {"y": v.x + v.row * v.column[:, None]},
        tolerance=FUSED,
        extents=PLANE,
        segments=(segment("M N"),),
    ),
    Case(
        name="outer_sum",
        kernel=k.outer_sum,
        parameters=(view("a", "f32", "M", normal()), view("b", "f32", "N", normal()), out("y", "f32", "M N")),
        oracle=lambda v: {"y": v.a[:, None] + v.b[None, :]},
        extents=PLANE,
        segments=(segment("M N"),),
    ),
    Case(
        name="size_one_axes",
        kernel=k.size_one_axes,
        parameters=(
            view("x", "f32", "M 1", normal()),
            view("y", "f32", "1 N", normal()),
            view("s", "f32", "", normal()),
            out("z", "f32", "M N"),
        ),
        oracle=lambda v: {"z": (v.x - v.y).astype(np.float32).astype(np.float64) * v.s},
        tolerance=TWO_ROUNDINGS,
        extents=PLANE,
        segments=(segment("M N"),),
    ),
    Case(
        name="trailing_alignment",
        kernel=k.trailing_alignment,
        parameters=(
            view("x", "f32", "B M N", normal()),
            view("bias", "f32", "M N", normal()),
            out("y", "f32", "B M N"),
        ),
        oracle=lambda v: {"y": v.x * v.bias},
        extents=sizes("B M N", (0, 2, 3), (2, 0, 3), (1, 1, 1), (3, 5, 7), (2, 17, 33)),
        segments=(segment("B M N"),),
    ),
    Case(
        name="scalar_to_matrix",
        kernel=k.scalar_to_matrix,
        parameters=(scalar("s", "f32", 0.625), out("y", "f32", "M N")),
        oracle=lambda _: {"y": 1.25},
        extents=PLANE,
        segments=(segment("M N"),),
    ),
)
