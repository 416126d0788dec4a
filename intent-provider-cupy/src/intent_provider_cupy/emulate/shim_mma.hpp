// Matrix products of a warp: every lane shows its fragments and sums its own elements. Products are exact and sums are in
// double, rounded once at the end; tensor cores round in between, so a GPU's result may differ by some units in the last place
// of the largest sum.
#pragma once
#define IT_MMA_CUH

// Fragments of m16n8k(4 * P * 2), P elements to a register: row or column g = lane / 4, register r holds
// k = P * (lane % 4) + (0 .. P-1) + 4 * P * (r / 2 for a, r for b), of row g + 8 * (r % 2) for a.
static inline double it_cpu_sum_of(float) { return 0; }
static inline unsigned it_cpu_sum_of(int) { return 0; }

template <class T, class D> static inline void it_cpu_mma(D* d, const T* a, const T* b, int line) {
    constexpr int P = 4 / sizeof(T), A = 4 * P, B = 2 * P;
    struct { T a[A], b[B]; } mine;
    for (int k = 0; k < A; ++k) mine.a[k] = a[k];
    for (int k = 0; k < B; ++k) mine.b[k] = b[k];
    const unsigned char* slots = it_cpu_meet(&mine, sizeof mine, line);
    const int lane = it_cpu_lane();
    for (int e = 0; e < 4; ++e) {
        const int row = lane / 4 + 8 * (e / 2), column = 2 * (lane % 4) + e % 2;
        decltype(it_cpu_sum_of(*d)) sum = d[e];
        for (int k = 0; k < 8 * P; ++k) {
            const int at = k % P, quad = k / P % 4, half = k / (4 * P);
            T x, y;
            __builtin_memcpy(&x, slots + (row % 8 * 4 + quad) * IT_CPU_SLOT + ((2 * half + row / 8) * P + at) * sizeof(T), sizeof(T));
            __builtin_memcpy(&y, slots + (column * 4 + quad) * IT_CPU_SLOT + (A + half * P + at) * sizeof(T), sizeof(T));
            sum += (decltype(sum))it_wide(x) * (decltype(sum))it_wide(y);
        }
        d[e] = (D)sum;
    }
}

static inline void it_mma(float* d, const it_f16* a, const it_f16* b, int line = __builtin_LINE()) { it_cpu_mma(d, a, b, line); }
static inline void it_mma(float* d, const it_bf16* a, const it_bf16* b, int line = __builtin_LINE()) { it_cpu_mma(d, a, b, line); }
static inline void it_mma(float* d, const it_f8e4m3fn* a, const it_f8e4m3fn* b, int line = __builtin_LINE()) { it_cpu_mma(d, a, b, line); }
static inline void it_mma(float* d, const it_f8e5m2* a, const it_f8e5m2* b, int line = __builtin_LINE()) { it_cpu_mma(d, a, b, line); }
static inline void it_mma(int* d, const signed char* a, const signed char* b, int line = __builtin_LINE()) { it_cpu_mma(d, a, b, line); }
static inline void it_mma(int* d, const unsigned char* a, const unsigned char* b, int line = __builtin_LINE()) { it_cpu_mma(d, a, b, line); }
