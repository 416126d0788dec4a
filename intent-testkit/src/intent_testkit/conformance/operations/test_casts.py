"""Every cast against its definition: integers keep low bits, floats round once, overflow goes to infinity."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import numpy as np
import pytest

from intent.types.dtypes import BY_NAME
from intent_testkit.cases.draw import Array
from intent_testkit.programs import run
from intent_testkit.programs import values as draws
from intent_testkit.programs.single import cast
from intent_testkit.programs.values import floats, nearest, same

INTEGERS: Final = (*draws.INTEGERS, "index")
FLOATS: Final = (*draws.FLOATS, "f8e4m3fn", "f8e5m2")
TOP_F8E4M3FN: Final = 448
"""Values beyond it have no meaning in f8e4m3fn, which has no infinity."""


def converted(provider: str, source: str, target: str, values: Array) -> Array:
    """The cast on the provider; index values go through i64 memory."""
    program = cast(source, target)
    *_, written = program.views
    out: Array = np.zeros(len(values), written.dtype.numpy)
    run(provider, program, {"x0": values, "y": out})
    return out


def _integers(source: str) -> Array:
    if source == "bool":
        return np.array([0, 1, 1], np.bool_)
    return draws.integers("i64" if source == "index" else source)


@pytest.mark.parametrize("target", [*INTEGERS, "bool"])
@pytest.mark.parametrize("source", [*INTEGERS, "bool"])
def test_integer_to_integer(intent_provider: str, source: str, target: str) -> None:
    """The low bits; bool says whether there are any."""
    values = _integers(source)
    kind = BY_NAME["i64" if target == "index" else target].numpy
    wanted = values != 0 if target == "bool" else values.astype(kind)
    same(converted(intent_provider, source, target, values), wanted)


@pytest.mark.parametrize("target", FLOATS)
@pytest.mark.parametrize("source", [*INTEGERS, "bool"])
def test_integer_to_float_rounds_once(intent_provider: str, source: str, target: str) -> None:
    """Also where the way through another float would round twice."""
    values, stored = _integers(source), "i64" if source == "index" else source
    if source != "bool" and BY_NAME[stored].bits > 8:
        shift = np.arange(len(values)) % (BY_NAME[stored].bits - 1)
        values = np.concatenate([values, values >> shift.astype(values.dtype), _halfway(stored)])
    if target == "f8e4m3fn":
        values = values[np.abs(values.astype(np.float64)) <= TOP_F8E4M3FN]
    wanted = np.array([nearest(Fraction(int(v)), target) for v in values])
    got = converted(intent_provider, source, target, values)
    same(got.astype(np.float64), wanted, f"{source} to {target}")


def _halfway(dtype: str) -> Array:
    """Integers just above and below the midpoints of bf16 and f16 at high exponents."""
    kind = BY_NAME[dtype]
    found = [
        (1 << e) + (1 << (e - m - 1)) + d
        for e in range(17, kind.bits - 1)
        for m in (7, 10)
        for d in (-1, 0, 1)
    ]
    return np.array([v for v in found if v <= kind.maximum], kind.numpy)


@pytest.mark.parametrize("target", FLOATS)
@pytest.mark.parametrize("source", FLOATS)
def test_float_to_float_rounds_once(intent_provider: str, source: str, target: str) -> None:
    """Around every boundary of rounding that the source can tell apart."""
    values = _all_of(source) if BY_NAME[source].bits == 8 else _spread(source, target)
    wide = values.astype(np.float64)
    if target == "f8e4m3fn":
        values = values[(np.abs(wide) <= TOP_F8E4M3FN) | np.isnan(wide)]
        wide = values.astype(np.float64)
    finite = np.isfinite(wide)
    wanted = wide.copy()
    wanted[finite] = [nearest(Fraction(v), target) for v in wide[finite].tolist()]
    wanted[finite] = np.copysign(wanted[finite], wide[finite])
    with np.errstate(invalid="ignore"):  # numpy minds NaN of 8-bit floats
        got = converted(intent_provider, source, target, values).astype(np.float64)
    same(got, wanted, f"{source} to {target}")


def _all_of(dtype: str) -> Array:
    """All values of an 8-bit dtype."""
    return np.arange(256, dtype=np.uint8).view(BY_NAME[dtype].numpy)


def _spread(source: str, target: str) -> Array:
    """Values around every rounding boundary of the target that the source can tell apart."""
    kind = BY_NAME[source].numpy
    count = min(1 << BY_NAME[target].bits, 1 << 16)
    bits = np.arange(0, count, max(1, count // 700)).astype(f"u{BY_NAME[target].bytes}")
    with np.errstate(all="ignore"):
        exact = bits.view(BY_NAME[target].numpy).astype(np.float64)
        exact = exact[np.isfinite(exact)]
        middle = (exact[1:] + exact[:-1]) / 2
        factors = (1.0, 1 + 2.0**-30, 1 - 2.0**-30, 1 + 2.0**-10)
        near = np.concatenate([exact, *(middle * factor for factor in factors)]).astype(kind)
    return np.concatenate([floats(source), near, -near])


@pytest.mark.parametrize("target", [*INTEGERS, "bool"])
@pytest.mark.parametrize("source", FLOATS)
def test_float_to_integer_truncates(intent_provider: str, source: str, target: str) -> None:
    """What the target can hold, towards zero; bool says whether it is not zero."""
    kind = BY_NAME["i64" if target == "index" else target]
    values = _all_of(source) if BY_NAME[source].bits == 8 else floats(source)
    wide = values.astype(np.float64)
    if target == "bool":
        same(converted(intent_provider, source, target, values), wide != 0)
        return
    inside = np.isfinite(wide) & (np.trunc(np.where(np.isfinite(wide), wide, 0)) >= kind.minimum)
    inside &= wide < float(kind.maximum)
    values, wide = values[inside], wide[inside]
    same(converted(intent_provider, source, target, values), np.trunc(wide).astype(kind.numpy))
