// Shuffles and votes: every lane shows its value to its warp and takes another's.
#pragma once
#define IT_WARP_CUH

template <class T> static inline T it_cpu_of_lane(const T& mine, int lane, int line) {
    static_assert(sizeof(T) <= IT_CPU_SLOT, "a value that lanes exchange is small");
    const unsigned char* slots = it_cpu_meet(&mine, sizeof(T), line);
    T theirs;
    __builtin_memcpy(&theirs, slots + lane * IT_CPU_SLOT, sizeof(T));
    return theirs;
}

static inline int it_cpu_lane() { return (int)(it_cpu_here.thread.x & 31); }

template <class T> static inline T it_shuffle(T v, int lane, int line = __builtin_LINE()) {
    return it_cpu_of_lane(v, lane & 31, line);
}
template <class T> static inline T it_shuffle_xor(T v, int mask, int line = __builtin_LINE()) {
    return it_cpu_of_lane(v, (it_cpu_lane() ^ mask) & 31, line);
}
template <class T> static inline T it_shuffle_up(T v, int d, int line = __builtin_LINE()) {
    const int lane = it_cpu_lane();
    return it_cpu_of_lane(v, lane < d ? lane : lane - d, line);
}
template <class T> static inline T it_shuffle_down(T v, int d, int line = __builtin_LINE()) {
    const int lane = it_cpu_lane();
    return it_cpu_of_lane(v, lane + d > 31 ? lane : lane + d, line);
}

static inline unsigned it_ballot(bool p, int line = __builtin_LINE()) {
    const unsigned char* slots = it_cpu_meet(&p, sizeof(bool), line);
    unsigned all = 0;
    for (int lane = 0; lane < 32; ++lane) all |= (unsigned)(slots[lane * IT_CPU_SLOT] != 0) << lane;
    return all;
}
static inline float it_sum_of_lanes(float a, float b) { return a + b; }
static inline double it_sum_of_lanes(double a, double b) { return a + b; }
static inline bool it_any(bool p, int line = __builtin_LINE()) { return it_ballot(p, line) != 0; }
static inline bool it_all(bool p, int line = __builtin_LINE()) { return it_ballot(p, line) == 0xFFFFFFFFu; }
