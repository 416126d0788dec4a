"""Elementwise operations of the emulated IR on numpy arrays."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from intent_provider_triton.emulate.values import Array, Handle, Type, round_to, signed, unsigned, widened

Operation = Callable[..., Handle]
BOOL: Final = Type("i1")


def _result(like: Handle, data: Any) -> Handle:
    array = np.asarray(data)
    return Handle(array if array.dtype == like.data.dtype else array.astype(like.data.dtype), like.type)


def _float(fn: Callable[..., Any]) -> Operation:
    """Narrow floats are computed in f32 and rounded once; f32 through f64, so that numpy's own error is none."""

    def apply(*operands: Handle) -> Handle:
        kind = operands[0].data.dtype
        wide = [widened(o.data) for o in operands]
        if kind == np.float32:
            wide = [w.astype(np.float64) for w in wide]
        return Handle(round_to(np.asarray(fn(*wide)), operands[0].type), operands[0].type)

    return apply


def _basic(fn: Callable[..., Any]) -> Operation:
    """Correctly rounded by numpy in f32 and f64; narrow floats through f32."""

    def apply(*operands: Handle) -> Handle:
        wide = [widened(o.data) for o in operands]
        return Handle(round_to(np.asarray(fn(*wide)), operands[0].type), operands[0].type)

    return apply


def _integer(fn: Callable[..., Any], view: Callable[[Array], Array] = signed) -> Operation:
    def apply(*operands: Handle) -> Handle:
        like = operands[0]
        data = np.asarray(fn(*(view(o.data) for o in operands)))
        return Handle(data if data.dtype == np.bool_ else data.view(like.data.dtype), like.type)

    return apply


def _compare(fn: Callable[..., Any], view: Callable[[Array], Array] = signed) -> Operation:
    def apply(a: Handle, b: Handle) -> Handle:
        return Handle(np.asarray(fn(view(a.data), view(b.data))), BOOL)

    return apply


def _truncated_quotient(a: Array, b: Array) -> Array:
    safe = np.where(b == 0, 1, b).astype(b.dtype)
    quotient = np.floor_divide(a, safe)
    inexact = (quotient * safe != a) & ((a < 0) != (safe < 0))
    return np.asarray(quotient + inexact.astype(a.dtype))


def _truncated_remainder(a: Array, b: Array) -> Array:
    safe = np.where(b == 0, 1, b).astype(b.dtype)
    return np.asarray(np.fmod(a, safe))


def _masked_shift(fn: Callable[..., Any]) -> Callable[[Array, Array], Array]:
    return lambda a, b: fn(a, (b & (a.dtype.itemsize * 8 - 1)).astype(a.dtype))


def _fma(a: Handle, b: Handle, c: Handle) -> Handle:
    """One rounding: f32 through f64, f64 by error-free transformations."""
    if a.data.dtype != np.float64:
        wide = [o.data.astype(np.float64) for o in (a, b, c)]
        return Handle(round_to(np.asarray(wide[0] * wide[1] + wide[2]), a.type), a.type)
    return Handle(np.asarray(_fma_f64(a.data, b.data, c.data)), a.type)


def _fma_f64(a: Array, b: Array, c: Array) -> Array:
    product = a * b
    total = product + c
    low = _product_error(a, b, product)
    shifted = total - product
    error = (product - (total - shifted)) + (c - shifted)
    exact = total + (error + low)
    return np.where(np.isfinite(exact), exact, total)


def _product_error(a: Array, b: Array, product: Array) -> Array:
    (a1, a0), (b1, b0) = _split(a), _split(b)
    return np.asarray(((a1 * b1 - product) + a1 * b0 + a0 * b1) + a0 * b0)


def _split(x: Array) -> tuple[Array, Array]:
    scaled = x * 134217729.0
    high = scaled - (scaled - x)
    return high, x - high


def _select(condition: Handle, a: Handle, b: Handle) -> Handle:
    return Handle(np.asarray(np.where(condition.data, a.data, b.data)), a.type)


def _bits(fn: Callable[..., Any]) -> Operation:
    return lambda a, b: Handle(np.asarray(fn(a.data, b.data)), a.type)


def _c_lgamma() -> Callable[[float], float]:
    """The C library's: math.lgamma has a series of its own, off by many units where the result is small."""
    function = ctypes.CDLL(None).lgamma
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
    return function


def _i0(x: Array) -> Array:
    """Numpy's series gives NaN where the function overflows."""
    large = np.abs(x) > 713.0
    series = np.i0(np.where(large, 0.0, x))
    return np.asarray(np.where(np.isnan(x), x, np.where(large, np.inf, series)))


_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])
_lgamma = np.vectorize(_c_lgamma(), otypes=[np.float64])


def _umulhi(a: Handle, b: Handle) -> Handle:
    wide = [unsigned(x.data).astype(object) for x in (a, b)]
    bits = a.data.dtype.itemsize * 8
    high = np.asarray((wide[0] * wide[1]) >> bits).astype(f"u{bits // 8}")
    return Handle(high.view(a.data.dtype), a.type)


def integer_to_float(data: Array, target: Type) -> Array:
    """One rounding from the integer."""
    if data.dtype == np.bool_:
        data = data.astype(np.int8)
    if target.numpy.itemsize >= 4:
        return data.astype(target.numpy)
    if data.dtype.itemsize < 8:
        return round_to(data.astype(np.float64), target)
    # 64-bit integers: keep the lost bits as a sticky bit below f64's precision.
    near = data.astype(np.float64)
    low = np.where(np.abs(near) >= 2.0**54, data & 0x3FF, 0).astype(data.dtype)
    sticky = (data - low) | np.where(low != 0, 0x200, 0).astype(data.dtype)
    return round_to(sticky.astype(np.float64), target)


ELEMENTWISE: Final[dict[str, Operation]] = {
    "fadd": _basic(np.add),
    "fsub": _basic(np.subtract),
    "fmul": _basic(np.multiply),
    "fdiv": _basic(np.divide),
    "approx_divf": _basic(np.divide),
    "precise_divf": _basic(np.divide),
    "frem": _basic(np.fmod),
    "fneg": _basic(np.negative),
    "fabs": _basic(np.abs),
    "maximumf": _basic(np.maximum),
    "minimumf": _basic(np.minimum),
    "maxnumf": _basic(np.fmax),
    "minnumf": _basic(np.fmin),
    "floor": _basic(np.floor),
    "ceil": _basic(np.ceil),
    "sqrt": _basic(np.sqrt),
    "precise_sqrt": _basic(np.sqrt),
    "rsqrt": _float(lambda x: 1 / np.sqrt(x)),
    "exp": _float(np.exp),
    "exp2": _float(np.exp2),
    "log": _float(np.log),
    "log2": _float(np.log2),
    "sin": _float(np.sin),
    "cos": _float(np.cos),
    "erf": _float(_erf),
    "fma": _fma,
    "add": _integer(np.add),
    "sub": _integer(np.subtract),
    "mul": _integer(np.multiply),
    "sdiv": _integer(_truncated_quotient),
    "udiv": _integer(_truncated_quotient, unsigned),
    "srem": _integer(_truncated_remainder),
    "urem": _integer(_truncated_remainder, unsigned),
    "shl": _integer(_masked_shift(np.left_shift)),
    "ashr": _integer(_masked_shift(np.right_shift)),
    "lshr": _integer(_masked_shift(np.right_shift), unsigned),
    "iabs": _integer(np.abs),
    "maxsi": _integer(np.maximum),
    "minsi": _integer(np.minimum),
    "maxui": _integer(np.maximum, unsigned),
    "minui": _integer(np.minimum, unsigned),
    "umulhi": _umulhi,
    "and": _bits(np.bitwise_and),
    "or": _bits(np.bitwise_or),
    "xor": _bits(np.bitwise_xor),
    "select": _select,
    "icmpEQ": _compare(np.equal),
    "icmpNE": _compare(np.not_equal),
    "icmpSLT": _compare(np.less),
    "icmpSLE": _compare(np.less_equal),
    "icmpSGT": _compare(np.greater),
    "icmpSGE": _compare(np.greater_equal),
    "icmpULT": _compare(np.less, unsigned),
    "icmpULE": _compare(np.less_equal, unsigned),
    "icmpUGT": _compare(np.greater, unsigned),
    "icmpUGE": _compare(np.greater_equal, unsigned),
    "fcmpOLT": _compare(np.less, widened),
    "fcmpOLE": _compare(np.less_equal, widened),
    "fcmpOGT": _compare(np.greater, widened),
    "fcmpOGE": _compare(np.greater_equal, widened),
    "fcmpOEQ": _compare(np.equal, widened),
    "fcmpUNE": _compare(np.not_equal, widened),
}
"""Operation name of the builder (without ``create_``) to its meaning."""

LIBDEVICE: Final[dict[str, Operation]] = {
    "tanh": _float(np.tanh),
    "log1p": _float(np.log1p),
    "asin": _float(np.arcsin),
    "erfc": _float(_erfc),
    "lgamma": _float(_lgamma),
    "cyl_bessel_i0": _float(_i0),
    "pow": _float(np.power),
}
"""Functions of libdevice that emitted text calls."""

RMW: Final[dict[str, Callable[[Array, Array], Any]]] = {
    "ADD": np.add,
    "FADD": np.add,
    "MAX": lambda a, b: np.maximum(signed(a), signed(np.asarray(b))),
    "MIN": lambda a, b: np.minimum(signed(a), signed(np.asarray(b))),
    "UMAX": lambda a, b: signed(np.maximum(unsigned(a), unsigned(np.asarray(b)))),
    "UMIN": lambda a, b: signed(np.minimum(unsigned(a), unsigned(np.asarray(b)))),
    "AND": np.bitwise_and,
    "OR": np.bitwise_or,
    "XOR": np.bitwise_xor,
    "XCHG": lambda _a, b: b,
}
"""Read-modify-write operations by Triton's name."""
