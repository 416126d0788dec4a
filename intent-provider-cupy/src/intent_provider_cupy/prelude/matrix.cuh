#ifndef IT_MATRIX_CUH
#define IT_MATRIX_CUH
// The index of an element of a tile in shared memory: panels of WIDTH columns (16 to 128 bytes) side by side. Pieces of 16
// bytes of a row are swapped by the row's number, such that those of eight rows one below the other lie in different banks.
template <class T, int ROWS, int WIDTH> IT_FN int it_place(int row, int column) {
    constexpr unsigned piece = 16 / sizeof(T), pieces = WIDTH / piece;
    const unsigned r = row, c = column;
    return c / WIDTH * (ROWS * WIDTH) + r * WIDTH + (c % WIDTH ^ r / (8 / pieces) % pieces * piece);
}

// COUNT matrices of 8 rows of 16 bytes from shared memory, for it_mma: lane 8 * k + r gives the index of row r of matrix k,
// and gets, for each matrix in turn, the four bytes of row lane / 4 from byte 4 * (lane % 4) on; turned: of 16-bit elements,
// those of column lane / 4 in rows 2 * (lane % 4) and the next.
#if defined(INTENT_CPU)
template <int COUNT, bool TURNED, class T, class I> IT_FN void it_load_matrices(T* out, const T* piece, I index) {
    constexpr int run = 4 / (int)sizeof(T);
    const int lane = threadIdx.x & 31;
    for (int k = 0; k < COUNT; ++k)
        for (int j = 0; j < run; ++j) {
            const int row = TURNED ? lane % 4 * 2 + j : lane / 4, column = TURNED ? lane / 4 : lane % 4 * run + j;
            const I from = it_shuffle(index, k * 8 + row);
            out[k * run + j] = it_load(piece, from + column);
        }
}
#else
template <int COUNT, bool TURNED, class T, class I> IT_FN void it_load_matrices(T* out, const T* piece, I index) {
    static_assert(COUNT == 2 || COUNT == 4, "two or four matrices");
    const unsigned from = (unsigned)__cvta_generic_to_shared(piece + index);
    unsigned w[COUNT];
    if constexpr (COUNT == 4 && TURNED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "r"(from) : "memory");
    else if constexpr (COUNT == 4)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "r"(from) : "memory");
    else if constexpr (TURNED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(w[0]), "=r"(w[1]) : "r"(from) : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(w[0]), "=r"(w[1]) : "r"(from) : "memory");
    memcpy(out, w, sizeof(w));
}
#endif

// One step's elements of an operand of it_mma, from the registers of results of the same two rows.
template <class T> IT_FN void it_rows(T* a, const T* upper, const T* lower, int step) {
    it_each(k, 8) a[k] = (k / 2 % 2 ? lower : upper)[4 * step + k % 2 + k / 4 * 2];
}

// it_mma into four sums that need not lie together.
template <class T, class A> IT_FN void it_mma_into(A& c0, A& c1, A& c2, A& c3, const T* a, const T* b) {
    A d[4] = {c0, c1, c2, c3};
    it_mma(d, a, b);
    c0 = d[0], c1 = d[1], c2 = d[2], c3 = d[3];
}
#endif
