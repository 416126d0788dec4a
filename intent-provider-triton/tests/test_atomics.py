"""Atomic accesses under emulation, and their native builds."""

from __future__ import annotations

import numpy as np
import pytest
from builder import Builder, view
from execution import run

from intent.diagnostics import CapabilityError
from intent.physical import Dim, Program
from intent.types.dtypes import BY_NAME
from intent.types.extent import symbol
from intent_provider_triton.plugin import plugin

PROVIDER = plugin.intent_provider()
BLOCK = 8
WORDS = ["i32", "u32", "i64", "u64"]
SWAPPED = [*WORDS, "bool", "i8", "u8", "i16", "u16", "f8e4m3fn", "f8e5m2", "f16", "bf16", "f32", "f64"]


def exchange(dtype: str, *, masked: bool = True, lanes: int = BLOCK) -> Program:
    """Zeros of ``x`` become ``z``; ``y`` gets the old values and ``hit`` the successes."""
    n, kind = Dim("n", lanes), BY_NAME[dtype]
    b = Builder(n)
    x, z = view("x", dtype, "N", "inout"), view("z", dtype, "N")
    y, hit = view("y", dtype, "N", "out"), view("hit", "bool", "N", "out")

    def body(pid):
        i = b.op("add", b.op("mul", pid, b.constant(lanes)), b.lane(n), name="i") if lanes > 1 else pid
        valid = b.op("lt", i, b.launch("N"), name="valid") if masked else None
        desired = b.load(z, i, valid=valid)
        old, success = b.atomic(x, [i], b.constant(0, kind), desired, kind="compare_exchange", valid=valid)
        b.store(y, [i], old, valid)
        b.store(hit, [i], success, valid)

    return b.program("swap", [x, z, y, hit], b.segment([("n", symbol("N"), lanes)], body))


def one_kind(kind: str, dtype: str) -> Program:
    """An atomic load into ``y``, or an atomic store of ``x``."""
    n = Dim("n", BLOCK)
    b = Builder(n)
    x, y = view("x", dtype, "N", "inout" if kind == "load" else "in"), view("y", dtype, "N", "out")

    def body(pid):
        i = b.op("add", b.op("mul", pid, b.constant(BLOCK)), b.lane(n), name="i")
        valid = b.op("lt", i, b.launch("N"), name="valid")
        if kind == "load":
            (value,) = b.atomic(x, [i], kind="load", valid=valid, order="acquire")
            b.store(y, [i], value, valid)
        else:
            b.atomic(y, [i], b.load(x, i, valid=valid), kind="store", valid=valid, order="release")

    return b.program(f"run_{kind}", [x, y], b.segment([("n", symbol("N"), BLOCK)], body))


@pytest.mark.parametrize("dtype", SWAPPED)
@pytest.mark.parametrize(
    ("count", "lanes", "masked"), [(13, BLOCK, True), (16, BLOCK, False), (3, 1, True), (0, BLOCK, True)]
)
def test_compare_exchange(dtype, count, lanes, masked):
    kind = BY_NAME[dtype].numpy
    before = (np.arange(count) % 3).astype(kind)
    x, z = before.copy(), (np.arange(count) + 40).astype(kind)
    y, hit = np.full(count, 9, kind), np.zeros(count, np.bool_)
    run(exchange(dtype, masked=masked, lanes=lanes), {"x": x, "z": z, "y": y, "hit": hit})
    assert np.array_equal(y, before)
    assert np.array_equal(hit, before == 0)
    assert np.array_equal(x, np.where(before == 0, z, before))


@pytest.mark.parametrize("dtype", WORDS)
@pytest.mark.parametrize("kind", ["load", "store"])
def test_load_and_store(kind, dtype):
    x = np.arange(11).astype(BY_NAME[dtype].numpy) * 3
    y, before = np.zeros_like(x), x.copy()
    run(one_kind(kind, dtype), {"x": x, "y": y})
    assert np.array_equal(y, before)
    assert np.array_equal(x, before)


@pytest.mark.parametrize(
    "program",
    [exchange("i32"), exchange("u64"), exchange("i64", masked=False), exchange("i32", lanes=1)]
    + [exchange("u8"), exchange("bool", lanes=1), exchange("bf16"), exchange("f8e5m2", masked=False)]
    + [one_kind(kind, dtype) for kind in ("load", "store") for dtype in ("i32", "u64")],
)
def test_native_builds(program):
    listing = PROVIDER.build(PROVIDER.serialize(program), "sm_90").listing
    assert {"swap": "atom", "run_load": ".or.b", "run_store": ".exch.b"}[program.name] in listing
    assert program.name != "swap" or ".cas.b" in listing


def test_an_element_type_without_atomics_is_a_typed_error():
    with pytest.raises(CapabilityError) as error:
        PROVIDER.serialize(one_kind("load", "i16"))
    assert "atomic load" in str(error.value)


def test_neighbours_of_a_byte_stay_as_they_are():
    x = np.array([0, 7, 0, 9, 0], np.uint8)
    z = np.array([1, 2, 3, 4, 5], np.uint8)
    y, hit = np.zeros(5, np.uint8), np.zeros(5, np.bool_)
    within = np.zeros(7, np.uint8) + 77
    within[1:6] = x
    run(exchange("u8"), {"x": within[1:6], "z": z, "y": y, "hit": hit})
    assert within.tolist() == [77, 1, 7, 3, 9, 5, 77]
