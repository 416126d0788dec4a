"""Cases of conditions and specialised variants."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from intent_testkit.cases.case import Case, Values, inout, out, scalar, segment, sizes, view
from intent_testkit.cases.draw import integers, normal
from intent_testkit.cases.tolerance import EXACT, Tolerance, accumulated, ulps
from intent_testkit.kernels import control as k

LINE = sizes("N", 0, 1, 33, 257)
PLANE = sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (17, 33))


def _activation(kind: Any, tolerance: Tolerance, function: Any) -> Case:
    return Case(
        name=f"activation_{kind.name.lower()}",
        kernel=k.activation,
        constexprs={"KIND": kind},
        parameters=(view("x", "f32", "N", normal(3)), out("y", "f32", "N")),
        oracle=lambda v: {"y": function(v.x)},
        tolerance=tolerance,
        extents=LINE,
        segments=(segment("N"),),
    )


def _causal(on: bool) -> Case:
    return Case(
        name="causal_mask" if on else "causal_mask_off",
        kernel=k.causal_mask,
        constexprs={"CAUSAL": on},
        parameters=(view("x", "f32", "M N", normal()), out("y", "f32", "M N")),
        oracle=lambda v: {"y": np.tril(v.x) if on else v.x},
        extents=PLANE,
        segments=(segment("M N"),),
    )


def _scaled(count: int) -> Case:
    return Case(
        name=f"scaled_by_constant_{count}",
        kernel=k.scaled_by_constant,
        constexprs={"K": count, "S": 0.5},
        parameters=(view("x", "f32", "N", normal()), out("y", "f32", "N")),
        oracle=lambda v: {"y": v.x * 0.5**count},
        extents=LINE,
        segments=(segment("N"),),
    )


def _branch(flag: int) -> Case:
    return Case(
        name=f"runtime_branch_{'negative' if flag < 0 else 'positive' if flag else 'zero'}",
        kernel=k.runtime_branch,
        parameters=(scalar("flag", "i32", flag), view("x", "f32", "N", normal()), out("y", "f32", "N")),
        oracle=lambda v: {"y": v.x * 2 if v.flag > 0 else -v.x if v.flag < 0 else v.x + 0.5},
        extents=LINE,
        segments=(segment("N"),),
    )


def _effects(flag: int) -> Case:
    return Case(
        name=f"branch_effects_{flag}",
        kernel=k.branch_effects,
        parameters=(
            scalar("flag", "i32", flag),
            view("x", "f32", "N", normal()),
            inout("y", "f32", "N", normal()),
            inout("z", "f32", "N", normal()),
        ),
        oracle=lambda v: {"y": v.x + 1 if v.flag > 0 else v.y, "z": v.z if v.flag > 0 else v.x - 1},
        extents=LINE,
        segments=(segment("N"),),
    )


def _sums(v: Values) -> dict[str, object]:
    s = v.x.sum(axis=1)
    return {"y": np.where(s > 0, s, s * 0.125)}


def _neighbour(v: Values) -> dict[str, object]:
    previous = np.concatenate((np.zeros(1, v.x.dtype), v.x))[: v.x.size]
    return {"y": v.x + np.where(previous > 0, previous, 0)}


def _runs(v: Values) -> dict[str, object]:
    longest = []
    for row in v.x:
        best = run = 0
        for x in row:
            run = run + 1 if x > 0 else 0
            best = max(best, run)
        longest.append(best)
    return {"y": np.array(longest, np.int32)}


CASES = (
    _activation(k.Activation.IDENTITY, EXACT, lambda x: x),
    _activation(k.Activation.RELU, EXACT, lambda x: np.maximum(x, 0)),
    _activation(k.Activation.SIGMOID, ulps(2, "the accuracy that the language states for sigmoid"), expit),
    _causal(True),
    _causal(False),
    _scaled(0),
    _scaled(3),
    _branch(1),
    _branch(-1),
    _branch(0),
    _effects(1),
    _effects(0),
    Case(
        name="conditional_expression",
        kernel=k.conditional_expression,
        parameters=(view("x", "f32", "M N", normal()), out("y", "f32", "M")),
        oracle=_sums,
        tolerance=accumulated(33, scale=2),
        extents=PLANE,
        segments=(segment("M"),),
    ),
    Case(
        name="guarded_neighbour",
        kernel=k.guarded_neighbour,
        parameters=(view("x", "i32", "N", integers(-50, 50)), out("y", "i32", "N")),
        oracle=_neighbour,
        extents=LINE,
        segments=(segment("N"),),
    ),
    Case(
        name="longest_run",
        kernel=k.longest_run,
        parameters=(view("x", "i32", "M N", integers(-2, 3)), out("y", "i32", "M")),
        oracle=_runs,
        extents=PLANE,
        segments=(segment("M"),),
    ),
)
