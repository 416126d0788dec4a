#ifndef IT_COUNTING_CUH
#define IT_COUNTING_CUH
// One more in an element of shared memory. Nobody reads what was there, and no other memory is ordered by it.
#ifndef INTENT_CPU
template <class C> IT_FN void it_increment(C* base, int i) { atomicAdd(base + i, (C)1); }
#endif

// Counts a number in the counters of a row of BINS bins, if it is that of one. Every bin has COPIES counters, so that the
// threads of a warp that meet the same bin do not wait for one another.
template <int BINS, int COPIES, class C, class V> IT_FN void it_count(C* counters, int row, V number) {
    bool inside;
    if constexpr (sizeof(V) <= 4) inside = (unsigned)number < (unsigned)BINS;
    else inside = (unsigned long long)number < (unsigned long long)BINS;
    if (inside) it_increment(counters, (row * BINS + (int)number) * COPIES + (int)(threadIdx.x % COPIES));
}

// What all counters of a bin have counted; neighbouring threads begin with different ones, which lie in other banks.
template <int COPIES, class C> IT_FN C it_counted(const C* counters, int bin) {
    C total = 0;
    for (int k = 0; k < COPIES; ++k) total += it_load(counters, bin * COPIES + (int)((k + threadIdx.x) % COPIES));
    return total;
}
#endif
