#ifndef IT_WARP_CUH
#define IT_WARP_CUH
// A value of up to 16 bytes from another lane; all 32 lanes take part.
template <class T, class F> IT_FN T it_by_words(T v, F move) {
    constexpr int words = (sizeof(T) + 3) / 4;
    unsigned parts[words] = {};
    memcpy(parts, &v, sizeof(T));
    for (int k = 0; k < words; ++k) parts[k] = move(parts[k]);
    memcpy(&v, parts, sizeof(T));
    return v;
}
template <class T> IT_FN T it_shuffle(T v, int lane) {
    return it_by_words(v, [=](unsigned w) { return __shfl_sync(0xFFFFFFFFu, w, lane); });
}
template <class T> IT_FN T it_shuffle_xor(T v, int mask) {
    return it_by_words(v, [=](unsigned w) { return __shfl_xor_sync(0xFFFFFFFFu, w, mask); });
}
template <class T> IT_FN T it_shuffle_up(T v, int d) {
    return it_by_words(v, [=](unsigned w) { return __shfl_up_sync(0xFFFFFFFFu, w, d); });
}
template <class T> IT_FN T it_shuffle_down(T v, int d) {
    return it_by_words(v, [=](unsigned w) { return __shfl_down_sync(0xFFFFFFFFu, w, d); });
}
// A sum with another lane's value. It is rounded as written: contracted with a product before it, it would differ
// between the two lanes.
IT_FN float it_sum_of_lanes(float a, float b) { return __fadd_rn(a, b); }
IT_FN double it_sum_of_lanes(double a, double b) { return __dadd_rn(a, b); }
IT_FN unsigned it_ballot(bool p) { return __ballot_sync(0xFFFFFFFFu, p); }
IT_FN bool it_any(bool p) { return __any_sync(0xFFFFFFFFu, p); }
IT_FN bool it_all(bool p) { return __all_sync(0xFFFFFFFFu, p); }
#endif
