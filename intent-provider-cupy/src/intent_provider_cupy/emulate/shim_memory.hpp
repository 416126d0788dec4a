// Accesses to global and shared memory, each checked; and the copies that run beside a kernel.
#pragma once
#define IT_MEMORY_CUH
#define IT_ASYNC_CUH

template <class T> static inline T* it_piece(int bytes, int count, int line = __builtin_LINE()) {
    unsigned char* at = it_cpu_shared + bytes;
    it_cpu_piece(at, count * sizeof(T), line);
    return (T*)at;
}

template <class T, class I> static inline T it_load(const T* base, I i, int line = __builtin_LINE()) {
    it_cpu_access(base, (long long)i * (long long)sizeof(T), sizeof(T), IT_CPU_READ, line);
    return base[i];
}

template <class T, class I, class V> static inline void it_store(T* base, I i, V value, int line = __builtin_LINE()) {
    static_assert(__is_same(T, V), "a value is stored as what it is: cast it first");
    it_cpu_access(base, (long long)i * (long long)sizeof(T), sizeof(T), IT_CPU_WRITE, line);
    base[i] = value;
}

template <int N, class T, class I>
static inline void it_load(T* out, const T* base, I i, int line = __builtin_LINE()) {
    static_assert(N * sizeof(T) <= 16 && !(N & (N - 1)), "one access is 1, 2, 4, 8 or 16 bytes");
    it_cpu_access(base, (long long)i * (long long)sizeof(T), N * sizeof(T), IT_CPU_READ, line);
    for (int k = 0; k < N; ++k) out[k] = base[i + k];
}

template <int N, class T, class I>
static inline void it_load_once(T* out, const T* base, I i, int line = __builtin_LINE()) {
    it_load<N>(out, base, i, line);
}

template <int N, class T, class I>
static inline void it_store(T* base, I i, const T* in, int line = __builtin_LINE()) {
    static_assert(N * sizeof(T) <= 16 && !(N & (N - 1)), "one access is 1, 2, 4, 8 or 16 bytes");
    it_cpu_access(base, (long long)i * (long long)sizeof(T), N * sizeof(T), IT_CPU_WRITE, line);
    for (int k = 0; k < N; ++k) base[i + k] = in[k];
}

template <int N, class T, class I, class J>
static inline void it_copy_async(T* piece, I i, const T* base, J j, bool valid, int line = __builtin_LINE()) {
    static_assert(N * sizeof(T) == 4 || N * sizeof(T) == 8 || N * sizeof(T) == 16, "one copy is 4, 8 or 16 bytes");
    if (valid) it_cpu_access(base, (long long)j * (long long)sizeof(T), N * sizeof(T), IT_CPU_READ, line);
    it_cpu_copy(piece, (long long)i * (long long)sizeof(T), valid ? base + j : nullptr, N * sizeof(T), line);
}

static inline void it_commit_async() { it_cpu_commit(); }
template <int GROUPS> static inline void it_wait_async() { it_cpu_wait(GROUPS); }
