"""Control that rests on run-time scalars and on data, with effects inside."""

from __future__ import annotations

from intent_testkit.fuzz.grow import pointwise, structured
from intent_testkit.fuzz.kinds import Value
from intent_testkit.fuzz.writer import Writer


def _zero(dtype: str) -> str:
    return "0.0" if dtype[0] in "fb" else "0"


def runtime_part(w: Writer) -> None:
    """Extents and bounds that are run-time scalars."""
    n = w.any(list(w.symbols))
    least = min(w.sizes(n))
    end = w.scalar(w.any(("i32", "i64")), w.any((least, least // 2, 0)))
    rank = w.any((1, 2))
    shape: tuple[str, ...] = (n,) if rank == 1 else (n, w.dim())
    if not w.fits(shape):
        return
    rest = ", :" * (rank - 1)
    x = w.of(w.any(("i32", "f32", "i64")), shape)
    form = w.any(("write", "sum", "loop", "contract", "scan", "domain"))
    if form == "write":
        u = w.param("inout", x.dtype, shape)
        w.line(
            f"{u.name}[0:{end.text}{rest}] = {x.text}[0:{end.text}{rest}] * {'2.0' if x.is_float else '2'}"
        )
    elif form == "domain":
        u = w.param("inout", x.dtype, shape)
        d = w.name("d")
        w.line(f"{d} = I.domain(0, {n})[{end.text}:{n}]")
        w.line(f"{u.name}[{d}{rest}] = {x.text}[{d}{rest}]")
    elif form == "loop":
        c, k = w.name("c"), w.name("k")
        w.line(f"{c} = {w.of(x.dtype, shape[1:]).text}")
        with w.block(f"for {k} in range({end.text}):"):
            w.line(f"{c} = I.maximum({c}, {x.text}[{k}{rest}])")
        w.pool.append(Value(text=c, dtype=x.dtype, shape=shape[1:], bound=max(x.bound, 100.0)))
    elif form == "scan":
        w.let(
            f"I.reduce.max(I.cumsum({x.text}[0:{end.text}{rest}], axis=0) * 0, axis=0)",
            x.dtype,
            shape[1:],
            0.0,
        )
        _drop_infinite(w)
    elif form == "contract" and rank == 2:
        y = w.bounded(x, 8.0)
        text = f"I.matmul({y.text}[0:{end.text}, :], {y.text}[0:{end.text}, :], transpose_lhs=True)"
        if w.fits((shape[1], shape[1])):
            w.let(text, x.dtype, (shape[1], shape[1]), 64.0 * max(w.sizes(n)))
    else:
        w.let(
            f"I.reduce.sum({x.text}[{end.text}:{n}{rest}], axis=0)",
            x.dtype,
            shape[1:],
            x.bound * max(1, *w.sizes(n)),
        )
    w.features.add("run-time extent")


def _drop_infinite(w: Writer) -> None:
    found = w.pool.pop()
    if found.is_float:
        w.let(f"I.clamp({found.text}, -1.0, 1.0)", found.dtype, found.shape, 1.0)
    else:
        w.pool.append(found)


def effects_in_loop(w: Writer) -> None:
    """An ordered loop that stores under conditions, leaves in the middle, and carries on."""
    n, m = w.any(list(w.symbols)), w.dim()
    if not w.fits((n, m)):
        return
    dtype = w.any(("i32", "i64", "f32"))
    x = w.param("in", dtype, (n, m))
    u = w.param("inout", dtype, (n, m))
    c, k = w.name("c"), w.name("k")
    scalar = w.chance(0.5)
    start = w.bounded(w.of(dtype, () if scalar else (m,)), 3.0)
    w.line(f"{c} = {start.text}")
    row = f"{x.name}[{k}, :]"
    step = f"I.reduce.sum({row}, axis=0)" if scalar else row
    zero = _zero(dtype)
    with w.block(f"for {k} in range({n}):"):
        if w.chance(0.4):
            w.line(f"if {k} == {w.any((0, 1, 3))}:")
            w.line(f"    {w.any(('continue', 'break', 'continue'))}")
        w.line(f"{c} = I.maximum({c}, {step}) - {zero}")
        test = f"{c} > {zero}" if scalar else f"{k} % 2 == 0"
        w.line(f"if {test}:")
        w.line(f"    {u.name}[{k}, :] = {row} + {c}")
        if w.chance(0.4):
            w.line(w.any(("else:", f"elif {k} > 1:")))
            w.line(f"    {u.name}[{k}, :] = {c if not scalar else row}")
        if w.chance(0.3):
            w.line(f"if {k} >= {w.any((2, 3))}:")
            w.line(
                f"    {w.any(('break', 'continue', 'return') if w.indent == 2 else ('break', 'continue'))}"
            )
        if w.chance(0.3):
            w.line(f"{c} = I.minimum({c}, {u.name}[{k}, 0])" if min(w.sizes(m)) >= 1 else "pass")
    bound = 200.0 * max(1, *w.sizes(m))
    w.pool.append(Value(text=c, dtype=dtype, shape=() if scalar else (m,), bound=bound))
    w.features.add("effects in loop")


def branch_effects(w: Writer) -> None:
    """A run-time branch that writes, perhaps the same view on both sides, and is read afterwards."""
    shape = w.shape(w.any((1, 2)))
    u = w.param("inout", w.any(("f32", "i32", "i64", "f16")), shape)
    flag = w.scalar("i32", w.any((-1, 0, 2)))
    a, b = w.bounded(w.of(u.dtype, shape), 3.0), w.bounded(w.of(u.dtype, shape), 3.0)
    with w.block(f"if {flag.text} > 0:"):
        w.line(f"{u.name}[...] = {a.text}")
        if w.chance(0.3):
            w.line(f"{u.name}[...] = I.maximum({u.name}[...], {b.text})")
    if w.chance(0.5):
        with w.block(w.any(("else:", f"elif {flag.text} < 0:"))):
            w.line(f"{u.name}[...] = {b.text}")
    if w.chance(0.6):
        w.let(f"{u.name}[...]", u.dtype, shape, 3.0)
    w.features.add("effects in branch")


def strided(w: Writer) -> None:
    """Domains with a step: some points written, the others kept."""
    n = w.any(list(w.symbols))
    dtype = w.any(("i32", "f32", "i64"))
    x, u = w.param("in", dtype, (n,)), w.param("inout", dtype, (n,))
    begin, step = w.any((0, 1)), w.any((2, 3))
    if begin > min(w.sizes(n)):
        return
    if w.chance(0.5):
        i = w.name("i")
        with w.block(f"for {i} in I.parallel(I.domain({begin}, {n}, {step})):"):
            w.line(f"{u.name}[{i}] = {x.name}[{i}] + {'1.0' if dtype == 'f32' else '1'}")
        return
    d = w.name("d")
    w.line(f"{d} = I.domain({begin}, {n}, {step})")
    w.line(f"{u.name}[{d}] = {x.name}[{d}]")


def ranks(w: Writer) -> None:
    """Old values of atomics in an ordered loop are the ranks of equal elements."""
    n, m = w.any(list(w.symbols)), w.any(list(w.symbols))
    if min(w.sizes(n)) < 1:
        return
    ids = w.param("in", "i32", (m,), "index", n)
    u, y = w.param("inout", "i32", (n,)), w.param("out", "i32", (m,))
    k = w.name("k")
    with w.block(f"for {k} in range({m}):"):
        w.line(f"{y.name}[{k}] = I.atomic.{w.any(('add', 'max'))}({u.name}, index={ids.name}[{k}], value=2)")
    w.features.add("atomic")


def search(w: Writer) -> None:
    """Parallel points that look for something by a while loop of their own length."""
    m, n = w.dim(), w.any(list(w.symbols))
    if not w.fits((m, n)) or min(w.sizes(n)) < 1:
        return
    x = w.param("in", w.any(("i32", "f32")), (m, n))
    y = w.param("out", "i32", (m,))
    i, k = w.name("i"), w.name("k")
    zero = _zero(x.dtype)
    with w.block(f"for {i} in I.parallel(I.domain(0, {m})):"):
        w.line(f"{k} = I.cast(0, I.i32)")
        with w.block(f"while {k} < I.cast({n}, I.i32) - 1 and {x.name}[{i}, {k}] <= {zero}:"):
            w.line(f"{k} = {k} + 1")
        w.line(f"{y.name}[{i}] = {k}")
        if w.chance(0.4):
            w.line(f"if {x.name}[{i}, {k}] > {zero}:")
            w.line(f"    {y.name}[{i}] = -{k}")
    w.features.add("while")


def blocked(w: Writer) -> None:
    """A product summed by the author's own loop."""
    m, n, k = w.dim(), w.dim(), w.any(list(w.symbols))
    if not (w.fits((m, k)) and w.fits((k, n)) and w.fits((m, n))):
        return
    dtype = w.any(("f32", "i32", "i64"))
    a, b = w.bounded(w.of(dtype, (m, k)), 3.0), w.bounded(w.of(dtype, (k, n)), 3.0)
    left, right, c, at = w.name("v"), w.name("v"), w.name("c"), w.name("k")
    w.line(f"{left} = {a.text}")
    w.line(f"{right} = {b.text}")
    w.line(f"{c} = I.zeros(({m}, {n}), I.{dtype})")
    with w.block(f"for {at} in range({k}):"):
        w.line(f"{c} = {c} + {left}[:, {at}][:, None] * {right}[{at}, :][None, :]")
    w.pool.append(Value(text=c, dtype=dtype, shape=(m, n), bound=9.0 * max(1, *w.sizes(k))))
    if w.chance(0.5):
        structured.reduce(w)
    else:
        pointwise.binary(w)
    w.features.add("loop")
