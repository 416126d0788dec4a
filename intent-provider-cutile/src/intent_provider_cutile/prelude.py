"""Functions that the emitted text brings along when it uses them.

Each is ordinary cuTile, so that the compiler and the stand-in both run it; ``x`` and the like are tiles of any shape.
Nothing here relies on a product and a sum being rounded apart, because the compiler may contract them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

F64 = """
def _f64(value, bits):
    # The compiler rounds float literals to f32; these bits are the f64 nearest to value.
    return ct.bitcast(ct.int64(bits), ct.float64)
"""

RSQRT_F64 = """
def _rsqrt_f64(x):
    return 1.0 / ct.sqrt(x)
"""

EXP_FAST_F32 = """
def _exp_fast_f32(x):
    # For what is only rounded to 16 bits: off by 2**-17 at most. The square is subnormal where ct.exp2 is flushed.
    half = ct.exp2(x * 0.72134752044448170368, flush_to_zero=True)
    return half * half
"""

POW = """
def _pow(x, y):
    return ct.pow(x, y)
"""

TO_F32_ODD = """
def _to_f32_odd(x):
    # f64 to f32, inexact results forced to an odd last bit: a second, shorter rounding then decides alone.
    r = ct.astype(x, ct.float32)
    back = ct.astype(r, ct.float64)
    bits = ct.bitcast(r, ct.int32)
    away = ct.abs(back) > ct.abs(x)
    fix = (back != x) & ((bits & 1) == 0) & (x == x)
    return ct.bitcast(ct.where(fix, ct.where(away, bits - 1, bits + 1), bits), ct.float32)
"""

INT_TO_F32_ODD = """
def _int_to_f32_odd(x):
    # Integer to f32, inexact results forced to an odd last bit: a second, shorter rounding then decides alone.
    r = ct.astype(x, ct.float32)
    bits = ct.bitcast(r, ct.int32)
    # The largest floats are no integers of this type any more: they were rounded up.
    top = ct.abs(r) >= 9.2e18
    back = ct.astype(ct.where(top, 0.0, r), x.dtype)
    away = ct.where(x < 0, back < x, back > x) | top
    fix = ((back != x) | top) & ((bits & 1) == 0)
    return ct.bitcast(ct.where(fix, ct.where(away, bits - 1, bits + 1), bits), ct.float32)
"""

TO_F8E5M2 = """
def _to_f8e5m2(x):
    # From 61440 on the nearest value is infinity; the conversion itself saturates.
    inf = ct.where(x < 0, ct.uint8(0xFC), 0x7C)
    bits = ct.bitcast(ct.astype(x, ct.float8_e5m2), ct.uint8)
    return ct.bitcast(ct.where(ct.abs(x) >= 61440.0, inf, bits), ct.float8_e5m2)
"""

PRODUCT = """
def _product(a, b):
    return a * b
"""

ADD = """
def _add(a, b):
    return a + b
"""

NAN_MAX = """
def _nan_max(a, b):
    return ct.maximum(a, b, propagate_nan=True)
"""

NAN_MIN = """
def _nan_min(a, b):
    return ct.minimum(a, b, propagate_nan=True)
"""

INT_MAX = """
def _int_max(a, b):
    return ct.maximum(a, b)
"""

INT_MIN = """
def _int_min(a, b):
    return ct.minimum(a, b)
"""

ARG_MAX = """
def _arg_max(a, i, b, j):
    # NaN wins, then the larger value, then the lower position.
    tie = (a == b) | ((a != a) & (b != b))
    first = ((a > b) | ((a != a) & (b == b))) | (tie & (i < j))
    return ct.where(first, a, b), ct.where(first, i, j)
"""

ARG_MIN = """
def _arg_min(a, i, b, j):
    # NaN wins, then the smaller value, then the lower position.
    tie = (a == b) | ((a != a) & (b != b))
    first = ((a < b) | ((a != a) & (b == b))) | (tie & (i < j))
    return ct.where(first, a, b), ct.where(first, i, j)
"""

_ATOMIC_FLOAT = """
def _atomic_{name}_float(memory, offset, value, mask, scope):
    # One compare-and-swap a round for the lanes that still wait; each round serves one lane of every element.
    Bits = ct.int64 if memory.dtype == ct.float64 else ct.int32
    old = memory.load_offset(offset, mask=mask, padding_value=0.0)
    waiting = mask
    while ct.max(ct.astype(waiting, ct.int32)) > 0:
        new = ct.{name}imum(old, value, propagate_nan=True)
        seen = memory.atomic_cas_offset(offset, old, new, mask=waiting, memory_scope=scope)
        same = ct.bitcast(seen, Bits) == ct.bitcast(old, Bits)
        old = ct.where(waiting, seen, old)
        waiting = waiting & ~same
    return old
"""

FLOORDIV_U64 = """
def _floordiv_u64(a, b):
    # Half of a and any b below 2**63 divide as signed integers; one bit is put back.
    large = ct.bitcast(b, ct.int64) < 0
    divisor = ct.where(large, ct.uint64(1), b)
    half = ct.bitcast(a >> 1, ct.int64) // ct.bitcast(divisor, ct.int64)
    q = ct.bitcast(half, ct.uint64) << 1
    q = ct.where(a - q * divisor >= divisor, q + 1, q)
    return ct.where(large, ct.where(a >= b, ct.uint64(1), 0), q)
"""

OUTER_PRODUCTS = """
def _outer_products(a, b, acc):
    # Columns of a times rows of b: multiply-adds of f32, in order.
    for k in ct.static_iter(range(a.shape[1])):
        column = ct.extract(a, (0, k), (a.shape[0], 1))
        acc = acc + column * ct.extract(b, (k, 0), (1, b.shape[1]))
    return acc
"""

BF16_PARTS = """
def _bf16_parts(x):
    # Three bf16 numbers whose sum is x, the largest first.
    high = ct.astype(x, ct.bfloat16)
    rest = x - ct.astype(high, ct.float32)
    middle = ct.astype(rest, ct.bfloat16)
    return high, middle, ct.astype(rest - ct.astype(middle, ct.float32), ct.bfloat16)
"""

SPLIT_MMA = """
def _split_mma(a, b, acc):
    # The six largest products of parts, small ones first; beside an infinity or NaN their sum is NaN, and says nothing.
    a0, a1, a2 = _bf16_parts(a)
    b0, b1, b2 = _bf16_parts(b)
    low = ct.mma(a2, b0, ct.zeros(acc.shape, ct.float32))
    low = ct.mma(a0, b2, low)
    low = ct.mma(a1, b1, low)
    low = ct.mma(a1, b0, low)
    low = ct.mma(a0, b1, low)
    return acc + ct.mma(a0, b0, ct.where(low == low, low, 0.0))
"""

FUNCTIONS: Final[dict[str, str]] = {
    "_floordiv_u64": FLOORDIV_U64,
    "_outer_products": OUTER_PRODUCTS,
    "_bf16_parts": BF16_PARTS,
    "_split_mma": SPLIT_MMA,
    "_f64": F64,
    "_rsqrt_f64": RSQRT_F64,
    "_exp_fast_f32": EXP_FAST_F32,
    "_pow": POW,
    "_to_f32_odd": TO_F32_ODD,
    "_int_to_f32_odd": INT_TO_F32_ODD,
    "_to_f8e5m2": TO_F8E5M2,
    "_add": ADD,
    "_product": PRODUCT,
    "_nan_max": NAN_MAX,
    "_nan_min": NAN_MIN,
    "_int_max": INT_MAX,
    "_int_min": INT_MIN,
    "_arg_max": ARG_MAX,
    "_arg_min": ARG_MIN,
    "_atomic_max_float": _ATOMIC_FLOAT.format(name="max"),
    "_atomic_min_float": _ATOMIC_FLOAT.format(name="min"),
}
"""Text of each function by name, callees first."""


def closure(names: Iterable[str]) -> list[str]:
    """``names``, each once, in the table's order."""
    wanted = set(names)
    return [name for name in FUNCTIONS if name in wanted]
