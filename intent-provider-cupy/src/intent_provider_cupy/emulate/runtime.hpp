// What a kernel built for the CPU asks of the runtime that executes it. One operating-system thread runs one block at a
// time; every CUDA thread is a fiber. Nothing here includes a header of the C++ library: a kernel compiles in milliseconds.
#pragma once

struct it_cpu_uint3 { unsigned x, y, z; };

struct it_cpu_place { it_cpu_uint3 thread, block, block_dim, grid_dim; };

enum { IT_CPU_READ = 0, IT_CPU_WRITE = 1, IT_CPU_ATOMIC = 2 };   // bits: a write, an indivisible access
enum { IT_CPU_ACQUIRES = 1, IT_CPU_RELEASES = 2 };   // bits: what an atomic access orders
enum { IT_CPU_SLOT = 64 };                                     // bytes that one lane shows to its warp
enum { IT_CPU_RECORD = 192 };                                  // bytes of what a thread will do later

extern "C" {
// Of the running thread.
extern it_cpu_place it_cpu_here;
// Where a block's dynamic shared memory lies.
extern unsigned char* it_cpu_shared;

// All threads of the block; `line` is the line of the text, the same for all that meet.
void it_cpu_barrier(int line);
void it_cpu_warp_barrier(int line);
// All lanes of the warp show `bytes` bytes; gives the 32 slots of IT_CPU_SLOT bytes. Valid until the lane meets again.
const unsigned char* it_cpu_meet(const void* mine, unsigned bytes, int line);

// An access of `bytes` bytes at `base` + `offset`: faults outside the view that begins at `base`, or when it races.
void it_cpu_access(const void* base, long long offset, unsigned bytes, int how, int line);
// As it_cpu_access, and other threads may run before it. `order`: whether it acquires, and releases.
void it_cpu_atomic(const void* base, long long offset, unsigned bytes, int how, int order, int line);
// An atomic access has changed memory: whoever spins may go on.
void it_cpu_changed();
// A piece of shared memory that the text uses as an array of its own.
void it_cpu_piece(const void* base, unsigned bytes, int line);

// A copy to shared memory that happens when its group is waited for.
void it_cpu_copy(void* piece, long long offset, const void* from, unsigned bytes, int line);
void it_cpu_commit();
void it_cpu_wait(int groups);

// Work of the running thread on a copy of `bytes` bytes (at most IT_CPU_RECORD) at `record`, which is done when its group is waited for.
void it_cpu_later(void (*work)(const void*), const void* record, unsigned bytes);
void it_cpu_commit_later();
void it_cpu_wait_later(int groups);
// Now, for work that reads later; and its access to read, which faults too if anyone has written since.
unsigned long long it_cpu_moment();
void it_cpu_read_since(const void* base, long long offset, unsigned bytes, unsigned long long since, int line);
}
