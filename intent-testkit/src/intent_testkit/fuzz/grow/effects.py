"""Updates in place, snapshots, partial writes, buffers, scatters, atomics."""

from __future__ import annotations

from dataclasses import replace

from intent_testkit.fuzz.grow.shapes import wrapped
from intent_testkit.fuzz.kinds import TURNS, Param, Turn, Value
from intent_testkit.fuzz.writer import Writer, tuple_text


def _whole(w: Writer, view: Param, shape: tuple[str, ...]) -> Value:
    return w.let(f"{view.name}[...]", view.dtype, shape, 3.0)


def update(w: Writer) -> None:
    """A view that is read, changed and read again."""
    shape = w.shape(w.any((1, 1, 2, 2)))
    if len(shape) == 2 and w.chance(0.4) and w.fits((shape[0], shape[0])):
        shape = (shape[0], shape[0])
    u = w.param("inout", w.dtype(), shape)
    old = _whole(w, u, shape) if w.chance(0.5) else None
    for _ in range(w.any((1, 1, 2, 3))):
        _change(w, u, shape)
    if old is not None and w.chance(0.5):
        target = w.param("out", old.dtype, shape)
        w.line(f"{target.name}[...] = {old.text}")
    if w.chance(0.5):
        _whole(w, u, shape)
    w.features.add("in place")


def _change(w: Writer, u: Param, shape: tuple[str, ...]) -> None:
    n = wrapped(shape[0])
    forms = ["whole", "whole", "reverse"]
    if min(w.sizes(n)) >= 1:
        forms += ["shift", "shift back", "row", "half"]
    if len(shape) == 2:
        forms += ["rows by reduce"]
        if shape[0] == shape[1]:
            forms += ["transpose", "transpose", "symmetric"]
    form = w.any(forms)
    name, rest = u.name, ", :" * (len(shape) - 1)
    if form == "whole":
        value = w.bounded(w.of(u.dtype, shape), 3.0)
        w.line(
            f"{name}[...] = {f'{name}[...] * ' if u.dtype[0] not in 'fb' and w.chance(0.5) else ''}{value.text}"
        )
    elif form == "reverse":
        i = w.name("i")
        w.line(f"{i} = I.indices(I.domain(0, {n}))")
        w.line(f"{name}[...] = {name}[{n} - 1 - {i}{rest}]")
    elif form == "shift":
        w.line(f"{name}[1:{n}{rest}] = {name}[0 : {n} - 1{rest}]")
    elif form == "shift back":
        w.line(f"{name}[0 : {n} - 1{rest}] = {name}[1:{n}{rest}]")
    elif form == "row":
        row = w.bounded(w.of(u.dtype, shape[1:]), 3.0)
        w.line(f"{name}[{w.any(('0', f'{n} - 1'))}{rest}] = {row.text}")
    elif form == "half":
        w.line(f"{name}[0 : {n} // 2{rest}] = {name}[{n} - {n} // 2 : {n}{rest}]")
    elif form == "transpose":
        w.line(f"{name}[...] = I.transpose({name}[...])")
    elif form == "symmetric":
        w.line(f"{name}[...] = I.maximum({name}[...], I.transpose({name}[...]))")
    else:
        w.line(
            f"{name}[...] = I.maximum({name}[...] , I.reduce.{w.any(('max', 'min'))}({name}[...], axis=1)[:, None])"
        )


def aliased(w: Writer) -> None:
    """Two views of one alias group over the same elements, one of them perhaps turned."""
    shape = w.shape(w.any((1, 2)))
    square = len(shape) == 2 and w.chance(0.6)
    if square:
        shape = (shape[0], shape[0])
        if not w.fits(shape):
            return
    u = w.param("inout", w.any(("i32", "f32", "i64")), shape)
    v = w.param(w.any(("in", "inout")), u.dtype, shape)
    group = w.name("g")
    turn: Turn = w.any(TURNS if square else TURNS[:2])
    w.params[-2:] = [replace(u, alias=group), replace(v, alias=group, over=u.name, turn=turn)]
    before = _whole(w, v, shape) if w.chance(0.5) else None
    for _ in range(w.any((1, 2))):
        form = w.any(("copy", "add", "change"))
        if form == "copy":
            w.line(f"{u.name}[...] = {v.name}[...]")
        elif form == "add":
            value = before.text if before is not None else f"{u.name}[...]"
            w.line(f"{u.name}[...] = I.maximum({v.name}[...], {value})")
        else:
            _change(w, v if v.role == "inout" and w.chance(0.5) else u, shape)
    _whole(w, w.any((u, v)), shape)
    w.features.add("alias")


def partial(w: Writer) -> None:
    """Parts of one output written by several statements, some twice."""
    a = w.numeric(rank=w.any((1, 2)))
    n, rest = wrapped(a.shape[0]), ", :" * (a.rank - 1)
    y = w.param("inout", a.dtype, a.shape)
    w.line(f"{y.name}[0 : {n} // 2{rest}] = {a.text}[0 : {n} // 2{rest}]")
    if w.chance(0.6):
        b = w.of(a.dtype, a.shape)
        w.line(f"{y.name}[{n} // 2 : {n}{rest}] = {b.text}[{n} // 2 : {n}{rest}]")
    if w.chance(0.4) and min(w.sizes(n)) >= 1:
        w.line(f"{y.name}[0{rest}] = {w.of(a.dtype, a.shape[1:]).text}")
    if w.chance(0.4):
        _whole(w, y, a.shape)
        w.pool[-1] = Value(text=w.pool[-1].text, dtype=a.dtype, shape=a.shape, bound=max(a.bound, 10.0) * 2)


def buffer(w: Writer) -> None:
    """A local buffer: set, changed in a loop, read."""
    shape = w.any((w.shape(1), w.shape(1), w.shape(2), ("4",)))
    dtype = w.any(("f32", "i32", "i64"))
    name = w.name("b")
    zero = "0.0" if dtype == "f32" else "0"
    start = w.any((zero, zero, w.bounded(w.of(dtype, shape), 3.0).text))
    w.line(f"{name} = I.buffer({tuple_text(shape)}, I.{dtype}, init={start})")
    n, rest = wrapped(shape[0]), ", :" * (len(shape) - 1)
    k = w.name("k")
    form = w.any(("loop", "whole", "prefix", "two"))
    if form == "loop":
        row = w.bounded(w.of(dtype, shape[1:]), 3.0)
        with w.block(f"for {k} in range({n}):"):
            w.line(f"{name}[{k}{rest}] = {name}[{k}{rest}] + {row.text}")
    elif form == "prefix":
        with w.block(f"for {k} in range(1, {n}):"):
            w.line(
                f"{name}[{k}{rest}] = I.maximum({name}[{k} - 1{rest}], {name}[{k}{rest}]) {w.any(('', f' + {zero}'))}"
            )
    elif form == "whole":
        w.line(f"{name}[...] = {w.bounded(w.of(dtype, shape), 3.0).text}")
    elif min(w.sizes(n)) >= 1:
        w.line(f"{name}[0{rest}] = {w.bounded(w.of(dtype, shape[1:]), 3.0).text}")
    w.let(f"{name}[...]", dtype, shape, 9.0)
    w.features.add("buffer")


def scatter_unique(w: Writer) -> None:
    """A permuted copy, perhaps with inactive lanes."""
    n = w.any(list(w.symbols))
    u = w.param("inout", w.dtype(), (n,))
    index = w.input(w.any(("i32", "i64")), (n,), "permutation", n)
    value = w.bounded(w.of(u.dtype, (n,)), 3.0)
    valid = f", valid={w.of('bool', (n,)).text}" if w.chance(0.5) else ""
    w.line(f"I.scatter_unique({u.name}, index={index.text}, value={value.text}{valid})")
    if w.chance(0.4):
        _whole(w, u, (n,))
    w.features.add("scatter")


def scatter_reduce(w: Writer) -> None:
    """Colliding updates."""
    n, m = w.any(list(w.symbols)), w.any(list(w.symbols))
    if min(w.sizes(n)) < 1:
        return
    dtype = w.any(("i32", "i64", "f32", "u32"))
    u = w.param("inout", dtype, (n,))
    index = w.input("i32", (m,), "index", n)
    value = w.bounded(w.of(dtype, (m,)), 3.0)
    valid = f", valid={w.of('bool', (m,)).text}" if w.chance(0.5) else ""
    combine = w.any(("I.add", "I.add", "I.maximum", "I.minimum"))
    w.line(f"I.scatter_reduce({u.name}, index={index.text}, value={value.text}, combine={combine}{valid})")
    if w.chance(0.4):
        made = w.let(f"{u.name}[...]", dtype, (n,), 3.0 + 3.0 * max(w.sizes(m)))
        w.pool.append(made)
    w.features.add("scatter")


def atomics(w: Writer) -> None:
    """Counts of points by an index."""
    n, m = w.any(list(w.symbols)), w.any(list(w.symbols))
    if min(w.sizes(n)) < 1:
        return
    u = w.param("inout", w.any(("i32", "i64", "u32")), (n,))
    ids = w.param("in", "i32", (m,), "index", n)
    i = w.name("i")
    with w.block(f"for {i} in I.parallel(I.domain(0, {m})):"):
        word = w.any(("add", "add", "max", "min"))
        w.line(f"I.atomic.{word}({u.name}, index={ids.name}[{i}], value={w.any(('1', '2'))})")
    w.features.add("atomic")


__all__ = ["atomics", "buffer", "partial", "scatter_reduce", "scatter_unique", "update"]
