"""Ordered loops with carries, conditions, while."""

from __future__ import annotations

from collections.abc import Callable

from intent_testkit.fuzz.grow import pointwise, shapes, structured
from intent_testkit.fuzz.kinds import Value
from intent_testkit.fuzz.writer import Writer, tuple_text

INNER: tuple[Callable[[Writer], object], ...] = (
    pointwise.binary,
    pointwise.binary,
    pointwise.unary,
    pointwise.choose,
    structured.reduce,
    structured.scan,
    structured.contract,
    shapes.transpose,
    shapes.shifted,
    shapes.slices,
)


def _carry(w: Writer, shape: tuple[str, ...], dtype: str | None = None) -> Value:
    dtype = dtype or w.any(("f32", "i32", "i64", "f64", "f32", "i8"))
    name = w.name("c")
    made = w.bounded(w.of(dtype, shape), 3.0)
    w.line(f"{name} = {made.text}")
    return Value(text=name, dtype=dtype, shape=shape, bound=3.0)


def _kept(w: Writer, carry: Value, value: Value) -> str:
    """The text that gives the carry its next value."""
    return w.bounded(value, 3.0).text


def _next(w: Writer, carry: Value, step: Value | None) -> Value:
    """A value of the carry's type that depends on it: as it is, shifted, transposed, or reduced and spread."""
    forms = ["same", "same", "same"]
    if carry.rank:
        forms += ["shift", "reduce", "scan"]
    if carry.rank == 2 and carry.shape[0] == carry.shape[1]:
        forms += ["transpose", "transpose", "matmul"]
    form = w.any(forms)
    other = w.bounded(step or w.of(carry.dtype, carry.shape), 3.0)
    text = carry.text
    if form == "shift":
        text = _shift(w, carry)
    elif form == "reduce":
        text = _reduced(w, carry)
    elif form == "transpose":
        text = f"I.transpose({carry.text})"
    elif form == "scan" and carry.dtype in {"f32", "f64", "i32", "i64"}:
        text = f"I.cumsum({carry.text}, axis={carry.rank - 1})"
    elif form == "matmul" and carry.dtype in {"f32", "f64", "i32", "i64"}:
        text = f"I.matmul({carry.text}, {carry.text})"
    symbol = w.any(("+", "-", "+", "*"))
    factor = w.any(("", "", " * 2.0" if carry.is_float else " * 3"))
    size = max(1, *w.sizes(carry.shape[-1])) if carry.rank else 1
    return w.let(f"{text}{factor} {symbol} {other.text}", carry.dtype, carry.shape, (18.0 * size + 3) * 3)


def _shift(w: Writer, carry: Value) -> str:
    names = []
    for dim in carry.shape:
        name = w.name("i")
        w.line(f"{name} = I.indices(I.domain(0, {dim}))")
        names.append(name)
    axis = w.rng.randrange(carry.rank)
    spread = [
        f"[{', '.join(':' if j == k else 'None' for j in range(carry.rank))}]" for k in range(carry.rank)
    ]
    index = [
        f"{'(' + n + ' - 1)' if k == axis else n}{s}"
        for k, (n, s) in enumerate(zip(names, spread, strict=True))
    ]
    valid = f"({names[axis]} > 0){spread[axis]}"
    return f"I.gather({carry.text}, index={tuple_text(index)}, valid={valid}, fill={'1.0' if carry.is_float else '1'})"


def _reduced(w: Writer, carry: Value) -> str:
    axis = w.rng.randrange(carry.rank)
    kind = w.any(("max", "min"))
    text = f"I.reduce.{kind}({carry.text}, axis={axis})"
    if carry.rank == 1:
        return f"({carry.text} + {text})" if 0 not in w.sizes(carry.shape[0]) else carry.text
    if 0 in w.sizes(carry.shape[axis]):
        return carry.text
    subscript = ", ".join("None" if j == axis else ":" for j in range(carry.rank))
    return f"({carry.text} + {text}[{subscript}])"


def _step(w: Writer, trip: str, dim: str, carry: Value) -> Value | None:
    """What an iteration reads: a slice or an element of a sequence that has the loop's axis first."""
    if not w.chance(0.7) or not w.fits((dim, *carry.shape)):
        return None
    source = w.pick(
        lambda v: v.shape == (dim, *carry.shape) and v.dtype == carry.dtype and v.text.isidentifier()
    )
    if source is None or w.chance(0.5):
        view = w.param("in", carry.dtype, (dim, *carry.shape))
        source = Value(text=view.name, dtype=carry.dtype, shape=(dim, *carry.shape), bound=3.0)
    rest = ", :" * carry.rank
    return Value(
        text=f"{source.text}[{trip}{rest}]", dtype=carry.dtype, shape=carry.shape, bound=source.bound
    )


def ordered(w: Writer, depth: int = 0) -> None:
    """An ordered loop with one or two carries, perhaps writing each state out."""
    shapes_of = [w.any(((), (), w.shape(1), w.shape(1), w.shape(2))) for _ in range(w.any((1, 1, 2)))]
    if w.chance(0.15):
        square = w.dim()
        shapes_of[0] = (square, square) if w.fits((square, square)) else shapes_of[0]
    carries = [_carry(w, shape) for shape in shapes_of]
    dim = w.any(list(w.symbols))
    trip = w.name("k")
    header = w.any((f"range({dim})", f"range({dim})", f"I.domain(0, {dim})", f"range(0, {dim}, 2)"))
    out = None
    if w.indent == 1 and w.chance(0.3) and w.fits((dim, *carries[0].shape)):
        out = w.param("inout", carries[0].dtype, (dim, *carries[0].shape))
        w.written.add(out.name)
    with w.block(f"for {trip} in {header}:"):
        w.pool += carries
        if w.chance(0.25):
            _leave(w, trip, carries[0])
        steps = [_step(w, trip, dim, c) for c in carries]
        for _ in range(w.any((0, 0, 1, 2))):
            w.any(INNER)(w)
        if depth == 0 and w.chance(0.12):
            ordered(w, 1)
        news = [_next(w, c, s) for c, s in zip(carries, steps, strict=True)]
        _update(w, carries, news)
        if out is not None:
            w.line(f"{out.name}[{trip}{', :' * carries[0].rank}] = {carries[0].text}")
    w.pool += carries
    w.features.add("loop")


def _leave(w: Writer, trip: str, carry: Value) -> None:
    word = w.any(("break", "continue"))
    if carry.rank == 0:
        condition = f"{carry.text} > {'2.0' if carry.is_float else '40'}"
    else:
        condition = f"{trip} == {w.any((1, 2, 3))}"
    w.line(f"if {condition}:")
    w.line(f"    {word}")


def _update(w: Writer, carries: list[Value], news: list[Value]) -> None:
    if (
        len(carries) == 2
        and carries[0].shape == carries[1].shape
        and carries[0].dtype == carries[1].dtype
        and w.chance(0.4)
    ):
        w.line(f"{carries[0].text}, {carries[1].text} = {carries[1].text}, {_kept(w, carries[0], news[0])}")
        return
    for carry, new in zip(carries, news, strict=True):
        if w.chance(0.15):
            w.line(f"if {_condition(w)}:")
            w.line(f"    {carry.text} = {_kept(w, carry, new)}")
        else:
            w.line(f"{carry.text} = {_kept(w, carry, new)}")


def _condition(w: Writer) -> str:
    value = w.pick(lambda v: v.rank == 0 and v.dtype not in {"bool", "index"})
    if value is None or w.chance(0.3):
        value = w.scalar("i32", w.any((-1, 0, 3)))
    text = f"{value.text} > {'0.0' if value.is_float else '0'}"
    if w.chance(0.2):
        text += f" {w.any(('and', 'or'))} {value.text} != {'2.0' if value.is_float else '2'}"
    return text


def branch(w: Writer) -> None:
    """A run-time condition with a value on either side."""
    shape = w.any(((), w.shape(1), w.shape(2)))
    dtype = w.dtype()
    start = w.of(dtype, shape)
    condition = _condition(w)
    name = w.name("v")
    w.line(f"{name} = {start.text}")
    bound = start.bound
    with w.block(f"if {condition}:"):
        for _ in range(w.any((0, 1, 1))):
            w.any(INNER)(w)
        made = w.of(dtype, shape)
        bound = max(bound, made.bound)
        w.line(f"{name} = {made.text}")
    if w.chance(0.5):
        with w.block("else:"):
            made = w.of(dtype, shape)
            bound = max(bound, made.bound)
            w.line(f"{name} = {made.text}")
    w.pool.append(Value(text=name, dtype=dtype, shape=shape, bound=bound))
    w.features.add("if")


def repeat(w: Writer) -> None:
    """A while loop that ends by a count or earlier by its data."""
    carry = _carry(w, w.any(((), (), w.shape(1), w.shape(2))))
    count = w.name("n")
    w.line(f"{count} = I.cast(0, I.i32)")
    stop = f"{count} < {w.any((0, 2, 3, 5))}"
    if carry.rank == 0 and w.chance(0.6):
        stop += f" and {carry.text} < {'3.0' if carry.is_float else '50'}"
    elif w.chance(0.4) and carry.rank:
        axes = tuple_text([str(k) for k in range(carry.rank)])
        zero = "0.0" if carry.is_float else "0"
        low = f"I.reduce.sum(I.cast({carry.text} > {zero}, I.i32), axis={axes})"
        stop += f" and {low} < 6"
    with w.block(f"while {stop}:"):
        w.pool.append(carry)
        new = _next(w, carry, None)
        w.line(f"{carry.text} = {_kept(w, carry, new)}")
        w.line(f"{count} = {count} + 1")
    w.pool += [carry, Value(text=count, dtype="i32")]
    w.features.add("while")
