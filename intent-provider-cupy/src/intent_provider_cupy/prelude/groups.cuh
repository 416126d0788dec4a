#ifndef IT_GROUPS_CUH
#define IT_GROUPS_CUH
// Products of groups, four warps at a time, whose operands are tiles in shared memory; they are under way until it_wait_groups. Only
// sm_90a has them: elsewhere it_groups is false, and nothing here is called.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
constexpr bool it_groups = true;
#else
constexpr bool it_groups = false;
#endif

// A matrix in a tile of ROWS rows in panels of WIDTH columns, from the element of this index on, whose row is a multiple of 8. Adding
// an eighth of an index of it_place moves it.
typedef unsigned long long it_matrix;
template <int ROWS, int WIDTH, class T, class I> IT_FN it_matrix it_matrix_of(const T* piece, I index) {
    constexpr unsigned bytes = WIDTH * sizeof(T), panel = ROWS * bytes / 16, eight = 8 * bytes / 16;
    constexpr it_matrix order = bytes == 128 ? 1 : bytes == 64 ? 2 : 3;
    const unsigned from = (unsigned)__cvta_generic_to_shared(piece + index);
    return order << 62 | (it_matrix)eight << 32 | (it_matrix)panel << 16 | (from & 0x3ffff) >> 4;
}

// What this thread has written to shared memory becomes visible to groups (after the next barrier, to those of all threads).
IT_FN void it_show_groups() {
    if constexpr (it_groups) asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}

// Nothing moves a use of the sums over the products that are under way.
template <int H, int W> IT_FN void it_pinned(float (&sums)[H][W]) {
    it_each(i, H) it_each(j, W) asm volatile("" : "+f"(sums[i][j]) : : "memory");
}
template <int W> IT_FN void it_pinned(float (&upper)[W], float (&lower)[W]) {
    it_each(j, W) asm volatile("" : "+f"(upper[j]), "+f"(lower[j]) : : "memory");
}
template <int H, int W> IT_FN void it_begin_groups(float (&sums)[H][W]) {
    it_pinned(sums);
    asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
}
template <int W> IT_FN void it_begin_groups(float (&upper)[W], float (&lower)[W]) {
    it_pinned(upper, lower);
    asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
}
// Further products for sums that are under way.
IT_FN void it_follow_groups() { asm volatile("wgmma.fence.sync.aligned;" : : : "memory"); }
IT_FN void it_commit_groups() { asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory"); }
// Waits until at most COUNT of this thread's commits are under way; the sums stay the products'.
template <int COUNT> IT_FN void it_leave_groups() { asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(COUNT) : "memory"); }
// The same, and these two rows of sums are there.
template <int COUNT, int W> IT_FN void it_leave_groups(float (&upper)[W], float (&lower)[W]) {
    it_leave_groups<COUNT>();
    it_pinned(upper, lower);
}
template <int H, int W> IT_FN void it_wait_groups(float (&sums)[H][W]) {
    asm volatile("wgmma.wait_group.sync.aligned 0;" : : : "memory");
    it_pinned(sums);
}

// The elements of a for products that begin now: they are all there before.
template <class T, int K> IT_FN void it_hold(T (&a)[K][8]) {
    it_each(k, K) it_each(j, 4) {
        unsigned w;
        memcpy(&w, &a[k][2 * j], 4);
        asm volatile("" : "+r"(w) : : "memory");
        memcpy(&a[k][2 * j], &w, 4);
    }
}

// sums += a * b of 64 rows and N columns; `upper` and `lower` are the sums of a thread's two rows. a: a matrix of rows, or (TURNED_A)
// of columns, or the elements of one step of it_mma; b: of columns, or (TURNED_B) of rows.
template <int N, bool TURNED_A, bool TURNED_B, class T> struct it_group;
template <int N, bool TURNED_A, bool TURNED_B, class T>
IT_FN void it_multiply(float* upper, float* lower, it_matrix a, it_matrix b) {
    it_group<N, TURNED_A, TURNED_B, T>::tiles(upper, lower, a, b);
}
template <int N, bool TURNED_B, class T> IT_FN void it_multiply(float* upper, float* lower, const T* a, it_matrix b) {
    it_group<N, false, TURNED_B, T>::registers(upper, lower, a, b);
}
#define IT_SUMS_4(k) "+f"(d[k]), "+f"(d[k + 1]), "+f"(e[k]), "+f"(e[k + 1])
#define IT_SUMS_16(k) IT_SUMS_4(k), IT_SUMS_4(k + 2), IT_SUMS_4(k + 4), IT_SUMS_4(k + 6)
#define IT_SUMS_64(k) IT_SUMS_16(k), IT_SUMS_16(k + 8), IT_SUMS_16(k + 16), IT_SUMS_16(k + 24)
#define IT_TEN(t) "%" t "0,%" t "1,%" t "2,%" t "3,%" t "4,%" t "5,%" t "6,%" t "7,%" t "8,%" t "9"
#define IT_UP_TO_7 "%0,%1,%2,%3,%4,%5,%6,%7"
#define IT_UP_TO_15 IT_TEN("") ",%10,%11,%12,%13,%14,%15"
#define IT_UP_TO_31 IT_TEN("") "," IT_TEN("1") "," IT_TEN("2") ",%30,%31"
#define IT_UP_TO_59 IT_TEN("") "," IT_TEN("1") "," IT_TEN("2") "," IT_TEN("3") "," IT_TEN("4") "," IT_TEN("5")
#define IT_UP_TO_63 IT_UP_TO_59 ",%60,%61,%62,%63"
#define IT_UP_TO_119 IT_UP_TO_59 "," IT_TEN("6") "," IT_TEN("7") "," IT_TEN("8") "," IT_TEN("9") "," IT_TEN("10") "," IT_TEN("11")
#define IT_UP_TO_127 IT_UP_TO_119 ",%120,%121,%122,%123,%124,%125,%126,%127"
// P, Q, R, S, U, V: the numbers of the operands after the sums, which are NAMES.
#define IT_GROUP(T, TYPES, N, NAMES, P, Q, R, S, U, V, ...)                                                                       \
    template <bool TURNED_A, bool TURNED_B> struct it_group<N, TURNED_A, TURNED_B, T> {                                        \
        static IT_FN void tiles(float* d, float* e, it_matrix a, it_matrix b) {                                                \
            asm volatile("wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPES " {" NAMES "}, " P ", " Q ", 1, 1, 1, " R ", " S ";" \
                         : __VA_ARGS__ : "l"(a), "l"(b), "n"(TURNED_A), "n"(TURNED_B));                                          \
        }                                                                                                                    \
        static IT_FN void registers(float* d, float* e, const T* a, it_matrix b) {                                            \
            asm volatile("wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPES                                                \
                         " {" NAMES "}, {" P "," Q "," R "," S "}, " U ", 1, 1, 1, " V ";"                                      \
                         : __VA_ARGS__ : "r"(it_packed(a, 0)), "r"(it_packed(a, 1)), "r"(it_packed(a, 2)), "r"(it_packed(a, 3)), \
                           "l"(b), "n"(TURNED_B));                                                                            \
        }                                                                                                                    \
    };
#define IT_GROUPS(T, TYPES)                                                                                                    \
    IT_GROUP(T, TYPES, 16, IT_UP_TO_7, "%8", "%9", "%10", "%11", "%12", "%13", IT_SUMS_4(0), IT_SUMS_4(2))                    \
    IT_GROUP(T, TYPES, 32, IT_UP_TO_15, "%16", "%17", "%18", "%19", "%20", "%21", IT_SUMS_16(0))                              \
    IT_GROUP(T, TYPES, 64, IT_UP_TO_31, "%32", "%33", "%34", "%35", "%36", "%37", IT_SUMS_16(0), IT_SUMS_16(8))               \
    IT_GROUP(T, TYPES, 128, IT_UP_TO_63, "%64", "%65", "%66", "%67", "%68", "%69", IT_SUMS_64(0))                             \
    IT_GROUP(T, TYPES, 256, IT_UP_TO_127, "%128", "%129", "%130", "%131", "%132", "%133", IT_SUMS_64(0), IT_SUMS_64(32))
IT_GROUPS(it_f16, "f16.f16")
IT_GROUPS(it_bf16, "bf16.bf16")
#undef IT_GROUPS
#undef IT_GROUP
#endif
