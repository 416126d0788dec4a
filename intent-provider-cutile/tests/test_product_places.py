"""How a product is computed: sizes and dtypes of matrix units, outer products, and products of several dims."""

from __future__ import annotations

import numpy as np
import pytest

from intent.diagnostics import CapabilityError
from intent_provider_cutile.emit import emit
from intent_provider_cutile.emit.latency import latencies
from intent_testkit.programs.products import SEVERAL, product, reference
from intent_testkit.programs.running import run

RNG = np.random.default_rng(21)


def how(**sizes):
    """What computes the product."""
    text = emit(product(**sizes)).text
    kernel = text[text.index("@ct.kernel") :]
    (found,) = {
        name for name in ("ct.mma(", "_outer_products(", "_split_mma(", "ct.sum(") if name in kernel
    } or {"nothing"}
    return found


@pytest.mark.parametrize("which", ["rows", "columns", "summed"])
@pytest.mark.parametrize(
    ("dtype", "result"), [("f16", "f32"), ("f16", "f16"), ("bf16", "bf16"), ("f64", "f64"), ("i8", "i32")]
)
def test_sides_of_matrix_units(which, dtype, result):
    least = {"rows": 8, "columns": 8, "summed": 16}
    sizes = {name: (size,) for name, size in least.items()}
    assert how(**sizes, dtype=dtype, result=result) == "ct.mma("
    sizes[which] = (least[which] // 2,)
    assert how(**sizes, dtype=dtype, result=result) == "ct.sum("


@pytest.mark.parametrize(
    ("dtype", "result"),
    [("i32", "i32"), ("f32", "f64"), ("f64", "f32"), ("i8", "i8"), ("i8", "f32"), ("i64", "i64"), ("f16", "f64")],
)  # fmt: skip
def test_dtypes_that_no_matrix_unit_has(dtype, result):
    assert how(dtype=dtype, result=result) == "ct.sum("


@pytest.mark.parametrize(
    ("sizes", "wanted"),
    [
        ({}, "_outer_products("),
        ({"rows": (8,), "columns": (8,), "summed": (1,)}, "_outer_products("),
        ({"rows": (4,)}, "ct.sum("),
        ({"columns": (4,)}, "ct.sum("),
        ({"rows": (64,), "columns": (64,), "summed": (128,)}, "_outer_products("),
        ({"rows": (64,), "columns": (64,), "summed": (256,)}, "ct.mma("),
        ({"rows": (128,), "columns": (64,), "summed": (128,)}, "ct.mma("),
        ({"rows": (64,), "columns": (128,), "summed": (128,)}, "ct.mma("),
        ({"batch": (2,)}, "ct.mma("),
        ({"loops": 0}, "ct.mma("),
        ({"loops": 0, "summed": (8,)}, "ct.sum("),
        ({"products": 2}, "ct.mma("),
        ({"loops": 2}, "_outer_products("),
    ],
    ids=str,
)  # fmt: skip
def test_products_of_f32(sizes, wanted):
    assert how(dtype="f32", **sizes) == wanted


@pytest.mark.parametrize(
    ("rows", "columns", "warps"), [(256, 16, 8), (16, 256, 8), (128, 128, None), (512, 8, 8), (128, 16, None)]
)
def test_wide_products_have_more_warps(rows, columns, warps):
    text = emit(product((rows,), (columns,))).text
    assert ("@ct.kernel(num_worker_warps=8)" in text) is (warps == 8)


def test_tiles_are_for_products_that_matrix_units_compute():
    assert "ct.load(" in emit(product(dtype="f16")).text
    assert "ct.load(" not in emit(product(dtype="i32", result="i32")).text


@pytest.mark.parametrize("start", [False, True])
@pytest.mark.parametrize(
    ("dtype", "result"), [("f16", "f32"), ("f32", "f32"), ("f64", "f64"), ("i16", "i16"), ("f16", "f16")]
)
@pytest.mark.parametrize("name", SEVERAL)
def test_products_of_several_dims(name, dtype, result, start):
    program = product(**SEVERAL[name], dtype=dtype, result=result, start=start)
    views = {v.name: v for v in program.views}
    arrays = {
        n: RNG.integers(-3, 4, [e.const for e in v.shape]).astype(v.dtype.numpy) for n, v in views.items()
    }
    if dtype in ("i8", "i16"):  # sums wrap around
        limit = np.iinfo(arrays["a"].dtype)
        for n in "ab":
            arrays[n] = RNG.integers(limit.min, limit.max, arrays[n].shape).astype(arrays[n].dtype)
    if dtype == "f64":
        arrays["a"] += 2.0**-30
    sizes = {k: v for k, v in SEVERAL[name].items() if k != "others"}
    want = reference(arrays["a"], arrays["b"], **sizes) + (arrays["c"] if start else 0)
    run("cutile", program, arrays)
    np.testing.assert_array_equal(arrays["y"], want.astype(arrays["y"].dtype))


def test_lanes_of_products_that_are_summed_have_an_end():
    assert how(rows=(128,), columns=(128,), summed=(64,), dtype="i32", result="i32") == "ct.sum("
    with pytest.raises(CapabilityError, match="a product of i32 fragments this large") as raised:
        how(rows=(128,), columns=(128,), summed=(128,), dtype="i32", result="i32")
    assert "2097152 lanes" in str(raised.value)


@pytest.mark.parametrize(
    ("sizes", "base", "hints"),
    [
        ({"products": 3}, 2, [2, 2, 4, 4, 6, 6]),
        ({"products": 3}, 4, [4, 4, 8, 8, 10, 10]),
        ({"products": 2, "loops": 2}, 1, [1, 1, 2, 2]),
        ({"products": 1}, 2, [2, 2]),
        ({"products": 2, "loops": 0}, 2, []),
        ({"products": 2}, None, []),
    ],
    ids=str,
)
def test_loads_of_later_products_are_hinted_to_begin_earlier(sizes, base, hints):
    assert list(latencies(product(**sizes), base).values()) == hints
