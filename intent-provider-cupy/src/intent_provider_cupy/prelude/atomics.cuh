#ifndef IT_ATOMICS_CUH
#define IT_ATOMICS_CUH
// The address of an element as an instruction wants it. Without its state space every access is a branch on where the address lies,
// and one whose old value nobody reads still waits for it.
template <it_scope S, class T> IT_FN unsigned long long it_window(const T* at) {
    if constexpr (S == IT_SHARED) return __cvta_generic_to_shared(at);
    else return __cvta_generic_to_global(at);
}

// One PTX instruction in each order and scope. TAIL: type, operands and constraints.
#define IT_PTX_SCOPED(HEAD, ORDER, TAIL, ...)                                                          \
    if constexpr (S == IT_SHARED) asm volatile(HEAD ORDER ".cta.shared::cta" TAIL __VA_ARGS__);             \
    else if constexpr (S == IT_BLOCK) asm volatile(HEAD ORDER ".cta.global" TAIL __VA_ARGS__);          \
    else asm volatile(HEAD ORDER ".gpu.global" TAIL __VA_ARGS__)
#define IT_PTX_ORDERED(HEAD, TAIL, ...)                                            \
    if constexpr (O == IT_RELAXED) { IT_PTX_SCOPED(HEAD, ".relaxed", TAIL, __VA_ARGS__); }      \
    else if constexpr (O == IT_ACQUIRE) { IT_PTX_SCOPED(HEAD, ".acquire", TAIL, __VA_ARGS__); } \
    else if constexpr (O == IT_RELEASE) { IT_PTX_SCOPED(HEAD, ".release", TAIL, __VA_ARGS__); } \
    else { IT_PTX_SCOPED(HEAD, ".acq_rel", TAIL, __VA_ARGS__); }

// Compare and exchange of 16, 32 or 64 bits: everything else can be made of it.
template <it_order O, it_scope S> IT_FN unsigned short it_cas(unsigned short* at, unsigned short expected, unsigned short desired) {
    unsigned short old;
    IT_PTX_ORDERED("atom", ".cas.b16 %0, [%1], %2, %3;", : "=h"(old) : "l"(it_window<S>(at)), "h"(expected), "h"(desired) : "memory")
    return old;
}
template <it_order O, it_scope S> IT_FN unsigned it_cas(unsigned* at, unsigned expected, unsigned desired) {
    unsigned old;
    IT_PTX_ORDERED("atom", ".cas.b32 %0, [%1], %2, %3;", : "=r"(old) : "l"(it_window<S>(at)), "r"(expected), "r"(desired) : "memory")
    return old;
}
template <it_order O, it_scope S>
IT_FN unsigned long long it_cas(unsigned long long* at, unsigned long long expected, unsigned long long desired) {
    unsigned long long old;
    IT_PTX_ORDERED("atom", ".cas.b64 %0, [%1], %2, %3;", : "=l"(old) : "l"(it_window<S>(at)), "l"(expected), "l"(desired) : "memory")
    return old;
}

// The unsigned integer that holds a T; a byte lies in a word of 16 bits, for which there is an instruction.
template <int BYTES> struct it_atomic_word { typedef unsigned short type; };
template <> struct it_atomic_word<4> { typedef unsigned type; };
template <> struct it_atomic_word<8> { typedef unsigned long long type; };

// The element in a word, and the word with another element in its place.
template <class T, class W> IT_FN T it_taken_out(W word, int shift) {
    T element;
    if constexpr (sizeof(T) == sizeof(W)) memcpy(&element, &word, sizeof(T));
    else {
        const unsigned char byte = (unsigned char)(word >> shift);
        memcpy(&element, &byte, 1);
    }
    return element;
}
template <class T, class W> IT_FN W it_put_in(W word, T element, int shift) {
    if constexpr (sizeof(T) == sizeof(W)) {
        memcpy(&word, &element, sizeof(T));
        return word;
    } else {
        unsigned char byte;
        memcpy(&byte, &element, 1);
        return (W)((word & ~(W)(0xffu << shift)) | (W)((unsigned)byte << shift));
    }
}

// Replaces the element by change(element) in one step; gives the old element. A byte is shifted out of the word that
// holds it and back in: a copy to an offset that is only known at run time goes through local memory, and NVRTC
// 13.0 mixed up the bytes of such copies.
template <it_order O, it_scope S, class T, class F> IT_FN T it_atomic_change(T* at, F change) {
    typedef typename it_atomic_word<sizeof(T)>::type Word;
    constexpr bool whole = sizeof(T) == sizeof(Word);
    const unsigned long long address = reinterpret_cast<unsigned long long>(at);
    Word* const word = reinterpret_cast<Word*>(whole ? address : address & ~1ull);
    const int shift = whole ? 0 : (int)(address & 1) * 8;
    Word seen = *const_cast<volatile Word*>(word);
    for (;;) {
        const auto old = it_taken_out<T>(seen, shift);
        const Word found = it_cas<O, S>(word, seen, it_put_in(seen, change(old), shift));
        if (found == seen) return old;
        seen = found;
    }
}

template <it_order O, it_scope S, class T> IT_FN T it_atomic_read(const T* at) {
    constexpr bool acquires = O == IT_ACQUIRE || O == IT_ACQ_REL;
    T out;
#define IT_LOAD(SIZE, C, TYPE)                                                                           \
    TYPE word;                                                                                           \
    if constexpr (acquires) { IT_PTX_SCOPED("ld", ".acquire", SIZE " %0, [%1];", : C(word) : "l"(it_window<S>(at)) : "memory"); } \
    else { IT_PTX_SCOPED("ld", ".relaxed", SIZE " %0, [%1];", : C(word) : "l"(it_window<S>(at)) : "memory"); }         \
    memcpy(&out, &word, sizeof(T));
    if constexpr (sizeof(T) == 1) { IT_LOAD(".u8", "=r", unsigned) }
    else if constexpr (sizeof(T) == 2) { IT_LOAD(".u16", "=h", unsigned short) }
    else if constexpr (sizeof(T) == 4) { IT_LOAD(".u32", "=r", unsigned) }
    else { IT_LOAD(".u64", "=l", unsigned long long) }
#undef IT_LOAD
    return out;
}

template <it_order O, it_scope S, class T> IT_FN void it_atomic_write(T* at, T value) {
    constexpr bool releases = O == IT_RELEASE || O == IT_ACQ_REL;
#define IT_STORE(SIZE, C, TYPE)                                                                          \
    TYPE word = 0;                                                                                       \
    memcpy(&word, &value, sizeof(T));                                                                    \
    if constexpr (releases) { IT_PTX_SCOPED("st", ".release", SIZE " [%0], %1;", : : "l"(it_window<S>(at)), C(word) : "memory"); } \
    else { IT_PTX_SCOPED("st", ".relaxed", SIZE " [%0], %1;", : : "l"(it_window<S>(at)), C(word) : "memory"); }
    if constexpr (sizeof(T) == 1) { IT_STORE(".u8", "r", unsigned) }
    else if constexpr (sizeof(T) == 2) { IT_STORE(".u16", "h", unsigned short) }
    else if constexpr (sizeof(T) == 4) { IT_STORE(".u32", "r", unsigned) }
    else { IT_STORE(".u64", "l", unsigned long long) }
#undef IT_STORE
}

// The read-modify-writes that have an instruction.
#define IT_NATIVE(NAME, T, C, TYPE)                                                                  \
    template <it_order O, it_scope S> IT_FN T it_native_##NAME(T* at, T v) {                          \
        T old;                                                                                        \
        IT_PTX_ORDERED("atom", TYPE " %0, [%1], %2;", : "=" C(old) : "l"(it_window<S>(at)), C(v) : "memory")        \
        return old;                                                                                   \
    }
#define IT_NATIVE_WORDS(NAME, OP, I32, U32, I64, U64)                                                \
    IT_NATIVE(NAME, int, "r", OP I32) IT_NATIVE(NAME, unsigned, "r", OP U32)                          \
    IT_NATIVE(NAME, long long, "l", OP I64) IT_NATIVE(NAME, unsigned long long, "l", OP U64)
IT_NATIVE_WORDS(add, ".add", ".s32", ".u32", ".u64", ".u64")
IT_NATIVE(add, float, "f", ".add.f32")
IT_NATIVE(add, double, "d", ".add.f64")
IT_NATIVE_WORDS(max, ".max", ".s32", ".u32", ".s64", ".u64")
IT_NATIVE_WORDS(min, ".min", ".s32", ".u32", ".s64", ".u64")
IT_NATIVE_WORDS(and, ".and", ".b32", ".b32", ".b64", ".b64")
IT_NATIVE_WORDS(or, ".or", ".b32", ".b32", ".b64", ".b64")
IT_NATIVE_WORDS(xor, ".xor", ".b32", ".b32", ".b64", ".b64")
IT_NATIVE_WORDS(exchange, ".exch", ".b32", ".b32", ".b64", ".b64")
IT_NATIVE(exchange, float, "f", ".exch.b32")
IT_NATIVE(exchange, double, "d", ".exch.b64")
#undef IT_NATIVE_WORDS
#undef IT_NATIVE

template <class T> constexpr bool it_is_word = false;
template <> constexpr bool it_is_word<int> = true;
template <> constexpr bool it_is_word<unsigned> = true;
template <> constexpr bool it_is_word<long long> = true;
template <> constexpr bool it_is_word<unsigned long long> = true;
template <class T> constexpr bool it_is_half = false;
template <> constexpr bool it_is_half<it_f16> = true;
template <class T> constexpr bool it_is_real = false;
template <> constexpr bool it_is_real<float> = true;
template <> constexpr bool it_is_real<double> = true;

// it_atomic_add, it_atomic_max, it_atomic_min, it_atomic_and, it_atomic_or, it_atomic_xor, it_atomic_exchange: by an instruction where the type has one, else by compare and exchange.
#define IT_ATOMIC(KIND, HAS_INSTRUCTION, NATIVE, COMBINED)                                           \
    template <it_order O, it_scope S, class T, class I> IT_FN T it_atomic_##KIND(T* base, I i, T v) { \
        if constexpr (HAS_INSTRUCTION) return it_native_##NATIVE<O, S>(base + i, v);                  \
        else return it_atomic_change<O, S>(base + i, [=](T x) { return COMBINED; });                  \
    }
IT_ATOMIC(add, it_is_word<T> || it_is_real<T>, add, it_atomic_sum(x, v))
IT_ATOMIC(max, it_is_word<T>, max, it_atomic_greater(x, v))
IT_ATOMIC(min, it_is_word<T>, min, it_atomic_less(x, v))
IT_ATOMIC(and, it_is_word<T>, and, (T)(x & v))
IT_ATOMIC(or, it_is_word<T>, or, (T)(x | v))
IT_ATOMIC(xor, it_is_word<T>, xor, (T)(x ^ v))
IT_ATOMIC(exchange, it_is_word<T> || it_is_real<T>, exchange, v)
#undef IT_ATOMIC

// Adds to N consecutive elements of global memory, 4 to 16 bytes and aligned to that, whose old values nobody reads: each element for
// itself and in no order, but in one instruction where the target has it.
#define IT_ADD_ALL(TYPE, ...) IT_PTX_SCOPED("red", ".relaxed", ".add" TYPE, __VA_ARGS__)
template <int N, it_scope S, class T, class I> IT_FN void it_atomic_add_all(T* base, I i, const T* v) {
    static_assert(N * sizeof(T) >= 4 && N * sizeof(T) <= 16 && S != IT_SHARED, "4 to 16 bytes of global memory");
#if __CUDA_ARCH__ >= 900
    const unsigned long long at = it_window<S>(base + i);
    unsigned w[N * sizeof(T) / 4];
    memcpy(w, v, sizeof(w));
#define IT_PAIRS(PAIR)                                                                                            \
    if constexpr (N == 2) { IT_ADD_ALL(".noftz" PAIR " [%0], %1;", : : "l"(at), "r"(w[0]) : "memory"); }            \
    else if constexpr (N == 4) { IT_ADD_ALL(".noftz.v2" PAIR " [%0], {%1,%2};", : : "l"(at), "r"(w[0]), "r"(w[1]) : "memory"); } \
    else { IT_ADD_ALL(".noftz.v4" PAIR " [%0], {%1,%2,%3,%4};", : : "l"(at), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]) : "memory"); }
    if constexpr (it_is_real<T>) {
        if constexpr (N == 2) { IT_ADD_ALL(".v2.f32 [%0], {%1,%2};", : : "l"(at), "f"(v[0]), "f"(v[1]) : "memory"); }
        else { IT_ADD_ALL(".v4.f32 [%0], {%1,%2,%3,%4};", : : "l"(at), "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3]) : "memory"); }
    } else if constexpr (it_is_half<T>) { IT_PAIRS(".f16x2") }
    else { IT_PAIRS(".bf16x2") }
#undef IT_PAIRS
#else
    it_each(k, N) it_atomic_add<IT_RELAXED, S>(base, i + k, v[k]);
#endif
}
#undef IT_ADD_ALL

template <it_order O, it_scope S, class T, class I>
IT_FN T it_atomic_compare_exchange(T* base, I i, T expected, T desired) {
    return it_atomic_change<O, S>(base + i, [=](T x) { return it_same_bits(x, expected) ? desired : x; });
}
template <it_order O, it_scope S, class T, class I> IT_FN T it_atomic_load(const T* base, I i) {
    return it_atomic_read<O, S>(base + i);
}
template <it_order O, it_scope S, class T, class I> IT_FN void it_atomic_store(T* base, I i, T v) {
    it_atomic_write<O, S>(base + i, v);
}
#endif
