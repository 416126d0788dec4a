// Functions of the CUDA mathematics library and the intrinsics, by the C library's functions of the same name.
#pragma once

extern "C" {
#define IT_ONE(name) float name##f(float) noexcept; double name(double) noexcept;
#define IT_TWO(name) float name##f(float, float) noexcept; double name(double, double) noexcept;
IT_ONE(exp) IT_ONE(exp2) IT_ONE(expm1) IT_ONE(log) IT_ONE(log2) IT_ONE(log10) IT_ONE(log1p) IT_ONE(sqrt) IT_ONE(cbrt)
IT_ONE(sin) IT_ONE(cos) IT_ONE(tan) IT_ONE(asin) IT_ONE(acos) IT_ONE(atan) IT_ONE(sinh) IT_ONE(cosh) IT_ONE(tanh)
IT_ONE(asinh) IT_ONE(acosh) IT_ONE(atanh) IT_ONE(erf) IT_ONE(erfc) IT_ONE(lgamma) IT_ONE(tgamma)
IT_ONE(floor) IT_ONE(ceil) IT_ONE(trunc) IT_ONE(rint) IT_ONE(round) IT_ONE(fabs)
IT_TWO(pow) IT_TWO(fmod) IT_TWO(fmax) IT_TWO(fmin) IT_TWO(atan2) IT_TWO(copysign) IT_TWO(hypot)
#undef IT_ONE
#undef IT_TWO
float fmaf(float, float, float) noexcept;
double fma(double, double, double) noexcept;
// Of the runtime: the C library has no such function.
float it_cpu_bessel_i0f(float);
double it_cpu_bessel_i0(double);
}

template <class To, class From> static inline To it_cpu_pun(From x) { return __builtin_bit_cast(To, x); }

static inline float rsqrtf(float x) { return (float)(1.0 / sqrt((double)x)); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline float cyl_bessel_i0f(float x) { return it_cpu_bessel_i0f(x); }
static inline double cyl_bessel_i0(double x) { return it_cpu_bessel_i0(x); }

static inline int __float_as_int(float x) { return it_cpu_pun<int>(x); }
static inline unsigned __float_as_uint(float x) { return it_cpu_pun<unsigned>(x); }
static inline float __int_as_float(int x) { return it_cpu_pun<float>(x); }
static inline float __uint_as_float(unsigned x) { return it_cpu_pun<float>(x); }
static inline long long __double_as_longlong(double x) { return it_cpu_pun<long long>(x); }
static inline double __longlong_as_double(long long x) { return it_cpu_pun<double>(x); }

static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __frcp_rn(float a) { return 1.0f / a; }
static inline float __fsqrt_rn(float a) { return sqrtf(a); }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __dsqrt_rn(double a) { return sqrt(a); }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
// The fast forms may be as exact as they like.
static inline float __expf(float x) { return expf(x); }
static inline float __exp2f(float x) { return exp2f(x); }
static inline float __logf(float x) { return logf(x); }
static inline float __log2f(float x) { return log2f(x); }
static inline float __sinf(float x) { return sinf(x); }
static inline float __cosf(float x) { return cosf(x); }
static inline float __powf(float x, float y) { return powf(x, y); }
static inline float __fdividef(float a, float b) { return a / b; }

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
