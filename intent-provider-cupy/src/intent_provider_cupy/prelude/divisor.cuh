#ifndef IT_DIVISOR_CUH
#define IT_DIVISOR_CUH
// A positive divisor of many numbers, and its reciprocal: 2^(63 + s) / d rounded up, where 2^s is the least power of
// two that is not below d. It is too large by less than 1 part of 2^63, which no number of 63 bits notices.
struct it_divisor { long long d; unsigned long long reciprocal; int shift; };
IT_FN it_divisor it_divisor_of(long long d) {
    it_divisor made = {d < 1 ? 1 : d, 0, 0};   // a divisor that is not positive divides nothing that counts
    const unsigned long long whole = made.d;
    while (1ull << made.shift < whole) ++made.shift;
    unsigned long long rest = 1ull << made.shift;   // long division, one binary digit after the other
    for (int k = 0; k <= 63; ++k) {
        const bool fits = rest >= whole;
        made.reciprocal = made.reciprocal << 1 | fits;
        rest = (rest - (fits ? whole : 0)) << 1;
    }
    made.reciprocal += rest != 0;
    return made;
}
// The quotient, rounded down, of a number that is not negative.
IT_FN unsigned long long it_quotient(unsigned long long a, const it_divisor& by) {
#if defined(INTENT_CPU)
    return (unsigned long long)((unsigned __int128)(a << 1) * by.reciprocal >> 64) >> by.shift;
#else
    return __umul64hi(a << 1, by.reciprocal) >> by.shift;
#endif
}
IT_FN long long it_floor_div(long long a, const it_divisor& by) {
    const long long sign = a >> 63;
    return (long long)it_quotient(a ^ sign, by) ^ sign;
}
IT_FN long long it_floor_mod(long long a, const it_divisor& by) {
    return (long long)((unsigned long long)a - (unsigned long long)it_floor_div(a, by) * (unsigned long long)by.d);
}
#endif
