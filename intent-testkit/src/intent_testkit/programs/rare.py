"""Whole programs with what construction seldom makes or never: it is spelled like anything else, and run."""

from __future__ import annotations

from collections.abc import Sequence

from intent.physical import Dim, Fragment, Program, ScalarParam
from intent.types.dtypes import BY_NAME, F32, I32, I64, INDEX
from intent.types.extent import broadcast, call, ceildiv, const, floordiv, maximum, minimum, symbol
from intent_testkit.programs.builder import Builder, view

Nested = tuple[str, str, str]
"""The outer function, the inner one, and the ``left`` or the ``right`` operand in which it stands."""


def leading() -> Program:
    """How many values stand before the first that is not positive: the loop's condition reads memory."""
    b = Builder()
    x, y = view("x", "f32", "M N"), view("y", "i32", "M", "out")

    def body(row: Fragment) -> None:
        end, one, zero = b.launch("N"), b.constant(1), b.constant(0.0, F32)

        def condition(n: Fragment) -> Fragment:
            inside = b.op("lt", n, end)
            value = b.load(x, row, n, valid=inside, fill=zero, name="value")
            # Read twice, so that it has a name and a statement of its own.
            return b.op("and", b.op("gt", value, zero), b.op("eq", value, value))

        (count,) = b.while_loop([b.constant(0)], condition, lambda n: b.op("add", n, one), names=["n"])
        b.store(y, [row], b.cast(count, I32))

    return b.program("leading", [x, y], b.segment([("m", symbol("M"), 1)], body))


def silent(*, alone: bool) -> Program:
    """A segment whose programs do nothing, alone or in front of one whose programs double ``x``."""
    b = Builder()
    x, y = view("x", "f32", "N"), view("y", "f32", "N", "out")

    def double(i: Fragment) -> None:
        value = b.load(x, i)
        b.store(y, [i], b.op("add", value, value))

    first = b.segment([("n", symbol("N"), 1)], lambda _: None)
    if alone:
        return b.program("silent", [x, y], first)
    return b.program(
        "silent", [x, y], first, b.segment([("n", symbol("N"), 1)], double, 1, offset=first.length)
    )


def launch_values() -> Program:
    """Functions of extents that may be negative, by 3, and others: ``y[k]`` is the k-th."""
    b = Builder()
    x, w, y = view("x", "f32", "M"), view("w", "f32", "N"), view("y", "i64", "8", "out")
    m, n, three = symbol("M"), symbol("N"), const(3)
    extents = (
        floordiv(m - n, three), call("mod", m - n, three), ceildiv(m - n, three), floordiv(m, three),
        call("mod", m, three), maximum(m, n) - minimum(m, n) * 2, broadcast(m, n) + 1, n - m * n,
    )  # fmt: skip

    def body(_: Fragment) -> None:
        for k, extent in enumerate(extents):
            b.store(y, [b.constant(k)], b.cast(b.launch(extent), I64))

    return b.program("launch_values", [x, w, y], b.segment([("one", const(1), 1)], body))


def narrow_sum(size: int = 16, dtype: str = "f16") -> Program:
    """``c + a @ b``, the sum and the result as narrow as the factors."""
    m, n, k = Dim("m", size), Dim("n", size), Dim("k", size)
    b = Builder(m, n, k)
    shape = f"{size} {size}"
    x, y = view("a", dtype, shape), view("b", dtype, shape)
    start, out = view("c", dtype, shape), view("out", dtype, shape, "out")

    def body(_: Fragment) -> None:
        i, j, p = b.lane(m), b.lane(n), b.lane(k)
        product = b.contract(
            b.load(x, i, p), b.load(y, p, j), k, dtype=BY_NAME[dtype], accumulator=b.load(start, i, j)
        )
        b.store(out, [i, j], product)

    return b.program("narrow_sum", [x, y, start, out], b.segment([("one", const(1), 1)], body))


def unread(kind: str, dtype: str, size: int = 8) -> Program:
    """An atomic operation on each element of ``x``, with 3 and from 1 if it compares; nothing reads the old values."""
    lane = Dim("n", size)
    b = Builder(lane)
    x = view("x", dtype, "N", "inout")
    one, three = (1, 3) if x.dtype.is_integer else (1.0, 3.0)

    def body(_: Fragment) -> None:
        i = b.lane(lane)
        operands = [
            b.constant(v, x.dtype) for v in ((one, three) if kind == "compare_exchange" else (three,))
        ]
        b.atomic(x, [i], *operands, kind=kind, valid=b.op("lt", i, b.launch("N")), read=False)

    return b.program("unread", [x], b.segment([("one", const(1), 1)], body))


def nested(trees: Sequence[Nested], dtype: str, out: str, size: int = 16) -> Program:
    """Functions of a function of ``a``, ``b`` and ``c``, and not of a variable: row k of ``y`` is the k-th."""
    lane = Dim("n", size)
    b = Builder(lane)
    views = [view(name, dtype, str(size)) for name in "abc"]
    y = view("y", out, f"{len(trees)} {size}", "out")

    def body(_: Fragment) -> None:
        i = b.lane(lane)
        first, second, third = (b.load(v, i) for v in views)
        for k, (outer, inner, side) in enumerate(trees):
            if side == "left":
                value = b.op(outer, b.op(inner, first, second), third)
            else:
                value = b.op(outer, first, b.op(inner, second, third))
            b.store(y, [b.constant(k), i], value)

    return b.program("nested", [*views, y], b.segment([("one", const(1), 1)], body))


def compared(trees: Sequence[Nested], size: int = 16) -> Program:
    """Functions of two comparisons, of ``a`` with ``b`` and of ``b`` with ``c``: row k of ``y`` is the k-th."""
    lane = Dim("n", size)
    b = Builder(lane)
    views = [view(name, "i32", str(size)) for name in "abc"]
    y = view("y", "bool", f"{len(trees)} {size}", "out")

    def body(_: Fragment) -> None:
        i = b.lane(lane)
        first, second, third = (b.load(v, i) for v in views)
        for k, (outer, left, right) in enumerate(trees):
            b.store(y, [b.constant(k), i], b.op(outer, b.op(left, first, second), b.op(right, second, third)))

    return b.program("compared", [*views, y], b.segment([("one", const(1), 1)], body))


def product_at(offset: int, begin: int, size: int = 16, *, sliding: bool = False) -> Program:
    """``c = a[offset:offset + 32, begin:begin + 32] @ b[begin:begin + 32]``, no lane masked; blocks of 16.

    ``sliding``: the rows of the second block begin one below those of the first.
    """
    m, n, k = Dim("m", size), Dim("n", size), Dim("k", size)
    b = Builder(m, n, k)
    x, y, z = view("a", "f16", "64 64"), view("b", "f16", f"64 {size}"), view("c", "f32", f"32 {size}", "out")

    def body(pid: Fragment) -> None:
        block = b.op("mul", pid, b.constant(size))
        i = b.op("add", pid if sliding else b.op("add", block, b.constant(offset)), b.lane(m))
        j = b.lane(n)

        def step(at: Fragment, acc: Fragment) -> Fragment:
            p = b.op("add", at, b.lane(k))
            return b.contract(b.load(x, i, p), b.load(y, p, j), k, dtype=F32, accumulator=acc)

        start = b.broadcast(b.constant(0.0, F32), m, n)
        ends = (b.constant(begin), b.constant(begin + 32), b.constant(size))
        (acc,) = b.loop(*ends, [start], step, names=["at", "acc"])
        b.store(z, [b.op("add", block, b.lane(m)), j], acc)

    return b.program("product_at", [x, y, z], b.segment([("m", const(32), size)], body))


def renamed(size: int = 8) -> Program:
    """``y[i, j] = x[j]``: a row that is spread over ``m`` and then has its other axis renamed."""
    m, n, k = Dim("m", size), Dim("n", size), Dim("k", size)
    b = Builder(m, n, k)
    x, y = view("x", "f32", str(size)), view("y", "f32", f"{size} {size}", "out")

    def body(_: Fragment) -> None:
        spread = b.broadcast(b.load(x, b.lane(n)), m)
        b.store(y, [b.lane(m), b.lane(k)], b.rename(spread, n, k))

    return b.program("renamed", [x, y], b.segment([("one", const(1), 1)], body))


def clipped(count: int, size: int = 8) -> Program:
    """The greatest values of ``count`` multiples of ``x``, none above ``limit``, by a combine that captures it."""
    lane = Dim("n", size)
    b = Builder(lane)
    x, y = view("x", "i32", str(size)), view("y", "i32", str(count), "out")
    limit = ScalarParam(name="limit", dtype=I32)

    def body(_: Fragment) -> None:
        value = b.load(x, b.lane(lane))
        values = [b.op("mul", value, b.constant(k + 1, I32)) for k in range(count)]
        most = b.argument("limit", I32)
        states = [b.fragment(I32) for _ in range(2 * count)]

        def combine(*given: Fragment) -> list[Fragment]:
            first, second, captured = given[:count], given[count : 2 * count], given[2 * count]
            greater = [b.op("maximum", p, q) for p, q in zip(first, second, strict=True)]
            return [b.op("minimum", g, captured) for g in greater]

        region = b.region([*states, b.fragment(I32, (), "most")], combine)
        for k, found in enumerate(b.reduce_with(values, [lane], region, [most])):
            b.store(y, [b.constant(k)], found)

    return b.program("clipped", [x, y, limit], b.segment([("one", const(1), 1)], body))


def last_place(size: int = 16) -> Program:
    """Where the last positive value of each row of ``x`` stands, or -1: a combine of index values."""
    lane = Dim("n", size)
    b = Builder(lane)
    x, y = view("x", "f32", f"M {size}"), view("y", "i64", "M", "out")

    def body(row: Fragment) -> None:
        value, place = b.load(x, row, b.lane(lane)), b.lane(lane)
        positive = b.op("gt", value, b.constant(0.0, F32))
        given = b.op("select", positive, place, b.broadcast(b.constant(-1), lane))
        states = [b.fragment(given.dtype), b.fragment(given.dtype)]
        region = b.region(states, lambda p, q: b.op("select", b.op("lt", p, q), q, p))
        (last,) = b.reduce_with([given], [lane], region)
        b.store(y, [row], b.cast(last, I64))

    return b.program("last_place", [x, y], b.segment([("m", symbol("M"), 1)], body))


def constants(values: Sequence[float], dtype: str, size: int = 4) -> Program:
    """Row k of ``y`` is the k-th value."""
    lane = Dim("n", size)
    b = Builder(lane)
    y = view("y", dtype, f"{len(values)} {size}", "out")

    def body(_: Fragment) -> None:
        for k, value in enumerate(values):
            b.store(y, [b.constant(k), b.lane(lane)], b.constant(value, y.dtype))

    return b.program("constants", [y], b.segment([("one", const(1), 1)], body))


def product_of_places(size: int = 16) -> Program:
    """``y[i, j]`` is the sum over ``k`` of ``(i + k + 1) * 2**17`` times ``j + k + 1``: a product of index values."""
    m, n, k = Dim("m", size), Dim("n", size), Dim("k", size)
    b = Builder(m, n, k)
    y = view("y", "i64", f"{size} {size}", "out")

    def body(_: Fragment) -> None:
        i, j, p = b.lane(m), b.lane(n), b.lane(k)
        one, far = b.constant(1), b.constant(1 << 17)
        left = b.op("mul", b.op("add", b.op("add", i, p), one), far)
        right = b.op("add", b.op("add", p, j), one)
        b.store(y, [i, j], b.cast(b.contract(left, right, k, dtype=INDEX), I64))

    return b.program("product_of_places", [y], b.segment([("one", const(1), 1)], body))


def best_places(kind: str, dtype: str, size: int = 8) -> Program:
    """The extreme value of a block of ``x`` and its place, row by row: a reduction of pairs in two dims at once."""
    m, n = Dim("m", size), Dim("n", size)
    b = Builder(m, n)
    x, y = view("x", dtype, f"{size} {size}"), view("y", dtype, "1", "out")
    z = view("z", "i64", "1", "out")

    def body(_: Fragment) -> None:
        i, j = b.lane(m), b.lane(n)
        place = b.op("add", b.op("mul", i, b.constant(size)), j)
        best, at = b.arg_reduce(b.load(x, i, j), place, m, n, kind=kind)
        b.store(y, [b.constant(0)], best)
        b.store(z, [b.constant(0)], b.cast(at, I64))

    return b.program("best_places", [x, y, z], b.segment([("one", const(1), 1)], body))


def spread_constants(value: float, dtype: str, size: int = 16) -> Program:
    """What becomes of lanes that all hold one constant: sums, extremes, prefixes and products of it, row by row."""
    m, n, k = (Dim(name, size) for name in "mnk")
    b = Builder(m, n, k)
    y, z = view("y", dtype, f"3 {size}", "out"), view("z", dtype, f"{size} {size}", "out")

    def body(_: Fragment) -> None:
        one = b.constant(value, y.dtype)
        row = b.broadcast(one, n)
        b.store(y, [b.constant(0), b.lane(n)], b.broadcast(b.reduce(row, n), n))
        b.store(y, [b.constant(1), b.lane(n)], b.broadcast(b.reduce(row, n, kind="max"), n))
        b.store(y, [b.constant(2), b.lane(n)], b.scan(row, n))
        product = b.contract(
            b.broadcast(one, m, k),
            b.broadcast(one, k, n),
            k,
            dtype=y.dtype,
            accumulator=b.broadcast(one, m, n),
        )
        b.store(z, [b.lane(m), b.lane(n)], product)

    return b.program("spread_constants", [y, z], b.segment([("one", const(1), 1)], body))


def far_numbers(size: int = 16) -> Program:
    """Lanes and numbers beyond 32 bits: row k of ``y`` is the k-th comparison, minimum or choice of the two."""
    lane = Dim("n", size)
    b = Builder(lane)
    y = view("y", "i64", f"6 {size}", "out")

    def body(_: Fragment) -> None:
        i, far, below = b.lane(lane), b.constant(1 << 33), b.constant(-(1 << 33))
        one, none = b.constant(1, I64), b.constant(0, I64)
        rows = [
            b.op("select", b.op(fn, i, number), one, none) for fn in ("lt", "eq") for number in (far, below)
        ]
        rows.append(b.cast(b.op("minimum", b.op("add", i, far), far), I64))
        rows.append(b.cast(b.op("select", b.op("lt", i, b.constant(size // 2)), i, far), I64))
        for k, row in enumerate(rows):
            b.store(y, [b.constant(k), i], row)

    return b.program("far_numbers", [y], b.segment([("one", const(1), 1)], body))


def taken_early() -> Program:
    """``y`` is what ``x`` holds after 1 is added to it, and then what it held before: the old value is used last."""
    b = Builder()
    x, y = view("x", "i32", "1", "inout"), view("y", "i32", "2", "out")

    def body(_: Fragment) -> None:
        zero = b.constant(0)
        (old,) = b.atomic(x, [zero], b.constant(1, I32))
        b.fence(x)
        b.store(y, [zero], b.load(x, zero))
        b.store(y, [b.constant(1)], old)

    return b.program("taken_early", [x, y], b.segment([("one", const(1), 1)], body))


def read_early() -> Program:
    """``x`` doubled, and ``y`` what it was before: what is read is used once, behind a write."""
    b = Builder()
    x, y = view("x", "i32", "1", "inout"), view("y", "i32", "1", "out")

    def body(_: Fragment) -> None:
        zero = b.constant(0)
        value, again = b.load(x, zero), b.load(x, zero)
        b.store(x, [zero], b.op("add", again, again))
        b.store(y, [zero], value)

    return b.program("read_early", [x, y], b.segment([("one", const(1), 1)], body))


def sums_of_places(size: int = 16) -> Program:
    """Lanes times ``2**27``: their sum, which needs more than 32 bits, and the prefixes of it."""
    lane = Dim("n", size)
    b = Builder(lane)
    y, z = view("y", "i64", "1", "out"), view("z", "i64", str(size), "out")

    def body(_: Fragment) -> None:
        far = b.op("mul", b.lane(lane), b.constant(1 << 27))
        b.store(y, [b.constant(0)], b.cast(b.reduce(far, lane), I64))
        b.store(z, [b.lane(lane)], b.cast(b.scan(far, lane), I64))

    return b.program("sums_of_places", [y, z], b.segment([("one", const(1), 1)], body))


def extreme_numbers(size: int = 8) -> Program:
    """Index values of 64 bits: the places of the greatest and the least, both of them, and prefixes of the greatest."""
    lane = Dim("n", size)
    b = Builder(lane)
    x, y, z = view("x", "i64", str(size)), view("y", "i64", "4", "out"), view("z", "i64", f"2 {size}", "out")

    def body(_: Fragment) -> None:
        i = b.lane(lane)
        value = b.cast(b.load(x, i), INDEX)
        (_, most), (_, least) = (b.arg_reduce(value, i, lane, kind=kind) for kind in ("argmax", "argmin"))
        found = [most, least, *(b.reduce(value, lane, kind=kind) for kind in ("max", "min"))]
        for k, number in enumerate(found):
            b.store(y, [b.constant(k)], b.cast(number, I64))
        for k, kind in enumerate(("max", "min")):
            b.store(z, [b.constant(k), i], b.cast(b.scan(value, lane, kind=kind), I64))

    return b.program("extreme_numbers", [x, y, z], b.segment([("one", const(1), 1)], body))


def far_loop(count: int = 4) -> Program:
    """A loop whose index begins beyond 32 bits: ``y[k - 2**33] = k``."""
    b = Builder()
    y = view("y", "i64", str(count), "out")

    def body(_: Fragment) -> None:
        first = 1 << 33

        def step(k: Fragment) -> None:
            b.store(y, [b.op("sub", k, b.constant(first))], b.cast(k, I64))

        b.loop(b.constant(first), b.constant(first + count), b.constant(1), [], step, names=["k"])

    return b.program("far_loop", [y], b.segment([("one", const(1), 1)], body))


def converted(value: float, source: str, target: str, size: int = 4) -> Program:
    """A constant of one dtype as another, in all lanes."""
    lane = Dim("n", size)
    b = Builder(lane)
    y = view("y", target, str(size), "out")

    def body(_: Fragment) -> None:
        b.store(y, [b.lane(lane)], b.cast(b.constant(value, BY_NAME[source]), y.dtype))

    return b.program("converted", [y], b.segment([("one", const(1), 1)], body))
