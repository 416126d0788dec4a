#ifndef IT_INTEGERS_CUH
#define IT_INTEGERS_CUH
// Division and remainder that round towards minus infinity; the remainder has the divisor's sign.
#if defined(INTENT_CPU)
// Lanes outside the program's meaning may divide by anything; a CPU traps where a GPU gives some number.
#define IT_TRAPS(b) ((b) == 0 || (b) == (T)-1)
#else
#define IT_TRAPS(b) false
#endif
template <class T> IT_FN T it_floor_div(T a, T b) {
    if (IT_TRAPS(b)) return (T)(b == 0 ? 0ull : (T)-1 < 0 ? 0ull - (unsigned long long)a : a == b);
    const T q = a / b, r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? q - 1 : q;
}
template <class T> IT_FN T it_floor_mod(T a, T b) {
    if (IT_TRAPS(b)) return (T)(b == 0 || (T)-1 < 0 ? 0 : a == b ? 0 : a);
    const T r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
#endif
