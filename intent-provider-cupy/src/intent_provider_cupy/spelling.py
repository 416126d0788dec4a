"""How each pointwise function with this language's meaning is written in C++.

C++ differs from the language in many places: ``/`` and ``%`` truncate, signed overflow and shifts out of range are
undefined, ``fmax`` drops NaN, 8- and 16-bit integers are computed as int, and the narrow floats have no arithmetic of
their own here. Every entry below says the language's meaning instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from intent.diagnostics import CapabilityError
from intent.provider.emission import Width
from intent.types import DType
from intent.types.dtypes import BOOL, F32
from intent_provider_cupy.casts import cast
from intent_provider_cupy.emit.literals import c_type, number_of, type_of, typed
from intent_provider_cupy.emit.value import Prec, Value

PROVIDER: Final = "cupy"

_INTEGERS: Final = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
_NUMBERS: Final = (*_INTEGERS, "f16", "bf16", "f32", "f64")
ATOMICS: Final = frozenset(
    {(kind, dtype) for kind in ("and", "or", "xor") for dtype in _INTEGERS}
    | {
        (kind, dtype)
        for kind in ("add", "max", "min", "exchange", "load", "store", "compare_exchange")
        for dtype in _NUMBERS
    }
)
"""The atomic accesses that the prelude has, by kind and element type."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One pointwise operation to spell.

    ``dtype`` is the operands' dtype (of the branches for select); ``width`` the integer type of an index result.
    ``non_negative``: every operand is proven >= 0. ``bounded``: the result of an index operation is proven to fit.
    """

    fn: str
    args: tuple[Value, ...]
    dtype: DType
    width: Width = Width.LONG
    approximate: bool = False
    flush_to_zero: bool = False
    non_negative: bool = False
    bounded: bool = False

    @property
    def type(self) -> str:
        """C++ type that the operation computes in."""
        return c_type(self.dtype, self.width)


def spell(call: Call) -> Value:
    """The call as text; dims, width and refs of the result are the caller's business.

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


def _float(call: Call) -> Value:
    """Floats narrower than f32 are computed in f32 and rounded once (spec: numbers)."""
    if call.dtype.bits < 32:
        wide = replace(call, args=tuple(cast(a, F32) for a in call.args), dtype=F32)
        result = _float(wide)
        return result if result.dtype is BOOL else cast(result, call.dtype)
    entry = _FLOAT.get((call.fn, call.dtype.name)) or _FLOAT.get((call.fn, "*"))
    if entry is None:
        raise CapabilityError(PROVIDER, capability=f"{call.fn} of {call.dtype}", needed=call.fn)
    return entry(call)


# ---------------------------------------------------------------------------------------------- building blocks

Entry = Callable[[Call], Value]


def _infix(symbol: str, prec: Prec, result: DType | None = None) -> Entry:
    """An infix operator that means the same in C++."""

    def write(call: Call) -> Value:
        a, b = call.args
        text = f"{a.at(prec)} {symbol} {b.at(_tighter(prec))}"
        return Value(text=text, prec=prec, dtype=result or call.dtype)

    return write


_ORDER: Final = sorted(Prec)


def _tighter(prec: Prec) -> Prec:
    return _ORDER[_ORDER.index(prec) + 1]


def _compare(symbol: str, prec: Prec) -> Entry:
    def write(call: Call) -> Value:
        a, b = call.args
        side = Prec.SHIFT  # readers should not have to know how comparisons bind among themselves
        return Value(text=f"{a.at(side)} {symbol} {b.at(side)}", prec=prec, dtype=BOOL)

    return write


def _function(name: str, result: DType | None = None) -> Entry:
    """A function of values of the operands' own type."""

    def write(call: Call) -> Value:
        text = f"{name}({', '.join(a.text for a in call.args)})"
        return Value(text=text, prec=Prec.ATOM, dtype=result or call.dtype)

    return write


def _template(name: str) -> Entry:
    """A function template of one type, named so that literals and narrower indices convert to it."""

    def write(call: Call) -> Value:
        text = f"{name}<{call.type}>({', '.join(a.text for a in call.args)})"
        return Value(text=text, prec=Prec.ATOM, dtype=call.dtype)

    return write


def _sized(name_f32: str, name_f64: str) -> dict[str, Entry]:
    return {"f32": _function(name_f32), "f64": _function(name_f64)}


# ------------------------------------------------------------------------------------------------------ entries


def _select(call: Call) -> Value:
    condition, a, b = call.args
    if call.dtype.bits < 32 and call.dtype.kind != "bool":
        a, b = typed(a), typed(b)
    if call.dtype.kind == "index" and type_of(a) != type_of(b):
        a, b = (v if v.literal or type_of(v) == call.type else _converted(v, call.type) for v in (a, b))
    text = f"{condition.at(Prec.OR_ELSE)} ? {a.at(Prec.OR_ELSE)} : {b.at(Prec.OR_ELSE)}"
    return Value(text=text, prec=Prec.TERNARY, dtype=call.dtype)


def _converted(value: Value, type_: str) -> Value:
    return replace(value, text=f"({type_}){value.atom}", prec=Prec.UNARY)


def _wrapping(name: str, symbol: str, prec: Prec) -> Entry:
    """Arithmetic that wraps: unsigned words do in C++, bounded indices need not, all others go through unsigned."""
    plain, wrapped = _infix(symbol, prec), _template(name)

    def write(call: Call) -> Value:
        direct = call.dtype.name in ("u32", "u64") or call.bounded
        return (plain if direct else wrapped)(call)

    return write


def _bitwise(symbol: str, prec: Prec) -> Entry:
    """Operators on bits; C++ computes 8- and 16-bit values as int."""
    plain = _infix(symbol, prec)

    def write(call: Call) -> Value:
        value = plain(call)
        return _converted(value, call.type) if call.dtype.bits < 32 else value

    return write


def _invert(call: Call) -> Value:
    (a,) = call.args
    value = Value(text=f"~{typed(a).at(Prec.UNARY)}", prec=Prec.UNARY, dtype=call.dtype)
    return _converted(value, call.type) if call.dtype.bits < 32 else value


def _power_of_two(value: Value) -> int | None:
    """K for the literal 2**k."""
    number = number_of(value) if value.literal else 0
    return number.bit_length() - 1 if number > 0 and number & (number - 1) == 0 else None


def _floordiv(call: Call) -> Value:
    a, b = call.args
    if (k := _power_of_two(b)) is not None and call.dtype.bits >= 32 and not a.literal:
        if not call.dtype.is_signed or call.non_negative:
            return _infix("/", Prec.PRODUCT)(call)
        return Value(text=f"{a.at(Prec.SHIFT)} >> {k}", prec=Prec.SHIFT, dtype=call.dtype)
    if call.dtype.kind == "index" and call.non_negative:
        return _infix("/", Prec.PRODUCT)(call)
    return _template("it_floor_div")(call)


def _mod(call: Call) -> Value:
    a, b = call.args
    if (k := _power_of_two(b)) is not None and call.dtype.bits >= 32 and not a.literal:
        if not call.dtype.is_signed or call.non_negative:
            return _infix("%", Prec.PRODUCT)(call)
        return Value(text=f"{a.at(Prec.BITAND)} & {(1 << k) - 1}", prec=Prec.BITAND, dtype=call.dtype)
    if call.dtype.kind == "index" and call.non_negative:
        return _infix("%", Prec.PRODUCT)(call)
    return _template("it_floor_mod")(call)


def _isinf(call: Call) -> Value:
    name, inf = ("fabs", "double") if call.dtype.bits == 64 else ("fabsf", "float")
    text = f"{name}({call.args[0].text}) == it_inf<{inf}>()"
    return Value(text=text, prec=Prec.EQUAL, dtype=BOOL)


def _negated(call: Call) -> Value:
    (a,) = call.args
    text = a.at(Prec.ATOM) if a.text.startswith("-") else a.at(Prec.UNARY)
    return Value(text=f"-{text}", prec=Prec.UNARY, dtype=call.dtype)


def _not(call: Call) -> Value:
    return Value(text=f"!{call.args[0].at(Prec.UNARY)}", prec=Prec.UNARY, dtype=BOOL)


def _div_f32(call: Call) -> Value:
    if call.approximate or call.flush_to_zero:
        return _function("it_div_fast")(call)
    return _infix("/", Prec.PRODUCT)(call)


def _exp2_f32(call: Call) -> Value:
    fast = call.approximate and call.flush_to_zero
    return _function("it_exp2_fast" if fast else "exp2f")(call)


def _exp_f32(call: Call) -> Value:
    return _function("it_exp_fast" if call.approximate else "expf")(call)


def _sigmoid_f32(call: Call) -> Value:
    return _function("it_sigmoid_fast" if call.approximate else "it_sigmoid")(call)


def _tanh_f32(call: Call) -> Value:
    return _function("it_tanh_fast" if call.approximate else "tanhf")(call)


def _fused(call: Call) -> Value:
    return _function("fma" if call.dtype.bits == 64 else "fmaf")(call)


_RELATIONS: Final[dict[str, Entry]] = {
    "eq": _compare("==", Prec.EQUAL),
    "ne": _compare("!=", Prec.EQUAL),
    "lt": _compare("<", Prec.COMPARE),
    "le": _compare("<=", Prec.COMPARE),
    "gt": _compare(">", Prec.COMPARE),
    "ge": _compare(">=", Prec.COMPARE),
}

_BOOL: Final[dict[str, Entry]] = {
    **_RELATIONS,
    "and": _infix("&&", Prec.AND_ALSO),
    "or": _infix("||", Prec.OR_ELSE),
    "xor": _compare("!=", Prec.EQUAL),
    "not": _not,
    "invert": _not,
}

_INTEGER: Final[dict[str, Entry]] = {
    **_RELATIONS,
    "add": _wrapping("it_add", "+", Prec.SUM),
    "sub": _wrapping("it_sub", "-", Prec.SUM),
    "mul": _wrapping("it_mul", "*", Prec.PRODUCT),
    "neg": _template("it_neg"),
    "abs": _template("it_abs"),
    "maximum": _template("it_max"),
    "minimum": _template("it_min"),
    "and": _bitwise("&", Prec.BITAND),
    "or": _bitwise("|", Prec.BITOR),
    "xor": _bitwise("^", Prec.BITXOR),
    "invert": _invert,
    "floordiv": _floordiv,
    "mod": _mod,
    "shl": _template("it_shl"),
    "shr": _template("it_shr"),
}

_PAIRS: Final = {
    "abs": ("fabsf", "fabs"), "floor": ("floorf", "floor"), "ceil": ("ceilf", "ceil"), "trunc": ("truncf", "trunc"),
    "round": ("rintf", "rint"), "sqrt": ("sqrtf", "sqrt"), "exp": ("expf", "exp"), "log": ("logf", "log"),
    "log2": ("log2f", "log2"), "log1p": ("log1pf", "log1p"), "sin": ("sinf", "sin"), "cos": ("cosf", "cos"),
    "erf": ("erff", "erf"), "erfc": ("erfcf", "erfc"), "maximum_num": ("fmaxf", "fmax"),
    "minimum_num": ("fminf", "fmin"), "rsqrt": ("it_rsqrt", "it_rsqrt"), "sigmoid": ("it_sigmoid", "it_sigmoid"),
    "i0": ("it_i0", "it_i0"), "lgamma": ("it_lgamma", "it_lgamma"), "pow": ("it_pow", "it_pow"),
    "asin": ("it_asin", "it_asin"), "maximum": ("it_max", "it_max"), "minimum": ("it_min", "it_min"),
}  # fmt: skip
"""Functions whose only difference is the type: of float, of double."""

_FLOAT: Final[dict[tuple[str, str], Entry]] = {
    **{(fn, "*"): entry for fn, entry in _RELATIONS.items()},
    **{(fn, size): entry for fn, pair in _PAIRS.items() for size, entry in _sized(*pair).items()},
    ("add", "*"): _infix("+", Prec.SUM),
    ("sub", "*"): _infix("-", Prec.SUM),
    ("mul", "*"): _infix("*", Prec.PRODUCT),
    ("neg", "*"): _negated,
    ("isnan", "*"): _function("it_isnan", BOOL),
    ("isinf", "*"): _isinf,
    ("fma", "*"): _fused,
    ("div", "f32"): _div_f32,
    ("div", "f64"): _infix("/", Prec.PRODUCT),
    ("exp", "f32"): _exp_f32,
    ("exp2", "f32"): _exp2_f32,
    ("exp2", "f64"): _function("exp2"),
    ("sigmoid", "f32"): _sigmoid_f32,
    ("tanh", "f32"): _tanh_f32,
    ("tanh", "f64"): _function("tanh"),
}


def native_functions() -> frozenset[str]:
    """Pointwise functions that have a spelling for every dtype they take."""
    floats = {fn for fn, _ in _FLOAT}
    complete = {f for f in floats if (f, "*") in _FLOAT or {(f, "f32"), (f, "f64")} <= _FLOAT.keys()}
    return frozenset(complete | _INTEGER.keys() | _BOOL.keys() | {"select"})
