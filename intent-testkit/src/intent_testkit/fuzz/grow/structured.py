"""Reductions, scans and contractions."""

from __future__ import annotations

from intent_testkit.fuzz.kinds import Value
from intent_testkit.fuzz.writer import Writer, widened

MATRICES = """
@intent.fn
def compose(first, second):
    return I.record(a=first.a * second.a, b=second.a * first.b + second.b)
"""
LAST = """
@intent.fn
def last(a, b):
    return I.select(b != 0, b, a)
"""
EXTREMES = """
@intent.fn
def extremes(a, b):
    return I.record(low=I.minimum(a.low, b.low), high=I.maximum(a.high, b.high), total=a.total + b.total)
"""
PLUS = """
@intent.fn
def plus(a, b):
    return a + b
"""
SEGMENTED = """
@intent.fn
def restart(a, b):
    return I.record(total=I.select(b.start, b.total, a.total + b.total), start=a.start | b.start)
"""
MATRIX = """
@intent.fn
def times(a, b):
    return (a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3])
"""
BIASED = """
@intent.fn
def biased(a, b, bias):
    return a + b + bias
"""


def _axis(w: Writer, a: Value) -> tuple[str, tuple[int, ...]]:
    """An axis argument and the axes it names."""
    if a.rank >= 2 and w.chance(0.2):
        axes = tuple(sorted(w.rng.sample(range(a.rank), 2)))
        return str(axes), axes
    axis = w.rng.randrange(a.rank)
    return (str(axis - a.rank) if w.chance(0.15) else str(axis)), (axis,)


def _rest(a: Value, axes: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(d for k, d in enumerate(a.shape) if k not in axes)


def reduce(w: Writer) -> None:
    """A builtin reduction."""
    a = w.numeric()
    text, axes = _axis(w, a)
    size = w.elements([a.shape[k] for k in axes])
    if w.chance(0.08):
        flag = w.of("bool", a.shape)
        w.let(f"I.reduce.{w.any(('any', 'all'))}({flag.text}, axis={text})", "bool", _rest(a, axes))
        return
    kind = w.any(("sum", "sum", "sum", "max", "min", "prod"))
    empty = any(0 in w.sizes(a.shape[k]) for k in axes)
    if kind in {"max", "min"}:
        found = w.let(f"I.reduce.{kind}({a.text}, axis={text})", a.dtype, _rest(a, axes), a.bound)
        if empty and a.is_float:
            w.pool.remove(found)
            w.let(f"I.clamp({found.text}, -3.0, 3.0)", a.dtype, found.shape, 3.0)
        return
    if kind == "prod":
        if a.is_float:
            a = w.bounded(a, 1.0)
        w.let(f"I.reduce.prod({a.text}, axis={text})", widened(a.dtype), _rest(a, axes), 1.0)
        return
    w.let(f"I.reduce.sum({a.text}, axis={text})", widened(a.dtype), _rest(a, axes), a.bound * max(1, size))


def generic_reduce(w: Writer) -> None:
    """The author's own reduction of one value or of a record."""
    a = w.numeric()
    text, axes = _axis(w, a)
    size = max(1, w.elements([a.shape[k] for k in axes]))
    dtype, rest = a.dtype, _rest(a, axes)
    a = w.bounded(a, 3.0)
    zero, big = ("0.0", "9.0") if a.is_float else ("0", "9")
    if w.chance(0.4):
        if dtype in {"f16", "bf16"}:
            return
        w.helper("plus", PLUS)
        w.let(f"I.reduce({a.text}, axis={text}, identity={zero}, combine=plus)", dtype, rest, a.bound * size)
        return
    if dtype in {"f16", "bf16"} or not a.is_float or w.special:  # infinities pass the identity's 9
        source = w.of("i64", a.shape)
        dtype, zero, big = "i64", "0", "9"
        low = f"{source.text} % 9"
    else:
        low = a.text
    w.helper("extremes", EXTREMES)
    name = w.name("r")
    w.line(
        f"{name} = I.reduce(I.record(low={low}, high={low}, total={low}), axis={text}, "
        f"identity=I.record(low={big}, high=-{big}, total={zero}), "
        "combine=extremes)"
    )
    w.let(f"{name}.high - {name}.low", dtype, rest, 18.0)
    w.let(f"{name}.total", dtype, rest, a.bound * size)


def special_combines(w: Writer) -> None:
    """Combines of tuples and flags, or with a run-time operand."""
    kind = w.any(("restart", "times", "biased", "biased scan"))
    shape = w.shape()
    axis = w.rng.randrange(len(shape))
    dtype = w.any(("i32", "i64"))
    rest = tuple(d for k, d in enumerate(shape) if k != axis)
    options = w.any(("", "", ", reverse=True", ", inclusive=False"))
    if kind == "restart":
        w.helper("restart", SEGMENTED)
        items = f"I.record(total={w.of(dtype, shape).text}, start={w.of('bool', shape).text})"
        name = w.name("r")
        identity = "I.record(total=0, start=False)"
        w.line(f"{name} = I.scan({items}, axis={axis}, identity={identity}, combine=restart{options})")
        w.let(f"{name}.total", dtype, shape)
    elif kind == "times":
        w.helper("times", MATRIX)
        items = ", ".join(w.of(dtype, shape).text for _ in range(4))
        names = [w.name() for _ in range(4)]
        scan = f"I.scan(({items}), axis={axis}, identity=(1, 0, 0, 1), combine=times{options})"
        w.line(f"{', '.join(names)} = {scan}")
        w.pool += [Value(text=n, dtype=dtype, shape=shape) for n in names]
    else:
        w.helper("biased", BIASED)
        bias = w.scalar(dtype, w.any((0, 3)))
        source = w.of(dtype, shape)
        made = f"({source.text}, axis={axis}, identity=-{bias.text}, combine=biased, combine_operands=({bias.text},)"
        if kind == "biased":
            w.let(f"I.reduce{made})", dtype, rest)
        else:
            w.let(f"I.scan{made}{options})", dtype, shape)


def arg_reduce(w: Writer) -> None:
    """Position of the largest or smallest element."""
    a = w.numeric()
    axis = w.rng.randrange(a.rank)
    if 0 in w.sizes(a.shape[axis]):
        return
    value, at = w.name("v"), w.name("v")
    w.line(f"{value}, {at} = I.arg_reduce.{w.any(('max', 'min'))}({a.text}, axis={axis})")
    rest = _rest(a, (axis,))
    w.pool.append(Value(text=value, dtype=a.dtype, shape=rest, bound=a.bound))
    dtype = w.any(("i32", "i64"))
    w.let(f"I.cast({at}, I.{dtype})", dtype, rest)
    if w.chance(0.3) and rest:
        other = w.of(w.dtype(), (a.shape[axis],))
        w.let(f"{other.text}[{at}]", other.dtype, rest, other.bound)


def scan(w: Writer) -> None:
    """Prefixes: builtin, or the author's, which need not commute."""
    a = w.numeric()
    axis = w.rng.randrange(a.rank)
    size = max(1, *w.sizes(a.shape[axis]))
    options = ""
    exclusive = w.chance(0.3)
    if exclusive:
        options += ", inclusive=False"
    if w.chance(0.35):
        options += ", reverse=True"
    kind = w.any(("cumsum", "cumsum", "cummax", "cummin", "cumprod", "last", "compose"))
    if kind == "cumsum":
        w.let(f"I.cumsum({a.text}, axis={axis}{options})", widened(a.dtype), a.shape, a.bound * size)
    elif kind == "cumprod":
        a = w.bounded(a, 1.0)
        w.let(f"I.cumprod({a.text}, axis={axis}{options})", widened(a.dtype), a.shape, 1.0)
    elif kind in {"cummax", "cummin"}:
        found = w.let(f"I.{kind}({a.text}, axis={axis}{options})", a.dtype, a.shape, a.bound)
        if exclusive and a.is_float:
            w.pool.remove(found)
            w.let(f"I.clamp({found.text}, -3.0, 3.0)", a.dtype, a.shape, 3.0)
    elif kind == "last":
        w.helper("last", LAST)
        zero = "0.0" if a.is_float else "0"
        w.let(
            f"I.scan({a.text}, axis={axis}, identity={zero}, combine=last{options})",
            a.dtype,
            a.shape,
            a.bound,
        )
    else:
        w.helper("compose", MATRICES)
        dtype = w.any(("i32", "i64"))
        first, second = w.of(dtype, a.shape), w.of(dtype, a.shape)
        name = w.name("r")
        w.line(
            f"{name} = I.scan(I.record(a={first.text}, b={second.text}), axis={axis}, "
            f"identity=I.record(a=1, b=0), combine=compose{options})"
        )
        w.let(f"{name}.a + {name}.b * 3", dtype, a.shape)


def contract(w: Writer) -> None:
    """A contraction: matrix forms, several pairs, batches, and a value with itself."""
    form = w.any(
        ("matmul", "matmul", "gram", "matvec", "dot", "pairs", "batch", "transposed", "batched matmul")
    )
    a = w.numeric(rank={"matvec": 2, "dot": 1, "pairs": 2, "batch": 3, "batched matmul": 3}.get(form, 2))
    a = w.bounded(a, 8.0)
    dtype = widened(a.dtype)
    n = w.dim()

    def out(text: str, shape: tuple[str, ...], b: Value, *summed: str) -> None:
        if w.fits(shape) and w.elements([*shape, *summed]) <= 1 << 15:
            w.let(text, dtype, shape, a.bound * b.bound * max(1, w.elements(summed)))

    if form == "gram":
        out(f"I.matmul({a.text}, {a.text}, transpose_rhs=True)", (a.shape[0], a.shape[0]), a, a.shape[1])
    elif form in {"matmul", "transposed"}:
        shape = (a.shape[1], n) if form == "matmul" else (n, a.shape[1])
        b = w.bounded(w.of(a.dtype, shape), 8.0)
        more = "" if form == "matmul" else ", transpose_rhs=True"
        out(f"I.matmul({a.text}, {b.text}{more})", (a.shape[0], n), b, a.shape[1])
    elif form == "matvec":
        b = w.bounded(w.of(a.dtype, (a.shape[1],)), 8.0)
        out(f"I.matvec({a.text}, {b.text})", (a.shape[0],), b, a.shape[1])
    elif form == "dot":
        b = w.bounded(w.of(a.dtype, a.shape), 8.0)
        out(f"I.dot({a.text}, {b.text})", (), b, a.shape[0])
    elif form == "pairs":
        b = w.bounded(w.of(a.dtype, (a.shape[1], a.shape[0], n)), 8.0) if w.fits((*a.shape, n)) else a
        if b is not a:
            out(f"I.contract({a.text}, {b.text}, reduce=((0, 1), (1, 0)))", (n,), b, *a.shape)
        else:
            out(f"I.contract({a.text}, {a.text}, reduce=((0, 0), (1, 1)))", (), a, *a.shape)
    elif form == "batch":
        b = w.bounded(w.of(a.dtype, (a.shape[2], a.shape[0])), 8.0)
        out(f"I.contract({a.text}, {b.text}, reduce=((2, 0),), batch=((0, 1),))", a.shape[:2], b, a.shape[2])
    else:
        b = w.bounded(w.of(a.dtype, (a.shape[2], n)), 8.0)
        out(f"I.matmul({a.text}, {b.text})", (*a.shape[:2], n), b, a.shape[2])


def histogram(w: Writer) -> None:
    """Counts of small integers."""
    a = w.numeric()
    if a.is_float:
        a = w.of("i32", a.shape)
    bins = w.any((1, 3, 5, 8))
    valid = f", valid={w.of('bool', a.shape).text}" if w.chance(0.4) else ""
    w.let(f"I.histogram({a.text} % {bins}, bins={bins}{valid})", "i32", (str(bins),))
