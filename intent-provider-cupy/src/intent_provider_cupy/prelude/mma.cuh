#ifndef IT_MMA_CUH
#define IT_MMA_CUH
// The k-th register of four bytes of a fragment.
template <class T> IT_FN unsigned it_packed(const T* elements, int k) {
    unsigned word;
    memcpy(&word, elements + k * (int)(4 / sizeof(T)), 4);
    return word;
}

// d += a * b of one warp; elements in the order of the PTX fragments.
#define IT_MMA(T, ACC, C, SHAPE, TYPES)                                                                     \
    IT_FN void it_mma(ACC* d, const T* a, const T* b) {                                                      \
        asm volatile("mma.sync.aligned." SHAPE ".row.col." TYPES " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
                     : "+" C(d[0]), "+" C(d[1]), "+" C(d[2]), "+" C(d[3])                                    \
                     : "r"(it_packed(a, 0)), "r"(it_packed(a, 1)), "r"(it_packed(a, 2)), "r"(it_packed(a, 3)), \
                       "r"(it_packed(b, 0)), "r"(it_packed(b, 1)));                                          \
    }
IT_MMA(it_f16, float, "f", "m16n8k16", "f32.f16.f16.f32")
IT_MMA(it_bf16, float, "f", "m16n8k16", "f32.bf16.bf16.f32")
IT_MMA(signed char, int, "r", "m16n8k32", "s32.s8.s8.s32")
IT_MMA(unsigned char, int, "r", "m16n8k32", "s32.u8.u8.s32")
#if __CUDA_ARCH__ >= 890
IT_MMA(it_f8e4m3fn, float, "f", "m16n8k32", "f32.e4m3.e4m3.f32")
IT_MMA(it_f8e5m2, float, "f", "m16n8k32", "f32.e5m2.e5m2.f32")
#endif
#undef IT_MMA
#endif
