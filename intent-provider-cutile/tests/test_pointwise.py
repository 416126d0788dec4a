"""Every pointwise function, dtype by dtype, against numpy; edge values included."""

from __future__ import annotations

import math
import zlib

import ml_dtypes
import numpy as np
import pytest
from cutile_execution import run
from cutile_pointwise_programs import index_pointwise, pointwise, power_of_scalar, twice_divided, two_widths

from intent.passes.expand import expand
from intent.types.dtypes import BY_NAME
from intent.types.extent import const, symbol
from intent_provider_cutile.build import bytecode
from intent_provider_cutile.capabilities import CAPABILITIES
from intent_provider_cutile.plugin import plugin

SIGNED = ["i8", "i16", "i32", "i64"]
UNSIGNED = ["u8", "u16", "u32", "u64"]
INTEGERS = SIGNED + UNSIGNED
FLOATS = ["f16", "bf16", "f32", "f64"]
RNG = np.random.default_rng(20240607)

FLOAT_EDGES = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.0,
    math.inf,
    -math.inf,
    math.nan,
    1e-3,
    -7.25,
    100.0,
]


def integers(dtype: str, count: int = 400) -> np.ndarray:
    """Random bits with the extremes in front."""
    kind = BY_NAME[dtype]
    edges = [kind.minimum, kind.maximum, 0, 1, kind.maximum - 1, kind.minimum + 1, 2, 3]
    body = RNG.integers(kind.minimum, kind.maximum, count - len(edges), dtype=kind.numpy, endpoint=True)
    return np.concatenate([np.array(edges, kind.numpy), body])


def floats(dtype: str, count: int = 400) -> np.ndarray:
    """Numbers of all magnitudes with the edges, subnormals included, in front."""
    kind = BY_NAME[dtype].numpy
    tiny = float(ml_dtypes.finfo(kind).smallest_subnormal)
    normal = float(ml_dtypes.finfo(kind).tiny)
    edges = [*FLOAT_EDGES, tiny, -tiny, normal / 2, normal, float(ml_dtypes.finfo(kind).max)]
    body = RNG.standard_normal(count - len(edges)) * 10.0 ** RNG.integers(-4, 4, count - len(edges))
    return np.concatenate([np.array(edges), body]).astype(kind)


def pairs(values: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges against edges first, then random pairs."""
    edge = np.array(np.meshgrid(np.arange(21), np.arange(21))).reshape(2, -1)
    rest = RNG.integers(0, len(values), (2, 300))
    index = np.concatenate([edge, rest], axis=1)
    return values[index[0]], other[index[1]]


def result_of(fn: str, dtype: str, *operands: np.ndarray, **flags) -> np.ndarray:
    program = expand(pointwise(fn, dtype, len(operands), **flags), CAPABILITIES.functions)
    out = np.zeros(len(operands[0]), program.params[-1].dtype.numpy)
    run(program, {**{f"x{i}": v for i, v in enumerate(operands)}, "y": out})
    return out


def same(got: np.ndarray, wanted: np.ndarray, what: str = "") -> None:
    """Equal bits up to the payload of NaN."""
    wide = [a.astype(np.float64) if a.dtype.kind not in "iub" else a for a in (got, wanted)]
    nan = (wide[0] != wide[0]) & (wide[1] != wide[1])
    signs = np.signbit(wide[0]) == np.signbit(wide[1]) if wide[0].dtype.kind == "f" else True
    bad = ~(((wide[0] == wide[1]) & signs) | nan)
    assert not bad.any(), (
        f"{what}: {np.argwhere(bad)[:4].tolist()} got {got[bad][:4]} wanted {wanted[bad][:4]}"
    )


# ---------------------------------------------------------------------------------------------------- integers

_INTEGER_BINARY = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "maximum": max, "minimum": min,
    "floordiv": lambda a, b: a // b, "mod": lambda a, b: a % b, "and": lambda a, b: a & b, "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b, "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}  # fmt: skip


def wrapped(values: list[int], dtype: str) -> np.ndarray:
    """Python integers reduced to the dtype's range; booleans as they are."""
    if all(isinstance(v, bool) for v in values):
        return np.array(values)
    bits = BY_NAME[dtype].bits
    return np.array([v & ((1 << bits) - 1) for v in values], f"u{bits // 8}").view(BY_NAME[dtype].numpy)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("fn", _INTEGER_BINARY)
def test_integer_binary(fn, dtype):
    a, b = pairs(integers(dtype), integers(dtype))
    if fn in ("floordiv", "mod"):
        b = np.where(b == 0, np.array(3, b.dtype), b)
        overflow = (a == BY_NAME[dtype].minimum) & (b == np.array(-1).astype(b.dtype)) & (dtype in SIGNED)
        a = np.where(overflow, np.array(5, a.dtype), a)
    wanted = wrapped([_INTEGER_BINARY[fn](int(x), int(y)) for x, y in zip(a, b, strict=True)], dtype)
    same(result_of(fn, dtype, a, b), wanted, fn)


@pytest.mark.parametrize("dtype", SIGNED)
@pytest.mark.parametrize("fn", ["floordiv", "mod"])
@pytest.mark.parametrize("divisor", [1, 2, 8, 7, -3, -4])
def test_floor_division_by_a_literal(fn, dtype, divisor):
    a = integers(dtype)
    if divisor < 0:
        a = np.where(a == BY_NAME[dtype].minimum, np.array(1, a.dtype), a)
    wanted = wrapped([_INTEGER_BINARY[fn](int(x), divisor) for x in a], dtype)
    same(result_of(fn, dtype, a, a, constants={1: divisor}), wanted)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("fn", ["add", "sub", "mul", "maximum", "minimum", "lt", "and", "or", "xor"])
@pytest.mark.parametrize("place", [0, 1])
def test_a_literal_takes_the_dtype_of_the_other_operand(fn, dtype, place):
    a = integers(dtype)
    number = BY_NAME[dtype].maximum - 3
    order = (lambda x: (number, x)) if place == 0 else (lambda x: (x, number))
    wanted = wrapped([_INTEGER_BINARY[fn](*order(int(x))) for x in a], dtype)
    same(result_of(fn, dtype, a, a, constants={place: number}), wanted)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts(dtype):
    a = integers(dtype)
    amount = RNG.integers(0, BY_NAME[dtype].bits, len(a)).astype(a.dtype)
    left = wrapped([int(x) << int(s) for x, s in zip(a, amount, strict=True)], dtype)
    right = wrapped([int(x) >> int(s) for x, s in zip(a, amount, strict=True)], dtype)
    same(result_of("shl", dtype, a, amount), left)
    same(result_of("shr", dtype, a, amount), right)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_unary(dtype):
    a = integers(dtype)
    same(result_of("neg", dtype, a), wrapped([-int(x) for x in a], dtype))
    same(result_of("invert", dtype, a), wrapped([~int(x) for x in a], dtype))
    same(result_of("abs", dtype, a), wrapped([abs(int(x)) for x in a], dtype))


@pytest.mark.parametrize(
    "fn", ["add", "sub", "mul", "floordiv", "mod", "maximum", "minimum", "lt", "eq", "ge"]
)
@pytest.mark.parametrize("literal", [None, 7, -5, 1 << 40])
def test_index_values_are_64_bit(fn, literal):
    a, b = pairs(integers("i64"), integers("i64"))
    b = np.where(b == 0, 3, b)
    a = np.where((a == -(1 << 63)) & (b == -1), 5, a)
    if literal is not None:
        b = np.full_like(b, literal)
    wanted = wrapped([_INTEGER_BINARY[fn](int(x), int(y)) for x, y in zip(a, b, strict=True)], "i64")
    program = index_pointwise(fn, {} if literal is None else {1: literal})
    out = np.zeros(len(a), wanted.dtype)
    run(program, {"x0": a, "x1": b, "y": out})
    same(out, wanted)


_DIVISORS = {"-N": (-symbol("N"), lambda n: -n), "3 - N": (const(3) - symbol("N"), lambda n: 3 - n),
             "N - 3": (symbol("N") - 3, lambda n: n - 3)}  # fmt: skip


@pytest.mark.parametrize("outer", ["mod", "floordiv"])
@pytest.mark.parametrize("fn", ["mod", "floordiv"])
@pytest.mark.parametrize("divisor", list(_DIVISORS))
def test_what_follows_a_division_by_a_run_time_sign_floors_too(divisor, fn, outer):
    inner, last = _INTEGER_BINARY[fn], _INTEGER_BINARY[outer]
    extent, at = _DIVISORS[divisor]
    program = twice_divided(extent, fn, outer)
    for count in (1, 2, 5, 8):
        out = np.zeros(count, np.int64)
        run(program, {"y": out})
        wanted = [last(inner(i + 1, at(count)), count) for i in range(count)]
        same(out, np.array(wanted), f"N={count}")


@pytest.mark.parametrize("second", ["lane", "place", "memory"])
@pytest.mark.parametrize("first", ["lane", "place", "memory"])
@pytest.mark.parametrize("fn", ["and", "or", "xor", "add", "maximum", "lt"])
def test_index_values_of_two_widths(fn, first, second):
    count = 300
    x = np.arange(count) * 5 + (1 << 33)
    out = np.zeros(count, np.int64)
    program = two_widths(fn, first, second)
    run(program, {"x": x, "y": out})
    values = {"lane": np.arange(count) % 256, "place": np.arange(count), "memory": x}
    pairs_of = zip(values[first].tolist(), values[second].tolist(), strict=True)
    same(out, np.array([int(_INTEGER_BINARY[fn](a, b)) for a, b in pairs_of]))
    assert bytecode(plugin.intent_provider().serialize(program))


def test_a_library_function_of_a_number_and_a_block():
    power = RNG.uniform(-2, 2, 4).astype(np.float32)
    weight = RNG.uniform(1, 2, 8).astype(np.float32)
    out = np.zeros((4, 8), np.float32)
    run(power_of_scalar(), {"x": power, "z": weight, "y": out}, {"base": 1e4})
    assert np.allclose(out, (np.float64(1e4) ** power)[:, None] * weight, rtol=1e-5)


# -------------------------------------------------------------------------------------------------------- bool


@pytest.mark.parametrize("fn", ["and", "or", "xor", "eq", "ne"])
def test_bool_binary(fn):
    a, b = np.array([0, 0, 1, 1], np.bool_), np.array([0, 1, 0, 1], np.bool_)
    wanted = {"and": a & b, "or": a | b, "xor": a ^ b, "eq": a == b, "ne": a != b}[fn]
    same(result_of(fn, "bool", a, b), wanted)
    same(result_of(fn, "bool", a, b, constants={1: True}), _with_true(fn, a))


def _with_true(fn, a):
    return {"and": a, "or": np.ones_like(a), "xor": ~a, "eq": a, "ne": ~a}[fn]


def test_bool_unary():
    a = np.array([False, True])
    same(result_of("not", "bool", a), ~a)
    same(result_of("invert", "bool", a), ~a)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, "bool", "f8e4m3fn", "f8e5m2"])
def test_select(dtype):
    condition = RNG.integers(0, 2, 200).astype(np.bool_)
    a = RNG.integers(0, 2, 200).astype(BY_NAME[dtype].numpy)
    b = (RNG.integers(0, 2, 200) * 2).astype(BY_NAME[dtype].numpy)
    same(result_of("select", dtype, condition, a, b), np.where(condition, a, b))


# ------------------------------------------------------------------------------------------------------ floats


def rounded(values: np.ndarray, dtype: str) -> np.ndarray:
    with np.errstate(all="ignore"):
        return values.astype(BY_NAME[dtype].numpy)


_FLOAT_EXACT = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "maximum": np.maximum,
    "minimum": np.minimum,
    "maximum_num": np.fmax, "minimum_num": np.fmin, "eq": np.equal, "ne": np.not_equal, "lt": np.less,
    "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip


def computed(fn, dtype: str, *operands: np.ndarray) -> np.ndarray:
    """numpy's result in the dtype; 16-bit floats through f32, rounded once."""
    wide = [o.astype(np.float32) if BY_NAME[dtype].bits < 32 else o for o in operands]
    with np.errstate(all="ignore"):
        result = fn(*wide)
    return result if result.dtype == np.bool_ else rounded(result, dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("fn", _FLOAT_EXACT)
def test_float_binary(fn, dtype):
    a, b = pairs(floats(dtype), floats(dtype))
    got, wanted = result_of(fn, dtype, a, b), computed(_FLOAT_EXACT[fn], dtype, a, b)
    if fn in ("maximum", "minimum", "maximum_num", "minimum_num"):
        zeros = (got.astype(np.float64) == 0) & (wanted.astype(np.float64) == 0)  # either zero may be given
        got, wanted = got[~zeros], wanted[~zeros]
    same(got, wanted, fn)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("fn", ["add", "mul", "div", "maximum", "minimum_num", "lt"])
@pytest.mark.parametrize("number", [0.1, -math.inf, 0.0])
def test_a_float_literal_is_rounded_to_the_dtype(fn, dtype, number):
    a = floats(dtype)
    constant = np.full(len(a), number).astype(BY_NAME[dtype].numpy)
    got = result_of(fn, dtype, a, a, constants={1: float(constant[0])})
    same(np.abs(got), np.abs(computed(_FLOAT_EXACT[fn], dtype, a, constant)))


_FLOAT_UNARY_EXACT = {
    "neg": np.negative, "abs": np.abs, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": np.rint,
    "sqrt": np.sqrt, "isnan": np.isnan, "isinf": np.isinf,
}  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("fn", _FLOAT_UNARY_EXACT)
def test_float_unary_exact(fn, dtype):
    a = np.concatenate([floats(dtype), (np.arange(-40, 40) / 4).astype(BY_NAME[dtype].numpy)])
    same(result_of(fn, dtype, a), computed(_FLOAT_UNARY_EXACT[fn], dtype, a), fn)


def test_negative_zero_is_a_constant():
    a = floats("f32")
    got = result_of("select", "f32", np.zeros(len(a), np.bool_), a, a, constants={2: -0.0})
    assert np.signbit(got).all()
    assert (got == 0).all()


# --------------------------------------------------------------------------------------------------- accuracy

_ULP = {  # f32, f64 (spec: numbers)
    "exp": (2, 2), "exp2": (2, 2), "log": (2, 2), "log2": (2, 2), "erf": (2, 2), "tanh": (2, 2), "sigmoid": (2, 2),
    "rsqrt": (2, 2), "sin": (2, 2), "cos": (2, 2), "asin": (2, 2), "log1p": (1, 1), "erfc": (4, 5), "lgamma": (6, 6),
    "i0": (6, 6),
}  # fmt: skip


def _special(name: str):
    from scipy import special

    with np.errstate(all="ignore"):
        return {
            # scipy's own erfc and gammaln are off by hundreds of units in places; the C library's are not.
            "erf": np.vectorize(math.erf), "erfc": np.vectorize(math.erfc), "lgamma": np.vectorize(_lgamma),
            "i0": lambda x: np.where(np.isinf(x), np.inf, special.i0(x)), "sigmoid": special.expit,
            "rsqrt": lambda x: 1 / np.sqrt(x), "asin": np.arcsin,
        }.get(name) or getattr(np, name)  # fmt: skip


def _lgamma(x: float) -> float:
    return math.inf if math.isinf(x) or x == 0 else math.lgamma(x)


def arguments_for(fn: str, dtype: str) -> np.ndarray:
    """Arguments over the function's whole domain and range."""
    rng = np.random.default_rng(zlib.crc32(f"{fn} {dtype}".encode()))  # the same whatever ran before
    kind = np.float32 if dtype == "f32" else np.float64
    top = 100.0 if dtype == "f32" else 740.0
    wide = np.concatenate(
        [rng.uniform(-top, top, 600), rng.standard_normal(600), 10.0 ** rng.uniform(-37, 0, 200)]
    )
    if fn in ("log", "log2", "rsqrt", "log1p"):
        wide = np.concatenate([10.0 ** rng.uniform(-40, 38, 800), 1 + rng.standard_normal(400) * 1e-3])
    if fn == "log1p":
        wide = np.concatenate([wide, rng.uniform(-1, 1, 400), rng.standard_normal(400) * 1e-5])
    if fn == "asin":
        wide = rng.uniform(-1, 1, 1000)
    if fn == "i0":
        wide = np.clip(wide, -700, 700)  # scipy overflows before the function does
    if fn == "lgamma":
        wide = np.concatenate(
            [rng.uniform(4, 90, 500), rng.uniform(0.01, 0.5, 500), -rng.uniform(0.1, 0.9, 200)]
        )
    edges = np.array([0.0, -0.0, 1.0, math.inf, -math.inf, math.nan, 1e-45, 1e-40])
    return np.concatenate([edges, wide]).astype(kind)


def ulps(got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Distance in units of the last place of ``got``'s dtype, subnormals included."""
    info = np.finfo(got.dtype)
    _, exponent = np.frexp(wanted.astype(np.float64))
    unit = np.maximum(np.ldexp(1.0, exponent - info.nmant - 1), float(info.smallest_subnormal))
    with np.errstate(all="ignore"):
        return np.abs(got.astype(np.longdouble) - wanted.astype(np.longdouble)) / unit


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("fn", _ULP)
def test_accuracy(fn, dtype):
    a = arguments_for(fn, dtype)
    got = result_of(fn, dtype, a)
    with np.errstate(all="ignore"):
        wanted = _special(fn)(a.astype(np.float64))
        stored = wanted.astype(got.dtype)
    finite = np.isfinite(stored)
    same(got[~finite], stored[~finite], fn)
    slack = 1.0 if dtype == "f64" else 0.0  # the reference itself is an f64 function
    worst = ulps(got[finite], wanted[finite])
    limit = _ULP[fn][dtype == "f64"] + slack
    place = int(worst.argmax())
    assert worst.max() <= limit, (
        f"{fn}({a[finite][place]!r}) = {got[finite][place]!r}, {float(worst.max()):.2f} ULP"
    )
    zero = finite & (stored == 0) & (fn not in ("log", "log2", "lgamma"))
    assert (np.signbit(got[zero]) == np.signbit(stored[zero])).all()


@pytest.mark.parametrize(("dtype", "limit"), [("f32", 8), ("f64", 3)])
def test_pow(dtype, limit):
    kind = BY_NAME[dtype].numpy
    base = np.concatenate([10.0 ** RNG.uniform(-3, 3, 500), [0.0, 2.0, -2.0, -2.0, 1.0, math.inf]]).astype(
        kind
    )
    power = np.concatenate([RNG.uniform(-12, 12, 500), [0.0, 0.5, 3.0, 0.5, math.nan, -1.0]]).astype(kind)
    with np.errstate(all="ignore"):
        wanted = np.power(base.astype(np.float64), power.astype(np.float64))
        got = result_of("pow", dtype, base, power)
        finite = np.isfinite(wanted.astype(kind))
        same(got[~finite], wanted.astype(kind)[~finite])
        assert ulps(got[finite], wanted[finite]).max() <= limit


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_fma_rounds_once(dtype):
    kind = BY_NAME[dtype].numpy
    a = (1 + RNG.integers(0, 1 << 20, 500) * 2.0 ** (-22 if dtype == "f32" else -50)).astype(kind)
    c = -(a.astype(np.longdouble) * a.astype(np.longdouble)).astype(kind)
    wanted = [float(_exact(x) * _exact(x) + _exact(z)) for x, z in zip(a, c, strict=True)]
    same(result_of("fma", dtype, a, a, c), np.array(wanted).astype(kind))


def _exact(x):
    from fractions import Fraction

    return Fraction(float(x))


@pytest.mark.parametrize("fn", ["exp", "tanh", "sigmoid", "log", "sqrt", "rsqrt", "erf", "exp2", "sin"])
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_narrow_floats_are_computed_in_f32_and_rounded_once(fn, dtype):
    a = np.abs(floats(dtype)) if fn in ("log", "sqrt", "rsqrt") else floats(dtype)
    got = result_of(fn, dtype, a).astype(np.float64)
    with np.errstate(all="ignore"):
        exact = _special(fn)(a.astype(np.float64))
        wanted = exact.astype(np.float32).astype(BY_NAME[dtype].numpy).astype(np.float64)
    finite = np.isfinite(wanted) & np.isfinite(got)
    assert (np.isnan(got) == np.isnan(wanted)).all()
    same(got[~finite & ~np.isnan(wanted)], wanted[~finite & ~np.isnan(wanted)])
    unit = np.abs(wanted[finite]) * 2.0 ** (-10 if dtype == "f16" else -7) + 6e-8
    assert (np.abs(got[finite] - exact[finite]) <= 0.502 * unit + 0.0).all()


@pytest.mark.parametrize(("fn", "limit"), [("exp2", 2), ("div", 2)])
def test_approximate_forms(fn, limit):
    a = RNG.uniform(-120, 120, 1000).astype(np.float32)
    b = RNG.uniform(0.1, 100, 1000).astype(np.float32)
    operands = [a] if fn == "exp2" else [a, b]
    got = result_of(fn, "f32", *operands, approximate=True)
    wanted = np.exp2(a.astype(np.float64)) if fn == "exp2" else a.astype(np.float64) / b
    assert ulps(got, wanted).max() <= limit
