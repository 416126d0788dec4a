"""Pointwise operations, broadcasts, selections and conversions."""

from __future__ import annotations

from intent_testkit.fuzz.kinds import FLOATS, INTEGERS, Value
from intent_testkit.fuzz.writer import Writer, castable, tuple_text


def partner(w: Writer, value: Value) -> Value:
    """An operand of the same dtype that broadcasts to ``value``."""
    if w.chance(0.15):
        number = w.any((1, 2, 3))
        return Value(text=f"{number}.0" if value.is_float else str(number), dtype=value.dtype, bound=number)
    scalar = w.pick(lambda v: v.rank == 0 and v.dtype == value.dtype)
    if scalar is not None and w.chance(0.25):
        return scalar
    if value.rank >= 2 and w.chance(0.4):
        return lower(w, value)
    return w.of(value.dtype, value.shape)


def lower(w: Writer, value: Value) -> Value:
    """A value of fewer axes, spread over those of ``value``."""
    kept = [k for k in range(value.rank) if w.chance(0.5)][:2] or [w.rng.randrange(value.rank)]
    small = w.of(value.dtype, [value.shape[k] for k in kept])
    return spread(small, kept, value)


def spread(small: Value, kept: list[int], value: Value) -> Value:
    """``small``, whose axes are those at ``kept`` of ``value``, with new axes of one between them."""
    if kept == list(range(value.rank - len(kept), value.rank)):
        return small
    subscript = ", ".join(":" if k in kept else "None" for k in range(kept[0], value.rank))
    return Value(text=f"{small.text}[{subscript}]", dtype=small.dtype, bound=small.bound)


def binary(w: Writer) -> None:
    """Two operands, one of which may have fewer axes."""
    a = w.numeric()
    b = partner(w, a)
    if w.chance(0.5) and not b.text[0].isdigit():
        a, b, shape = b, a, a.shape
    else:
        shape = a.shape
    symbol = w.any(("+", "-", "*", "I.maximum", "I.minimum", "+", "*"))
    if symbol.startswith("I."):
        bound = max(a.bound, b.bound)
        text = f"{symbol}({a.text}, {b.text})"
    else:
        bound = a.bound * b.bound if symbol == "*" else a.bound + b.bound
        text = f"{a.text} {symbol} {b.text}"
    if a.is_float and bound > 2**12 and symbol == "*":
        bound = w.bounded(a, 3.0).bound * w.bounded(b, 3.0).bound
        text = f"{w.bounded(a, 3.0).text} * {w.bounded(b, 3.0).text}"
    w.let(text, a.dtype, shape, bound)


def unary(w: Writer) -> None:
    """One operand."""
    a = w.numeric(least=0) if w.chance(0.9) else w.numeric()
    if a.is_float and w.chance(0.3):
        _rounded(w, a)
        return
    if a.is_float:
        text = w.any(
            (
                f"-{a.text}",
                f"I.abs({a.text})",
                f"I.floor({a.text} * 0.5)",
                f"{a.text} * {a.text}",
                f"1.0 - {a.text}",
            )
        )
        bound = a.bound * a.bound if "*" in text and "0.5" not in text else a.bound + 1
    else:
        options = [
            f"{a.text} * 3 + 1",
            f"{a.text} // 2",
            f"{a.text} % 5",
            f"{a.text} & 6",
            f"{a.text} ^ 5",
            f"{a.text} | 1",
        ]
        b = w.of(a.dtype, a.shape)
        options += [f"{a.text} << ({b.text} & 7)", f"{a.text} >> ({b.text} & 3)"]
        options += [f"({a.text} & 63) // ({b.text} | 1)", f"({a.text} & 63) % ({b.text} | 1)"]
        options += [f"{a.text} << 1", f"{a.text} >> 1", f"{a.text} * {a.text}"]
        if not a.dtype.startswith("u"):
            options += [f"-{a.text}", f"I.abs({a.text} % 7)", f"{a.text} // -3", f"{a.text} % -4"]
        text, bound = w.any(options), 0.0
    w.let(text, a.dtype, a.shape, bound)


def _rounded(w: Writer, a: Value) -> None:
    """Rounding, classification, a root that is exact."""
    word = w.any(("ceil", "trunc", "round", "isnan", "isinf", "sqrt", "maximum_num"))
    if word.startswith("is"):
        w.let(f"I.{word}({a.text})", "bool", a.shape)
    elif word == "sqrt":
        a = w.bounded(a, 4.0)
        w.let(f"I.sqrt({a.text} * {a.text})", a.dtype, a.shape, 4.0)
    elif word == "maximum_num":
        b = w.of(a.dtype, a.shape)
        w.let(
            f"I.{w.any((word, 'minimum_num'))}({a.text}, {b.text})", a.dtype, a.shape, max(a.bound, b.bound)
        )
    else:
        w.let(f"I.{word}({a.text} * 0.5)", a.dtype, a.shape, a.bound)


def choose(w: Writer) -> None:
    """Comparison and selection."""
    a = w.numeric()
    b = partner(w, a)
    symbol = w.any(("<", "<=", ">", ">=", "==", "!="))
    condition = w.let(f"{a.text} {symbol} {b.text}", "bool", a.shape)
    if w.chance(0.2):
        other = w.of("bool", a.shape)
        condition = w.let(f"{condition.text} {w.any(('&', '|', '^'))} {other.text}", "bool", a.shape)
    c = w.of(a.dtype, a.shape) if w.chance(0.7) else a
    d = partner(w, c)
    form = w.any(("I.select({0}, {1}, {2})", "I.mask({1}, {0}, {2})"))
    w.let(form.format(condition.text, c.text, d.text), c.dtype, a.shape, max(c.bound, d.bound))


def convert(w: Writer) -> None:
    """A cast that loses nothing but high bits of integers."""
    a = w.pick(lambda v: v.dtype != "index") or w.numeric()
    target = w.dtype()
    if a.dtype == "bool":
        w.let(f"I.cast({a.text}, I.{target})", target, a.shape, 1.0)
    elif target in FLOATS and not a.is_float:
        w.let(f"I.cast({a.text} % 7, I.{target})", target, a.shape, 6.0)
    elif castable(a, target):
        w.let(f"I.cast({a.text}, I.{target})", target, a.shape, a.bound)
    else:
        dtype = w.any(INTEGERS[:2])
        w.let(f"I.cast({w.bounded(a, 100.0).text}, I.{dtype})", dtype, a.shape)


def mix(w: Writer) -> None:
    """Two vectors of different axes make a matrix."""
    a = w.numeric(rank=1)
    b = w.of(a.dtype, (w.dim(),))
    if not w.fits((*a.shape, *b.shape)):
        return
    a, b = w.bounded(a, 30.0), w.bounded(b, 30.0)
    symbol = w.any(("+", "*", "-"))
    if w.chance(0.2):
        w.let(f"I.outer({a.text}, {b.text})", a.dtype, (*a.shape, *b.shape), a.bound * b.bound)
        return
    text = f"{a.text}[:, None] {symbol} {b.text}[None, :]"
    w.let(text, a.dtype, (*a.shape, *b.shape), max(a.bound * b.bound, a.bound + b.bound))


def loose(w: Writer) -> None:
    """Extents that are equal, or one, only at the call."""
    a = w.numeric(rank=w.any((1, 2)))
    dim = a.shape[-1]
    if not dim.isidentifier():
        return
    sizes = tuple(w.any((size, size, 1)) for size in w.sizes(dim))
    other, result = f"Q{len(w.symbols)}", f"R{len(w.symbols)}"
    w.symbols[other] = sizes
    b = w.param("in", a.dtype, (other,))
    w.symbols[result] = tuple(s if q == 1 else q for s, q in zip(w.sizes(dim), sizes, strict=True))
    w.formulas.append((result, f"{dim} if {other} == 1 else {other}"))
    y = w.param("out", a.dtype, (*a.shape[:-1], result))
    w.line(f"{y.name}[...] = {w.bounded(a, 3.0).text} {w.any(('+', '*'))} {b.name}[...]")


def positions(w: Writer) -> None:
    """A matrix masked by its coordinates (triangles, bands), or numbers made of coordinates."""
    a = w.numeric(rank=w.any((1, 2, 2)))
    names = []
    for k, dim in enumerate(a.shape):
        name = w.name("i")
        w.line(f"{name} = I.indices(I.domain(0, {dim}))")
        names.append(name if k == a.rank - 1 else f"{name}[:, None]")
    if a.rank == 1:
        condition = w.any((f"{names[0]} > 0", f"{names[0]} % 2 == 0", f"{names[0]} * 2 < {a.shape[0]}"))
    else:
        form = w.any(("{0} <= {1}", "{0} != {1}", "({0} + {1}) % 3 == 0", "{0} - {1} < 2"))
        condition = form.format(*names)
    if w.chance(0.3):
        dtype = w.any(INTEGERS[:2])
        w.let(f"I.cast({' * 5 + '.join(names)}, I.{dtype})", dtype, a.shape)
        return
    fill = "0.0" if a.is_float else "0"
    w.let(f"I.mask({a.text}, {condition}, {fill})", a.dtype, a.shape, a.bound)


def helper(w: Writer) -> None:
    """A call of a helper with a record or a tuple."""
    a = w.numeric()
    b = w.of(a.dtype, a.shape)
    name = w.helper(
        "both",
        """
@intent.fn
def both(a, b, *, swap=False):
    low = I.minimum(a, b)
    high = I.maximum(a, b)
    return I.record(low=low, high=high, pair=(a, b))
""",
    )
    made = w.name("r")
    w.line(f"{made} = {name}({a.text}, b={b.text})")
    bound = max(a.bound, b.bound)
    field = w.any((f"{made}.low", f"{made}.high - {made}.low", f"{made}.pair[1] + {made}.low"))
    w.let(field, a.dtype, a.shape, 2 * bound)


__all__ = ["binary", "choose", "convert", "helper", "mix", "partner", "positions", "tuple_text", "unary"]
