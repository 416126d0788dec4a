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
template <int N, class T, class I> IT_FN void it_store(T* base, I i, const T* in) {
    typedef typename it_word<N * sizeof(T)>::type Word;
    Word word;
    memcpy(&word, in, sizeof(Word));
    *reinterpret_cast<Word*>(base + i) = word;
}
#endif
