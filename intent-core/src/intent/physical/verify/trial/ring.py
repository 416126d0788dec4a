"""Exact arithmetic in place of floating point, in which every legal order of evaluation gives the same number.

Floats are elements of the ring Z/2**64 with an exponential: sums and products wrap, so they may be taken in any
order; ``exp2(x)`` is 5**x, so ``exp2(a + b) == exp2(a) * exp2(b)``; maxima are those of the 64-bit integers.
Division, square roots and the like are scrambled, each by a function of its own. Softmax in one pass or two,
sums by lanes or by loops, a factor inside or outside of a contraction: all are equal here, exactly. A coordinate,
a mask, an operand or an operation that is another one gives another number, but for one case in 2**60.

Integers, indices and booleans are computed as they are.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from intent.types import DType
from intent.types.dtypes import BOOL, F8E4M3FN, F32, INDEX

__all__ = ["MINUS_INFINITY", "PLUS_INFINITY", "Array", "Ring", "fingerprint", "scramble", "storage"]

Array = NDArray[Any]

MINUS_INFINITY: Final = np.int64(-(2**63))
PLUS_INFINITY: Final = np.int64(2**63 - 1)
_LARGEST_F8: Final = 448.0
"""The end of a format without infinities stands for one."""
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)


def storage(dtype: DType) -> np.dtype[Any]:
    """How values of a dtype are stored: floats as int64 numbers of the ring, everything else as itself."""
    return np.dtype(np.int64) if dtype.is_float else dtype.numpy


def scramble(x: Array | np.int64, tag: int) -> Array:
    """A fixed pseudo-random permutation of int64, another one for every tag (the finaliser of splitmix64)."""
    z = np.asarray(x, np.int64).view(np.uint64) + np.uint64(tag * 0x9E3779B97F4A7C15 % 2**64)
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return (z ^ (z >> np.uint64(31))).view(np.int64)


def fingerprint(text: str) -> int:
    """A small number that stands for a text, the same in every process."""
    return int.from_bytes(hashlib.blake2s(text.encode(), digest_size=5).digest(), "little")


def _powers() -> tuple[Array, ...]:
    """``tables[j][b] == 5 ** (b << 8*j)`` modulo 2**64."""
    tables = []
    for j in range(8):
        base = pow(5, 1 << (8 * j), 1 << 64)
        row = np.empty(256, np.uint64)
        value = 1
        for b in range(256):
            row[b] = value
            value = value * base % (1 << 64)
        tables.append(row)
    return tuple(tables)


_POWERS: list[tuple[Array, ...]] = []


def _power(x: Array) -> Array:
    """``5 ** x`` modulo 2**64."""
    if not _POWERS:
        _POWERS.append(_powers())
    tables = _POWERS[0]
    z = np.ascontiguousarray(x, np.int64)
    digits = z.reshape((*z.shape, 1)).view(np.uint8)
    result = tables[0][digits[..., 0]]
    for j in range(1, 8):
        result *= tables[j][digits[..., j]]
    return np.asarray(result.view(np.int64)).reshape(np.shape(x))


_COMPARE: Final[dict[str, Callable[[Any, Any], Array]]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip
_BITS: Final[dict[str, Callable[[Any, Any], Array]]] = {
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip


def _by_one_for_zero(divide: Callable[[Any, Any], Array]) -> Callable[[Any, Any], Array]:
    """Random divisors are zero where a call's may not be; any number does, if kernel and program take the same."""
    return lambda a, b: divide(a, np.where(np.equal(b, 0), np.ones_like(b), b))


_INTEGER: Final[dict[str, Callable[[Any, Any], Array]]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
    "floordiv": _by_one_for_zero(np.floor_divide), "mod": _by_one_for_zero(np.remainder),
}  # fmt: skip


class Ring:
    """The pointwise functions, casts and constants. ``infinite``: infinities occur, so they are looked for."""

    def __init__(self, *, infinite: bool) -> None:
        self.infinite = infinite

    def constant(self, value: bool | int | float, dtype: DType) -> Array:
        """A literal: whole numbers are themselves, infinities the ends of int64, other numbers scrambled."""
        if not dtype.is_float:
            return np.asarray(value, storage(dtype))
        if math.isinf(value) or (dtype is F8E4M3FN and abs(value) == _LARGEST_F8):
            return np.asarray(PLUS_INFINITY if value > 0 else MINUS_INFINITY)
        if math.isnan(value):
            return np.asarray(np.int64(fingerprint("nan")))
        if float(value).is_integer() and abs(value) < 2**31:
            return np.asarray(np.int64(int(value)))
        size = fingerprint(f"{abs(float(np.float32(value))):.6g}") | 1
        return np.asarray(np.int64(size if value > 0 else -size))

    def pointwise(self, fn: str, dtype: DType, v: tuple[Array, ...]) -> Array:
        """``fn`` of operands of ``dtype`` (of a select, that of its choices)."""
        if fn == "select":
            return np.where(v[0], v[1], v[2])
        if fn in _COMPARE:
            return _COMPARE[fn](v[0], v[1])
        if dtype is BOOL:
            return np.logical_not(v[0]) if fn in ("not", "invert") else _BITS[fn](v[0], v[1])
        return self._float(fn, v) if dtype.is_float else self._whole(fn, dtype, v)

    def _whole(self, fn: str, dtype: DType, v: tuple[Array, ...]) -> Array:
        if fn in _INTEGER:
            return np.asarray(_INTEGER[fn](v[0], v[1]))
        if fn in _BITS:
            return _BITS[fn](v[0], v[1])
        if fn in ("shl", "shr"):
            amount = v[1] & np.asarray(dtype.bits - 1, storage(dtype))
            return np.asarray(np.left_shift(v[0], amount) if fn == "shl" else np.right_shift(v[0], amount))
        return np.asarray({"neg": np.negative, "abs": np.abs, "invert": np.invert}[fn](v[0]))

    def _float(self, fn: str, v: tuple[Array, ...]) -> Array:
        match fn:
            case "add":
                return self.add(v[0], v[1])
            case "sub":
                return self.add(v[0], self._negative(v[1]))
            case "mul":
                return self.mul(v[0], v[1])
            case "fma":
                return self.add(self.mul(v[0], v[1]), v[2])
            case "neg":
                return self._negative(v[0])
            case "div":
                return self.mul(v[0], scramble(v[1], fingerprint("div")) | np.int64(1))
            case "maximum" | "maximum_num":
                return np.maximum(v[0], v[1])
            case "minimum" | "minimum_num":
                return np.minimum(v[0], v[1])
            case "abs":
                return np.maximum(v[0], self._negative(v[0]))
            case "exp2":
                return self.exp2(v[0])
            case "exp":
                return self.exp2(self.mul(v[0], self.constant(math.log2(math.e), F32)))
            case "isnan":
                return np.zeros(np.shape(v[0]), np.bool_)
            case "isinf":
                return np.asarray((v[0] == MINUS_INFINITY) | (v[0] == PLUS_INFINITY))
        result = scramble(v[0], fingerprint(fn))
        return result if len(v) == 1 else scramble(result + v[1], fingerprint(fn))

    def add(self, a: Array, b: Array) -> Array:
        """The sum; an infinity stays one."""
        total = np.add(a, b)
        if self.infinite:
            for end in (PLUS_INFINITY, MINUS_INFINITY):
                total = np.where((a == end) | (b == end), end, total)
        return np.asarray(total)

    def _negative(self, a: Array) -> Array:
        flipped = np.negative(a)
        if self.infinite:
            flipped = np.where(a == MINUS_INFINITY, PLUS_INFINITY, flipped)
            flipped = np.where(a == PLUS_INFINITY, MINUS_INFINITY, flipped)
        return np.asarray(flipped)

    def mul(self, a: Array, b: Array) -> Array:
        """The product; an infinity stays one of the product's sign, times zero is zero."""
        product = np.multiply(a, b)
        if self.infinite:
            for x, y in ((a, b), (b, a)):
                ends = (x == MINUS_INFINITY) | (x == PLUS_INFINITY)
                if np.any(ends):
                    signed = np.where((x > 0) == (y > 0), PLUS_INFINITY, MINUS_INFINITY)
                    product = np.where(ends, np.where(y == 0, np.int64(0), signed), product)
        return np.asarray(product)

    def exp2(self, x: Array) -> Array:
        """``5 ** x``; of minus infinity it is zero."""
        result = _power(x)
        if self.infinite:
            result = np.where(x == MINUS_INFINITY, np.int64(0), result)
            result = np.where(x == PLUS_INFINITY, PLUS_INFINITY, result)
        return result

    def cast(self, x: Array, source: DType, target: DType) -> Array:
        """Widening keeps the number; narrowing multiplies it, so that it may be taken before or after a product.

        Zero stays zero whatever the types. A float becomes a whole number so small that it may be an index.
        """
        if source is target:
            return x
        if source.is_float and target.is_float:
            if target.bits >= source.bits:
                return x
            return self.mul(x, np.asarray(np.int64(fingerprint(f"{source} as {target}") | 1)))
        if target is BOOL:
            return np.not_equal(x, 0)
        if source.is_float:
            tag = fingerprint(f"whole {target}")
            return ((scramble(x, tag) ^ scramble(np.int64(0), tag)) & np.int64(3)).astype(storage(target))
        return np.asarray(x).astype(storage(target))

    def bitcast(self, x: Array, source: DType, target: DType) -> Array:
        """The bits of integers are theirs; those of floats are scrambled numbers, and back the same way."""
        if not source.is_float and not target.is_float:
            return np.asarray(x).view(storage(target)) if target is not BOOL else np.not_equal(x, 0)
        if source.is_float and target.is_float:
            return x if source is target else scramble(x, fingerprint(f"{source} bits {target}"))
        key = fingerprint("bits")
        if source.is_float:
            return scramble(x, key).astype(storage(target))
        return scramble(np.asarray(x).astype(np.int64), key + 1)

    def opaque(self, parts: tuple[Array, ...], tag: int, dtype: DType) -> Array:
        """Some value that depends on ``parts`` and on nothing else, such as what an atomic found."""
        total = np.asarray(np.int64(tag))
        for k, part in enumerate(parts):
            total = scramble(total + np.asarray(part).astype(np.int64), k + 1)
        if dtype is BOOL:
            return np.asarray((total & 1) != 0)
        return total if dtype.is_float or dtype is INDEX else total.astype(storage(dtype))
