// Fibers: a stack each, and a switch between them. On x86-64 a switch saves what the calling convention says must survive;
// elsewhere (or with INTENT_CPU_UCONTEXT) it is the C library's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>

#if !defined(__x86_64__) && !defined(INTENT_CPU_UCONTEXT)
#define INTENT_CPU_UCONTEXT
#endif
#ifdef INTENT_CPU_UCONTEXT
#include <ucontext.h>
#endif

namespace intent_cpu {

constexpr std::size_t STACK = std::size_t(1) << 20;   // reserved, not used: pages come when they are touched

inline unsigned char* new_stack() {
    void* memory = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) abort();
    mprotect(memory, 4096, PROT_NONE);   // an overflow is a fault, not another thread's values
    return static_cast<unsigned char*>(memory);
}

#ifdef INTENT_CPU_UCONTEXT

struct Fiber {
    ucontext_t context;
    unsigned char* stack = nullptr;

    void start(void (*body)()) {
        if (!stack) stack = new_stack();
        getcontext(&context);
        context.uc_stack.ss_sp = stack;
        context.uc_stack.ss_size = STACK;
        context.uc_link = nullptr;
        makecontext(&context, body, 0);
    }
};

inline void switch_fiber(Fiber& from, Fiber& to) { swapcontext(&from.context, &to.context); }

#else

extern "C" void intent_cpu_switch(void** from, void* to);
asm(R"(
.text
.local intent_cpu_switch
.type intent_cpu_switch, @function
intent_cpu_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size intent_cpu_switch, .-intent_cpu_switch
)");

struct Fiber {
    void* top = nullptr;
    unsigned char* stack = nullptr;

    void start(void (*body)()) {
        if (!stack) stack = new_stack();
        // A return into `body` with six saved registers below it; the stack is aligned as after a call.
        auto** words = reinterpret_cast<void**>(stack + STACK - 64);
        words[0] = reinterpret_cast<void*>(body);
        words[1] = nullptr;
        top = words - 6;
    }
};

inline void switch_fiber(Fiber& from, Fiber& to) { intent_cpu_switch(&from.top, to.top); }

#endif

}  // namespace intent_cpu
