"""Whole programs written by hand against numpy: masks, tails, loops, branches, segments, workspace, strides."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pytest

from intent.types.dtypes import BY_NAME
from intent_testkit.cases.draw import Array
from intent_testkit.programs import rare, run, whole
from intent_testkit.programs.values import generator, same


def f32(name: str, *shape: int) -> Array:
    """Normal values that depend on the name and shape."""
    return generator(name, shape).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("n", [0, 1, 127, 128, 129, 1000])
def test_add(intent_provider: str, n: int) -> None:
    """No block, a part of one, a whole one, and several."""
    x, y, out = f32("x", n), f32("y", n), np.zeros(n, np.float32)
    run(intent_provider, whole.add(), {"x": x, "y": y, "out": out})
    same(out, x + y)


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 700), (2, 1024)])
def test_softmax(intent_provider: str, shape: tuple[int, int], dtype: str) -> None:
    """Lanes outside the row change nothing."""
    x = f32("x", *shape).astype(BY_NAME[dtype].numpy)
    y = np.zeros_like(x)
    run(intent_provider, whole.softmax(1024, dtype), {"x": x, "y": y})
    wide = x.astype(np.float64)
    wanted = np.exp(wide - wide.max(1, keepdims=True))
    wanted /= wanted.sum(1, keepdims=True)
    eps = {"f32": 1e-6, "f16": 1e-3, "bf16": 8e-3}[dtype]
    np.testing.assert_allclose(y.astype(np.float64), wanted, rtol=eps, atol=1e-7)


@pytest.mark.parametrize("n", [0, 1, 64, 65, 300])
def test_loop_with_a_tensor_carry(intent_provider: str, n: int) -> None:
    """No pass of the loop, one, and several with a tail."""
    x, y = f32("x", 5, n), np.zeros(5, np.float32)
    run(intent_provider, whole.row_sum_loop(), {"x": x, "y": y})
    np.testing.assert_allclose(y, x.astype(np.float64).sum(1), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("n", "m", "k"), [(130, 7, 100), (1, 3, 1), (64, 1, 64), (5, 0, 3), (0, 4, 3)])
def test_segments_of_one_launch(intent_provider: str, n: int, m: int, k: int) -> None:
    """Either segment may be empty."""
    x, w, y, s = f32("x", n), f32("w", m, k), np.zeros(n, np.float32), np.zeros(m, np.float32)
    run(intent_provider, whole.two_segments(), {"x": x, "w": w, "y": y, "s": s})
    same(y, x + x)
    np.testing.assert_allclose(s, w.astype(np.float64).sum(1), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("flip", [False, True])
def test_branches(intent_provider: str, flip: bool) -> None:
    """The side that is not taken writes nothing."""
    x, y = f32("x", 9), np.full(9, 7, np.float32)
    run(intent_provider, whole.branches(), {"x": x, "y": y}, {"flip": flip})
    value = -x if flip else x * x
    same(y, np.where(value > 0, value, np.float32(7)))


@pytest.mark.parametrize("shape", [(1, 1), (16, 16), (20, 33)])
def test_transpose(intent_provider: str, shape: tuple[int, int]) -> None:
    """Coordinates in the other order."""
    x, y = f32("x", *shape), np.zeros(shape[::-1], np.float32)
    run(intent_provider, whole.transpose(), {"x": x, "y": y})
    same(y, x.T)


@pytest.mark.parametrize("index", ["i32", "i64", "u8"])
def test_gather_skips_invalid_rows(intent_provider: str, index: str) -> None:
    """A row of -1 reads nothing and gives zero; unsigned indices have none."""
    table = f32("table", 11, 20)
    rows = np.array([3, 1 if index == "u8" else -1, 10, 0]).astype(BY_NAME[index].numpy)
    out = np.full((4, 20), 5, np.float32)
    run(intent_provider, whole.gather(index=index), {"table": table, "rows": rows, "out": out})
    safe = rows.astype(np.int64)
    same(out, np.where(safe[:, None] >= 0, table[safe], np.float32(0)))


def test_workspace_holds_one_slice_per_program(intent_provider: str) -> None:
    """Rows reversed through it."""
    x, y = f32("x", 4, 27), np.zeros((4, 27), np.float32)
    run(intent_provider, whole.workspace(), {"x": x, "y": y})
    same(y, x[:, ::-1])


def test_while_with_two_carries(intent_provider: str) -> None:
    """How often a number can be halved; of zero never."""
    x, y = np.array([8, -12, 0, 7, -64, 1 << 30], np.int32), np.zeros(6, np.int32)
    run(intent_provider, whole.halving(), {"x": x, "y": y})
    same(y, np.array([3, 2, 0, 0, 6, 30], np.int32))


@pytest.mark.parametrize("n", [1, 5])
def test_while_whose_condition_reads(intent_provider: str, n: int) -> None:
    """The condition is computed again after every pass, and reads nothing outside the row."""
    x = np.array([[1, 2, 3, 4, 5], [1, -1, 1, 1, 1], [0, 1, 1, 1, 1], [2, 2, 2, 2, -3]], np.float32)[:, :n]
    y = np.full(4, -7, np.int32)
    run(intent_provider, rare.leading(), {"x": np.ascontiguousarray(x), "y": y})
    same(y, np.cumprod(x > 0, axis=1).sum(1).astype(np.int32))


@pytest.mark.parametrize("alone", [True, False])
def test_programs_that_do_nothing(intent_provider: str, alone: bool) -> None:
    """Their segment is there, and empty."""
    x, y = f32("x", 6), np.full(6, 7, np.float32)
    run(intent_provider, rare.silent(alone=alone), {"x": x, "y": y})
    same(y, np.full(6, 7, np.float32) if alone else x + x)


@pytest.mark.parametrize(("m", "n"), [(2, 9), (7, 1), (5, 5), (1, 4), (4, 11)])
def test_functions_of_extents(intent_provider: str, m: int, n: int) -> None:
    """Division rounds down, whatever the signs; the remainder has the divisor's sign."""
    y = np.zeros(8, np.int64)
    run(intent_provider, rare.launch_values(), {"x": f32("x", m), "w": f32("w", n), "y": y})
    d = m - n
    wanted = [
        d // 3,
        d % 3,
        -(-d // 3),
        m // 3,
        m % 3,
        max(m, n) - 2 * min(m, n),
        (n if m == 1 else m) + 1,
        n - m * n,
    ]
    same(y, np.array(wanted, np.int64))


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_narrow_sums_of_products(intent_provider: str, dtype: str) -> None:
    """The sum has the dtype of the result, and may be rounded after every product."""
    a, b, c = (f32(name, 16, 16).astype(BY_NAME[dtype].numpy) for name in "abc")
    out = np.zeros_like(a)
    run(intent_provider, rare.narrow_sum(16, dtype), {"a": a, "b": b, "c": c, "out": out})
    x, y, start = (values.astype(np.float64) for values in (a, b, c))
    half_unit = {"f16": 2.0**-11, "bf16": 2.0**-8}[dtype]
    most = 17 * half_unit * (np.abs(x) @ np.abs(y) + np.abs(start)) / 2
    assert (np.abs(out.astype(np.float64) - (start + x @ y)) <= most).all()


@pytest.mark.parametrize(
    ("kind", "dtype", "after"),
    [
        ("compare_exchange", "i32", [0, 3, 2, 3, 4]),
        ("compare_exchange", "f32", [0, 3, 2, 3, 4]),
        ("exchange", "i32", [3, 3, 3, 3, 3]),
        ("add", "f32", [3, 4, 5, 4, 7]),
        ("max", "i32", [3, 3, 3, 3, 4]),
    ],
)
def test_atomics_whose_old_values_nothing_reads(
    intent_provider: str, kind: str, dtype: str, after: list[int]
) -> None:
    """The old value is left out, the effect is not; lanes behind the end have none."""
    x = np.array([0, 1, 2, 1, 4, 9, 9, 9]).astype(BY_NAME[dtype].numpy)
    run(intent_provider, rare.unread(kind, dtype), {"x": x[:5]})
    same(x, np.array([*after, 9, 9, 9]).astype(x.dtype))


INTEGERS: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "floordiv": np.floor_divide, "mod": np.mod,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "shl": np.left_shift, "shr": np.right_shift,
}  # fmt: skip
FLOATS: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
}  # fmt: skip
COMPARISONS: dict[str, Callable[[Array, Array], Array]] = {
    "lt": np.less, "le": np.less_equal, "eq": np.equal, "ne": np.not_equal,
}  # fmt: skip
POSITIVE, NEVER_NEGATIVE = {"add", "mul", "or", "shl"}, {"floordiv", "mod", "and", "xor", "shr"}
"""What gives a divisor, and what else a number of bits, of numbers from 1 to 3."""


def _trees(functions: Iterable[str], inner: Iterable[str]) -> list[rare.Nested]:
    found = [(f, g, side) for f in functions for g in inner for side in ("left", "right")]
    counts = POSITIVE | NEVER_NEGATIVE
    safe = {
        "div": {"add", "mul", "div"}, "floordiv": POSITIVE, "mod": POSITIVE, "shl": counts, "shr": counts,
    }  # fmt: skip
    return [(f, g, side) for f, g, side in found if side == "left" or g in safe.get(f, INTEGERS | FLOATS)]


@pytest.mark.parametrize(
    ("dtype", "outer", "inner"),
    [("i32", INTEGERS, INTEGERS), ("f32", FLOATS, FLOATS), ("i32", COMPARISONS, INTEGERS)],
    ids=["integers", "floats", "comparisons"],
)
def test_operators_in_operators(
    intent_provider: str,
    dtype: str,
    outer: dict[str, Callable[[Array, Array], Array]],
    inner: dict[str, Callable[[Array, Array], Array]],
) -> None:
    """Every operator inside of every other, on either side: parentheses stand where they must."""
    rng = generator("nested", dtype)
    a, b, c = (rng.integers(1, 4, 16).astype(BY_NAME[dtype].numpy) for _ in "abc")
    trees = _trees(outer, inner)
    out = "bool" if outer is COMPARISONS else dtype
    y = np.zeros((len(trees), 16), BY_NAME[out].numpy)
    run(intent_provider, rare.nested(trees, dtype, out), {"a": a, "b": b, "c": c, "y": y})
    for (f, g, side), row in zip(trees, y, strict=True):
        wanted = outer[f](inner[g](a, b), c) if side == "left" else outer[f](a, inner[g](b, c))
        np.testing.assert_allclose(
            row, wanted, rtol=2e-7 if dtype == "f32" else 0, err_msg=f"{f} of {g}, {side}"
        )


def test_functions_of_comparisons(intent_provider: str) -> None:
    """Comparisons do not chain."""
    rng = generator("compared")
    a, b, c = (rng.integers(1, 4, 16).astype(np.int32) for _ in "abc")
    of_bools = {
        "and": np.logical_and,
        "or": np.logical_or,
        "xor": np.logical_xor,
        "eq": np.equal,
        "ne": np.not_equal,
    }
    trees = [(f, g, h) for f in of_bools for g in COMPARISONS for h in COMPARISONS]
    y = np.zeros((len(trees), 16), np.bool_)
    run(intent_provider, rare.compared(trees), {"a": a, "b": b, "c": c, "y": y})
    for (f, g, h), row in zip(trees, y, strict=True):
        wanted = of_bools[f](COMPARISONS[g](a, b), COMPARISONS[h](b, c))
        np.testing.assert_array_equal(row, wanted, err_msg=f"{f} of {g} and {h}")


@pytest.mark.parametrize(("offset", "begin"), [(0, 0), (16, 16), (8, 0), (0, 8), (3, 5), (32, 32)])
def test_products_of_boxes_at_any_place(intent_provider: str, offset: int, begin: int) -> None:
    """Whether or not the blocks divide where the boxes begin."""
    a, b = (f32(name, 64, n).astype(np.float16) for name, n in (("a", 64), ("b", 16)))
    c = np.zeros((32, 16), np.float32)
    run(intent_provider, rare.product_at(offset, begin), {"a": a, "b": b, "c": c})
    wide = (
        a.astype(np.float64)[offset : offset + 32, begin : begin + 32]
        @ b.astype(np.float64)[begin : begin + 32]
    )
    np.testing.assert_allclose(c, wide, rtol=1e-4, atol=1e-4)


def test_renamed_after_it_was_spread(intent_provider: str) -> None:
    """The axis that no value depends on stays implicit."""
    x, y = f32("x", 8), np.zeros((8, 8), np.float32)
    run(intent_provider, rare.renamed(), {"x": x, "y": y})
    same(y, np.broadcast_to(x, (8, 8)))


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("limit", [3, 100])
def test_combines_of_several_values_that_capture_one(intent_provider: str, count: int, limit: int) -> None:
    """Values of the states come first, then the captures."""
    x, y = np.array([1, 5, 2, 4, 0, -3, 5, 1], np.int32), np.zeros(count, np.int32)
    run(intent_provider, rare.clipped(count), {"x": x, "y": y}, {"limit": limit})
    same(y, np.array([min(5 * (k + 1), limit) for k in range(count)], np.int32))


def test_combines_of_index_values(intent_provider: str) -> None:
    """The last place of each row, and none."""
    x = np.where(np.arange(16) % 5 == 2, f32("x", 4, 16) + 3, -1).astype(np.float32)
    x[2] = -1
    y = np.zeros(4, np.int64)
    run(intent_provider, rare.last_place(), {"x": x, "y": y})
    same(y, np.array([12, 12, -1, 12], np.int64))


def test_products_of_boxes_that_overlap(intent_provider: str) -> None:
    """The first row of a block is no multiple of anything."""
    a, b = (f32(name, 64, n).astype(np.float16) for name, n in (("a", 64), ("b", 16)))
    c = np.zeros((32, 16), np.float32)
    run(intent_provider, rare.product_at(0, 0, sliding=True), {"a": a, "b": b, "c": c})
    rows = np.concatenate([np.arange(16), np.arange(1, 17)])
    wide = a.astype(np.float64)[rows, :32] @ b.astype(np.float64)[:32]
    np.testing.assert_allclose(c, wide, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_constants_that_nothing_is_computed_with(intent_provider: str, dtype: str) -> None:
    """To the bit: signs of zeros, what is not finite, and the first number after 1."""
    step = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23, "f64": 2.0**-52}[dtype]
    values = [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, -1.5, 1 + step]
    y = np.full((len(values), 4), 7, BY_NAME[dtype].numpy)
    run(intent_provider, rare.constants(values, dtype), {"y": y})
    wanted = np.repeat(np.array(values).astype(y.dtype)[:, None], 4, axis=1)
    same(y, wanted)
    assert (np.signbit(y.astype(np.float64)[1:]) == np.signbit(wanted.astype(np.float64)[1:])).all()


def test_products_of_index_values(intent_provider: str) -> None:
    """They need more than 32 bits, and their factors do not."""
    y = np.zeros((16, 16), np.int64)
    run(intent_provider, rare.product_of_places(), {"y": y})
    place = np.arange(16)
    factor = place[:, None] + place[None, :] + 1
    same(y, (factor << 17) @ factor)


@pytest.mark.parametrize("dtype", ["f32", "f16", "i32", "i8", "u8"])
@pytest.mark.parametrize("kind", ["argmax", "argmin"])
def test_places_in_two_dims(intent_provider: str, kind: str, dtype: str) -> None:
    """The first of several places wins, wherever the rows of the block lie."""
    x = (np.arange(64).reshape(8, 8) * 5 % 23 + 2).astype(BY_NAME[dtype].numpy)
    x[5, 1] = x[3, 6] = x[3, 7] = 60 if kind == "argmax" else 0
    y, z = np.zeros(1, x.dtype), np.zeros(1, np.int64)
    run(intent_provider, rare.best_places(kind, dtype), {"x": x, "y": y, "z": z})
    same(y, x[3, 6:7])
    same(z, np.array([3 * 8 + 6], np.int64))


@pytest.mark.parametrize(
    ("dtype", "value"), [("f32", 3), ("f16", -1), ("f64", 3), ("i64", -1), ("i32", 3), ("i8", 3)]
)
def test_lanes_that_hold_a_constant(intent_provider: str, dtype: str, value: int) -> None:
    """A literal that has become a block is none any more."""
    y = np.zeros((3, 16), BY_NAME[dtype].numpy)
    z = np.zeros((16, 16), y.dtype)
    run(intent_provider, rare.spread_constants(value, dtype), {"y": y, "z": z})
    same(y, np.array([[16 * value] * 16, [value] * 16, [value * (k + 1) for k in range(16)]], y.dtype))
    same(z, np.full((16, 16), value + 16 * value * value).astype(z.dtype))


def test_numbers_beyond_32_bits(intent_provider: str) -> None:
    """Beside lanes, which have no more than 32 bits."""
    y, i, far = np.zeros((6, 16), np.int64), np.arange(16), 1 << 33
    run(intent_provider, rare.far_numbers(), {"y": y})
    same(
        y,
        np.array(
            [i < far, i < -far, i == far, i == -far, np.minimum(i + far, far), np.where(i < 8, i, far)],
            np.int64,
        ),
    )


def test_values_are_taken_where_they_stand(intent_provider: str) -> None:
    """However late they are used, and once only."""
    x, y = np.array([41], np.int32), np.zeros(2, np.int32)
    run(intent_provider, rare.taken_early(), {"x": x, "y": y})
    same(y, np.array([42, 41], np.int32))
    z = np.zeros(1, np.int32)
    run(intent_provider, rare.read_early(), {"x": x, "y": z})
    same(np.concatenate([x, z]), np.array([84, 42], np.int32))


def test_sums_of_index_values(intent_provider: str) -> None:
    """They are 64 bits wide, whatever is summed."""
    y, z = np.zeros(1, np.int64), np.zeros(16, np.int64)
    run(intent_provider, rare.sums_of_places(), {"y": y, "z": z})
    want = np.cumsum(np.arange(16) << 27)
    same(z, want)
    same(y, want[-1:])


@pytest.mark.parametrize("sign", [1, -1])
def test_extremes_of_index_values(intent_provider: str, sign: int) -> None:
    """All of them beyond 32 bits, on one side of zero."""
    x = sign * ((np.array([3, 1, 4, 1, 5, 9, 2, 6]) << 40) + 7)
    y, z = np.zeros(4, np.int64), np.zeros((2, 8), np.int64)
    run(intent_provider, rare.extreme_numbers(), {"x": x, "y": y, "z": z})
    same(y, np.array([np.argmax(x), np.argmin(x), x.max(), x.min()]))
    same(z, np.array([np.maximum.accumulate(x), np.minimum.accumulate(x)]))


def test_loops_beyond_32_bits(intent_provider: str) -> None:
    """Begin, end and step are numbers, and the index has 64 bits."""
    y = np.zeros(4, np.int64)
    run(intent_provider, rare.far_loop(), {"y": y})
    same(y, (1 << 33) + np.arange(4))


@pytest.mark.parametrize(
    ("value", "source", "target"),
    [(3, "i32", "f32"), (-2.5, "f32", "i32"), (300, "i32", "u8"), (0.1, "f32", "f16"),
     (7, "index", "i64"), (2.0, "f16", "bool")],
)  # fmt: skip
def test_constants_of_another_dtype(intent_provider: str, value: float, source: str, target: str) -> None:
    """A literal is converted as any value."""
    y = np.zeros(4, BY_NAME[target].numpy)
    run(intent_provider, rare.converted(value, source, target), {"y": y})
    same(y, np.full(4, value).astype(BY_NAME[source].numpy).astype(y.dtype))
