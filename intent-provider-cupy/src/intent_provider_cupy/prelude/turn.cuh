#ifndef IT_TURN_CUH
#define IT_TURN_CUH
// Exchanges a bit of the number of a thread's elements (STEP) with a bit of the lane number (mask): words of WORD elements go to the
// other lane, such that a thread has neighbours that two threads had. All 32 lanes take part. Words are pinned before one is chosen:
// a compiler that chooses between what they were made of lets groups of products wait for each other.
template <int WORD, int STEP, class T, int R> IT_FN void it_turn(T (&v)[R], int mask) {
    constexpr int bytes = WORD * sizeof(T), parts = (bytes + 3) / 4;
    const bool upper = (threadIdx.x & mask) != 0;
    it_each(i, R / 2 / WORD) {
        T* const low = v + i * WORD / STEP * 2 * STEP + i * WORD % STEP;
        unsigned a[parts] = {}, b[parts] = {};
        memcpy(a, low, bytes), memcpy(b, low + STEP, bytes);
        it_each(k, parts) {
            asm volatile("" : "+r"(a[k]), "+r"(b[k]));
            const unsigned got = it_shuffle_xor(upper ? a[k] : b[k], mask);
            a[k] = upper ? got : a[k], b[k] = upper ? b[k] : got;
        }
        memcpy(low, a, bytes), memcpy(low + STEP, b, bytes);
    }
}
#endif
