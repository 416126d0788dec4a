"""The arithmetic of trials: legal rewrites are equal exactly, everything else is another number."""

from __future__ import annotations

import numpy as np
import pytest

from intent.kir.pointwise import FUNCTIONS
from intent.physical.verify.trial.ring import Ring, scramble
from intent.types import dtypes

RING = Ring(infinite=True)
F32 = dtypes.F32


def numbers(tag, shape=(64,)):
    count = int(np.prod(shape))
    return scramble(np.arange(count, dtype=np.int64), tag).reshape(shape)


def fn(name, *values):
    with np.errstate(all="ignore"):
        return RING.pointwise(name, F32, values)


A, B, C = (numbers(k) for k in (1, 2, 3))
LOWEST = np.full(64, RING.constant(float("-inf"), F32))

EQUAL = {
    "sums in any order": (fn("add", fn("add", A, B), C), fn("add", A, fn("add", C, B))),
    "a factor inside or outside": (
        fn("mul", A, fn("add", B, C)),
        fn("add", fn("mul", A, B), fn("mul", A, C)),
    ),
    "an exponential of a sum": (fn("exp2", fn("add", A, B)), fn("mul", fn("exp2", A), fn("exp2", B))),
    "an absorbed carry": (
        fn("mul", fn("exp2", fn("sub", A, B)), fn("exp2", fn("sub", B, C))),
        fn("exp2", fn("sub", A, C)),
    ),
    "exp by exp2": (
        fn("exp", A),
        fn("exp2", fn("mul", A, np.full(64, RING.constant(1.4426950408889634, F32)))),
    ),
    "nothing weighs nothing": (fn("exp2", fn("sub", LOWEST, A)), np.zeros(64, np.int64)),
    "the identity of a maximum": (fn("maximum", LOWEST, A), A),
    "a fused product": (fn("fma", A, B, C), fn("add", fn("mul", A, B), C)),
    "a quotient of a product": (fn("div", fn("mul", A, B), C), fn("mul", A, fn("div", B, C))),
    "narrowing before or after": (
        RING.cast(fn("mul", A, B), F32, dtypes.F16),
        fn("mul", RING.cast(A, F32, dtypes.F16), B),
    ),
}


@pytest.mark.parametrize("sides", EQUAL.values(), ids=EQUAL)
def test_legal_rewrites_are_equal(sides):
    np.testing.assert_array_equal(*sides)


OTHER = {
    "another function": (fn("exp2", A), fn("sqrt", A)),
    "operands exchanged": (fn("sub", A, B), fn("sub", B, A)),
    "a quotient turned": (fn("div", A, B), fn("div", B, A)),
    "a lost cast": (RING.cast(A, F32, dtypes.F16), A),
    "an element earlier": (A[1:], A[:-1]),
}


@pytest.mark.parametrize("sides", OTHER.values(), ids=OTHER)
def test_other_computations_are_other_numbers(sides):
    assert not np.any(sides[0] == sides[1])


@pytest.mark.parametrize("dtype", [dtypes.F32, dtypes.BF16, dtypes.I32, dtypes.U8, dtypes.BOOL], ids=str)
def test_zero_stays_zero_in_every_cast(dtype):
    for target in dtypes.ALL:
        zero = RING.constant(0.0 if dtype.is_float else dtype is not dtypes.BOOL and 0, dtype)
        with np.errstate(all="ignore"):
            assert not np.any(RING.cast(zero, dtype, target))


def test_every_pointwise_function_has_a_meaning():
    for name, function in FUNCTIONS.items():
        dtype = {"bool": dtypes.BOOL, "integer": dtypes.I32}.get(function.operands, F32)
        if function.operands == "bool_or_integer":
            dtype = dtypes.I32
        one = {"f32": A, "i32": np.arange(64, dtype=np.int32) + 1, "bool": np.ones(64, np.bool_)}[dtype.name]
        operands = (one != 0, one, one) if function.rule == "select" else (one,) * function.arity
        with np.errstate(all="ignore"):
            assert RING.pointwise(name, dtype, operands).shape == (64,), name


def test_whole_literals_are_themselves_and_others_are_not_alike():
    values = [0.0, 1.0, -1.0, 2.0, 0.5, -0.5, 0.25, 3.14, 1e30, float("inf"), float("-inf")]
    found = [int(RING.constant(v, F32)) for v in values]
    assert found[:4] == [0, 1, -1, 2]
    assert len(set(found)) == len(values)
