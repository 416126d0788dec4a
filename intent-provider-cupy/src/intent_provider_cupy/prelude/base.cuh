#ifndef IT_BASE_CUH
#define IT_BASE_CUH
#ifndef IT_FN
#define IT_FN __device__ __forceinline__
#endif
#endif
