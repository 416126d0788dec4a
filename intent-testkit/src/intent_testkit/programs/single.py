"""One operation over a block of lanes as a program: pointwise functions, casts, reductions and scans."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from intent.physical import Dim, Fragment, Program, ScalarParam
from intent.types.dtypes import BOOL, BY_NAME, INDEX
from intent.types.extent import Extent, symbol
from intent_testkit.programs.builder import Builder, view

BLOCK: Final = 256
"""Lanes of every elementwise program."""

Make = Callable[[Builder, list[Fragment]], Fragment]
Constants = Mapping[int, bool | int | float]
"""Literals by the place of the operand that they replace."""

_TO_BOOL = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf"})


def _elementwise(name: str, inputs: list[str], output: str, make: Make) -> Program:
    lane = Dim("n", BLOCK)
    b = Builder(lane)
    views = [view(f"x{i}", dtype, "N") for i, dtype in enumerate(inputs)]
    out = view("y", output, "N", "out")

    def body(pid: Fragment) -> None:
        i = b.op("add", b.op("mul", pid, b.constant(BLOCK)), b.lane(lane), name="i")
        valid = b.op("lt", i, b.launch("N"), name="valid")
        values = [b.load(v, i, valid=valid, name=f"v{k}") for k, v in enumerate(views)]
        b.store(out, [i], make(b, values), valid)

    return b.program(name, [*views, out], b.segment([("n", symbol("N"), BLOCK)], body))


def pointwise(fn: str, dtype: str, arity: int, constants: Constants | None = None, **flags: Any) -> Program:
    """``y = fn(x0, x1, ...)``; ``constants`` replaces operands by literals."""
    output = "bool" if fn in _TO_BOOL else dtype
    inputs = ["bool" if fn == "select" and i == 0 else dtype for i in range(arity)]

    def make(b: Builder, values: list[Fragment]) -> Fragment:
        chosen = [
            b.constant(constants[i], BY_NAME[dtype]) if constants and i in constants else v
            for i, v in enumerate(values)
        ]
        return b.op(fn, *chosen, **flags)

    return _elementwise(f"run_{fn}", inputs, output, make)


def cast(source: str, target: str) -> Program:
    """``y = I.cast(x0, target)``; index goes through i64 memory."""

    def make(b: Builder, values: list[Fragment]) -> Fragment:
        value = values[0]
        if source == "index":
            value = b.cast(value, INDEX)
        value = b.cast(value, BY_NAME[target])
        return b.cast(value, BY_NAME["i64"]) if target == "index" else value

    stored = {"index": "i64"}
    return _elementwise("run_cast", [stored.get(source, source)], stored.get(target, target), make)


def index_pointwise(fn: str, constants: Constants | None = None) -> Program:
    """A function of index values that came from i64 memory."""

    def make(b: Builder, values: list[Fragment]) -> Fragment:
        operands = [
            b.constant(constants[i], INDEX) if constants and i in constants else b.cast(v, INDEX)
            for i, v in enumerate(values)
        ]
        result = b.op(fn, *operands)
        return result if result.dtype is BOOL else b.cast(result, BY_NAME["i64"])

    return _elementwise("run_index", ["i64", "i64"], "bool" if fn in _TO_BOOL else "i64", make)


def twice_divided(divisor: Extent, fn: str, outer: str) -> Program:
    """``y[i] = outer(fn(i + 1, divisor), N)`` in index arithmetic."""
    lane = Dim("n", BLOCK)
    b = Builder(lane)
    out = view("y", "i64", "N", "out")

    def body(pid: Fragment) -> None:
        i = b.op("add", b.op("mul", pid, b.constant(BLOCK)), b.lane(lane), name="i")
        valid = b.op("lt", i, b.launch("N"), name="valid")
        inner = b.op(fn, b.op("add", i, b.constant(1)), b.launch(divisor), name="inner")
        b.store(out, [i], b.cast(b.op(outer, inner, b.launch("N")), BY_NAME["i64"]), valid)

    return b.program("divide", [out], b.segment([("n", symbol("N"), BLOCK)], body))


def power_of_scalar(rows: int = 4, columns: int = 8) -> Program:
    """``y[i, j] = base ** x[i] * z[j]`` with one f32 ``base``."""
    f32 = BY_NAME["f32"]
    m, n = Dim("m", rows), Dim("n", columns)
    b = Builder(m, n)
    x, z, out = (
        view("x", "f32", f"{rows}"),
        view("z", "f32", f"{columns}"),
        view("y", "f32", f"{rows} {columns}", "out"),
    )

    def body(_pid: Fragment) -> None:
        i, j = b.lane(m), b.lane(n)
        power = b.op("pow", b.argument("base", f32), b.load(x, i))
        b.store(out, [i, j], b.op("mul", power, b.load(z, j)))

    base = ScalarParam(name="base", dtype=f32)
    return b.program("power", (x, z, out, base), b.segment([("one", 1, 1)], body))


def two_widths(fn: str, first: str, second: str) -> Program:
    """``y[i] = fn(first, second)`` of index values that need different integer types.

    ``lane`` fits int32 always, ``place`` by the launch's extents, ``memory`` (``x[i]``) never.
    """
    lane = Dim("n", BLOCK)
    b = Builder(lane)
    x, out = view("x", "i64", "N"), view("y", "i64", "N", "out")

    def body(pid: Fragment) -> None:
        i = b.op("add", b.op("mul", pid, b.constant(BLOCK)), b.lane(lane), name="i")
        valid = b.op("lt", i, b.launch("N"), name="valid")
        read = b.cast(b.load(x, i, valid=valid), INDEX)
        values = {"lane": b.lane(lane), "place": i, "memory": read}
        b.store(out, [i], b.cast(b.op(fn, values[first], values[second]), BY_NAME["i64"]), valid)

    return b.program("widths", [x, out], b.segment([("n", symbol("N"), BLOCK)], body))


def reduction(kind: str, dtype: str, rows: int = 4, columns: int = 32) -> Program:
    """Reduce the last axis of a ``rows x columns`` block; arg kinds store the position."""
    m, n = Dim("m", rows), Dim("n", columns)
    b = Builder(m, n)
    x = view("x", dtype, f"{rows} {columns}")
    arg = kind in ("argmax", "argmin")
    y = view("y", "i64" if arg else dtype, f"{rows}", "out")

    def body(_pid: Fragment) -> None:
        i, j = b.lane(m), b.lane(n)
        value = b.load(x, i, j)
        if arg:
            _, position = b.arg_reduce(value, b.broadcast(j, m), n, kind=kind)
            b.store(y, [i], b.cast(position, BY_NAME["i64"]))
        else:
            b.store(y, [i], b.reduce(value, n, kind=kind))

    return b.program(f"run_{kind}", [x, y], b.segment([("one", 1, 1)], body))


def scan(kind: str, dtype: str, *, reverse: bool, rows: int = 4, columns: int = 32) -> Program:
    """Inclusive prefixes along the last axis."""
    m, n = Dim("m", rows), Dim("n", columns)
    b = Builder(m, n)
    x, y = view("x", dtype, f"{rows} {columns}"), view("y", dtype, f"{rows} {columns}", "out")

    def body(_pid: Fragment) -> None:
        i, j = b.lane(m), b.lane(n)
        b.store(y, [i, j], b.scan(b.load(x, i, j), n, kind=kind, reverse=reverse))

    return b.program(f"run_scan_{kind}", [x, y], b.segment([("one", 1, 1)], body))
