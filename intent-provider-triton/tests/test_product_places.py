"""Which products are ``tl.dot``, what is summed lane by lane, and that several dims of each kind give right values."""

from __future__ import annotations

import numpy as np
import pytest

from intent.diagnostics import CapabilityError
from intent.physical import Dim
from intent_provider_triton.emit import emit
from intent_provider_triton.emit.structured import would_become_dot
from intent_testkit.programs.products import SEVERAL, product, reference
from intent_testkit.programs.running import run

RNG = np.random.default_rng(21)
A, B, C, D = (Dim(name, 16) for name in "abcd")


def how(**sizes):
    """What computes the product."""
    text = emit(product(**sizes)).text
    return "dot" if "tl.dot(" in text else "sum"


@pytest.mark.parametrize("which", ["rows", "columns", "summed"])
@pytest.mark.parametrize(
    ("dtype", "result", "summed"),
    [("f16", "f32", 16), ("f16", "f16", 16), ("bf16", "bf16", 16), ("f32", "f32", 16),
     ("i8", "i32", 32), ("f8e5m2", "f32", 32)],
)  # fmt: skip
def test_sides_of_native_products(which, dtype, result, summed):
    sizes = {"rows": (16,), "columns": (16,), "summed": (summed,)}
    assert how(**sizes, dtype=dtype, result=result) == "dot"
    sizes[which] = (sizes[which][0] // 2,)
    assert how(**sizes, dtype=dtype, result=result) == "sum"


@pytest.mark.parametrize(
    ("dtype", "result"),
    [
        ("i32", "i32"),
        ("f32", "f64"),
        ("f64", "f64"),
        ("i8", "i8"),
        ("i16", "i16"),
        ("f16", "bf16"),
        ("bf16", "f16"),
    ],
)
def test_dtypes_without_native_products(dtype, result):
    assert how(dtype=dtype, result=result) == "sum"


@pytest.mark.parametrize(
    ("sizes", "wanted"),
    [
        ({}, "dot"), ({"batch": (2,)}, "dot"), ({"batch": (2, 2)}, "sum"), ({"rows": (4, 4)}, "sum"),
        ({"columns": (4, 4)}, "sum"), ({"summed": (4, 4)}, "sum"), ({"rows": ()}, "sum"), ({"columns": ()}, "sum"),
    ],
    ids=str,
)  # fmt: skip
def test_dims_of_native_products(sizes, wanted):
    assert how(**sizes) == wanted


@pytest.mark.parametrize(
    ("lhs", "rhs", "dims", "wanted"),
    [
        ((A, B), (B, C), (A, B, C), True),
        ((A, B), (B, C), (A, B), False),
        ((A, B, C), (B, C), (A, B, C), False),
        ((A, B), (A, B, C), (A, B, C), False),
        ((B, C), (A, B), (A, B, C), False),
        ((A,), (C,), (A, B, C), True),
        ((A, B), (B, C), (A, B, C, D), False),
        ((B,), (B, C), (A, B, C), True),
    ],
    ids=str,
)
def test_what_triton_takes_for_a_product(lhs, rhs, dims, wanted):
    assert would_become_dot(lhs, rhs, dims) is wanted


@pytest.mark.parametrize("start", [False, True])
@pytest.mark.parametrize(
    ("dtype", "result"), [("f16", "f32"), ("f32", "f32"), ("f64", "f64"), ("i16", "i16"), ("f16", "f16")]
)
@pytest.mark.parametrize("name", SEVERAL)
def test_products_of_several_dims(name, dtype, result, start):
    program = product(**SEVERAL[name], dtype=dtype, result=result, start=start)
    arrays = {
        v.name: RNG.integers(-3, 4, [e.const for e in v.shape]).astype(v.dtype.numpy) for v in program.views
    }
    if dtype == "i16":  # sums wrap around
        for n in "ab":
            arrays[n] = RNG.integers(-(2**15), 2**15, arrays[n].shape).astype(np.int16)
    sizes = {k: v for k, v in SEVERAL[name].items() if k != "others"}
    want = reference(arrays["a"], arrays["b"], **sizes) + (arrays["c"] if start else 0)
    run("triton", program, arrays)
    np.testing.assert_array_equal(arrays["y"], want.astype(arrays["y"].dtype))


@pytest.mark.parametrize(("summed", "apart"), [(32, 32), (64, 64), (128, 128), (256, 128)])
def test_sums_of_products_of_8_bits_are_added_apart(summed, apart):
    text = emit(product(summed=(summed,), dtype="f8e4m3fn")).text
    assert f"max_num_imprecise_acc={apart})" in text
    assert "max_num_imprecise_acc" not in emit(product(summed=(summed,), dtype="f16")).text


def test_lanes_of_products_that_are_summed_have_an_end():
    assert how(rows=(128,), columns=(128,), summed=(64,), dtype="i32", result="i32") == "sum"
    with pytest.raises(CapabilityError, match="a product of i32 fragments this large") as raised:
        how(rows=(128,), columns=(128,), summed=(128,), dtype="i32", result="i32")
    assert "2097152 lanes" in str(raised.value)
