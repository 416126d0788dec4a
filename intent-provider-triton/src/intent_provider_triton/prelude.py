"""Device functions that the emitted text brings along when it uses them.

Each is ordinary Triton, so that the native compiler and the interpreter both run it. ``tl.fma`` is written where
one rounding is meant; nothing here relies on a product and a sum being rounded apart, because the compiler may
contract them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

FLOOR_DIV = """
@triton.jit
def _floor_div(a, b):
    # Triton's // truncates.
    q = a // b
    return tl.where((a % b != 0) & ((a < 0) ^ (b < 0)), q - 1, q)
"""

FLOOR_MOD = """
@triton.jit
def _floor_mod(a, b):
    # Triton's % takes the sign of a.
    r = a % b
    return tl.where((r != 0) & ((r < 0) ^ (b < 0)), r + b, r)
"""

INDEX_DIV = """
@triton.jit
def _index_div(a, b, INDEX: tl.constexpr):
    # 32-bit indices are chosen only where a and b are known not to be negative; Triton's // truncates.
    q = a // b
    if INDEX == tl.int64:
        q = tl.where((a % b != 0) & ((a < 0) ^ (b < 0)), q - 1, q)
    return q
"""

INDEX_MOD = """
@triton.jit
def _index_mod(a, b, INDEX: tl.constexpr):
    # 32-bit indices are chosen only where a and b are known not to be negative; Triton's % takes the sign of a.
    r = a % b
    if INDEX == tl.int64:
        r = tl.where((r != 0) & ((r < 0) ^ (b < 0)), r + b, r)
    return r
"""

TRUNC = """
@triton.jit
def _trunc(x):
    return tl.where(x < 0, tl.ceil(x), tl.floor(x))
"""

FLOOR_F32 = """
@triton.jit
def _floor_f32(x):
    # tl.floor flushes subnormal inputs.
    r = tl.floor(x)
    return tl.where((x < 0) & (r == 0), -1.0, r)
"""

CEIL_F32 = """
@triton.jit
def _ceil_f32(x):
    # tl.ceil flushes subnormal inputs.
    r = tl.ceil(x)
    return tl.where((x > 0) & (r == 0), 1.0, r)
"""

ROUND_F32 = """
@triton.jit
def _round_f32(x):
    # Ties to even by the rounding of an addition; the last select keeps the sign of zero.
    size = tl.abs(x)
    r = (size + 8388608.0) - 8388608.0
    r = tl.where(x < 0, r * -1.0, r)
    return tl.where(size < 8388608.0, tl.where(r != 0, r, x * 0.0), x)
"""

ROUND_F64 = """
@triton.jit
def _round_f64(x):
    # Ties to even by the rounding of an addition; the last select keeps the sign of zero.
    size = tl.abs(x)
    r = (size + 4503599627370496.0) - 4503599627370496.0
    r = tl.where(x < 0, r * -1.0, r)
    return tl.where(size < 4503599627370496.0, tl.where(r != 0, r, x * 0.0), x)
"""

# The saturating form of n (one instruction on the GPU) keeps n in -126 .. 126; the rest of a larger argument stays in
# r, so that the product overflows, or rounds to a subnormal, as it should. Adding 1.5 * 2**23 + 127 rounds to an
# integer and leaves n + 127, the exponent field of 2**n, in the low bits; with a half taken off before (0.5 / 252 of
# the scaled argument), it rounds down. Over all floats the result is 1.93 ulp off at most on an H200; with r around 0
# it is 2.07 ulp.
EXP_F32 = """
@triton.jit
def _exp_f32(x):
    # exp(x) = 2**n * 2**r, where n = floor(x * log2(e)) within -126 .. 126; t holds n + 127 in its low bits.
    t = tl.fma(tl.minimum(tl.maximum(tl.fma(x, 0.005724980320990319, 0.498015873), 0.0), 1.0), 252.0, 12582913.0)
    r = tl.fma(x, 1.44269502162933349609375, 12583039.0 - t)
    r = tl.fma(x, 1.925963033500011079e-8, r)
    return tl.exp2(r) * (t.to(tl.int32, bitcast=True) << 23).to(tl.float32, bitcast=True)
"""

EXP_FAST_F32 = """
@triton.jit
def _exp_fast_f32(x):
    # For what is only rounded to 16 bits: off by 2**-17 at most. The square is subnormal where tl.exp2 would be 0.
    half = tl.exp2(x * 0.72134752044448170368)
    return half * half
"""

SIGMOID_FAST_F32 = """
@triton.jit
def _sigmoid_fast_f32(x):
    # For what is only rounded to 16 bits. From 30 on the result is 1.
    e = _exp_fast_f32(tl.minimum(x, 30.0, propagate_nan=tl.PropagateNan.ALL))
    root = tl.rsqrt(1.0 + e)
    return e * (root * root)
"""

EXP2_F32 = """
@triton.jit
def _exp2_f32(x):
    # 2**x = 2**n * 2**(x - n), where n = floor(x) within -126 .. 126; t holds n + 127 in its low bits.
    t = tl.fma(tl.minimum(tl.maximum(tl.fma(x, 0.003968253968253968, 0.498015873), 0.0), 1.0), 252.0, 12582913.0)
    return tl.exp2(x + (12583039.0 - t)) * (t.to(tl.int32, bitcast=True) << 23).to(tl.float32, bitcast=True)
"""

# Over all floats 1.48 ulp off at most. The quotient may lie in a lower binade than e, where an error of e counts twice:
# hence the polynomial, and the error of 1 + e put back.
SIGMOID_F32 = """
@triton.jit
def _sigmoid_f32(x):
    # e / (1 + e) for e = exp(x) to half an ulp: 2**r by a polynomial, since tl.exp2 is off by up to 2 ulp. From 30 on
    # the result is 1. Small results keep their precision.
    a = tl.minimum(x, 30.0, propagate_nan=tl.PropagateNan.ALL)
    t = tl.maximum(tl.fma(a, 1.44269502162933349609375, 12582912.0), 12582786.0)
    n = t - 12582912.0
    r = tl.fma(a, 1.925963033500011079e-8, tl.fma(a, 1.44269502162933349609375, n * -1.0))
    r = tl.maximum(r, -64.0, propagate_nan=tl.PropagateNan.ALL)
    p = tl.fma(r, 1.5252734e-5, 1.5403530e-4)
    p = tl.fma(r, p, 1.3333558e-3)
    p = tl.fma(r, p, 9.6181291e-3)
    p = tl.fma(r, p, 5.5504109e-2)
    p = tl.fma(r, p, 2.4022651e-1)
    p = tl.fma(r, p, 6.9314718e-1)
    p = tl.where(r < -0.51, tl.exp2(r), tl.fma(r, p, 1.0))
    e = p * ((t.to(tl.int32, bitcast=True) << 23) + 1065353216).to(tl.float32, bitcast=True)
    # One over the sum, refined with what the sum and the product lost.
    d = 1.0 + e
    lost = tl.minimum(e, 1.0) - (d - tl.maximum(e, 1.0))
    root = tl.rsqrt(d)
    y = root * root
    q = e * y
    return tl.fma(tl.fma(q * -1.0, lost, tl.fma(q * -1.0, d, e)), y, q)
"""

SIGMOID_F64 = """
@triton.jit
def _sigmoid_f64(x):
    # exp(-|x|) never overflows, and small results keep their precision.
    e = tl.exp(tl.abs(x) * -1.0)
    return tl.where(x < 0, e, 1.0) / (1.0 + e)
"""

RSQRT_F32 = """
@triton.jit
def _rsqrt_f32(x):
    # tl.rsqrt flushes subnormal inputs: scale them by 2**24.
    small = tl.abs(x) < 1.1754943508222875e-38
    r = tl.rsqrt(tl.where(small, x * 16777216.0, x))
    return tl.where(small, r * 4096.0, r)
"""

ERF_F32 = """
@triton.jit
def _erf_f32(x):
    # tl.erf flushes subnormal results.
    return tl.where(tl.abs(x) < 1e-30, x * 1.1283791670955126, tl.erf(x))
"""

SIN_F32 = """
@triton.jit
def _sin_f32(x):
    # tl.sin flushes subnormal results.
    return tl.where(tl.abs(x) < 1e-30, x, tl.sin(x))
"""

TANH_F32 = """
@triton.jit
def _tanh_f32(x):
    # libdevice flushes subnormal results.
    return tl.where(tl.abs(x) < 1e-30, x, libdevice.tanh(x))
"""

ASIN_F32 = """
@triton.jit
def _asin_f32(x):
    # In f64: libdevice's f32 form errs by more than 2 units in the last place.
    return libdevice.asin(x.to(tl.float64)).to(tl.float32)
"""

LOG1P_F32 = """
@triton.jit
def _log1p_f32(x):
    # libdevice flushes subnormal results.
    return tl.where(tl.abs(x) < 1e-30, x, libdevice.log1p(x))
"""

ERFC_F32 = """
@triton.jit
def _erfc_f32(x):
    # In f64: libdevice's f32 form flushes small results.
    return libdevice.erfc(x.to(tl.float64)).to(tl.float32)
"""

LGAMMA_F32 = """
@triton.jit
def _lgamma_f32(x):
    # In f64: libdevice's f32 form loses accuracy on the negative axis.
    return libdevice.lgamma(x.to(tl.float64)).to(tl.float32)
"""

POW_F32 = """
@triton.jit
def _pow_f32(x, y):
    # In f64: libdevice's f32 form flushes small results.
    return libdevice.pow(x.to(tl.float64), y.to(tl.float64)).to(tl.float32)
"""

ADD = """
@triton.jit
def _add(a, b):
    return a + b
"""

PRODUCT = """
@triton.jit
def _product(a, b):
    return a * b
"""

NAN_MAX = """
@triton.jit
def _nan_max(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)
"""

NAN_MIN = """
@triton.jit
def _nan_min(a, b):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)
"""

INT_MAX = """
@triton.jit
def _int_max(a, b):
    return tl.maximum(a, b)
"""

INT_MIN = """
@triton.jit
def _int_min(a, b):
    return tl.minimum(a, b)
"""

ARG_MAX = """
@triton.jit
def _arg_max(a, i, b, j):
    # NaN wins, then the larger value, then the lower position.
    tie = (a == b) | ((a != a) & (b != b))
    first = ((a > b) | ((a != a) & (b == b))) | (tie & (i < j))
    return tl.where(first, a, b), tl.where(first, i, j)
"""

ARG_MIN = """
@triton.jit
def _arg_min(a, i, b, j):
    # NaN wins, then the smaller value, then the lower position.
    tie = (a == b) | ((a != a) & (b != b))
    first = ((a < b) | ((a != a) & (b == b))) | (tie & (i < j))
    return tl.where(first, a, b), tl.where(first, i, j)
"""

TO_F32_ODD = """
@triton.jit
def _to_f32_odd(x):
    # f64 to f32, inexact results forced to an odd last bit: a second, shorter rounding then decides alone.
    r = x.to(tl.float32)
    back = r.to(tl.float64)
    bits = r.to(tl.int32, bitcast=True)
    away = tl.abs(back) > tl.abs(x)
    fix = (back != x) & ((bits & 1) == 0) & (x == x)
    bits = tl.where(fix, tl.where(away, bits - 1, bits + 1), bits)
    return bits.to(tl.float32, bitcast=True)
"""

INT_TO_F32_ODD = """
@triton.jit
def _int_to_f32_odd(x):
    # Integer to f32, inexact results forced to an odd last bit: a second, shorter rounding then decides alone.
    r = x.to(tl.float32)
    bits = r.to(tl.int32, bitcast=True)
    back = r.to(x.dtype)
    away = tl.where(x < 0, back < x, back > x)
    fix = (back != x) & ((bits & 1) == 0)
    bits = tl.where(fix, tl.where(away, bits - 1, bits + 1), bits)
    return bits.to(tl.float32, bitcast=True)
"""

TO_F8E5M2 = """
@triton.jit
def _to_f8e5m2(x):
    # From 61440 on the nearest value is infinity; the conversion itself saturates.
    inf = tl.where(x < 0, 0xFC, 0x7C).to(tl.uint8)
    bits = x.to(tl.float8e5).to(tl.uint8, bitcast=True)
    return tl.where(tl.abs(x) >= 61440.0, inf, bits).to(tl.float8e5, bitcast=True)
"""

MASKED_CAS = """
@triton.jit
def _masked_cas(pointer, expected, desired, mask, spare, sem: tl.constexpr, scope: tl.constexpr):
    # atomic_cas has no mask. An idle lane puts a zero in place of a zero at spare, which exists if any lane is active.
    old = expected
    if tl.max(tl.reshape(mask.to(tl.int32), (mask.numel,)), 0) != 0:
        expected = tl.where(mask, expected, 0)
        desired = tl.where(mask, desired, 0)
        old = tl.atomic_cas(tl.where(mask, pointer, spare), expected, desired, sem=sem, scope=scope)
    return old
"""

MASKED_CAS_SCALAR = """
@triton.jit
def _masked_cas_scalar(pointer, expected, desired, mask, spare, sem: tl.constexpr, scope: tl.constexpr):
    old = expected
    if mask:
        old = tl.atomic_cas(pointer, expected, desired, sem=sem, scope=scope)
    return old
"""

_BYTE_CAS = """
@triton.jit
def _byte_cas{suffix}(pointer, expected, desired, mask, spare, sem: tl.constexpr, scope: tl.constexpr):
    # The word of two bytes around the element, again while only the other byte differs from the guess.
    address = pointer.to(tl.int64)
    shift = ((address & 1) * 8).to(tl.int16)
    word = (address & -2).to(tl.pointer_type(tl.int16))
    first = (spare.to(tl.int64) & -2).to(tl.pointer_type(tl.int16))
    own = (shift * 0 + 255) << shift
    wanted = (expected.to(tl.int16) & 255) << shift
    fresh = (desired.to(tl.int16) & 255) << shift
    other = shift * 0
    old = wanted
    waiting = mask
    while {waiting}:
        seen = {cas}(word, other | wanted, other | fresh, waiting, first, sem, scope)
        again = (seen != (other | wanted)) & ((seen & own) == wanted)
        old = tl.where(waiting, seen, old)
        other = tl.where(waiting, seen & ~own, other)
        waiting = waiting & again
    return ((old >> shift) & 255).to(tl.int8).to(expected.dtype)
"""

BYTE_CAS = _BYTE_CAS.format(
    suffix="", waiting="tl.max(tl.reshape(waiting.to(tl.int32), (waiting.numel,)), 0) != 0", cas="_masked_cas"
)
BYTE_CAS_SCALAR = _BYTE_CAS.format(suffix="_scalar", waiting="waiting", cas="_masked_cas_scalar")

FUNCTIONS: Final[dict[str, str]] = {
    "_floor_div": FLOOR_DIV,
    "_floor_mod": FLOOR_MOD,
    "_index_div": INDEX_DIV,
    "_index_mod": INDEX_MOD,
    "_trunc": TRUNC,
    "_floor_f32": FLOOR_F32,
    "_ceil_f32": CEIL_F32,
    "_round_f32": ROUND_F32,
    "_round_f64": ROUND_F64,
    "_exp_f32": EXP_F32,
    "_exp_fast_f32": EXP_FAST_F32,
    "_exp2_f32": EXP2_F32,
    "_sigmoid_f32": SIGMOID_F32,
    "_sigmoid_fast_f32": SIGMOID_FAST_F32,
    "_sigmoid_f64": SIGMOID_F64,
    "_rsqrt_f32": RSQRT_F32,
    "_erf_f32": ERF_F32,
    "_sin_f32": SIN_F32,
    "_tanh_f32": TANH_F32,
    "_asin_f32": ASIN_F32,
    "_log1p_f32": LOG1P_F32,
    "_erfc_f32": ERFC_F32,
    "_lgamma_f32": LGAMMA_F32,
    "_pow_f32": POW_F32,
    "_add": ADD,
    "_product": PRODUCT,
    "_nan_max": NAN_MAX,
    "_nan_min": NAN_MIN,
    "_int_max": INT_MAX,
    "_int_min": INT_MIN,
    "_arg_max": ARG_MAX,
    "_arg_min": ARG_MIN,
    "_to_f32_odd": TO_F32_ODD,
    "_int_to_f32_odd": INT_TO_F32_ODD,
    "_to_f8e5m2": TO_F8E5M2,
    "_masked_cas": MASKED_CAS,
    "_masked_cas_scalar": MASKED_CAS_SCALAR,
    "_byte_cas": BYTE_CAS,
    "_byte_cas_scalar": BYTE_CAS_SCALAR,
}
"""Text of each function by name."""

NEEDS: Final[dict[str, tuple[str, ...]]] = {
    "_sigmoid_fast_f32": ("_exp_fast_f32",),
    "_byte_cas": ("_masked_cas",),
    "_byte_cas_scalar": ("_masked_cas_scalar",),
}
"""Functions of the prelude that a function calls."""


def closure(names: Iterable[str]) -> list[str]:
    """``names`` and all they call, callees first, in the table's order."""
    wanted: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name not in wanted:
            wanted.add(name)
            pending.extend(NEEDS.get(name, ()))
    return [name for name in FUNCTIONS if name in wanted]
