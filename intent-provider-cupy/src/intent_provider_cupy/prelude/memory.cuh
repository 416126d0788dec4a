#ifndef IT_MEMORY_CUH
#define IT_MEMORY_CUH
extern __shared__ __align__(1024) unsigned char it_shared[];

// The piece of shared memory of `count` elements from byte `bytes` on.
template <class T> IT_FN T* it_piece(int bytes, int count) { return reinterpret_cast<T*>(it_shared + bytes); }

template <class T, class I> IT_FN T it_load(const T* base, I i) { return base[i]; }
template <class T, class I, class V> IT_FN void it_store(T* base, I i, V value) { base[i] = value; }

// The type of one access of BYTES bytes.
template <int BYTES> struct it_word;
template <> struct it_word<1> { typedef unsigned char type; };
template <> struct it_word<2> { typedef unsigned short type; };
template <> struct it_word<4> { typedef unsigned type; };
template <> struct it_word<8> { typedef uint2 type; };
template <> struct it_word<16> { typedef uint4 type; };

// N consecutive elements in one access, aligned to its size.
template <int N, class T, class I> IT_FN void it_load(T* out, const T* base, I i) {
    typedef typename it_word<N * sizeof(T)>::type Word;
    const Word word = *reinterpret_cast<const Word*>(base + i);
    memcpy(out, &word, sizeof(Word));
}
// As it_load, of global memory that nobody reads again: it leaves the caches first.
template <int N, class T, class I> IT_FN void it_load_once(T* out, const T* base, I i) {
    constexpr int bytes = N * sizeof(T);
    if constexpr (bytes < 4) it_load<N>(out, base, i);
    else {
        unsigned w[bytes / 4];
        unsigned long long policy;
        const unsigned long long at = __cvta_generic_to_global(base + i);
        asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        if constexpr (bytes == 4)
            asm volatile("ld.global.L1::no_allocate.L2::cache_hint.b32 %0, [%1], %2;" : "=r"(w[0]) : "l"(at), "l"(policy) : "memory");
        else if constexpr (bytes == 8)
            asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v2.b32 {%0,%1}, [%2], %3;"
                         : "=r"(w[0]), "=r"(w[1]) : "l"(at), "l"(policy) : "memory");
        else
            asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v4.b32 {%0,%1,%2,%3}, [%4], %5;"
                         : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "l"(at), "l"(policy) : "memory");
        memcpy(out, w, bytes);
    }
}
template <int N, class T, class I> IT_FN void it_store(T* base, I i, const T* in) {
    typedef typename it_word<N * sizeof(T)>::type Word;
    Word word;
    memcpy(&word, in, sizeof(Word));
    *reinterpret_cast<Word*>(base + i) = word;
}
#endif
