#ifndef IT_ASYNC_CUH
#define IT_ASYNC_CUH
// N elements to shared memory beside the computation; zeros if not valid. Whoever reads them waits for their group first.
template <int N, class T, class I, class J>
IT_FN void it_copy_async(T* piece, I i, const T* base, J j, bool valid) {
    constexpr int bytes = N * (int)sizeof(T);
    static_assert(bytes == 4 || bytes == 8 || bytes == 16, "one copy is 4, 8 or 16 bytes");
    const unsigned to = (unsigned)__cvta_generic_to_shared(piece + i);
    const T* const from = valid ? base + j : base;
    const int used = valid ? bytes : 0;
    if constexpr (bytes == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(to), "l"(from), "r"(used) : "memory");
    else if constexpr (bytes == 8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" : : "r"(to), "l"(from), "r"(used) : "memory");
    else asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" : : "r"(to), "l"(from), "r"(used) : "memory");
}
IT_FN void it_commit_async() { asm volatile("cp.async.commit_group;" : : : "memory"); }
// Waits until at most GROUPS of this thread's groups are on their way.
template <int GROUPS> IT_FN void it_wait_async() { asm volatile("cp.async.wait_group %0;" : : "n"(GROUPS) : "memory"); }
#endif
