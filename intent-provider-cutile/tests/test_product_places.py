"""How a product is computed: sizes and dtypes of matrix units, outer products, and products of several dims."""

from __future__ import annotations

import numpy as np
import pytest

from intent.physical import Dim
from intent.types.dtypes import BY_NAME, I32
from intent.types.extent import const
from intent_provider_cutile.emit import emit
from intent_testkit.programs.builder import Builder, view
from intent_testkit.programs.running import run

RNG = np.random.default_rng(21)


def product(
    rows=(16,), columns=(16,), summed=(16,), *, dtype="f16", result="f32", batch=(), loops=1, products=1, start=False,
    others=(),
):  # fmt: skip
    """``y = a @ b`` over dims of these sizes, ``loops`` loops deep; ``products`` of them in one loop.

    ``start``: a sum starts from ``c``. ``others``: sizes of dims that the product has not.
    """
    groups = [
        tuple(Dim(f"{name}{k}", size) for k, size in enumerate(sizes))
        for name, sizes in (("b", batch), ("m", rows), ("n", columns), ("k", summed), ("o", others))
    ]
    outer, m, n, k, rest = groups
    b = Builder(*rest, *outer, *m, *n, *k)

    def array(name, dims, kind, mode="in"):
        return view(name, kind, " ".join(str(d.size) for d in dims), mode)

    left, right = array("a", (*outer, *m, *k), dtype), array("b", (*outer, *k, *n), dtype)
    c, y = (array(name, (*outer, *m, *n), result, mode) for name, mode in (("c", "in"), ("y", "inout")))
    z = array("z", rest, "i32", "inout") if rest else None

    def body(_):
        lanes = {d: b.lane(d) for d in b.dims}

        def at(dims):
            return [lanes[d] for d in dims]

        def step(*_):
            for _ in range(products):
                a_, b_ = b.load(left, *at((*outer, *m, *k))), b.load(right, *at((*outer, *k, *n)))
                first = b.load(c, *at((*outer, *m, *n))) if start else None
                made = b.contract(a_, b_, *k, dtype=BY_NAME[result], accumulator=first)
                b.store(y, at((*outer, *m, *n)), made)

        def loop(depth):
            if not depth:
                return step()
            ends = (b.constant(0), b.constant(1), b.constant(1))
            b.loop(*ends, [], lambda *_: loop(depth - 1))
            return None

        loop(loops)
        if z is not None:
            b.store(z, at(rest), b.cast(lanes[rest[0]], I32))

    views = [left, right, c, y, *([z] if z is not None else [])]
    return b.program("product", views, b.segment([("one", const(1), 1)], body))


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


SEVERAL = {
    "one of each": {},
    "two dims of rows": {"rows": (4, 8)},
    "two of each": {"rows": (4, 2), "columns": (2, 4), "summed": (4, 8)},
    "pairs": {"batch": (2,)},
    "pairs of pairs": {"batch": (2, 2), "rows": (2, 8)},
    "a short sum": {"summed": (2, 4)},
    "beside another dim": {"others": (4,)},
    "a short sum beside another dim": {"others": (4,), "rows": (2,)},
}


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
    want = reference(SEVERAL[name], arrays["a"], arrays["b"]) + (arrays["c"] if start else 0)
    run("cutile", program, arrays)
    np.testing.assert_array_equal(arrays["y"], want.astype(arrays["y"].dtype))


def reference(sizes, a, b):
    """The product in f64 or i64."""
    wide = np.int64 if a.dtype.kind == "i" else np.float64
    pairs, rows = len(sizes.get("batch", ())), len(sizes.get("rows", (0,)))
    columns, summed = len(sizes.get("columns", (0,))), len(sizes.get("summed", (0,)))
    letters = iter("abcdefghijklmnop")
    x, m, n, k = ("".join(next(letters) for _ in range(count)) for count in (pairs, rows, columns, summed))
    return np.einsum(f"{x}{m}{k},{x}{k}{n}->{x}{m}{n}", a.astype(wide), b.astype(wide))
