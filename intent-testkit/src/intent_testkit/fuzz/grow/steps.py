"""Ordered steps over whole views: stencils, sweeps and exchanges, with parallel points or whole-tensor statements."""

from __future__ import annotations

from intent_testkit.fuzz.kinds import Param, Value
from intent_testkit.fuzz.writer import Writer

PUT = """
@intent.fn
def put(target, i, value):
    old = target[i]
    target[i] = I.maximum(old, value)
    return old
"""


def stencil(w: Writer) -> None:
    """A few sweeps of neighbours over one or two views."""
    n = w.any(list(w.symbols))
    u = w.param("inout", w.any(("i32", "f32", "i64")), (n,))
    if min(w.sizes(n)) < 2:
        return
    t = w.name("k")
    around = f"I.maximum({u.name}[0 : {n} - 2], {u.name}[2:{n}])"
    with w.block(f"for {t} in range({w.any((0, 1, 3))}):"):
        if w.chance(0.5):
            w.line(f"{u.name}[1 : {n} - 1] = {around}")
        else:
            _two_sweeps(w, u, n)
    if w.chance(0.5):
        w.let(f"{u.name}[...]", u.dtype, (n,), 3.0)
    w.features.add("steps")


def _two_sweeps(w: Writer, u: Param, n: str) -> None:
    v = w.param("inout", u.dtype, (n,))
    i, j = w.name("i"), w.name("i")
    with w.block(f"for {i} in I.parallel(I.domain(1, {n} - 1)):"):
        w.line(f"{v.name}[{i}] = I.minimum({u.name}[{i} - 1], {u.name}[{i} + 1])")
    with w.block(f"for {j} in I.parallel(I.domain(0, {n})):"):
        w.line(f"{u.name}[{j}] = I.maximum({u.name}[{j}], {v.name}[{j}])")


def squares(w: Writer) -> None:
    """Steps over a square: transposed, reduced along either axis, swapped rows."""
    n = w.any(list(w.symbols))
    if not w.fits((n, n)) or min(w.sizes(n)) < 1:
        return
    u = w.param("inout", w.any(("i32", "f32", "i64")), (n, n))
    t = w.name("k")
    forms = (
        f"{u.name}[...] = I.transpose({u.name}[...])",
        f"{u.name}[...] = I.maximum({u.name}[...], I.reduce.min({u.name}[...], axis=0))",
        f"{u.name}[...] = I.minimum({u.name}[...], I.reduce.max({u.name}[...], axis=1)[:, None])",
        f"{u.name}[{t}, :] = {u.name}[:, {t}]",
        f"{u.name}[:, {t}] = {u.name}[{n} - 1, :]",
        f"{u.name}[{t}, {t}] = {u.name}[0, {n} - 1 - {t}]",
    )
    with w.block(f"for {t} in range({n}):"):
        for _ in range(w.any((1, 2))):
            w.line(w.any(forms))
    if w.chance(0.5):
        w.let(f"{u.name}[...]", u.dtype, (n, n), 3.0)
    w.features.add("steps")


def helper_effects(w: Writer) -> None:
    """A helper that reads and writes the view it is given."""
    n = w.any(list(w.symbols))
    dtype = w.any(("i32", "i64", "f32"))
    u, x = w.param("inout", dtype, (n,)), w.param("in", dtype, (n,))
    y = w.param("out", dtype, (n,))
    w.helper("put", PUT)
    i = w.name("i")
    header = w.any((f"for {i} in I.parallel(I.domain(0, {n})):", f"for {i} in range({n}):"))
    at = w.any((i, f"{n} - 1 - {i}"))
    with w.block(header):
        w.line(f"{y.name}[{i}] = put({u.name}, {at}, {x.name}[{i}])")
    w.features.add("helper effects")


def exchange(w: Writer) -> None:
    """Two views that change places, or rotate through a buffer, step by step."""
    shape = w.shape(w.any((1, 2)))
    dtype = w.any(("i32", "f32"))
    u, v = w.param("inout", dtype, shape), w.param("inout", dtype, shape)
    t = w.name("k")
    with w.block(f"for {t} in range({w.any((1, 2, 3))}):"):
        old = w.name("v")
        w.line(f"{old} = {u.name}[...]")
        w.line(f"{u.name}[...] = {v.name}[...]")
        w.line(f"{v.name}[...] = {w.any((old, f'I.maximum({old}, {u.name}[...])'))}")
    w.features.add("steps")


def snapshots(w: Writer) -> None:
    """What a view held before, used while the view is overwritten: by slices, loops or parallel points."""
    n = w.any(list(w.symbols))
    rank = w.any((1, 2, 2))
    shape: tuple[str, ...] = (n,) if rank == 1 else (n, w.any((n, w.dim())))
    if not w.fits(shape) or min(w.sizes(n)) < 2:
        return
    u = w.param("inout", w.any(("i32", "f32", "i64")), shape)
    rest = ", :" * (rank - 1)
    one = "1.0" if u.dtype == "f32" else "1"
    old = w.name("v")
    start = w.any((f"{u.name}[...]", f"{u.name}[...] + {one}", f"I.cumsum({u.name}[...], axis=0)"))
    if rank == 2 and shape[0] == shape[1]:
        start = w.any((start, f"I.transpose({u.name}[...])", f"I.matmul({u.name}[...], {u.name}[...])"))
    w.line(f"{old} = {start}")
    i = w.name("i")
    reads = [f"{old}[{i}{rest}]", f"{old}[{i} - 1{rest}]", f"{old}[0{rest}]", f"{old}[{n} - 1 - {i}{rest}]"]
    if rank == 2:
        reads.append(f"I.reduce.max({old}, axis=0)")
    form = w.any(("parallel", "parallel", "ordered", "slice", "slice back", "both", "again"))
    if form in {"parallel", "ordered"}:
        header = f"I.parallel(I.domain(1, {n}))" if form == "parallel" else f"range(1, {n})"
        with w.block(f"for {i} in {header}:"):
            w.line(f"{u.name}[{i}{rest}] = I.maximum({w.any(reads)}, {w.any(reads)})")
    elif form == "again":
        with w.block(f"for {i} in range(1, {n}):"):
            row = w.name("v")
            w.line(f"{row} = {u.name}[{i}{rest}] + {one}")
            with w.block(f"for _ in range({w.any((0, 1, 2))}):"):
                w.line(f"{u.name}[{i}{rest}] = I.maximum({row}, {w.any((row, w.any(reads)))})")
    else:
        forth = f"{u.name}[1:{n}{rest}] = {old}[0 : {n} - 1{rest}]"
        back = f"{u.name}[0 : {n} - 1{rest}] = {old}[1:{n}{rest}]"
        for line in {"slice": [forth], "slice back": [back], "both": [forth, back]}[form]:
            w.line(line)
    bound = 30.0 * max(w.sizes(n)) ** 2
    if w.chance(0.4):
        w.let(f"{u.name}[...]", u.dtype, shape, bound)
    if w.chance(0.4):
        w.pool.append(Value(text=old, dtype=u.dtype, shape=shape, bound=bound))
    w.features.add("snapshot")
