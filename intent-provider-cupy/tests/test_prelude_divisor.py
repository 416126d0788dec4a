"""Divisions by a number's reciprocal are exact for every number of 64 bits and every positive divisor."""

from __future__ import annotations

import numpy as np
from cupy_text import emulate, zeros

LEAST, MOST = -(2**63), 2**63 - 1
AROUND = [2**31, 2**32, 2**62]

BODY = """
for (int i = 0; i < {divisors}; ++i) {{
    const it_divisor by = it_divisor_of(it_load(d, i));
    for (int j = 0; j < {numbers}; ++j) {{
        it_store(quotients, i * {numbers} + j, it_floor_div(it_load(a, j), by));
        it_store(rests, i * {numbers} + j, it_floor_mod(it_load(a, j), by));
    }}
}}
"""


def test_quotients_and_rests_are_exact():
    rng = np.random.default_rng(0)
    few = [1, 2, 3, 5, 7, 10, 16, 641, 6700417, MOST, *(n + k for n in AROUND for k in (-1, 0, 1))]
    divisors = np.array([*few, *rng.integers(1, 2**20, 15), *rng.integers(1, MOST, 15)], np.int64)
    near = [min(MOST, s * int(d) + k) for d in divisors for s in (-1, 1) for k in (-1, 0, 1)]
    numbers = [0, 1, -1, LEAST, LEAST + 1, MOST, MOST - 1, *near, *rng.integers(LEAST, MOST, 40)]
    a = np.array(numbers, np.int64)
    quotients, rests = (zeros(len(divisors) * len(a), np.int64) for _ in range(2))
    body = BODY.format(divisors=len(divisors), numbers=len(a))
    emulate(body, threads=1, d=divisors, a=a, quotients=quotients, rests=rests)
    exact = [divmod(int(n), int(d)) for d in divisors for n in a]
    np.testing.assert_array_equal(quotients, [q for q, _ in exact])
    np.testing.assert_array_equal(rests, [r for _, r in exact])


def test_a_divisor_that_is_not_positive_makes_no_fault():
    d, y = np.array([0, -1, LEAST], np.int64), zeros(3, np.int64)
    body = "for (int i = 0; i < 3; ++i) it_store(y, i, it_floor_mod(7ll, it_divisor_of(it_load(d, i))));"
    emulate(body, threads=1, d=d, y=y)
    assert (y == 0).all()
