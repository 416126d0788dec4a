"""Folds and scans of regions, from families whose laws hold."""

from __future__ import annotations

from intent_testkit.fuzz.writer import Writer, widened

FOLDS = {
    "moments": """
@intent.fn
def moments_of(part, weight):
    n = I.reduce.sum(part * 0 + 1, axis={axis})
    s = I.reduce.sum(part * weight, axis={axis})
    return I.record(n=n, s=s, high=I.reduce.max(part, axis={axis}))


@intent.fn
def moments_join(a, b):
    return I.record(n=a.n + b.n, s=a.s + b.s, high=I.maximum(a.high, b.high))
""",
    "hash": """
@intent.fn
def hash_of(part):
    base = part * 0 + 3
    powers = I.cumprod(base, axis={axis}, inclusive=False, reverse=True)
    return I.record(value=I.reduce.sum(part * powers, axis={axis}), power=I.reduce.prod(base, axis={axis}))


@intent.fn
def hash_join(a, b):
    return I.record(value=a.value * b.power + b.value, power=a.power * b.power)
""",
    "product": """
@intent.fn
def product_of(part):
    return I.matmul(part.a, part.b, transpose_lhs=True)


@intent.fn
def product_join(a, b):
    return a + b
""",
}
SCAN = """
@intent.fn
def linear_of(part):
    decay = part * 0 + 2
    powers = I.cumprod(decay, axis={axis}, inclusive=False, reverse=True)
    return I.record(a=I.reduce.prod(decay, axis={axis}), b=I.reduce.sum(part * powers, axis={axis}))


@intent.fn
def linear_join(first, second):
    return I.record(a=first.a * second.a, b=second.a * first.b + second.b)


@intent.fn
def linear_apply(summary, state):
    return summary.a * state + summary.b


@intent.fn
def linear_emit(part, state):
    decay = part * 0 + 2
    one = I.record(a=decay, b=part)
    maps = I.scan(one, axis={axis}, identity=I.record(a=1, b=0), combine=linear_join)
    return maps.a * state{spread} + maps.b
"""


def fold(w: Writer) -> None:
    """A fold: weighted moments, a polynomial hash, or a product of slices."""
    kind = w.any(list(FOLDS))
    name = w.name("r")
    if kind == "product":
        t, m, n = w.dim(), w.dim(), w.dim()
        if not (w.fits((t, m)) and w.fits((t, n)) and w.fits((m, n))):
            return
        dtype = w.any(("i32", "f32", "i64"))
        a, b = w.bounded(w.of(dtype, (t, m)), 3.0), w.bounded(w.of(dtype, (t, n)), 3.0)
        w.helper("product", FOLDS[kind])
        text = (
            f"I.region_fold(source=I.record(a={a.text}, b={b.text}), axis=0, summarize=product_of, "
            f"combine=product_join, identity=I.zeros(({m}, {n}), I.{dtype}))"
        )
        w.let(text, dtype, (m, n), 9.0 * max(w.sizes(t)))
        return
    if kind in w.helpers:
        return
    dtype = w.any(("i32", "i64"))
    shape = w.shape(w.any((1, 2, 2)))
    axis = w.rng.randrange(len(shape))
    rest = tuple(d for k, d in enumerate(shape) if k != axis)
    source = w.of(dtype, shape)
    w.helper(kind, FOLDS[kind].replace("{axis}", str(axis)))

    def start(value: str) -> str:
        return f"I.full({_tuple(rest)}, {value}, I.{dtype})" if rest else f"I.cast({value}, I.{dtype})"

    if kind == "moments":
        scalar = w.scalar(dtype, 2)
        lowest = start(str(-(2**31) if dtype == "i32" else -(2**63)))
        identity = f"I.record(n={start('0')}, s={start('0')}, high={lowest})"
        w.line(
            f"{name} = I.region_fold(source={source.text}, axis={axis}, summarize=moments_of, combine=moments_join, "
            f"identity={identity}, operands=({scalar.text},))"
        )
        w.let(f"{name}.s + {name}.n", widened(dtype), rest)
        w.let(f"{name}.high", dtype, rest)
    else:
        w.line(
            f"{name} = I.region_fold(source={source.text}, axis={axis}, summarize=hash_of, combine=hash_join, "
            f"identity=I.record(value={start('0')}, power={start('1')}))"
        )
        w.let(f"{name}.value", dtype, rest)
    w.features.add("fold")


def scan(w: Writer) -> None:
    """A linear recurrence by slices."""
    if "linear" in w.helpers:
        return
    dtype = w.any(("i32", "i64"))
    shape = w.shape(w.any((1, 2)))
    axis = w.rng.randrange(len(shape))
    rest = tuple(d for k, d in enumerate(shape) if k != axis)
    spread = "" if not rest else "[:, None]" if axis == 1 else "[None, :]"
    w.helper("linear", SCAN.replace("{axis}", str(axis)).replace("{spread}", spread))
    source, initial = w.of(dtype, shape), w.of(dtype, rest)
    one = f"I.full({_tuple(rest)}, 1, I.{dtype})" if rest else f"I.cast(1, I.{dtype})"
    zero = f"I.zeros({_tuple(rest)}, I.{dtype})" if rest else f"I.cast(0, I.{dtype})"
    outputs, state = w.name("v"), w.name("v")
    w.line(
        f"{outputs}, {state} = I.region_scan("
        f"source={source.text}, axis={axis}, summarize=linear_of, combine=linear_join, "
        f"identity=I.record(a={one}, b={zero}), initial_state={initial.text}, apply=linear_apply, emit=linear_emit)"
    )
    w.let(f"{outputs} + 0", dtype, shape)
    w.let(f"{state} + 0", dtype, rest)
    w.features.add("region scan")


def _tuple(items: tuple[str, ...]) -> str:
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
