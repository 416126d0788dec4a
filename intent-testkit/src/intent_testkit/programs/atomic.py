"""Atomic accesses by themselves: compare-exchange with its two results, loads and stores with their orders."""

from __future__ import annotations

from typing import Final

from intent.physical import Dim, Fragment, Program
from intent.types.dtypes import BY_NAME
from intent.types.extent import symbol
from intent_testkit.programs.builder import Builder, view

BLOCK: Final = 8
"""Lanes of a block, where a program has any."""


def exchange(dtype: str, *, masked: bool = True, lanes: int = BLOCK) -> Program:
    """Zeros of ``x`` become ``z``; ``y`` gets the old values and ``hit`` the successes."""
    n, kind = Dim("n", lanes), BY_NAME[dtype]
    b = Builder(n)
    x, z = view("x", dtype, "N", "inout"), view("z", dtype, "N")
    y, hit = view("y", dtype, "N", "out"), view("hit", "bool", "N", "out")

    def body(pid: Fragment) -> None:
        i = b.op("add", b.op("mul", pid, b.constant(lanes)), b.lane(n), name="i") if lanes > 1 else pid
        valid = b.op("lt", i, b.launch("N"), name="valid") if masked else None
        desired = b.load(z, i, valid=valid)
        old, success = b.atomic(x, [i], b.constant(0, kind), desired, kind="compare_exchange", valid=valid)
        b.store(y, [i], old, valid)
        b.store(hit, [i], success, valid)

    return b.program("swap", [x, z, y, hit], b.segment([("n", symbol("N"), lanes)], body))


def load(dtype: str) -> Program:
    """``y`` gets what acquiring loads of ``x`` see."""
    n = Dim("n", BLOCK)
    b = Builder(n)
    x, y = view("x", dtype, "N", "inout"), view("y", dtype, "N", "out")

    def body(pid: Fragment) -> None:
        i = b.op("add", b.op("mul", pid, b.constant(BLOCK)), b.lane(n), name="i")
        valid = b.op("lt", i, b.launch("N"), name="valid")
        (value,) = b.atomic(x, [i], kind="load", valid=valid, order="acquire")
        b.store(y, [i], value, valid)

    return b.program("run_load", [x, y], b.segment([("n", symbol("N"), BLOCK)], body))


def store(dtype: str) -> Program:
    """``x`` is written to ``y`` by releasing stores."""
    n = Dim("n", BLOCK)
    b = Builder(n)
    x, y = view("x", dtype, "N"), view("y", dtype, "N", "out")

    def body(pid: Fragment) -> None:
        i = b.op("add", b.op("mul", pid, b.constant(BLOCK)), b.lane(n), name="i")
        valid = b.op("lt", i, b.launch("N"), name="valid")
        b.atomic(y, [i], b.load(x, i, valid=valid), kind="store", valid=valid, order="release")

    return b.program("run_store", [x, y], b.segment([("n", symbol("N"), BLOCK)], body))
