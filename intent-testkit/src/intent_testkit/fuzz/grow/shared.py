"""What several instances may share: counts, whole reductions, and stores along rows that data counts."""

from __future__ import annotations

from intent_testkit.fuzz.kinds import INTEGERS, Value
from intent_testkit.fuzz.writer import Writer, widened


def counts(w: Writer) -> None:
    """Counts of values as they are: a mask or the draw keeps them within the bins."""
    shape = w.shape(w.any((1, 1, 2, 3)))
    bins = w.any((*w.symbols, "1", "5", "16", "40"))
    if not w.fits((bins,)):
        return
    dtype = w.any(INTEGERS)
    count = w.any(("i32", "i32", "i64", "u8", "i16", "u32"))
    if w.chance(0.5):
        x = w.param("in", dtype, shape, "index", bins)
        text, valid = f"{x.name}[...]", "" if min(w.sizes(bins)) else "False"
    else:
        x = w.param("in", dtype, shape, "bits")
        text = w.let(f"{x.name}[...]", dtype, shape).text
        valid = f"({text} >= 0) & ({text} < I.cast({bins}, I.{dtype}))"
    if w.chance(0.4):
        chosen = w.of("bool", shape).text
        valid = f"{valid} & {chosen}" if valid not in ("", "False") else valid or chosen
    mask = f", valid={valid}" if valid else ""
    found = w.let(f"I.histogram({text}, bins={bins}{mask}, count_dtype=I.{count})", count, (bins,))
    _kept(w, found)
    w.features.add("counts")


def _kept(w: Writer, counts: Value) -> None:
    """The counts somewhere else than in a whole view of their own, now and then."""
    (bins,) = counts.shape
    form = w.any(("value", "part", "added", "row", "total"))
    if form == "part":
        u = w.param("inout", counts.dtype, (f"{bins} + 3",))
        w.line(f"{u.name}[2 : {bins} + 2] = {counts.text}")
    elif form == "added":
        u = w.param("inout", counts.dtype, (bins,))
        w.line(f"{u.name}[...] = {u.name}[...] + {counts.text}")
    elif form == "row":
        y = w.param("out", counts.dtype, ("2", bins))
        w.line(f"{y.name}[...] = I.transpose(I.join({counts.text}, {counts.text} * 3))")
    elif form == "total":
        w.let(
            f"I.reduce.sum({counts.text} * {w.of(counts.dtype, (bins,)).text}, axis=0)", widened(counts.dtype)
        )


def whole(w: Writer) -> None:
    """Several reductions of all elements, and something that is made of both."""
    a = w.numeric()
    axes = f"({', '.join(map(str, range(a.rank)))},)"
    dtype = widened(a.dtype)
    bound = a.bound * max(1, w.elements(a.shape))
    total = w.let(f"I.reduce.sum({a.text}, axis={axes})", dtype, (), bound)
    if min(w.elements(a.shape), *(n for d in a.shape for n in w.sizes(d))) > 0:
        most = w.let(f"I.reduce.{w.any(('max', 'min'))}({a.text}, axis={axes})", a.dtype, (), a.bound)
        if most.dtype == total.dtype:
            w.let(f"{total.text} - {most.text}", dtype, (), total.bound + most.bound)
    if w.chance(0.5):
        shape = (w.dim(),)
        source = w.of(dtype, shape)
        if source.bound + total.bound <= 1 << 20:
            w.let(f"{source.text} + {total.text}", dtype, shape, source.bound + total.bound)
    w.features.add("whole reduction")


def grouped(w: Writer) -> None:
    """Rows of each group stored in their place: scaled, added to, or as a product with the group's own matrix."""
    outer, total, depth = w.dim(), w.dim(), w.any(("1", "2", "3"))
    if not outer.isidentifier() or not total.isidentifier() or min(w.sizes(outer)) < 1:
        return
    dtype = w.any(("f32", "i32", "f16"))
    wide = widened(dtype)
    x = w.param("in", dtype, (total, depth))
    by = w.param("in", dtype, (outer, depth, "2"))
    offsets = w.param("in", w.any(("i32", "i64")), (f"{outer} + 1",), "offsets", total)
    y = w.param("inout", wide, (total, "2"))
    d, g, rows = w.name("d"), w.name("g"), w.name("d")
    w.line(f"{d} = I.domain(0, {total})")
    with w.block(f"for {g} in I.parallel(I.domain(0, {outer})):"):
        w.line(f"{rows} = {d}[{offsets.name}[{g}] : {offsets.name}[{g} + 1]]")
        product = f"I.matmul({x.name}[{rows}, :], {by.name}[{g}, :, :])"
        form = w.any(("product", "product", "added", "scaled"))
        if form == "scaled":
            product = f"I.cast({x.name}[{rows}, 0:1] * {by.name}[{g}, 0, 0:2], I.{wide})"
        w.line(f"{y.name}[{rows}, :] = {f'{y.name}[{rows}, :] + ' if form == 'added' else ''}{product}")
        if w.chance(0.3):
            s = w.param("out", wide, (outer,))
            w.line(f"{s.name}[{g}] = I.reduce.sum({x.name}[{rows}, 0], axis=0)")
    w.features.add("grouped stores")


def lengths(w: Writer) -> None:
    """Rows as long as data says, reduced or counted."""
    m, n = w.dim(), w.dim()
    if not w.fits((m, n)) or not m.isidentifier():
        return
    x = w.param("in", "i32", (m, n), "index", "6")
    length = w.param("in", "i32", (m,), "index", f"{n} + 1")
    d, i, row = w.name("d"), w.name("i"), w.name("v")
    y = w.param("out", "i32", (m, "6"))
    z = w.param("out", "i32", (m,))
    w.line(f"{d} = I.domain(0, {n})")
    with w.block(f"for {i} in I.parallel(I.domain(0, {m})):"):
        w.line(f"{row} = {x.name}[{i}, {d}[0 : {length.name}[{i}]]]")
        w.line(f"{y.name}[{i}, :] = I.histogram({row}, bins=6{w.any(('', f', valid={row} != 2'))})")
        w.line(f"{z.name}[{i}] = I.reduce.{w.any(('sum', 'max'))}({row}, axis=0)")
    w.features.add("lengths")
