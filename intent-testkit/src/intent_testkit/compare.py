"""Comparison of one output with the oracle."""

from __future__ import annotations

from typing import Any

import numpy as np

from intent_testkit.cases.case import ViewSpec
from intent_testkit.cases.draw import Array
from intent_testkit.cases.tolerance import Tolerance


class WrongResult(AssertionError):
    """An output is not what the oracle gives."""


def compare(spec: ViewSpec, got: Array, expected: Any, bound: Tolerance) -> None:
    """Raise WrongResult unless every element of ``got`` is within ``bound`` of ``expected``.

    Integers and bools must be equal. NaN must meet NaN; an infinity (also one that the dtype gives to
    the exact value) must meet the same infinity, unless the bound covers the largest finite value.
    """
    wanted = np.broadcast_to(np.asarray(expected), got.shape)
    if spec.dtype == "bool":
        raw = got.view(np.uint8)
        bad = raw != wanted.astype(np.bool_).view(np.uint8)
        _report(spec, raw, wanted, bad, "exactly")
        return
    if np.issubdtype(spec.numpy, np.integer):
        bad = got != wanted.astype(spec.numpy)
        _report(spec, got, wanted, bad, "exactly")
        return
    _compare_floats(spec, got, wanted.astype(np.float64), bound)


def _compare_floats(spec: ViewSpec, got: Array, wanted: Array, bound: Tolerance) -> None:
    with np.errstate(all="ignore"):
        stored = wanted.astype(spec.numpy)
        actual = got.astype(np.float64)
        allowed = bound.atol + bound.rtol * np.abs(wanted) + bound.ulps * _spacing(stored, spec)
        # Correct rounding is measured against the rounded oracle, a stated error against the exact one.
        exact = bound.ulps == bound.rtol == bound.atol == 0
        target = stored.astype(np.float64) if exact else wanted
        close = np.abs(actual - target) <= allowed
        both_nan = np.isnan(actual) & np.isnan(wanted)
        same_infinity = np.isinf(actual) & (actual == stored.astype(np.float64))
        finite = np.isfinite(actual) & np.isfinite(wanted)
    bad = ~(both_nan | same_infinity | (finite & close))
    _report(
        spec,
        actual,
        wanted,
        bad,
        f"within rtol {bound.rtol:g}, atol {bound.atol:g}, {bound.ulps:g} ulp: {bound.reason}",
    )


def _spacing(stored: Array, spec: ViewSpec) -> Array:
    """The distance from each value to the next one away from zero, in the output's dtype, as float64."""
    bits = {
        "f8e4m3fn": (3, -6), "f8e5m2": (2, -14), "f16": (10, -14), "bf16": (7, -126), "f32": (23, -126),
        "f64": (52, -1022),
    }  # fmt: skip
    mantissa, least = bits[spec.dtype]
    magnitude = np.abs(stored.astype(np.float64))
    exponent = np.frexp(np.where(np.isfinite(magnitude), magnitude, 1.0))[1] - 1
    exponent = np.where(magnitude == 0, least, exponent)
    spacing: Array = np.ldexp(1.0, np.maximum(exponent, least) - mantissa)
    return spacing


def _report(spec: ViewSpec, got: Array, wanted: Array, bad: Array, how: str) -> None:
    if not bad.any():
        return
    places = np.argwhere(bad)
    lines = [f"'{spec.name}' ({spec.dtype}): {len(places)} of {bad.size} elements differ, compared {how}"]
    for place in places[:6]:
        index = tuple(int(p) for p in place)
        lines.append(f"  [{', '.join(map(str, index))}] got {got[index]}, expected {wanted[index]}")
    raise WrongResult("\n".join(lines))
