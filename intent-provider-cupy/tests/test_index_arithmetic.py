"""Index arithmetic goes through unsigned numbers, which wrap, unless its bounds say that it need not."""

from __future__ import annotations

import numpy as np
import pytest

from intent.physical import Dim
from intent.types.dtypes import I64, INDEX
from intent.types.extent import const
from intent_provider_cupy.emit import emit
from intent_testkit.programs import Builder, run, view


def doubled(fn, *, bounded):
    """``y = fn(v, v)`` where ``v`` is the lane's number, or what ``x`` has there."""
    n = Dim("n", 32)
    b = Builder(n)
    x, y = view("x", "i64", "32"), view("y", "i64", "32", "out")

    def body(_):
        i = b.lane(n)
        value = i if bounded else b.cast(b.load(x, i), INDEX)
        b.store(y, [i], b.cast(b.op(fn, value, value), I64))

    return b.program("doubled", [x, y], b.segment([("one", const(1), 1)], body))


@pytest.mark.parametrize("fn", ["add", "sub", "mul"])
def test_only_what_has_bounds_is_plain(fn):
    assert f"it_{fn}<long long>(" in emit(doubled(fn, bounded=False)).text.split('extern "C"')[1]
    assert f"it_{fn}<" not in emit(doubled(fn, bounded=True)).text.split('extern "C"')[1]


def test_index_values_wrap():
    x, y = np.full(32, 1 << 62), np.zeros(32, np.int64)
    run("cupy", doubled("add", bounded=False), {"x": x, "y": y})
    np.testing.assert_array_equal(y, -(1 << 63))
