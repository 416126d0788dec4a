#ifndef IT_COMBINE_CUH
#define IT_COMBINE_CUH
enum it_order { IT_RELAXED, IT_ACQUIRE, IT_RELEASE, IT_ACQ_REL };
// Who sees an atomic access, and where it is: a block's own piece of global memory, all of global memory, or a block's shared memory.
enum it_scope { IT_BLOCK, IT_DEVICE, IT_SHARED };

// What atomic accesses make of the old and the given element. Integers wrap; NaN wins.
template <class T> IT_FN T it_atomic_sum(T a, T b) { return it_cast<T>(it_wide(a) + it_wide(b)); }
IT_FN int it_atomic_sum(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
IT_FN long long it_atomic_sum(long long a, long long b) {
    return (long long)((unsigned long long)a + (unsigned long long)b);
}
template <class T> IT_FN T it_atomic_greater(T a, T b) {
    const auto x = it_wide(a), y = it_wide(b);
    return x != x || x > y ? a : b;
}
template <class T> IT_FN T it_atomic_less(T a, T b) {
    const auto x = it_wide(a), y = it_wide(b);
    return x != x || x < y ? a : b;
}
template <class T> IT_FN bool it_same_bits(T a, T b) {
    unsigned long long x = 0, y = 0;
    memcpy(&x, &a, sizeof(T));
    memcpy(&y, &b, sizeof(T));
    return x == y;
}
#endif
