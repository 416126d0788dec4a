// CUDA C++ as g++ reads it: the keywords, the thread's place, and the prelude's functions that need a GPU, done on the CPU.
// A kernel's text is compiled after this file, unchanged. No header of the C or C++ library is included: they take longer
// to read than a kernel takes to compile.
#pragma once
#define INTENT_CPU

#include "runtime.hpp"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define IT_FN inline
#define threadIdx it_cpu_here.thread
#define blockIdx it_cpu_here.block
#define blockDim it_cpu_here.block_dim
#define gridDim it_cpu_here.grid_dim

#define __syncthreads() it_cpu_barrier(__LINE__)
#define __syncwarp() it_cpu_warp_barrier(__LINE__)
static inline void __threadfence() {}
static inline void __threadfence_block() {}

#define memcpy __builtin_memcpy

#include "shim_math.hpp"
#include "../prelude/base.cuh"
#include "../prelude/casts.cuh"
#include "../prelude/combine.cuh"
#include "shim_memory.hpp"
#include "shim_warp.hpp"
#include "shim_atomics.hpp"
#include "shim_mma.hpp"
#include "shim_groups.hpp"
