"""The pointwise functions and casts on whole arrays (language, Values and Numbers)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.reference.logical import special
from intent.reference.logical.fma import fma
from intent.reference.logical.machine import Machine
from intent.reference.logical.rounding import convert, narrow, widen
from intent.types import DType

Array = NDArray[Any]
Function = Callable[..., Any]


def pointwise(machine: Machine, op: kir.Pointwise) -> None:
    """Apply ``op.fn`` to its operands."""
    arrays = [machine[v] for v in op.operands]
    dtype = op.operands[-1].dtype
    machine[op.result] = apply(op.fn, dtype, *arrays)


def apply(fn: str, dtype: DType, *arrays: Array) -> Array:
    """``fn`` of arrays of ``dtype`` (``select``: of a bool array and two of ``dtype``), rounded once."""
    if fn == "select":
        return np.asarray(np.where(*arrays))
    if fn == "fma":
        return fma(dtype, *arrays)
    if dtype.kind == "bool":
        return np.asarray(BOOL[fn](*arrays))
    if not dtype.is_float:
        return np.asarray(INTEGER[fn](*arrays))
    if fn in FLOAT_TO_BOOL:
        return np.asarray(FLOAT_TO_BOOL[fn](*(widen(a, dtype) for a in arrays)))
    if fn in EXACT:
        wide = np.asarray(EXACT[fn](*(widen(a, dtype) for a in arrays)))
        return wide if dtype.bits >= 32 else narrow(wide, dtype)
    double = np.asarray(MATH[fn](*(widen(a, dtype).astype(np.float64) for a in arrays)))
    if dtype.name == "f64":
        return double
    # f16, bf16 and f8 compute in f32 and round once more (language, Numbers).
    return narrow(double.astype(np.float32), dtype)


def cast(machine: Machine, op: kir.Cast) -> None:
    """Numeric conversion."""
    machine[op.result] = convert(machine[op.value], op.value.dtype, op.result.dtype)


def bitcast(machine: Machine, op: kir.Bitcast) -> None:
    """The same bits as another dtype."""
    machine[op.result] = (
        np.ascontiguousarray(machine[op.value]).view(op.result.dtype.numpy).reshape(machine[op.value].shape)
    )


COMPARE: Final[dict[str, Function]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}

BOOL: Final[dict[str, Function]] = {
    "not": np.logical_not,
    "invert": np.logical_not,
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
    "eq": np.equal,
    "ne": np.not_equal,
}

INTEGER: Final[dict[str, Function]] = {
    **COMPARE,
    "neg": np.negative,
    "abs": np.abs,
    "invert": np.invert,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "shl": np.left_shift,
    "shr": np.right_shift,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}

FLOAT_TO_BOOL: Final[dict[str, Function]] = {**COMPARE, "isnan": np.isnan, "isinf": np.isinf}

# Correctly rounded in f32 already, and f32 has twice the digits of the narrow formats plus two, so that
# rounding its result again equals rounding once.
EXACT: Final[dict[str, Function]] = {
    "neg": np.negative,
    "abs": np.abs,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.true_divide,
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

MATH: Final[dict[str, Function]] = {
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
    "rsqrt": special.rsqrt,
    "sigmoid": special.sigmoid,
    "erf": special.erf,
    "erfc": special.erfc,
    "lgamma": special.lgamma,
    "i0": special.i0,
}
