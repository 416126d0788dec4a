"""The pointwise functions on arrays of fragments (language, Values and Numbers)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent.diagnostics import CompilerFault
from intent.reference.physical import special
from intent.reference.physical.conversion import as_compute, from_double
from intent.types import DType

Array = NDArray[Any]


def compute(fn: str, dtype: DType, operands: list[Array]) -> Array:
    """``fn`` of operands of ``dtype`` (the last operand's), which broadcast against each other."""
    if fn == "select":
        return np.where(operands[0], operands[1], operands[2])
    if fn in RELATIONS:
        return np.asarray(RELATIONS[fn](*operands))
    if not dtype.is_float:
        return _integral(fn, dtype, operands)
    wide = operands if dtype.bits >= 32 else [as_compute(x, dtype) for x in operands]
    if fn in DIRECT:
        return from_double(DIRECT[fn](*wide), dtype)
    if fn in ("isnan", "isinf"):
        return np.asarray(np.isnan(wide[0]) if fn == "isnan" else np.isinf(wide[0]))
    if fn == "fma":
        return _fma(dtype, *wide)
    double = _transcendental(fn, dtype, [x.astype(np.float64) for x in wide])
    return from_double(double if dtype.bits >= 32 else double.astype(np.float32), dtype)


def _integral(fn: str, dtype: DType, operands: list[Array]) -> Array:
    if dtype.kind == "bool":
        fn = {"not": "invert"}.get(fn, fn)
    if fn not in INTEGRAL:
        raise CompilerFault(f"no evaluation of {fn} on {dtype}", stage="program evaluation")
    return np.asarray(INTEGRAL[fn](*operands))


def _modulo(a: Array, b: Array) -> Array:
    """What floor division leaves: it has the divisor's sign."""
    return np.asarray(a - a // b * b)


def _transcendental(fn: str, dtype: DType, x: list[Array]) -> Array:
    if fn in ("erf", "erfc"):
        single = special.erf_single if fn == "erf" else special.erfc_single
        double = special.erf_double if fn == "erf" else special.erfc_double
        return np.asarray((double if dtype.bits == 64 else single)(x[0]))
    if fn not in TRANSCENDENTAL:
        raise CompilerFault(f"no evaluation of {fn} on {dtype}", stage="program evaluation")
    return np.asarray(TRANSCENDENTAL[fn](*x))


def _sigmoid(x: Array) -> Array:
    # tanh needs no case distinction, but loses relative accuracy for very negative arguments.
    return np.where(x < -1.0, np.exp(x) / (1.0 + np.exp(np.minimum(x, 0.0))), 1.0 / (1.0 + np.exp(-x)))


def _fma(dtype: DType, a: Array, b: Array, c: Array) -> Array:
    if dtype.name == "f64":
        return _fma_double(a, b, c)
    x, y = (v.astype(np.float64) for v in (a, b))
    product = x * y
    total = product + c
    part = total - product
    error = (product - (total - part)) + (c - part)
    # Rounding to odd: an inexact sum never looks like a tie to the final rounding.
    bits = total.view(np.int64)
    inexact = np.isfinite(error) & (error != 0) & (bits & 1 == 0)
    towards = np.where((error > 0) == (total > 0), 1, -1)
    odd = np.where(inexact, bits + towards, bits).view(np.float64)
    return from_double(odd, dtype)


def _fma_double(a: Array, b: Array, c: Array) -> Array:
    """The product and the sum each as two doubles; one rounding but for rare near-ties."""
    product = a * b
    a_high, b_high = (v * 134217729.0 - (v * 134217729.0 - v) for v in (a, b))
    a_low, b_low = a - a_high, b - b_high
    low = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    total = product + c
    part = total - product
    error = (product - (total - part)) + (c - part)
    precise = total + (error + low)
    return np.where(np.isfinite(precise), precise, total)


RELATIONS: dict[str, Callable[..., Any]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}

INTEGRAL: dict[str, Callable[..., Any]] = {
    "neg": lambda a: ~a + a.dtype.type(1),
    "abs": lambda a: np.where(a < 0, -a, a),
    "invert": lambda a: ~a,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "maximum": lambda a, b: np.where(a < b, b, a),
    "minimum": lambda a, b: np.where(b < a, b, a),
    "floordiv": lambda a, b: a // b,
    "mod": _modulo,
    "shl": lambda a, b: a << b,
    "shr": lambda a, b: a >> b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}

# Correctly rounded in f32 and f64; in f32 with digits to spare for the narrow formats.
DIRECT: dict[str, Callable[..., Any]] = {
    "neg": lambda a: -a,
    "abs": np.abs,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "sqrt": np.sqrt,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "maximum_num": np.fmax,
    "minimum_num": np.fmin,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "trunc": np.trunc,
}

TRANSCENDENTAL: dict[str, Callable[..., Any]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "asin": np.arcsin,
    "tanh": np.tanh,
    "pow": np.power,
    "rsqrt": lambda a: 1.0 / np.sqrt(a),
    "sigmoid": _sigmoid,
    "lgamma": special.lgamma,
    "i0": special.i0,
}
