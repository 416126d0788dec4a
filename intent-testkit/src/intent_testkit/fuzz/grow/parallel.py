"""Explicit parallel nests that write one point, one row or one column each."""

from __future__ import annotations

from intent_testkit.fuzz.grow import control, pointwise, structured
from intent_testkit.fuzz.kinds import Value
from intent_testkit.fuzz.writer import Writer, widened


def _source(w: Writer, shape: tuple[str, ...], dtype: str | None = None) -> Value:
    view = w.param("in", dtype or w.any(("f32", "i32", "i64", "f64", "f16")), shape)
    return Value(text=view.name, dtype=view.dtype, shape=shape, bound=3.0)


def rows(w: Writer) -> None:
    """One row a point: values of the row, a carry along it, a condition."""
    outer, inner = w.dim(), w.dim()
    x = _source(w, (outer, inner))
    i = w.name("i")
    before = list(w.pool)
    with w.block(f"for {i} in I.parallel(I.domain(0, {outer})):"):
        if w.chance(0.6):
            w.pool = [v for v in before if v.rank <= 1]
        w.let(f"{x.text}[{i}, :]", x.dtype, (inner,), 3.0)
        for _ in range(w.any((1, 2, 3))):
            w.any(
                (
                    pointwise.binary,
                    pointwise.unary,
                    pointwise.choose,
                    structured.reduce,
                    structured.scan,
                    control.branch,
                    control.ordered,
                    structured.contract,
                    control.repeat,
                )
            )(w)
        results = [
            v
            for v in w.pool
            if v.text.isidentifier() and v not in before and v.dtype != "index" and w.fits((outer, *v.shape))
        ]
        for result in w.rng.sample(results, min(len(results), w.any((1, 1, 2)))):
            _write(w, result, i, outer)
    w.features.add("parallel")


def _write(w: Writer, result: Value, i: str, outer: str) -> None:
    spot = w.rng.randrange(result.rank + 1)
    shape = (*result.shape[:spot], outer, *result.shape[spot:])
    y = w.param("out", result.dtype, shape)
    subscript = ", ".join([*[":"] * spot, i, *[":"] * (result.rank - spot)])
    w.line(f"{y.name}[{subscript}] = {result.text}")


def points(w: Writer) -> None:
    """A nest of two, with neighbours, a branch, an inner ordered loop."""
    m, n = w.dim(), w.dim()
    if not w.fits((m, n)):
        return
    x = _source(w, (m, n))
    i, j = w.name("i"), w.name("j")
    y = w.param("inout", widened(x.dtype), w.any(((m, n), (n, m))))
    turned = y.shape != (m, n) or (m == n and w.chance(0.3))
    where = f"{j}, {i}" if turned else f"{i}, {j}"
    zero = "0.0" if x.is_float else "0"
    with (
        w.block(f"for {i} in I.parallel(I.domain(0, {m})):"),
        w.block(f"for {j} in I.parallel(I.domain(0, {n})):"),
    ):
        if w.chance(0.3):
            w.line(f"if {x.text}[{i}, {j}] == {zero}:")
            w.line("    continue")
        s = w.name("v")
        w.line(f"{s} = I.cast({x.text}[{i}, {j}], I.{y.dtype})")
        form = w.any(("neighbour", "loop", "while", "plain", "row"))
        if form == "neighbour":
            w.line(f"if {i} > 0 and {x.text}[{i} - 1, {j}] > {zero}:")
            w.line(f"    {s} = {s} + I.cast({x.text}[{i} - 1, {j}], I.{y.dtype})")
        elif form == "loop":
            k = w.name("k")
            w.line(f"for {k} in range({n}):")
            w.line(f"    {s} = {s} + I.cast({x.text}[{i}, {k}], I.{y.dtype})")
        elif form == "while":
            w.line(f"while {s} > {zero}:")
            w.line(f"    {s} = {s} - {'1.0' if x.is_float else '1'}")
        elif form == "row":
            w.line(f"{s} = {s} + I.cast(I.reduce.max({x.text}[{i}, :], axis=0), I.{y.dtype})")
        if w.chance(0.3):
            w.line(f"{y.name}[{where}] = {y.name}[{where}] + {s}")
        else:
            w.line(f"{y.name}[{where}] = {s}")
    w.features.add("parallel")


def ragged(w: Writer) -> None:
    """Segments of a sequence whose ends are data."""
    outer, total = w.dim(), w.dim()
    if not outer.isidentifier() or not total.isidentifier():
        return
    x = _source(w, (total,))
    offsets = w.param("in", "i32", (f"{outer} + 1",), "offsets", total)
    y = w.param("out", widened(x.dtype), (outer,))
    d, g = w.name("d"), w.name("g")
    w.line(f"{d} = I.domain(0, {total})")
    with w.block(f"for {g} in I.parallel(I.domain(0, {outer})):"):
        part = w.name("v")
        w.line(f"{part} = {x.text}[{d}[{offsets.name}[{g}]:{offsets.name}[{g} + 1]]]")
        w.line(f"{y.name}[{g}] = I.reduce.sum({part}, axis=0)")
    w.features.add("ragged")
