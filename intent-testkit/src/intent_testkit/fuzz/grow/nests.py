"""Effects inside control: rows updated in place by parallel points, recurrences through memory, local buffers."""

from __future__ import annotations

from intent_testkit.fuzz.grow import control, pointwise, structured
from intent_testkit.fuzz.kinds import Param, Value
from intent_testkit.fuzz.writer import Writer


def _number(value: Value | Param, whole: int) -> str:
    return f"{whole}.0" if value.dtype[0] in "fb" else str(whole)


def in_place_rows(w: Writer) -> None:
    """Every point of a parallel loop rewrites its own row, perhaps under a condition or in an inner loop."""
    m, n = w.dim(), w.dim()
    if not w.fits((m, n)):
        return
    u = w.param("inout", w.any(("f32", "i32", "i64", "f64", "i8")), (m, n))
    column = w.chance(0.3)
    i = w.name("i")
    outer, inner = (n, m) if column else (m, n)
    row = f"{u.name}[:, {i}]" if column else f"{u.name}[{i}, :]"
    before = list(w.pool)
    with w.block(f"for {i} in I.parallel(I.domain(0, {outer})):"):
        w.pool = [v for v in before if v.rank <= 1 and v.text.isidentifier()]
        w.let(row, u.dtype, (inner,), 3.0)
        for _ in range(w.any((1, 1, 2))):
            w.any(
                (
                    pointwise.binary,
                    pointwise.choose,
                    structured.reduce,
                    structured.scan,
                    control.repeat,
                    control.ordered,
                )
            )(w)
        new = w.bounded(w.of(u.dtype, (inner,)), 3.0)
        form = w.any(("plain", "if", "loop", "twice", "return"))
        if form == "if":
            w.line(
                f"if I.reduce.max(I.abs({row}), axis=0) > {_number(u, 2)}:"
                if 0 not in w.sizes(inner)
                else f"if {i} % 2 == 0:"
            )
            w.line(f"    {row} = {new.text}")
        elif form == "loop":
            with w.block(f"for _ in range({w.any((0, 2, 3))}):"):
                w.line(f"{row} = I.maximum({row}, {new.text})")
        elif form == "twice":
            w.line(f"{row} = {new.text}")
            w.line(f"{row} = I.minimum({row}, {_number(u, 1)})")
        else:
            w.line(f"{row} = {new.text}")
    if w.chance(0.4):
        w.let(f"{u.name}[...]", u.dtype, (m, n), 3.0)
    w.features.add("rows in place")


def through_memory(w: Writer) -> None:
    """An ordered loop whose passes read what earlier passes stored."""
    n = w.any(list(w.symbols))
    rank = w.any((1, 2, 2))
    shape: tuple[str, ...] = (n,) if rank == 1 else (n, w.dim())
    if not w.fits(shape):
        return
    u = w.param("inout", w.any(("i32", "i64", "f32")), shape)
    rest = ", :" * (rank - 1)
    k = w.name("k")
    zero = _number(u, 0)
    form = (
        w.any(("back", "back", "table", "all", "reversed"))
        if rank == 2
        else w.any(("back", "all", "reversed"))
    )
    if form == "table":
        j = w.name("j")
        with w.block(f"for {k} in range(1, {n}):"), w.block(f"for {j} in range(1, {shape[1]}):"):
            around = f"I.maximum({u.name}[{k} - 1, {j}], {u.name}[{k}, {j} - 1])"
            w.line(
                f"{u.name}[{k}, {j}] = I.maximum({around}, {u.name}[{k}, {j}]) - {_number(u, 1)} + {_number(u, 1)}"
            )
    elif form == "all":
        with w.block(f"for {k} in range({n}):"):
            w.line(f"{u.name}[{k}{rest}] = I.reduce.max({u.name}[...], axis=0)")
    elif form == "reversed":
        with w.block(f"for {k} in range({n}):"):
            w.line(f"{u.name}[{k}{rest}] = I.minimum({u.name}[{n} - 1 - {k}{rest}], {u.name}[{k}{rest}])")
    else:
        x = w.bounded(w.of(u.dtype, shape), 3.0)
        source = w.name("v")
        w.line(f"{source} = {x.text}")
        with w.block(f"for {k} in range(1, {n}):"):
            w.line(f"{u.name}[{k}{rest}] = I.maximum({u.name}[{k} - 1{rest}], {source}[{k}{rest}] + {zero})")
    if w.chance(0.5):
        w.let(f"{u.name}[...]", u.dtype, shape, 3.0)
    w.features.add("through memory")


def local_buffers(w: Writer) -> None:
    """A buffer in every parallel point, or in every pass of an ordered loop."""
    m, n = w.dim(), w.dim()
    if not w.fits((m, n)):
        return
    dtype = w.any(("f32", "i32", "i64"))
    x = w.param("in", dtype, (m, n))
    y = w.param("out", dtype, (m, n))
    i, b, k = w.name("i"), w.name("b"), w.name("k")
    zero = _number(x, 0)
    header = w.any((f"for {i} in I.parallel(I.domain(0, {m})):", f"for {i} in range({m}):"))
    with w.block(header):
        w.line(f"{b} = I.buffer(({n},), I.{dtype}, init={w.any((zero, f'{x.name}[{i}, :]'))})")
        form = w.any(("loop", "scatter", "whole", "reverse"))
        if form == "loop":
            with w.block(f"for {k} in range({n}):"):
                w.line(f"{b}[{k}] = I.maximum({b}[{k}], {x.name}[{i}, {n} - 1 - {k}])")
        elif form == "scatter":
            at = w.name("i")
            w.line(f"{at} = I.indices(I.domain(0, {n}))")
            w.line(f"I.scatter_unique({b}, index={n} - 1 - {at}, value={x.name}[{i}, :])")
        elif form == "reverse":
            at = w.name("i")
            w.line(f"{at} = I.indices(I.domain(0, {n}))")
            w.line(f"{b}[...] = {b}[{n} - 1 - {at}] + {x.name}[{i}, :]")
        else:
            w.line(f"{b}[...] = I.minimum({b}[...], {x.name}[{i}, :])")
        w.line(f"{y.name}[{i}, :] = {b}[...]")
    w.features.add("buffer")


def colliding(w: Writer) -> None:
    """Parallel points that add rows or elements to shared places."""
    m, n, d = w.dim(), w.dim(), w.dim()
    if min(w.sizes(n)) < 1 or not w.fits((m, d)) or not w.fits((n, d)):
        return
    dtype = w.any(("i32", "i64", "f32"))
    x = w.param("in", dtype, (m, d))
    ids = w.param("in", "i32", (m,), "index", n)
    u = w.param("inout", dtype, (n, d))
    i, c = w.name("i"), w.name("i")
    with w.block(f"for {i} in I.parallel(I.domain(0, {m})):"):
        w.line(f"{c} = I.indices(I.domain(0, {d}))")
        w.line(
            f"I.scatter_reduce({u.name}, index=({ids.name}[{i}], {c}), value={x.name}[{i}, :], "
            f"combine=I.{w.any(('add', 'maximum'))})"
        )
    if w.chance(0.5):
        w.let(f"{u.name}[...]", dtype, (n, d), 3.0 + 3.0 * max(w.sizes(m)))
    w.features.add("scatter")


def segments(w: Writer) -> None:
    """Ragged rows: reduced, scanned, contracted, or walked by an ordered loop."""
    g, t, d = w.any(list(w.symbols)), w.any(list(w.symbols)), w.dim()
    if not w.fits((t, d)):
        return
    dtype = w.any(("i32", "i64", "f32"))
    x = w.param("in", dtype, (t, d))
    offsets = w.param("in", w.any(("i32", "i64")), (f"{g} + 1",), "offsets", t)
    axis, i, part = w.name("d"), w.name("i"), w.name("d")
    form = w.any(("max", "loop", "contract", "scan", "product"))
    y = w.param("inout" if form == "scan" else "out", dtype, (t, d) if form == "scan" else (g, d))
    w.line(f"{axis} = I.domain(0, {t})")
    with w.block(f"for {i} in I.parallel(I.domain(0, {g})):"):
        w.line(f"{part} = {axis}[{offsets.name}[{i}]:{offsets.name}[{i} + 1]]")
        if form == "max":
            w.line(f"{y.name}[{i}, :] = I.reduce.sum({x.name}[{part}, :] * {x.name}[{part}, :], axis=0)")
        elif form == "loop":
            c, k = w.name("c"), w.name("k")
            w.line(f"{c} = I.zeros(({d},), I.{dtype})")
            with w.block(f"for {k} in {part}:"):
                w.line(f"{c} = I.maximum({c}, {x.name}[{k}, :])")
            w.line(f"{y.name}[{i}, :] = {c}")
        elif form == "contract":
            w.line(
                f"{y.name}[{i}, :] = I.vecmat({x.name}[{part}, 0], {x.name}[{part}, :])"
                if 0 not in w.sizes(d)
                else f"{y.name}[{i}, :] = I.reduce.sum({x.name}[{part}, :], axis=0)"
            )
        elif form == "product":
            w.line(
                f"{y.name}[{i}, :] = I.reduce.sum("
                f"I.matmul({x.name}[{part}, :], {x.name}[{part}, :], transpose_lhs=True), axis=0)"
            )
        else:
            w.line(f"{y.name}[{part}, :] = I.cumsum({x.name}[{part}, :], axis=0)")
    w.features.add("ragged")


def triangles(w: Writer) -> None:
    """Rows that read a part of their row or of a matrix that depends on the point."""
    n = w.any(list(w.symbols))
    if not w.fits((n, n)):
        return
    dtype = w.any(("i32", "i64", "f32"))
    x = w.param("in", dtype, (n, n))
    y = w.param("out", dtype, (n,))
    i = w.name("i")
    begin, end = w.any((("0", f"{i} + 1"), (i, n), (f"{i} // 2", f"{i}"), ("0", i)))
    kind = w.any(("sum", "max", "dot", "scan"))
    with w.block(f"for {i} in {w.any((f'I.parallel(I.domain(0, {n}))', f'range({n})'))}:"):
        row = f"{x.name}[{i}, {begin}:{end}]"
        if kind == "dot":
            w.line(f"{y.name}[{i}] = I.dot({row}, {x.name}[{begin}:{end}, {i}])")
        elif kind == "scan":
            w.line(f"{y.name}[{i}] = I.reduce.sum(I.cumsum({row}, axis=0), axis=0)")
        elif kind == "max":
            w.line(f"{y.name}[{i}] = I.clamp(I.reduce.max({row}, axis=0), {_number(x, -9)}, {_number(x, 9)})")
        else:
            w.line(f"{y.name}[{i}] = I.reduce.sum({row}, axis=0)")
    w.features.add("triangle")


def grid_gather(w: Writer) -> None:
    """Rows and columns chosen together, or points through two index tensors."""
    a = w.numeric(rank=2)
    if min(*w.sizes(a.shape[0]), *w.sizes(a.shape[1])) < 1:
        return
    p, q = w.dim(), w.dim()
    rows = w.input("i32", (p,), "index", a.shape[0])
    if w.chance(0.5):
        columns = w.input("i64", (p,), "index", a.shape[1])
        other = f"I.cast({rows.text}, I.i64)"
        w.let(f"{a.text}[{other}, {columns.text}]", a.dtype, (p,), a.bound)
        return
    if not w.fits((p, q)):
        return
    columns = w.input("i32", (q,), "index", a.shape[1])
    w.let(f"{a.text}[{rows.text}[:, None], {columns.text}[None, :]]", a.dtype, (p, q), a.bound)


def return_early(w: Writer) -> None:
    """Nothing after this happens when a scalar says so."""
    if w.indent > 1:
        return
    flag = w.scalar("i32", w.any((0, 0, 1)))
    u = w.param("inout", "i32", w.shape(1))
    w.line(f"{u.name}[...] = {w.of('i32', u.shape).text}")
    w.line(f"if {flag.text} > 0:")
    w.line("    return")
    w.features.add("return")


def records(w: Writer) -> None:
    """A record carried by a loop."""
    shape = w.any(((), w.shape(1), w.shape(2)))
    dtype = w.any(("i32", "i64"))
    first, second = w.of(dtype, shape), w.of(dtype, shape)
    name, k, n = w.name("r"), w.name("k"), w.any(list(w.symbols))
    w.line(f"{name} = I.record(a={first.text}, b={second.text})")
    view = w.param("in", dtype, (n,))
    with w.block(f"for {k} in range({n}):"):
        swapped = w.any(
            (
                f"a={name}.b, b={name}.a + {view.name}[{k}]",
                f"a={name}.a * 3 + {view.name}[{k}], b={name}.a - {name}.b",
            )
        )
        if len(shape) == 2 and shape[0] == shape[1] and w.chance(0.6):
            swapped = f"a=I.transpose({name}.b), b={name}.a + {view.name}[{k}]"
        w.line(f"{name} = I.record({swapped})")
    w.let(f"{name}.a - {name}.b", dtype, shape)
    w.features.add("loop")
