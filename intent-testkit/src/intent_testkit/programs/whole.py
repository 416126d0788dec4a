"""Whole programs written by hand: masks, tails, loops, branches, segments and a workspace, one idea each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from intent.physical import Buffer, Dim, Fragment, Program, ScalarParam
from intent.types.dtypes import BOOL, F32, I32, INDEX
from intent.types.extent import Extent, ceildiv, const, symbol
from intent_testkit.programs.builder import Builder, view


def add(block: int = 128, dtype: str = "f32") -> Program:
    """``out = x + y`` of a line, the last block masked."""
    lane = Dim("n", block)
    b = Builder(lane)
    x, y, out = view("x", dtype, "N"), view("y", dtype, "N"), view("out", dtype, "N", "out")

    def body(pid: Fragment) -> None:
        b.line = "for i in I.parallel(I.domain(0, x.shape[0])):"
        i = b.op("add", b.op("mul", pid, b.constant(block)), b.lane(lane), name="i")
        valid = b.op("lt", i, b.launch("N"))
        b.line = "out[i] = x[i] + y[i]"
        total = b.op("add", b.load(x, i, valid=valid, name="x_i"), b.load(y, i, valid=valid, name="y_i"))
        b.store(out, [i], total, valid)

    return b.program("add", [x, y, out], b.segment([("i", symbol("N"), block)], body))


def softmax(block: int = 1024, dtype: str = "f32") -> Program:
    """Each row in one block of lanes; narrow floats through f32."""
    lane = Dim("n", block)
    b = Builder(lane)
    x, y = view("x", dtype, "M N"), view("y", dtype, "M N", "out")

    def body(row: Fragment) -> None:
        b.line = "row = I.cast(x[i, :], I.f32)"
        n = b.lane(lane)
        valid = b.op("lt", n, b.launch("N"), name="valid")
        loaded = b.load(x, row, n, valid=valid, fill=b.constant(float("-inf"), x.dtype), name="row")
        value = b.cast(loaded, F32, name="row_f32") if dtype != "f32" else loaded
        b.line = "top = I.reduce.max(row, axis=0)"
        top = b.reduce(value, lane, kind="max", name="top")
        b.line = "weights = I.exp(row - top)"
        weights = b.op("exp", b.op("sub", value, top), name="weights")
        b.line = "y[i, :] = I.cast(weights / I.reduce.sum(weights, axis=0), y.dtype)"
        live = b.op("select", b.broadcast(valid, lane), weights, b.constant(0.0, F32))
        share = b.op("div", weights, b.reduce(live, lane, name="total"))
        b.store(y, [row, n], b.cast(share, y.dtype) if dtype != "f32" else share, valid)

    return b.program("softmax", [x, y], b.segment([("m", symbol("M"), 1)], body))


def row_sum_loop(block: int = 64) -> Program:
    """The sum of each row by a loop with a carry of one partial sum per lane."""
    lane = Dim("n", block)
    b = Builder(lane)
    x, y = view("x", "f32", "M N"), view("y", "f32", "M", "out")

    def body(row: Fragment) -> None:
        n = b.launch("N")
        lanes = b.lane(lane)
        start = b.broadcast(b.constant(0.0, F32), lane)

        def step(begin: Fragment, partial: Fragment) -> Fragment:
            column = b.op("add", begin, lanes, name="column")
            b.line = "y[i] = I.reduce.sum(x[i, :], axis=0)"
            value = b.load(x, row, column, valid=b.op("lt", column, n), name="piece")
            return b.op("add", partial, value)

        (partial,) = b.loop(b.constant(0), n, b.constant(block), [start], step, names=["begin", "partial"])
        b.store(y, [row], b.reduce(partial, lane))

    return b.program("row_sum", [x, y], b.segment([("m", symbol("M"), 1)], body))


def matmul(
    bm: int = 32, bn: int = 32, bk: int = 32, dtype: str = "f16", out: str = "f32", order: str = "mnk"
) -> Program:
    """``c = a @ b`` by blocks of ``bm x bn`` in steps of ``bk``; ``order`` is the program's order of lane dims."""
    m, n, k = Dim("m", bm), Dim("n", bn), Dim("k", bk)
    b = Builder(*[{"m": m, "n": n, "k": k}[c] for c in order])
    x, y, z = view("a", dtype, "M K"), view("b", dtype, "K N"), view("c", out, "M N", "out")
    acc_type = {"i8": I32}.get(dtype, x.dtype if dtype in ("f64", "i32") else F32)

    def body(pid: Fragment) -> None:
        b.line = "c[...] = I.matmul(a, b)"
        columns = b.launch(_tiles("N", bn))
        i = b.op("add", b.op("mul", b.op("floordiv", pid, columns), b.constant(bm)), b.lane(m), name="i")
        j = b.op("add", b.op("mul", b.op("mod", pid, columns), b.constant(bn)), b.lane(n), name="j")
        in_m, in_n = b.op("lt", i, b.launch("M"), name="in_m"), b.op("lt", j, b.launch("N"), name="in_n")
        lanes, end = b.lane(k), b.launch("K")
        start = b.broadcast(b.constant(0, acc_type), m, n)

        def step(begin: Fragment, acc: Fragment) -> Fragment:
            p = b.op("add", begin, lanes, name="p")
            in_k = b.op("lt", p, end, name="in_k")
            left = b.load(x, i, p, valid=b.op("and", in_m, in_k), name="left")
            right = b.load(y, p, j, valid=b.op("and", in_k, in_n), name="right")
            return b.contract(left, right, k, dtype=acc_type, accumulator=acc)

        (acc,) = b.loop(b.constant(0), end, b.constant(bk), [start], step, names=["begin", "acc"])
        value = acc if acc.dtype == z.dtype else b.cast(acc, z.dtype)
        b.store(z, [i, j], value, b.op("and", in_m, in_n))

    axes = [("i", symbol("M"), bm), ("j", symbol("N"), bn)]
    return b.program("matmul", [x, y, z], b.segment(axes, body))


def _tiles(name: str, block: int) -> Extent:
    return ceildiv(symbol(name), block)


def two_segments(block: int = 64) -> Program:
    """Two outputs of different shapes in one launch: double x, and the sum of each row of w."""
    n, k = Dim("n", block), Dim("k", block)
    b = Builder(n, k)
    x, y = view("x", "f32", "N"), view("y", "f32", "N", "out")
    w, s = view("w", "f32", "M K"), view("s", "f32", "M", "out")

    def first(pid: Fragment) -> None:
        b.line = "y[...] = x + x"
        i = b.op("add", b.op("mul", pid, b.constant(block)), b.lane(n), name="i")
        valid = b.op("lt", i, b.launch("N"))
        value = b.load(x, i, valid=valid)
        b.store(y, [i], b.op("add", value, value), valid)

    def second(pid: Fragment) -> None:
        b.line = "s[...] = I.reduce.sum(w, axis=1)"
        lanes, end = b.lane(k), b.launch("K")

        def step(begin: Fragment, acc: Fragment) -> Fragment:
            p = b.op("add", begin, lanes)
            return b.op("add", acc, b.reduce(b.load(w, pid, p, valid=b.op("lt", p, end)), k))

        (acc,) = b.loop(
            b.constant(0), end, b.constant(block), [b.constant(0.0, F32)], step, names=["begin", "acc"]
        )
        b.store(s, [pid], acc)

    one = b.segment([("n", symbol("N"), block)], first)
    two = b.segment([("m", symbol("M"), 1)], second, group=1, offset=one.length)
    return b.program("both", [x, y, w, s], one, two)


def branches() -> Program:
    """A uniform branch with a result, and one with effects only."""
    b = Builder()
    x, y = view("x", "f32", "N"), view("y", "f32", "N", "out")
    flip = ScalarParam(name="flip", dtype=BOOL)

    def body(i: Fragment) -> None:
        b.line = "v = x[i]"
        value = b.load(x, i, name="v")
        b.line = "if flip:"
        condition = b.argument("flip", BOOL)
        (out,) = b.branch(
            condition, lambda: b.op("neg", value), lambda: b.op("mul", value, value), [value], ["v"]
        )
        b.line = "if v > 0:"
        positive = b.op("gt", out, b.constant(0.0, F32))
        b.branch(positive, lambda: b.store(y, [i], out), lambda: None)

    return b.program("branches", [x, y, flip], b.segment([("n", symbol("N"), 1)], body))


def transpose(block: int = 16, dtype: str = "f32") -> Program:
    """``y = x.T`` by square blocks."""
    m, n = Dim("m", block), Dim("n", block)
    b = Builder(m, n)
    x, y = view("x", dtype, "M N"), view("y", dtype, "N M", "out")

    def body(pid: Fragment) -> None:
        b.line = "y[...] = I.transpose(x)"
        columns = b.launch(_tiles("N", block))
        i = b.op("add", b.op("mul", b.op("floordiv", pid, columns), b.constant(block)), b.lane(m), name="i")
        j = b.op("add", b.op("mul", b.op("mod", pid, columns), b.constant(block)), b.lane(n), name="j")
        valid = b.op("and", b.op("lt", i, b.launch("M")), b.op("lt", j, b.launch("N")))
        b.store(y, [j, i], b.load(x, i, j, valid=valid), valid)

    return b.program(
        "transpose", [x, y], b.segment([("m", symbol("M"), block), ("n", symbol("N"), block)], body)
    )


def gather(block: int = 32, index: str = "i32") -> Program:
    """Rows of a table by an index tensor; an index of -1 gives zero."""
    d = Dim("d", block)
    b = Builder(d)
    table, rows, out = view("table", "f32", "V D"), view("rows", index, "N"), view("out", "f32", "N D", "out")

    def body(pid: Fragment) -> None:
        b.line = "out[i, :] = I.gather(table, index=(rows[i], d), valid=rows[i] >= 0)"
        row = b.cast(b.load(rows, pid, name="row"), INDEX)
        lanes = b.lane(d)
        inside = b.op("lt", lanes, b.launch("D"), name="inside")
        valid = b.op("and", b.op("ge", row, b.constant(0)), inside)
        b.store(out, [pid, lanes], b.load(table, row, lanes, valid=valid), inside)

    return b.program("gather", [table, rows, out], b.segment([("n", symbol("N"), 1)], body))


def workspace(block: int = 32) -> Program:
    """Reverse each row through a program-private workspace buffer."""
    lane = Dim("n", block)
    b = Builder(lane)
    x, y = view("x", "f32", "M N"), view("y", "f32", "M N", "out")
    held = Buffer(id=900, name="held", dtype=F32, shape=(const(block),))

    def body(row: Fragment) -> None:
        b.alloc(held)
        lanes = b.lane(lane)
        end = b.launch("N")
        valid = b.op("lt", lanes, end)
        b.store(held, [lanes], b.load(x, row, lanes, valid=valid))
        b.fence(held)
        back = b.op("sub", b.op("sub", end, b.constant(1)), lanes)
        b.store(y, [row, lanes], b.load(held, back, valid=valid), valid)

    return b.program("reverse", [x, y], b.segment([("m", symbol("M"), 1)], body), workspace=[held])


def halving() -> Program:
    """A while loop with two carries: how often n can be halved, and what is left."""
    b = Builder()
    x, y = view("x", "i32", "N"), view("y", "i32", "N", "out")

    def body(i: Fragment) -> None:
        b.line = "while n % 2 == 0 and n != 0:"
        start = b.load(x, i)
        two, zero, one = b.constant(2, I32), b.constant(0, I32), b.constant(1, I32)

        def condition(n: Fragment, _count: Fragment) -> Fragment:
            return b.op("and", b.op("eq", b.op("mod", n, two), zero), b.op("ne", n, zero))

        def step(n: Fragment, count: Fragment) -> tuple[Fragment, Fragment]:
            return b.op("floordiv", n, two), b.op("add", count, one)

        _, count = b.while_loop([start, zero], condition, step, names=["n", "count"])
        b.store(y, [i], count)

    return b.program("halving", [x, y], b.segment([("n", symbol("N"), 1)], body))


def held_in(storage: Literal["registers", "shared"]) -> Program:
    """A buffer elsewhere than in the workspace, which core does not make and providers refuse by name."""
    b = Builder()
    held = Buffer(id=900, name="held", dtype=F32, shape=(const(1),), storage=storage)
    return b.program("held", [], b.segment([("one", const(1), 1)], lambda _: b.alloc(held)))


ALL: Final[dict[str, Callable[..., Program]]] = {
    "add": add, "softmax": softmax, "row_sum_loop": row_sum_loop, "matmul": matmul, "two_segments": two_segments,
    "branches": branches, "transpose": transpose, "gather": gather, "workspace": workspace, "halving": halving,
}  # fmt: skip
"""Every program of this file by name, at its usual sizes."""
