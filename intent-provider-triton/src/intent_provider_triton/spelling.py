"""How each pointwise function with this language's meaning is written in Triton.

Triton differs from the language where C does: ``//`` and ``%`` truncate, ``-x`` is ``0 - x``, division, square root
and exponential are approximate unless asked for, ``tl.maximum`` drops NaN, and 8- and 16-bit floats have no
arithmetic of their own on every target. Every entry below says the language's meaning instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from intent.diagnostics import CapabilityError
from intent.provider.emission.python import Prec, Value
from intent.types import DType
from intent.types.dtypes import BOOL, F32
from intent_provider_triton.emit.literals import TYPES, call_safe, literal, typed

Need = Callable[[str], str]
"""Asks for a function of the prelude and gives the name it has in this text."""

PROVIDER: Final = "triton"

_WORDS: Final = ("i32", "u32", "i64", "u64")
ATOMICS: Final = frozenset(
    {(kind, dtype) for kind in ("add", "max", "min", "and", "or", "xor", "exchange") for dtype in _WORDS}
    | {(kind, dtype) for kind in ("load", "store") for dtype in _WORDS}
    | {("compare_exchange", dtype) for dtype in TYPES}
    | {(kind, dtype) for kind in ("add", "max", "min", "exchange", "store") for dtype in ("f32", "f64")}
    | {("add", "f16"), ("add", "bf16")}
)
"""The atomic accesses that Triton can express, by kind and element type."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One pointwise operation to spell.

    ``dtype`` is the operands' dtype (of the branches for select). ``non_negative``: every operand is proven >= 0.
    ``non_negative_small``: it is, wherever INDEX is int32.
    """

    fn: str
    args: tuple[Value, ...]
    dtype: DType
    need: Need
    approximate: bool = False
    flush_to_zero: bool = False
    non_negative: bool = False
    non_negative_small: bool = False


def spell(call: Call) -> Value:
    """The call as text; dims and widths of the result are the caller's business.

    Raises CapabilityError for a function with no spelling here.
    """
    if call.fn in _ANY:
        return _ANY[call.fn](call)
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
    return Value(text=f"{value.atom}.to(tl.float32)", prec=Prec.ATOM, dtype=F32, dims=value.dims)


def _float(call: Call) -> Value:
    """Floats narrower than f32 are computed in f32 and rounded once (spec: numbers)."""
    narrow = call.dtype.bits < 32
    native = call.fn in _EXACT_IN_F16 and call.dtype.name == "f16"
    if narrow and not native:
        wide = replace(call, args=tuple(to_f32(a) for a in call.args), dtype=F32)
        result = _float(wide)
        return result if result.dtype is BOOL else _narrowed(result, call.dtype, call.need)
    width = "f16" if native else call.dtype.name
    entry = _FLOAT.get((call.fn, width)) or _FLOAT.get((call.fn, "*"))
    if entry is None:
        raise CapabilityError(PROVIDER, capability=f"{call.fn} of {call.dtype}", needed=call.fn)
    return entry(call)


def _narrowed(value: Value, dtype: DType, need: Need) -> Value:
    from intent_provider_triton.casts import cast

    return cast(value, dtype, need)


# ---------------------------------------------------------------------------------------------- building blocks


def _binary(symbol: str, prec: Prec, result: DType | None = None) -> Callable[[Call], Value]:
    """An infix operator; comparisons do not chain, so both of their sides bind tighter."""

    def write(call: Call) -> Value:
        a, b = _one_typed(call.args)
        left = a.at(_ABOVE_COMPARE if prec is Prec.COMPARE else prec)
        right = b.at(_tighter(prec))
        return Value(text=f"{left} {symbol} {right}", prec=prec, dtype=result or call.dtype)

    return write


_ORDER: Final = sorted(Prec)
_ABOVE_COMPARE: Final = Prec.BITOR


def _tighter(prec: Prec) -> Prec:
    return _ORDER[_ORDER.index(prec) + 1]


def _one_typed(args: Sequence[Value]) -> tuple[Value, ...]:
    """Arguments of an operator: at least one of them must be a tensor, or Python would fold it."""
    if all(a.literal for a in args):
        return (typed(args[0]), *args[1:])
    return tuple(args)


def _prefix(symbol: str) -> Callable[[Call], Value]:
    def write(call: Call) -> Value:
        (a,) = _one_typed(call.args)
        return Value(text=f"{symbol}{a.at(Prec.UNARY)}", prec=Prec.UNARY, dtype=call.dtype)

    return write


def _function(name: str, *, extra: str = "", result: DType | None = None) -> Callable[[Call], Value]:
    """A Triton function of tensors."""

    def write(call: Call) -> Value:
        args = _one_typed([call_safe(a) for a in call.args])
        return Value(
            text=f"{name}({', '.join(a.text for a in args)}{extra})",
            prec=Prec.ATOM,
            dtype=result or call.dtype,
        )

    return write


def _prelude(name: str, result: DType | None = None) -> Callable[[Call], Value]:
    """A function of the prelude, emitted beside the kernel when used."""

    def write(call: Call) -> Value:
        text = f"{call.need(name)}({', '.join(typed(a).text for a in call.args)})"
        return Value(text=text, prec=Prec.ATOM, dtype=result or call.dtype)

    return write


# ------------------------------------------------------------------------------------------------------ entries


def _select(call: Call) -> Value:
    condition, a, b = call.args
    if a.literal and b.literal:
        a = typed(a)
    condition = typed(condition)
    return Value(text=f"tl.where({condition.text}, {a.text}, {b.text})", prec=Prec.ATOM, dtype=call.dtype)


def _neg_float(call: Call) -> Value:
    (a,) = _one_typed(call.args)
    return Value(text=f"{a.at(Prec.PRODUCT)} * -1.0", prec=Prec.PRODUCT, dtype=call.dtype)


def _div_f32(call: Call) -> Value:
    if call.approximate or call.flush_to_zero:
        return _binary("/", Prec.PRODUCT)(call)
    return _function("tl.div_rn")(call)


def _exp2_f32(call: Call) -> Value:
    if call.approximate or call.flush_to_zero:
        return _function("tl.exp2")(call)
    return _prelude("_exp2_f32")(call)


def _exp_f32(call: Call) -> Value:
    return _prelude("_exp_fast_f32" if call.approximate else "_exp_f32")(call)


def _erf_f32(call: Call) -> Value:
    return _function("tl.erf")(call) if call.flush_to_zero else _prelude("_erf_f32")(call)


def _sigmoid_f32(call: Call) -> Value:
    return _prelude("_sigmoid_fast_f32" if call.approximate else "_sigmoid_f32")(call)


def _power_of_two(value: Value) -> int | None:
    """K for the literal 2**k."""
    number = int(value.text) if value.literal else 0
    return number.bit_length() - 1 if number > 0 and number & (number - 1) == 0 else None


def _floordiv(call: Call) -> Value:
    a, b = call.args
    if call.non_negative or not call.dtype.is_signed:
        return _binary("//", Prec.PRODUCT)(call)
    if (k := _power_of_two(b)) is not None and not a.literal:
        return Value(text=f"{a.at(Prec.SHIFT)} >> {k}", prec=Prec.SHIFT, dtype=call.dtype)
    if call.non_negative_small:
        return _floored("_index_div", call, ", INDEX")
    return _floored("_floor_div", call)


def _mod(call: Call) -> Value:
    a, b = call.args
    if call.non_negative or not call.dtype.is_signed:
        return _binary("%", Prec.PRODUCT)(call)
    if (k := _power_of_two(b)) is not None and not a.literal:
        return Value(text=f"{a.at(Prec.BITAND)} & {(1 << k) - 1}", prec=Prec.BITAND, dtype=call.dtype)
    if call.non_negative_small:
        return _floored("_index_mod", call, ", INDEX")
    return _floored("_floor_mod", call)


def _floored(name: str, call: Call, tail: str = "") -> Value:
    """The prelude's operators give a bare literal the other operand's dtype."""
    a, b = _one_typed(call.args)
    return Value(text=f"{call.need(name)}({a.text}, {b.text}{tail})", prec=Prec.ATOM, dtype=call.dtype)


def _isnan(call: Call) -> Value:
    (a,) = _one_typed(call.args)
    side = a.at(_ABOVE_COMPARE)
    return Value(text=f"{side} != {side}", prec=Prec.COMPARE, dtype=BOOL)


def _isinf(call: Call) -> Value:
    (a,) = _one_typed(call.args)
    return Value(text=f'tl.abs({a.text}) == float("inf")', prec=Prec.COMPARE, dtype=BOOL)


def _not(call: Call) -> Value:
    return _prefix("~")(call)


_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_COMPARISONS = {name: _binary(symbol, Prec.COMPARE, BOOL) for name, symbol in _COMPARE.items()}
_BITS = {"and": _binary("&", Prec.BITAND), "or": _binary("|", Prec.BITOR), "xor": _binary("^", Prec.BITXOR)}
_ARITHMETIC = {
    "add": _binary("+", Prec.SUM),
    "sub": _binary("-", Prec.SUM),
    "mul": _binary("*", Prec.PRODUCT),
}
_NAN_ALL = ", propagate_nan=tl.PropagateNan.ALL"

_ANY: Final[dict[str, Callable[[Call], Value]]] = {"select": _select}

_BOOL: Final[dict[str, Callable[[Call], Value]]] = {**_BITS, **_COMPARISONS, "not": _not, "invert": _not}

_INTEGER: Final[dict[str, Callable[[Call], Value]]] = {
    **_ARITHMETIC,
    **_BITS,
    **_COMPARISONS,
    "neg": _prefix("-"),
    "invert": _prefix("~"),
    "abs": _function("tl.abs"),
    "maximum": _function("tl.maximum"),
    "minimum": _function("tl.minimum"),
    "floordiv": _floordiv,
    "mod": _mod,
    "shl": _binary("<<", Prec.SHIFT),
    "shr": _binary(">>", Prec.SHIFT),
}

_EXACT_IN_F16: Final = frozenset(
    {"add", "sub", "mul", "abs", "eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf"}
)
"""Functions that Triton computes on f16 itself with the rounding of the language."""

_FLOAT: Final[dict[tuple[str, str], Callable[[Call], Value]]] = {
    **{(name, "*"): write for name, write in (_ARITHMETIC | _COMPARISONS).items()},
    ("neg", "*"): _neg_float,
    ("abs", "*"): _function("tl.abs"),
    ("isnan", "*"): _isnan,
    ("isinf", "*"): _isinf,
    ("maximum", "*"): _function("tl.maximum", extra=_NAN_ALL),
    ("minimum", "*"): _function("tl.minimum", extra=_NAN_ALL),
    ("maximum_num", "*"): _function("tl.maximum"),
    ("minimum_num", "*"): _function("tl.minimum"),
    ("fma", "*"): _function("tl.fma"),
    ("floor", "f32"): _prelude("_floor_f32"),
    ("floor", "f64"): _function("tl.floor"),
    ("ceil", "f32"): _prelude("_ceil_f32"),
    ("ceil", "f64"): _function("tl.ceil"),
    ("trunc", "*"): _prelude("_trunc"),
    ("round", "f32"): _prelude("_round_f32"),
    ("round", "f64"): _prelude("_round_f64"),
    ("div", "f32"): _div_f32,
    ("div", "f64"): _binary("/", Prec.PRODUCT),
    ("sqrt", "f32"): _function("tl.sqrt_rn"),
    ("sqrt", "f64"): _function("tl.sqrt"),
    ("exp", "f32"): _exp_f32,
    ("exp", "f64"): _function("tl.exp"),
    ("exp2", "f32"): _exp2_f32,
    ("exp2", "f64"): _function("tl.exp2"),
    ("erf", "f32"): _erf_f32,
    ("erf", "f64"): _function("tl.erf"),
    ("erfc", "f32"): _prelude("_erfc_f32"),
    ("erfc", "f64"): _function("libdevice.erfc"),
    ("log", "*"): _function("tl.log"),
    ("log2", "*"): _function("tl.log2"),
    ("log1p", "f32"): _prelude("_log1p_f32"),
    ("log1p", "f64"): _function("libdevice.log1p"),
    ("rsqrt", "f32"): _prelude("_rsqrt_f32"),
    ("rsqrt", "f64"): _function("tl.rsqrt"),
    ("sigmoid", "f32"): _sigmoid_f32,
    ("sigmoid", "f64"): _prelude("_sigmoid_f64"),
    ("tanh", "f32"): _prelude("_tanh_f32"),
    ("tanh", "f64"): _function("libdevice.tanh"),
    ("asin", "f32"): _prelude("_asin_f32"),
    ("asin", "f64"): _function("libdevice.asin"),
    ("lgamma", "f32"): _prelude("_lgamma_f32"),
    ("lgamma", "f64"): _function("libdevice.lgamma"),
    ("i0", "*"): _function("libdevice.cyl_bessel_i0"),
    ("pow", "f32"): _prelude("_pow_f32"),
    ("pow", "f64"): _function("libdevice.pow"),
    ("sin", "f32"): _prelude("_sin_f32"),
    ("sin", "f64"): _function("tl.sin"),
    ("cos", "*"): _function("tl.cos"),
}


def native_functions() -> frozenset[str]:
    """Pointwise functions that have a spelling for every dtype they take."""
    floats = {fn for fn, _ in _FLOAT}
    complete = {f for f in floats if (f, "*") in _FLOAT or {(f, "f32"), (f, "f64")} <= _FLOAT.keys()}
    return frozenset(complete | _INTEGER.keys() | _BOOL.keys() | _ANY.keys())


def zero(dtype: DType) -> Value:
    """The literal zero of ``dtype``."""
    return literal(0, dtype)
