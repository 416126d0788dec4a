#ifndef IT_ARITHMETIC_CUH
#define IT_ARITHMETIC_CUH
// Loops that are unrolled: i = 0 .. n-1, i = first .. first+n-1, and step = first, 2 * first, .. last.
#define it_each(i, n) _Pragma("unroll") for (int i = 0; i < (n); ++i)
#define it_part(i, first, n) _Pragma("unroll") for (int i = (first); i < (first) + (n); ++i)
#define it_doubling(step, first, last) _Pragma("unroll") for (int step = (first); step <= (last); step *= 2)

// The unsigned type in which a T wraps around; narrow types are computed as unsigned int.
template <class T> struct it_wrapping { typedef unsigned type; };
template <> struct it_wrapping<long long> { typedef unsigned long long type; };
template <> struct it_wrapping<unsigned long long> { typedef unsigned long long type; };

// Integers wrap; signed overflow would be undefined in C++. (Floats and doubles are what products and sums of them are.)
template <class T> IT_FN T it_add(T a, T b) { typedef typename it_wrapping<T>::type U; return (T)((U)a + (U)b); }
template <class T> IT_FN T it_sub(T a, T b) { typedef typename it_wrapping<T>::type U; return (T)((U)a - (U)b); }
template <class T> IT_FN T it_mul(T a, T b) { typedef typename it_wrapping<T>::type U; return (T)((U)a * (U)b); }
template <class T> IT_FN T it_neg(T a) { return it_sub<T>(0, a); }
template <class T> IT_FN T it_abs(T a) { return a < 0 ? it_neg<T>(a) : a; }

// Shifts; the amount is in range where the program has a meaning.
template <class T> IT_FN T it_shl(T a, T b) {
    typedef typename it_wrapping<T>::type U;
    return (T)((U)a << ((U)b & (sizeof(T) * 8 - 1)));
}
template <class T> IT_FN T it_shr(T a, T b) {
    typedef typename it_wrapping<T>::type U;
    return (T)(a >> (int)((U)b & (sizeof(T) * 8 - 1)));
}

template <class T> IT_FN T it_inf();
template <> IT_FN float it_inf<float>() { return it_bits<float>(0x7F800000u); }
template <> IT_FN double it_inf<double>() { return it_bits<double>(0x7FF0000000000000ull); }
template <class T> IT_FN T it_nan();
template <> IT_FN float it_nan<float>() { return it_bits<float>(0x7FC00000u); }
template <> IT_FN double it_nan<double>() { return it_bits<double>(0x7FF8000000000000ull); }
IT_FN bool it_isnan(float x) { return x != x; }
IT_FN bool it_isnan(double x) { return x != x; }

// Greater and lesser of two; NaN wins among floats.
template <class T> IT_FN T it_max(T a, T b) { return a < b ? b : a; }
template <class T> IT_FN T it_min(T a, T b) { return b < a ? b : a; }
// Both orders of the operands give the same bits, also of zeros: lanes that combine each other's values must agree.
IT_FN double it_max(double a, double b) {
    if (a == b) return it_bits<double>(it_bits<unsigned long long>(a) & it_bits<unsigned long long>(b));
    return a != a || a > b ? a : b;
}
IT_FN double it_min(double a, double b) {
    if (a == b) return it_bits<double>(it_bits<unsigned long long>(a) | it_bits<unsigned long long>(b));
    return a != a || a < b ? a : b;
}
#if defined(INTENT_CPU)
IT_FN float it_max(float a, float b) {
    if (a == b) return it_bits<float>(it_bits<unsigned>(a) & it_bits<unsigned>(b));
    return a != a || a > b ? a : b;
}
IT_FN float it_min(float a, float b) {
    if (a == b) return it_bits<float>(it_bits<unsigned>(a) | it_bits<unsigned>(b));
    return a != a || a < b ? a : b;
}
#else
IT_FN float it_max(float a, float b) {
    float out;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(out) : "f"(a), "f"(b));
    return out;
}
IT_FN float it_min(float a, float b) {
    float out;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(out) : "f"(a), "f"(b));
    return out;
}
#endif

// Whether value a at position i comes before b at j in an arg_reduce: NaN wins, then the value, then the lower position.
template <class T, class I> IT_FN bool it_before_max(T a, I i, T b, I j) {
    if (a != a || b != b) return (a != a) && (b == b || i < j);
    return a > b || (a == b && i < j);
}
template <class T, class I> IT_FN bool it_before_min(T a, I i, T b, I j) {
    if (a != a || b != b) return (a != a) && (b == b || i < j);
    return a < b || (a == b && i < j);
}
#endif
