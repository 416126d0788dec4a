#ifndef IT_CASTS_CUH
#define IT_CASTS_CUH

// Floats of 16 and 8 bits are stored as their bits and computed with as float.
struct it_f16 { unsigned short bits; };
struct it_bf16 { unsigned short bits; };
struct it_f8e4m3fn { unsigned char bits; };
struct it_f8e5m2 { unsigned char bits; };

// The same bits as another type of equal size.
template <class To, class From> IT_FN To it_bits(From x) {
    static_assert(sizeof(To) == sizeof(From), "only types of one size have the same bits");
    To out;
    memcpy(&out, &x, sizeof(To));
    return out;
}

// A float of EXPONENT and MANTISSA bits as float; exact. FINITE: the format has no infinity and one NaN.
template <int EXPONENT, int MANTISSA, bool FINITE> IT_FN float it_widened(unsigned bits) {
    const unsigned sign = bits >> (EXPONENT + MANTISSA) << 31;
    const unsigned magnitude = bits & ((1u << (EXPONENT + MANTISSA)) - 1);
    const float scale = __uint_as_float((254u - ((1u << (EXPONENT - 1)) - 1)) << 23);   // 2 ** (127 - bias)
    unsigned wide = __float_as_uint(__uint_as_float(magnitude << (23 - MANTISSA)) * scale);
    const unsigned first_special = FINITE ? (1u << (EXPONENT + MANTISSA)) - 1 : ((1u << EXPONENT) - 1) << MANTISSA;
    if (magnitude >= first_special) wide = FINITE ? 0x7FC00000u : 0x7F800000u | magnitude << (23 - MANTISSA);
    return __uint_as_float(sign | wide);
}

// The nearest float of EXPONENT and MANTISSA bits, ties to even; too large is infinity (FINITE: NaN).
template <int EXPONENT, int MANTISSA, bool FINITE> IT_FN unsigned it_narrowed(float x) {
    const unsigned wide = __float_as_uint(x), magnitude = wide & 0x7FFFFFFFu;
    const unsigned sign = wide >> 31 << (EXPONENT + MANTISSA);
    const int bias = (1 << (EXPONENT - 1)) - 1, shift = 23 - MANTISSA;
    const unsigned smallest_normal = (unsigned)(127 - bias + 1) << 23;
    const unsigned special = FINITE ? (1u << (EXPONENT + MANTISSA)) - 1 : ((1u << EXPONENT) - 1) << MANTISSA;
    if (magnitude > 0x7F800000u) return sign | special | (FINITE ? 0u : 1u << (MANTISSA - 1));
    unsigned rounded;
    if (magnitude < smallest_normal) {
        // The sum's last place is the format's smallest number: the addition rounds.
        const float one = __uint_as_float(smallest_normal + ((unsigned)shift << 23));
        rounded = __float_as_uint(__fadd_rn(__uint_as_float(magnitude), one)) - __float_as_uint(one);
    } else {
        const unsigned half = (1u << (shift - 1)) - 1 + (magnitude >> shift & 1u);
        rounded = (magnitude - ((unsigned)(127 - bias) << 23) + half) >> shift;
    }
    return sign | (rounded > special ? special : rounded);
}

#if defined(INTENT_CPU)
IT_FN float it_wide(it_f16 x) { return it_widened<5, 10, false>(x.bits); }
IT_FN it_f16 it_f16_of(float x) { return {(unsigned short)it_narrowed<5, 10, false>(x)}; }
IT_FN it_bf16 it_bf16_of(float x) { return {(unsigned short)it_narrowed<8, 7, false>(x)}; }
#else
IT_FN float it_wide(it_f16 x) {
    float out;
    asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(x.bits));
    return out;
}
IT_FN it_f16 it_f16_of(float x) {
    it_f16 out;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out.bits) : "f"(x));
    return out;
}
IT_FN it_bf16 it_bf16_of(float x) {
    it_bf16 out;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(out.bits) : "f"(x));
    return out;
}
#endif

#if !defined(INTENT_CPU) && __CUDA_ARCH__ >= 890
IT_FN float it_wide(it_f8e4m3fn x) {
    unsigned both;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(both) : "h"((unsigned short)x.bits));
    return it_wide(it_f16{(unsigned short)both});
}
IT_FN float it_wide(it_f8e5m2 x) { return it_wide(it_f16{(unsigned short)(x.bits << 8)}); }
IT_FN it_f8e4m3fn it_f8e4m3fn_of(float x) {
    unsigned short both;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(both) : "f"(0.0f), "f"(x));
    return {(unsigned char)both};
}
#else
IT_FN float it_wide(it_f8e4m3fn x) { return it_widened<4, 3, true>(x.bits); }
IT_FN float it_wide(it_f8e5m2 x) { return it_wide(it_f16{(unsigned short)(x.bits << 8)}); }
IT_FN it_f8e4m3fn it_f8e4m3fn_of(float x) { return {(unsigned char)it_narrowed<4, 3, true>(x)}; }
#endif
// The hardware's conversion saturates; the language overflows to infinity.
IT_FN it_f8e5m2 it_f8e5m2_of(float x) { return {(unsigned char)it_narrowed<5, 2, false>(x)}; }
IT_FN float it_wide(it_bf16 x) { return __uint_as_float((unsigned)x.bits << 16); }
template <class T> IT_FN T it_wide(T x) { return x; }

// A float such that rounding it to 16 or 8 bits is rounding x: inexact values keep the lost bits in the last place.
IT_FN float it_odd(double x) {
    const float near = (float)x;
    const unsigned bits = __float_as_uint(near);
    if ((double)near == x || x != x) return near;
    const bool away = near > 0.0f ? (double)near > x : near < 0.0f && (double)near < x;   // of a smaller magnitude is meant
    return __uint_as_float((bits - (away ? 1u : 0u)) | 1u);
}
IT_FN float it_odd(unsigned long long x) {
    const unsigned long long high = x >> 32;   // 32 bits are exact as double; below them only "not zero" matters
    if (!high) return it_odd((double)(unsigned)x);
    const int lost = __clzll((long long)x) < 11 ? 11 - __clzll((long long)x) : 0;
    const unsigned long long kept = x >> lost << lost | ((x & ((1ull << lost) - 1)) ? 1ull << lost : 0ull);
    return it_odd((double)kept);
}
IT_FN float it_odd(long long x) {
    return x < 0 ? -it_odd(0ull - (unsigned long long)x) : it_odd((unsigned long long)x);
}
IT_FN float it_odd(int x) { return it_odd((double)x); }
IT_FN float it_odd(unsigned x) { return it_odd((double)x); }
template <class T> IT_FN float it_odd(T x) { return (float)it_wide(x); }   // of at most 24 bits: exact

template <class To> struct it_caster { template <class From> IT_FN To of(From x) { return (To)it_wide(x); } };
template <> struct it_caster<bool> { template <class From> IT_FN bool of(From x) { return it_wide(x) != 0; } };
template <> struct it_caster<it_f16> { template <class From> IT_FN it_f16 of(From x) { return it_f16_of(it_odd(x)); } };
template <> struct it_caster<it_bf16> { template <class From> IT_FN it_bf16 of(From x) { return it_bf16_of(it_odd(x)); } };
template <> struct it_caster<it_f8e4m3fn> {
    template <class From> IT_FN it_f8e4m3fn of(From x) { return it_f8e4m3fn_of(it_odd(x)); }
};
template <> struct it_caster<it_f8e5m2> {
    template <class From> IT_FN it_f8e5m2 of(From x) { return it_f8e5m2_of(it_odd(x)); }
};

// x as To, rounded once (spec: language, casts). Float to integer truncates.
template <class To, class From> IT_FN To it_cast(From x) { return it_caster<To>().of(x); }
#endif
