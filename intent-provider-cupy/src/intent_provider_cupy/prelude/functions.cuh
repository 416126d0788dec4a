#ifndef IT_FUNCTIONS_CUH
#define IT_FUNCTIONS_CUH
// Functions for which the library has no form that is accurate enough, or none at all.

// exp(-|x|) never overflows, and small results keep their precision.
IT_FN double it_sigmoid(double x) {
    const double e = exp(-fabs(x));
    return (x < 0 ? e : 1.0) / (1.0 + e);
}

IT_FN float it_lgamma(float x) { return (float)lgamma((double)x); }   // f32's form loses accuracy at negative x
IT_FN double it_lgamma(double x) { return lgamma(x); }
IT_FN float it_pow(float x, float y) { return powf(x, y); }
IT_FN double it_pow(double x, double y) { return pow(x, y); }
IT_FN float it_asin(float x) { return (float)asin((double)x); }   // f32's form errs by more than 2 ulp
IT_FN double it_asin(double x) { return asin(x); }

#if defined(INTENT_CPU)
IT_FN float it_rsqrt(float x) { return (float)(1.0 / sqrt((double)x)); }
IT_FN double it_rsqrt(double x) { return 1.0 / sqrt(x); }
// Modified Bessel function of order zero: its power series, or the asymptotic one.
IT_FN double it_i0(double x) {
    const double a = fabs(x);
    if (x != x) return x;
    double sum = 1.0, term = 1.0;
    if (a < 40.0) {
        for (int k = 1; k < 500 && term > sum * 1e-18; ++k) sum += term *= (a / 2 / k) * (a / 2 / k);
        return sum;
    }
    for (int k = 1; k < 60; ++k) {
        const double next = term * (2 * k - 1) * (2 * k - 1) / (8 * a * k);
        if (next >= term) break;
        sum += term = next;
    }
    if (a > 750.0) return it_inf<double>();
    const double half = exp(a / 2);
    return half * (half / sqrt(6.283185307179586 * a)) * sum;
}
IT_FN float it_i0(float x) { return (float)it_i0((double)x); }
IT_FN float it_exp2_fast(float x) { return exp2f(x); }
IT_FN float it_tanh_fast(float x) { return tanhf(x); }
IT_FN float it_div_fast(float a, float b) { return a / b; }
#else
IT_FN float it_rsqrt(float x) { return rsqrtf(x); }
IT_FN double it_rsqrt(double x) { return rsqrt(x); }
IT_FN float it_i0(float x) { return cyl_bessel_i0f(x); }
IT_FN double it_i0(double x) { return cyl_bessel_i0(x); }
// Within the permissions of approximate= and flush_to_zero=.
IT_FN float it_exp2_fast(float x) {
    float out;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
    return out;
}
IT_FN float it_tanh_fast(float x) {
    float out;
    asm("tanh.approx.f32 %0, %1;" : "=f"(out) : "f"(x));
    return out;
}
IT_FN float it_div_fast(float a, float b) { return __fdividef(a, b); }
#endif

// e / (1 + e) for e = exp(x) to half an ulp: 2**r by a polynomial, since the quotient may lie in a lower binade than e,
// where an error of e counts twice. From 30 on the result is 1. Small results keep their precision.
IT_FN float it_sigmoid(float x) {
    const float a = it_min(x, 30.0f);
    const float t = fmaxf(fmaf(a, 1.44269502162933349609375f, 12582912.0f), 12582786.0f);
    const float n = t - 12582912.0f;
    float r = fmaf(a, 1.925963033500011079e-8f, fmaf(a, 1.44269502162933349609375f, -n));
    r = it_max(r, -64.0f);
    float p = fmaf(r, 1.5252734e-5f, 1.5403530e-4f);
    p = fmaf(r, p, 1.3333558e-3f);
    p = fmaf(r, p, 9.6181291e-3f);
    p = fmaf(r, p, 5.5504109e-2f);
    p = fmaf(r, p, 2.4022651e-1f);
    p = fmaf(r, p, 6.9314718e-1f);
    p = r < -0.51f ? exp2f(r) : fmaf(r, p, 1.0f);
    const float e = p * it_bits<float>((it_bits<unsigned>(t) << 23) + 1065353216u);
    // One over the sum, refined with what the sum and the product lost.
    const float d = 1.0f + e, lost = fminf(e, 1.0f) - (d - fmaxf(e, 1.0f));
    const float root = it_rsqrt(d), y = root * root, q = e * y;
    return fmaf(fmaf(-q, lost, fmaf(-q, d, e)), y, q);
}

// For what is only rounded to 16 bits: off by 2**-17 at most. The square is subnormal where the fast exp2 would be 0.
IT_FN float it_exp_fast(float x) {
    const float half = it_exp2_fast(x * 0.72134752044448170368f);
    return half * half;
}
// For what is only rounded to 16 bits. From 30 on the result is 1.
IT_FN float it_sigmoid_fast(float x) {
    const float e = it_exp_fast(it_min(x, 30.0f));
    return e * it_div_fast(1.0f, 1.0f + e);
}
#endif
