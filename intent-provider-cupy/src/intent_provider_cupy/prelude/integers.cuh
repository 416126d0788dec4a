#ifndef IT_INTEGERS_CUH
#define IT_INTEGERS_CUH
// Division and remainder that round towards minus infinity; the remainder has the divisor's sign.
template <class T> IT_FN T it_floor_div(T a, T b) {
    const T q = a / b, r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? q - 1 : q;
}
template <class T> IT_FN T it_floor_mod(T a, T b) {
    const T r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
#endif
