// Atomic accesses: a thread does one without stopping; before it, others may come first.
#pragma once
#define IT_ATOMICS_CUH

template <it_order O> constexpr int it_cpu_order = (O == IT_ACQUIRE || O == IT_ACQ_REL ? IT_CPU_ACQUIRES : 0)
    | (O == IT_RELEASE || O == IT_ACQ_REL ? IT_CPU_RELEASES : 0);

template <it_order O, class T, class I> static inline T* it_cpu_place_of(T* base, I i, int how, int line) {
    it_cpu_atomic(base, (long long)i * (long long)sizeof(T), sizeof(T), how, it_cpu_order<O>, line);
    return base + i;
}

template <class T> static inline T it_cpu_put(T* at, T value) {
    const T old = *at;
    *at = value;
    if (!it_same_bits(old, value)) it_cpu_changed();
    return old;
}

#define IT_ATOMIC(KIND, COMBINED)                                                                       \
    template <it_order O, it_scope S, class T, class I>                                                 \
    static inline T it_atomic_##KIND(T* base, I i, T v, int line = __builtin_LINE()) {                  \
        T* at = it_cpu_place_of<O>(base, i, IT_CPU_WRITE, line);                                        \
        const T x = *at;                                                                                \
        return it_cpu_put<T>(at, COMBINED);                                                             \
    }
IT_ATOMIC(add, it_atomic_sum(x, v))
IT_ATOMIC(max, it_atomic_greater(x, v))
IT_ATOMIC(min, it_atomic_less(x, v))
IT_ATOMIC(and, (T)(x & v))
IT_ATOMIC(or, (T)(x | v))
IT_ATOMIC(xor, (T)(x ^ v))
IT_ATOMIC(exchange, v)
#undef IT_ATOMIC

template <class C> static inline void it_increment(C* base, int i, int line = __builtin_LINE()) {
    it_atomic_add<IT_RELAXED, IT_SHARED>(base, i, (C)1, line);
}

// The whole is checked at once; others may come between its elements.
template <int N, it_scope S, class T, class I>
static inline void it_atomic_add_all(T* base, I i, const T* v, int line = __builtin_LINE()) {
    static_assert(N * sizeof(T) >= 4 && N * sizeof(T) <= 16 && !(N & (N - 1)) && S != IT_SHARED, "4, 8 or 16 bytes of global memory");
    it_cpu_atomic(base, (long long)i * (long long)sizeof(T), N * sizeof(T), IT_CPU_WRITE, false, line);
    for (int k = 0; k < N; ++k) it_atomic_add<IT_RELAXED, S>(base, i + k, v[k], line);
}

template <it_order O, it_scope S, class T, class I>
static inline T it_atomic_compare_exchange(T* base, I i, T expected, T desired, int line = __builtin_LINE()) {
    T* at = it_cpu_place_of<O>(base, i, IT_CPU_WRITE, line);
    const T x = *at;
    return it_same_bits(x, expected) ? it_cpu_put(at, desired) : x;
}
template <it_order O, it_scope S, class T, class I>
static inline T it_atomic_load(const T* base, I i, int line = __builtin_LINE()) {
    return *it_cpu_place_of<O>(base, i, IT_CPU_READ, line);
}
template <it_order O, it_scope S, class T, class I>
static inline void it_atomic_store(T* base, I i, T v, int line = __builtin_LINE()) {
    it_cpu_put(it_cpu_place_of<O>(base, i, IT_CPU_WRITE, line), v);
}
