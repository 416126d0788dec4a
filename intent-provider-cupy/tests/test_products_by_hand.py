"""Products as no plan of the testkit has them: narrow integers, operands in parts, and results wanted elsewhere too."""

from __future__ import annotations

import re

import numpy as np
import pytest

from intent.physical import Dim
from intent.types.dtypes import BY_NAME, I32
from intent.types.extent import const
from intent_provider_cupy.emit import contract, emit
from intent_testkit.programs import Builder, run, view, whole

RNG = np.random.default_rng(8)


def one_product(m, n, k, dtype, out):
    """``c = a @ b`` of whole fragments, in one instance; without ``n`` the product of a matrix and a vector."""
    rows, columns, summed = Dim("m", m), Dim("n", n), Dim("k", k)
    b = Builder(rows, columns, summed)
    x = view("a", dtype, f"{m} {k}")
    y = view("b", dtype, f"{k} {n}" if n > 1 else str(k))
    z = view("c", out, f"{m} {n}" if n > 1 else str(m), "out")

    def body(_):
        i, j, p = b.lane(rows), b.lane(columns), b.lane(summed)
        right = b.load(y, p, j) if n > 1 else b.load(y, p)
        value = b.contract(b.load(x, i, p), right, summed, dtype=BY_NAME[out])
        b.store(z, [i, j] if n > 1 else [i], value)

    return b.program("product", [x, y, z], b.segment([("one", const(1), 1)], body))


@pytest.mark.parametrize("n", [1, 8])
@pytest.mark.parametrize(("dtype", "out"), [("i16", "i16"), ("u8", "u8"), ("i8", "i16"), ("i16", "i64")])
def test_narrow_integers_wrap(dtype, out, n):
    limits = np.iinfo(dtype.replace("u", "uint").replace("i", "int").replace("uintnt", "uint"))
    a, b = (
        RNG.integers(limits.min, limits.max + 1, shape).astype(limits.dtype) for shape in ((16, 8), (8, n))
    )
    result = np.dtype(out.replace("u8", "uint8") if out == "u8" else out.replace("i", "int"))
    c = np.zeros((16, n), result)
    arrays = {"a": a, "b": b, "c": c} if n > 1 else {"a": a, "b": b[:, 0].copy(), "c": c[:, 0].copy()}
    run("cupy", one_product(16, n, 8, dtype, out), arrays)
    wanted = (a.astype(np.int64) @ b.astype(np.int64)).astype(result)
    np.testing.assert_array_equal(arrays["c"], wanted if n > 1 else wanted[:, 0])


@pytest.mark.parametrize("shape", [(64, 64, 128), (64, 16, 256)])
def test_operands_that_pass_in_parts(shape):
    program = whole.matmul(*shape, "f32")
    text = emit(program).text
    assert len(re.findall(r"it_store\(left_tile", text)) == 2
    m, n, k = shape[0] - 3, shape[1] - 1, shape[2] + 5
    a, b = (RNG.integers(-4, 5, s).astype(np.float32) for s in ((m, k), (k, n)))
    c = np.zeros((m, n), np.float32)
    run("cupy", program, {"a": a, "b": b, "c": c})
    np.testing.assert_array_equal(c, a @ b)


def test_an_operand_that_a_store_wants_in_another_table():
    """The store runs along the rows, which are no neighbours where the product is."""
    m, n = Dim("m", 64), Dim("n", 64)
    b = Builder(m, n)
    u, w, x = (view(name, "i32", "64") for name in "uwx")
    y, s = view("y", "i32", "64 64", "out"), view("s", "i32", "64", "out")
    wide = view("wide", "i64", "64 64", "inout")

    def body(_):
        i, j = b.lane(m), b.lane(n)
        b.store(wide, [i, j], b.op("neg", b.load(wide, i, j)))
        value = b.op("add", b.load(u, i), b.load(w, j))
        b.store(y, [j, i], value)
        b.store(s, [i], b.contract(value, b.load(x, j), n, dtype=I32))

    program = b.program("both", [u, w, x, y, s, wide], b.segment([("one", const(1), 1)], body))
    arrays = {name: RNG.integers(-9, 9, 64).astype(np.int32) for name in "uwx"}
    y, s = np.zeros((64, 64), np.int32), np.zeros(64, np.int32)
    wide = RNG.integers(-9, 9, (64, 64))
    negated = -wide
    run("cupy", program, {**arrays, "y": y, "s": s, "wide": wide})
    np.testing.assert_array_equal(wide, negated)
    sums = arrays["u"][:, None] + arrays["w"][None, :]
    np.testing.assert_array_equal(y, sums.T)
    np.testing.assert_array_equal(s, sums @ arrays["x"])


def test_one_contracted_lane_is_the_smallest_part(monkeypatch):
    """However small the room is, a part has one lane of what is summed."""
    monkeypatch.setattr(contract, "EXCHANGE_LIMIT", 8)
    program = one_product(16, 8, 4, "i16", "i16")
    assert len(re.findall(r"it_piece<short>\(scratch \+ \d+, (\d+)\)", emit(program).text)) == 2
    a, b = (RNG.integers(-4, 5, s).astype(np.int16) for s in ((16, 4), (4, 8)))
    c = np.zeros((16, 8), np.int16)
    run("cupy", program, {"a": a, "b": b, "c": c})
    np.testing.assert_array_equal(c, a @ b)
