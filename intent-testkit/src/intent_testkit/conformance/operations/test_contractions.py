"""Contractions against numpy: dtypes, orders of lane dims, batches."""

from __future__ import annotations

import numpy as np
import pytest

from intent.passes import Permissions
from intent.passes.splitting import splitting
from intent.physical import Dim, Fragment
from intent.types.dtypes import BY_NAME, F32
from intent_testkit.cases.draw import Array
from intent_testkit.programs import Builder, run, view, whole
from intent_testkit.programs.values import generator


def _operand(name: str, dtype: str, *shape: int) -> Array:
    rng, kind = generator("operand", name, dtype), BY_NAME[dtype]
    values = rng.standard_normal(shape) if kind.is_float else rng.integers(-50, 50, shape)
    return np.asarray(values.astype(kind.numpy))


@pytest.mark.parametrize("order", ["mkn", "mnk", "nkm", "knm"])
@pytest.mark.parametrize(
    ("dtype", "out", "tile"),
    [("f16", "f32", 32), ("bf16", "bf16", 16), ("f32", "f32", 16), ("f64", "f64", 16), ("i8", "i32", 32),
     ("f32", "f32", 8), ("i32", "i32", 8)],
)  # fmt: skip
def test_matmul(intent_provider: str, order: str, dtype: str, out: str, tile: int) -> None:
    """Blocks that do not divide the extents; the accumulator is the wide dtype."""
    m, k, n = 45, 70, 50
    a, b = _operand("a", dtype, m, k), _operand("b", dtype, k, n)
    c = np.zeros((m, n), BY_NAME[out].numpy)
    program = whole.matmul(tile, tile, max(tile, 32 if dtype == "i8" else 0), dtype, out, order)
    run(intent_provider, program, {"a": a, "b": b, "c": c})
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    eps = {"f32": 2e-6, "f64": 1e-14, "bf16": 4e-3, "i32": 0}[out]
    scale = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
    assert (np.abs(c.astype(np.float64) - wanted) <= eps * scale).all()


def _kinds(name: str) -> tuple[Array, Array]:
    """Operands whose product is exact, or has no number."""
    a, b = _operand("a", "f32", 32, 48), _operand("b", "f32", 48, 32)
    rng = generator("kinds", name)
    if name == "integers":
        return rng.integers(-2048, 2049, a.shape).astype(a.dtype), rng.integers(-16, 17, b.shape).astype(
            b.dtype
        )
    if name == "chosen rows":
        return np.eye(32, 48, 5, np.float32), rng.integers(-(2**24), 2**24, b.shape).astype(b.dtype)
    a[3, 5], a[4, 6], a[7, 5], b[5, 9], b[6, 2] = np.inf, np.nan, 0.0, -np.inf, np.inf
    return a, b


@pytest.mark.parametrize("name", ["integers", "chosen rows", "infinities"])
@pytest.mark.parametrize("split", [False, True])
def test_products_of_f32_that_are_exact_or_infinite(intent_provider: str, name: str, split: bool) -> None:
    """Also of parts, which whoever has no faster way with them does not use."""
    a, b = _kinds(name)
    c = np.zeros((a.shape[0], b.shape[1]), np.float32)
    program = splitting(whole.matmul(16, 16, 16, "f32", "f32", "mkn"), Permissions(split=split))
    run(intent_provider, program, {"a": a, "b": b, "c": c})
    with np.errstate(invalid="ignore"):
        wanted = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(
        c, wanted, rtol=1e-5 if name == "infinities" else 0, atol=1e-5 * (name == "infinities")
    )


def test_batched_contraction_and_rename(intent_provider: str) -> None:
    """A Gram matrix per batch: the second operand is the first one, renamed."""
    batch, m, k, n = Dim("b", 2), Dim("m", 16), Dim("k", 16), Dim("n", 16)
    b = Builder(batch, m, n, k)
    x, y = view("x", "f32", "2 16 16"), view("y", "f32", "2 16 16", "out")

    def body(_pid: Fragment) -> None:
        lanes = [b.lane(batch), b.lane(m), b.lane(k)]
        value = b.load(x, *lanes)
        product = b.contract(value, b.rename(value, m, n), k, dtype=F32)
        b.store(y, [lanes[0], lanes[1], b.rename(lanes[1], m, n)], product)

    values, out = _operand("gram", "f32", 2, 16, 16), np.zeros((2, 16, 16), np.float32)
    program = b.program("gram", [x, y], b.segment([("one", 1, 1)], body))
    run(intent_provider, program, {"x": values, "y": out})
    np.testing.assert_allclose(out, values @ values.transpose(0, 2, 1), rtol=1e-4, atol=1e-4)
