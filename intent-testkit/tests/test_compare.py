from __future__ import annotations

import numpy as np
import pytest

from intent_testkit.cases.case import out
from intent_testkit.cases.tolerance import EXACT, Tolerance, accumulated, ulps
from intent_testkit.compare import WrongResult, compare

ONE = np.float32(1)
NEXT = np.nextafter(ONE, np.float32(2))


def _judge(dtype: str, got, expected, bound=EXACT):
    spec = out("y", dtype, "N")
    compare(spec, np.atleast_1d(np.asarray(got, spec.numpy)), np.atleast_1d(expected), bound)


def _wrong(*arguments):
    with pytest.raises(WrongResult):
        _judge(*arguments)


def test_exact_means_the_rounded_oracle():
    _judge("f32", np.float32(0.1), 0.1)
    _wrong("f32", np.nextafter(np.float32(0.1), ONE), 0.1)
    _judge("bf16", 1.0, 1.0 + 2.0**-9)
    _wrong("bf16", 1.0 + 2.0**-7, 1.0 + 2.0**-9)


def test_ulps_are_of_the_outputs_dtype():
    _judge("f32", NEXT, 1.0, ulps(1, "why"))
    _wrong("f32", np.nextafter(NEXT, np.float32(2)), 1.0, ulps(1, "why"))
    _judge("f16", np.float16(1) + np.float16(2.0**-10), 1.0, ulps(1, "why"))
    _wrong("f32", np.float32(1) + np.float32(2.0**-10), 1.0, ulps(1, "why"))


def test_half_an_ulp_is_correct_rounding():
    exact = 1.0 + 0.5 * float(NEXT - ONE) * 0.9
    _judge("f32", ONE, exact, ulps(0.5, "why"))
    _wrong("f32", NEXT, exact, ulps(0.5, "why"))


def test_subnormal_ulps():
    tiny = np.float32(1e-45)
    _judge("f32", tiny, 0.0, ulps(1, "why"))
    _wrong("f32", tiny * 2, 0.0, ulps(1, "why"))


def test_nan_meets_only_nan():
    _judge("f32", np.nan, np.nan)
    _wrong("f32", np.nan, 1.0, Tolerance(atol=1e30, reason="why"))
    _wrong("f32", 1.0, np.nan, Tolerance(atol=1e30, reason="why"))


def test_infinities_meet_only_themselves():
    _judge("f32", np.inf, np.inf)
    _wrong("f32", -np.inf, np.inf)
    _wrong("f32", np.inf, 1e30, Tolerance(rtol=1e30, reason="why"))
    _wrong("f32", 3e38, np.inf, Tolerance(rtol=1, reason="why"))


def test_overflow_of_the_dtype_is_its_infinity():
    _judge("f16", np.inf, 1e6)
    _wrong("f16", 65504.0, 1e6)
    _wrong("f16", -np.inf, 1e6)


def test_integers_are_exact_whatever_the_bound():
    _judge("i32", 7, 7)
    _wrong("i32", 8, 7, Tolerance(atol=10, reason="why"))
    _judge("u8", 4, 260)


def test_a_bool_is_zero_or_one():
    spec = out("y", "bool", "N")
    compare(spec, np.array([True, False]), np.array([True, False]), EXACT)
    with pytest.raises(WrongResult):
        compare(spec, np.array([0x5A], np.uint8).view(np.bool_), np.array([True]), EXACT)


def test_the_message_names_output_place_and_values():
    spec = out("y", "f32", "M N")
    got, wanted = np.zeros((2, 3), np.float32), np.zeros((2, 3))
    wanted[1, 2] = 5
    with pytest.raises(WrongResult, match=r"'y' \(f32\): 1 of 6 .*\n  \[1, 2\] got 0.0, expected"):
        compare(spec, got, wanted, EXACT)


def test_a_tolerance_needs_a_reason():
    with pytest.raises(ValueError, match="reason"):
        Tolerance(rtol=1e-3, reason="")


def test_accumulated_bounds_are_small():
    # They must stay far below what tf32 or a f16 accumulator would leave.
    bound = accumulated(65, scale=2)
    assert bound.atol < 65**0.5 * 2.0**-11 / 20
