"""Constants: which ones are the same, and what functions of them are."""

from __future__ import annotations

import math
from itertools import product

import pytest

from intent.passes.constants import fold, same
from intent.types.dtypes import BOOL, F32, I32, U8

NAN, INF = math.nan, math.inf
VALUES = (None, False, True, 0, 1, 2, -1, 0.0, -0.0, 1.0, 2.0, NAN, INF, -INF)


@pytest.mark.parametrize(("a", "b"), list(product(range(len(VALUES)), repeat=2)))
def test_constants_are_the_same_if_they_are_of_one_type_and_bits(a, b):
    assert same(VALUES[a], VALUES[b]) is (a == b and a > 0)


def test_another_nan_is_the_same():
    assert same(float("nan"), -float("nan"))


@pytest.mark.parametrize(("a", "b"), list(product((False, True), repeat=2)))
def test_logic(a, b):
    assert fold("and", (a, b), BOOL) is (a and b)
    assert fold("or", (a, b), BOOL) is (a or b)
    assert fold("xor", (a, b), BOOL) is (a is not b)
    assert fold("not", (a,), BOOL) is (not a)


@pytest.mark.parametrize(
    ("fn", "values", "dtype", "wanted"),
    [
        ("add", (2**31 - 1, 0), I32, 2**31 - 1),
        ("add", (2**31 - 1, 1), I32, None),
        ("sub", (-(2**31), 0), I32, -(2**31)),
        ("sub", (-(2**31), 1), I32, None),
        ("sub", (0, 1), U8, None),
        ("mul", (15, 17), U8, 255),
        ("mul", (16, 16), U8, None),
        ("neg", (-(2**31),), I32, None),
        ("floordiv", (-7, 2), I32, -4),
        ("mod", (-7, 2), I32, 1),
        ("floordiv", (7, 0), I32, None),
        ("mod", (7, 0), I32, None),
        ("maximum", (3, -5), I32, 3),
        ("minimum", (3, -5), I32, -5),
        ("select", (True, 3, 4), I32, 3),
        ("select", (False, 3, 4), I32, 4),
        ("lt", (3, 3), I32, False),
        ("le", (3, 3), I32, True),
        ("shl", (1, 2), I32, None),
        ("add", (1.0, 2.0**-24), F32, 1.0),
        ("sub", (2.0**24, 0.5), F32, 2.0**24),
        ("sub", (3.0, 1.0), F32, 2.0),
        ("mul", (3.0, -0.0), F32, -0.0),
        ("neg", (0.0,), F32, -0.0),
        ("maximum", (NAN, 1.0), F32, NAN),
        ("minimum", (-INF, 1.0), F32, -INF),
        ("exp", (-INF,), F32, 0.0),
        ("exp2", (0.0,), F32, 1.0),
        ("exp2", (1.0,), F32, None),
    ],
)
def test_functions_of_constants(fn, values, dtype, wanted):
    found = fold(fn, values, dtype)
    assert same(found, wanted) or (found is None and wanted is None)
