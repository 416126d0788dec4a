// Products of groups: every lane computes its own sums from the tiles that the matrices describe, as late as the text allows: when they
// are waited for. Whoever has written into a tile in between has been too early. As in shim_mma.hpp, products are exact and rounded once.
#pragma once
#define IT_GROUPS_CUH

constexpr bool it_groups = true;

// As the hardware has it (a 16th of the address, of the distances between panels and between eight rows; the order of pieces), and the
// piece that it lies in.
struct it_matrix {
    const unsigned char* piece;
    unsigned long long bits;
    it_matrix operator+(unsigned long long more) const { return {piece, bits + more}; }
};
template <int ROWS, int WIDTH, class T, class I> static inline it_matrix it_matrix_of(const T* piece, I index) {
    constexpr unsigned bytes = WIDTH * sizeof(T);
    static_assert(bytes == 128 || bytes == 64 || bytes == 32, "a panel is 32, 64 or 128 bytes wide");
    const unsigned long long order = bytes == 128 ? 1 : bytes == 64 ? 2 : 3, eight = bytes / 2, panel = ROWS * bytes / 16;
    const unsigned long long from = (const unsigned char*)(piece + index) - it_cpu_shared;
    return {(const unsigned char*)piece, order << 62 | eight << 32 | panel << 16 | from >> 4};
}

static inline void it_show_groups() {}
template <class T, int K> static inline void it_hold(T (&)[K][8]) {}
template <int H, int W> static inline void it_begin_groups(float (&)[H][W]) {}
template <int W> static inline void it_begin_groups(float (&)[W], float (&)[W]) {}
static inline void it_follow_groups() {}
static inline void it_commit_groups() { it_cpu_commit_later(); }
template <int COUNT> static inline void it_leave_groups() { it_cpu_wait_later(COUNT); }
template <int COUNT, int W> static inline void it_leave_groups(float (&)[W], float (&)[W]) { it_cpu_wait_later(COUNT); }
template <int H, int W> static inline void it_wait_groups(float (&)[H][W]) { it_cpu_wait_later(0); }

// A product when it is set under way, which reads for nothing, and when it is `made`.
struct it_cpu_product { float *upper, *lower; it_matrix a, b; unsigned long long since; int line; bool made; };

// COUNT neighbouring elements: of lanes of the free dim from `free` on if turned, else of contracted ones from k on. Of the lanes that
// read the same elements one has `mine`, and reports the access.
template <bool TURNED, int COUNT, class T>
static inline void it_cpu_matrix(T* out, const it_matrix& m, int free, int k, bool mine, const it_cpu_product& what) {
    const int bytes = 256 >> (m.bits >> 62), eight = (m.bits >> 32 & 0x3fff) * 16, panel = (m.bits >> 16 & 0x3fff) * 16;
    const int size = sizeof(T);
    int at = (m.bits & 0x3fff) * 16;
    if (TURNED) at += free * size / bytes * panel + free * size % bytes + k / 8 * eight + k % 8 * bytes;
    else at += free / 8 * eight + free % 8 * bytes + k * size;
    at ^= (at >> 7 & (bytes / 16 - 1)) << 4;
    const long long offset = it_cpu_shared + at - m.piece;
    if (mine && what.made) it_cpu_read_since(m.piece, offset, COUNT * size, what.since, what.line);
    else if (mine) it_cpu_access(m.piece, offset, COUNT * size, IT_CPU_READ, what.line);
    __builtin_memcpy(out, it_cpu_shared + at, COUNT * size);
}

template <int N, bool TURNED_B, class T> static inline void it_cpu_group(const it_cpu_product& what, const T (*rows)[16]) {
    const int lane = it_cpu_lane();
    for (int j = 0; j < N / 8; ++j) {
        const int column = 8 * j + 2 * (lane % 4);
        const bool mine = j % 8 == lane / 4;
        if (!mine && !what.made) continue;
        T columns[2][16];
        if (TURNED_B) for (int k = 0; k < 16; ++k) {
            T pair[2];
            it_cpu_matrix<true, 2>(pair, what.b, column, k, mine, what);
            columns[0][k] = pair[0], columns[1][k] = pair[1];
        }
        else for (int c = 0; c < 2; ++c)
            for (int k = 0; k < 16; k += 8) it_cpu_matrix<false, 8>(&columns[c][k], what.b, column + c, k, mine, what);
        if (!what.made) continue;
        for (int c = 0; c < 2; ++c) for (int half = 0; half < 2; ++half) {
            float& sum = (half ? what.lower : what.upper)[2 * j + c];
            double total = sum;
            for (int k = 0; k < 16; ++k) total += (double)it_wide(rows[half][k]) * (double)it_wide(columns[c][k]);
            sum = (float)total;
        }
    }
}

template <int N, bool TURNED_A, bool TURNED_B, class T> static void it_cpu_of_tiles(const void* record) {
    const it_cpu_product& what = *(const it_cpu_product*)record;
    const int lane = it_cpu_lane(), first = threadIdx.x / 32 % 4 * 16 + lane / 4;
    T rows[2][16];
    for (int half = 0; half < 2; ++half)
        for (int k = 0; k < 16; k += TURNED_A ? 1 : 8)
            it_cpu_matrix<TURNED_A, TURNED_A ? 1 : 8>(&rows[half][k], what.a, first + 8 * half, k, lane % 4 == k / 4 % 4, what);
    it_cpu_group<N, TURNED_B>(what, rows);
}
template <int N, bool TURNED_A, bool TURNED_B, class T>
static inline void it_multiply(float* upper, float* lower, it_matrix a, it_matrix b, int line = __builtin_LINE()) {
    const bool here = true;
    it_cpu_meet(&here, sizeof here, line);
    it_cpu_product what{upper, lower, a, b, it_cpu_moment(), line, false};
    it_cpu_of_tiles<N, TURNED_A, TURNED_B, T>(&what);
    what.made = true;
    it_cpu_later(it_cpu_of_tiles<N, TURNED_A, TURNED_B, T>, &what, sizeof what);
}

// The elements of a in the order of it_mma: four lanes have a row between them.
template <class T> struct it_cpu_held { it_cpu_product product; T rows[2][16]; };
template <int N, bool TURNED_B, class T> static void it_cpu_of_rows(const void* record) {
    const it_cpu_held<T>& what = *(const it_cpu_held<T>*)record;
    it_cpu_group<N, TURNED_B>(what.product, what.rows);
}
template <int N, bool TURNED_B, class T>
static inline void it_multiply(float* upper, float* lower, const T* a, it_matrix b, int line = __builtin_LINE()) {
    const int lane = it_cpu_lane();
    const unsigned char* slots = it_cpu_meet(a, 8 * sizeof(T), line);
    it_cpu_held<T> what{{upper, lower, {}, b, it_cpu_moment(), line, false}, {}};
    for (int half = 0; half < 2; ++half)
        for (int k = 0; k < 16; ++k) {
            const int at = k % 2 + 2 * half + 4 * (k / 8);
            __builtin_memcpy(&what.rows[half][k], slots + (lane / 4 * 4 + k / 2 % 4) * IT_CPU_SLOT + at * sizeof(T), sizeof(T));
        }
    it_cpu_of_rows<N, TURNED_B, T>(&what);
    what.product.made = true;
    it_cpu_later(it_cpu_of_rows<N, TURNED_B, T>, &what, sizeof what);
}
