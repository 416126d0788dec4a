"""How each pointwise function with this language's meaning is written in cuTile.

``//`` and ``%`` floor already, division and square root round to nearest, comparisons are IEEE's; ``ct.maximum`` drops
NaN unless told. Floats of 16 and 8 bits are computed in f32 and rounded once. What cuTile lacks stands in the prelude.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from intent.diagnostics import CapabilityError
from intent.provider.emission.python import Prec, Value
from intent.types import DType
from intent.types.dtypes import BOOL, F32, F64, I32
from intent_provider_cutile.emit.literals import TYPES, tile

Need = Callable[[str], str]
"""Asks for a function of the prelude and gives the name it has in this text."""

PROVIDER: Final = "cutile"

_WORDS: Final = ("i32", "u32", "i64", "u64")
ATOMICS: Final = frozenset(
    {(kind, dtype) for kind in ("add", "max", "min", "and", "or", "xor") for dtype in _WORDS}
    | {(kind, dtype) for kind in ("load", "store", "exchange", "compare_exchange") for dtype in _WORDS}
    | {
        (kind, dtype)
        for kind in ("add", "load", "store", "exchange", "compare_exchange")
        for dtype in ("f32", "f64")
    }
    | {("add", "f16"), ("add", "bf16")}
)
"""The atomics that cuTile has, by kind and element type; loads and stores are spelled as read-modify-writes."""

BY_CAS: Final = frozenset({(kind, dtype) for kind in ("max", "min") for dtype in ("f32", "f64")})
"""The atomics written as a loop around compare-and-swap."""

MMA: Final[dict[str, DType]] = {
    "f16": F32, "bf16": F32, "f32": F32, "f64": F64, "f8e4m3fn": F32, "f8e5m2": F32, "i8": I32, "u8": I32,
}  # fmt: skip
"""Result dtype of ``ct.mma`` by operand dtype. f32 is IEEE f32: the tf32 product has a dtype of its own."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One pointwise operation to spell. ``dtype`` is the operands' dtype (of the branches for select)."""

    fn: str
    args: tuple[Value, ...]
    dtype: DType
    need: Need
    approximate: bool = False
    flush_to_zero: bool = False


def spell(call: Call) -> Value:
    """The call as text; dims and widths of the result are the caller's business.

    Raises CapabilityError for a function with no spelling here.
    """
    if call.fn == "select":
        return _select(call)
    if call.dtype.is_float:
        return _float(call)
    table = _INTEGER if call.dtype.is_integer else _BOOL
    if call.fn not in table:
        raise CapabilityError(PROVIDER, capability=f"{call.fn} of {call.dtype}", needed=call.fn)
    return table[call.fn](call)


def to_f32(value: Value) -> Value:
    """A 16- or 8-bit float as f32; exact."""
    if value.literal:
        return replace(value, dtype=F32)
    return Value(text=f"ct.astype({value.text}, ct.float32)", prec=Prec.ATOM, dtype=F32, dims=value.dims)


def _float(call: Call) -> Value:
    """Floats narrower than f32 are computed in f32 and rounded once (spec: numbers)."""
    if call.dtype.bits < 32:
        wide = replace(call, args=tuple(to_f32(a) for a in call.args), dtype=F32)
        result = _float(wide)
        return result if result.dtype is BOOL else _narrowed(result, call.dtype, call.need)
    entry = _FLOAT.get((call.fn, call.dtype.name)) or _FLOAT.get((call.fn, "*"))
    if entry is None:
        raise CapabilityError(PROVIDER, capability=f"{call.fn} of {call.dtype}", needed=call.fn)
    return entry(call)


def _narrowed(value: Value, dtype: DType, need: Need) -> Value:
    from intent_provider_cutile.casts import cast

    return cast(value, dtype, need)


# ---------------------------------------------------------------------------------------------- building blocks


def _binary(symbol: str, prec: Prec, result: DType | None = None) -> Callable[[Call], Value]:
    """An infix operator; comparisons do not chain, so both of their sides bind tighter."""

    def write(call: Call) -> Value:
        a, b = _one_tile(call.args)
        left = a.at(_ABOVE_COMPARE if prec is Prec.COMPARE else prec)
        right = b.at(_tighter(prec))
        return Value(text=f"{left} {symbol} {right}", prec=prec, dtype=result or call.dtype)

    return write


_ORDER: Final = sorted(Prec)
_ABOVE_COMPARE: Final = Prec.BITOR


def _tighter(prec: Prec) -> Prec:
    return _ORDER[_ORDER.index(prec) + 1]


def _one_tile(args: Sequence[Value]) -> tuple[Value, ...]:
    """Arguments of an operation: at least one is a tile, or the compiler would fold it with Python's arithmetic."""
    if all(a.literal for a in args):
        return (tile(args[0]), *args[1:])
    return tuple(args)


def _prefix(symbol: str) -> Callable[[Call], Value]:
    def write(call: Call) -> Value:
        (a,) = _one_tile(call.args)
        return Value(text=f"{symbol}{a.at(Prec.UNARY)}", prec=Prec.UNARY, dtype=call.dtype)

    return write


def _function(name: str, *, extra: str = "") -> Callable[[Call], Value]:
    """A cuTile function of tiles."""

    def write(call: Call) -> Value:
        args = _one_tile(call.args)
        text = f"{name}({', '.join(a.text for a in args)}{extra})"
        return Value(text=text, prec=Prec.ATOM, dtype=call.dtype)

    return write


def _magnitude(call: Call) -> Value:
    """``ct.abs`` takes the highest bit for a sign, of unsigned integers too (measured)."""
    return _one_tile(call.args)[0] if call.dtype.kind == "uint" else _function("ct.abs")(call)


def _prelude(name: str) -> Callable[[Call], Value]:
    """A function of the prelude, emitted beside the kernel when used."""

    def write(call: Call) -> Value:
        text = f"{call.need(name)}({', '.join(tile(a).text for a in call.args)})"
        return Value(text=text, prec=Prec.ATOM, dtype=call.dtype)

    return write


def _through_f64(name: str) -> Callable[[Call], Value]:
    """An f32 function computed by the f64 one and rounded."""

    def write(call: Call) -> Value:
        wide = [f"ct.astype({tile(a).text}, ct.float64)" for a in call.args]
        text = f"ct.astype({call.need(name)}({', '.join(wide)}), ct.float32)"
        return Value(text=text, prec=Prec.ATOM, dtype=call.dtype)

    return write


# ------------------------------------------------------------------------------------------------------ entries


def _select(call: Call) -> Value:
    condition, a, b = call.args
    if a.literal and b.literal:
        a = tile(a)
    return Value(
        text=f"ct.where({tile(condition).text}, {a.text}, {b.text})", prec=Prec.ATOM, dtype=call.dtype
    )


def _floordiv(call: Call) -> Value:
    """``//`` floors; the compiler refuses its bytecode for unsigned integers, so that those divide as signed ones."""
    if call.dtype.kind != "uint":
        return _binary("//", Prec.PRODUCT)(call)
    if call.dtype.bits == 64:
        return _prelude("_floordiv_u64")(call)
    a, b = (f"ct.astype({tile(v).text}, ct.int64)" for v in call.args)
    text = f"ct.astype({a} // {b}, {TYPES[call.dtype.name]})"
    return Value(text=text, prec=Prec.ATOM, dtype=call.dtype)


def _div_f32(call: Call) -> Value:
    """FULL is off by two units in the last place at most."""
    extra = ", rounding_mode=ct.RoundingMode.FULL" if call.approximate else ""
    extra += ", flush_to_zero=True" if call.flush_to_zero else ""
    return _function("ct.truediv", extra=extra)(call) if extra else _binary("/", Prec.PRODUCT)(call)


def _exp_f32(call: Call) -> Value:
    return _prelude("_exp_fast_f32")(call) if call.approximate else _function("ct.exp")(call)


def _exp2_f32(call: Call) -> Value:
    return _function("ct.exp2", extra=", flush_to_zero=True" if call.flush_to_zero else "")(call)


def _tanh_f32(call: Call) -> Value:
    extra = ", rounding_mode=ct.RoundingMode.APPROX" if call.approximate else ""
    return _function("ct.tanh", extra=extra)(call)


def _isnan(call: Call) -> Value:
    (a,) = _one_tile(call.args)
    side = a.at(_ABOVE_COMPARE)
    return Value(text=f"{side} != {side}", prec=Prec.COMPARE, dtype=BOOL)


def _isinf(call: Call) -> Value:
    (a,) = _one_tile(call.args)
    return Value(text=f"ct.abs({a.text}) == INF", prec=Prec.COMPARE, dtype=BOOL)


_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_COMPARISONS = {name: _binary(symbol, Prec.COMPARE, BOOL) for name, symbol in _COMPARE.items()}
_BITS = {"and": _binary("&", Prec.BITAND), "or": _binary("|", Prec.BITOR), "xor": _binary("^", Prec.BITXOR)}
_ARITHMETIC = {
    "add": _binary("+", Prec.SUM),
    "sub": _binary("-", Prec.SUM),
    "mul": _binary("*", Prec.PRODUCT),
}
_NAN = ", propagate_nan=True"

_BOOL: Final[dict[str, Callable[[Call], Value]]] = {
    **_BITS, **_COMPARISONS, "not": _prefix("~"), "invert": _prefix("~"),
}  # fmt: skip

_INTEGER: Final[dict[str, Callable[[Call], Value]]] = {
    **_ARITHMETIC,
    **_BITS,
    **_COMPARISONS,
    "neg": _prefix("-"),
    "invert": _prefix("~"),
    "abs": _magnitude,
    "maximum": _function("ct.maximum"),
    "minimum": _function("ct.minimum"),
    "floordiv": _floordiv,
    "mod": _binary("%", Prec.PRODUCT),
    "shl": _binary("<<", Prec.SHIFT),
    "shr": _binary(">>", Prec.SHIFT),
}

_FLOAT: Final[dict[tuple[str, str], Callable[[Call], Value]]] = {
    **{(name, "*"): write for name, write in (_ARITHMETIC | _COMPARISONS).items()},
    ("neg", "*"): _prefix("-"),
    ("abs", "*"): _function("ct.abs"),
    ("isnan", "*"): _isnan,
    ("isinf", "*"): _isinf,
    ("maximum", "*"): _function("ct.maximum", extra=_NAN),
    ("minimum", "*"): _function("ct.minimum", extra=_NAN),
    ("maximum_num", "*"): _function("ct.maximum"),
    ("minimum_num", "*"): _function("ct.minimum"),
    ("floor", "*"): _function("ct.floor"),
    ("ceil", "*"): _function("ct.ceil"),
    ("div", "f32"): _div_f32,
    ("div", "f64"): _binary("/", Prec.PRODUCT),
    ("sqrt", "*"): _function("ct.sqrt"),
    ("rsqrt", "f32"): _function("ct.rsqrt"),
    ("rsqrt", "f64"): _prelude("_rsqrt_f64"),
    ("exp", "f32"): _exp_f32,
    ("exp", "f64"): _function("ct.exp"),
    ("exp2", "f32"): _exp2_f32,
    ("exp2", "f64"): _function("ct.exp2"),
    ("log", "*"): _function("ct.log"),
    ("log2", "*"): _function("ct.log2"),
    ("tanh", "f32"): _tanh_f32,
    ("tanh", "f64"): _function("ct.tanh"),
    ("sin", "*"): _function("ct.sin"),
    ("cos", "*"): _function("ct.cos"),
    ("pow", "f32"): _through_f64("_pow"),
    ("pow", "f64"): _prelude("_pow"),
}


def native_functions() -> frozenset[str]:
    """Pointwise functions that have a spelling for every dtype they take."""
    floats = {fn for fn, _ in _FLOAT}
    complete = {f for f in floats if (f, "*") in _FLOAT or {(f, "f32"), (f, "f64")} <= _FLOAT.keys()}
    return frozenset(complete | _INTEGER.keys() | _BOOL.keys() | {"select"})
