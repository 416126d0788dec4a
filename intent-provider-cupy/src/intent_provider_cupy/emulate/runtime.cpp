// Executes kernels built for the CPU: blocks one after the other in an order of the seed's, threads as fibers that run in
// random order and stop where they must wait. Built once and shared by all kernels of a process.
#include "runtime.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "fiber.hpp"
#include "watch.hpp"

namespace intent_cpu {

enum Fault { NONE = 0, OUTSIDE = 1, MISALIGNED = 2, RACE = 3, DIVERGENT = 4, DEADLOCK = 5 };

// As emulate/runtime.py lays them out.
struct View {
    std::uintptr_t base, low, high;   // element 0, and the bytes that belong to the view
    int watch;                        // which watched range holds it
};
struct Range { std::uintptr_t low, high; unsigned grain; };
struct Report {
    int fault, line, thread, view;
    long long block, offset, other_thread;
    int bytes, write, other_line;
    char text[256];
};
struct Launch {
    void (*entry)(void**);
    void** arguments;
    const View* views;
    const Range* ranges;
    unsigned long long blocks, seed;
    unsigned threads, shared_bytes;
    int view_count, range_count;
};

// `piece` and `offset` say where it goes; `line` is where it was begun.
struct Copy { unsigned char* piece; long long offset; const void* from; unsigned bytes; int line, group; };

struct Later { void (*work)(const void*); int group; alignas(16) unsigned char record[IT_CPU_RECORD]; };

struct Thread {
    Fiber fiber;
    int line = 0;            // where it waits
    bool done = false, acquired = false;
    int committed = 0;
    std::vector<Copy> copies;
    int later_committed = 0;
    std::vector<Later> later;
};

struct Warp {
    unsigned arrived, phase, epoch, size;
    int line, waiting[32];
    unsigned char slots[2][32][IT_CPU_SLOT];
};

struct Piece { std::uintptr_t low, high; };

constexpr unsigned MOST_THREADS = 1024;
constexpr unsigned SHARED_SPACE = 256 << 10;
constexpr long long MOST_IDLE = 2'000'000;   // atomic accesses of a block in a row that change nothing
constexpr unsigned char POISON = 0xFF;   // NaN as a float, -1 as an integer, true as a bool

Thread threads[MOST_THREADS];
Warp warps[MOST_THREADS / 32];
Fiber scheduler;
Launch launch;
Report* report;
std::vector<Release> releases;
Moment now{0, 0, 1, &releases, false};
std::uint64_t first_acquire;   // the epoch of the block's first one, or none
std::vector<Watch> watches;
std::vector<Piece> pieces;
alignas(128) unsigned char shared_space[SHARED_SPACE];
Watch shared_watch(reinterpret_cast<std::uintptr_t>(shared_space), reinterpret_cast<std::uintptr_t>(shared_space) + SHARED_SPACE, 1);

unsigned ready[MOST_THREADS], ready_count, running, finished, at_barrier, barrier_line;
unsigned waiting_at_barrier[MOST_THREADS];
std::uint64_t random_state;
long long idle;
int last_view;

std::uint64_t random_bits() {
    random_state ^= random_state << 13, random_state ^= random_state >> 7, random_state ^= random_state << 17;
    return random_state;
}

unsigned random_below(unsigned n) { return static_cast<unsigned>((random_bits() >> 32) * n >> 32); }

void place(unsigned t) {
    running = t;
    it_cpu_here.thread.x = t;
}

// Leaves the launch: no fiber of it runs again.
[[noreturn]] void fault(Fault kind, int line, const char* text) {
    report->fault = kind, report->line = line, report->thread = static_cast<int>(running);
    report->block = it_cpu_here.block.x;
    snprintf(report->text, sizeof report->text, "%s", text);
    switch_fiber(threads[running].fiber, scheduler);
    __builtin_unreachable();
}

const char* sentence(const char* form, long long a, long long b, long long c) {
    static char text[256];
    snprintf(text, sizeof text, form, a, b, c);
    return text;
}

// Nobody can run: somebody waits for a thread that will never come.
[[noreturn]] void stuck() {
    for (unsigned t = 0; t < launch.threads; ++t) {
        if (threads[t].done) continue;
        running = t;
        if (at_barrier && finished)
            fault(DIVERGENT, barrier_line, sentence("%lld of %lld threads wait at the barrier; the others have left the kernel",
                                                    at_barrier, launch.threads, 0));
        fault(DEADLOCK, threads[t].line, sentence("no thread can go on: %lld at the barrier of line %lld, %lld finished",
                                                  at_barrier, at_barrier ? barrier_line : 0, finished));
    }
    __builtin_unreachable();
}

unsigned next_ready() {
    if (!ready_count) stuck();
    const unsigned at = random_below(ready_count), t = ready[at];
    ready[at] = ready[--ready_count];
    return t;
}

// The running thread stops until somebody makes it ready.
void pause() {
    const unsigned self = running, next = next_ready();
    if (next == self) return;
    place(next);
    switch_fiber(threads[self].fiber, threads[next].fiber);
    place(self);
}

void body() {
    launch.entry(launch.arguments);
    const unsigned self = running;
    threads[self].done = true;
    if (++finished == launch.threads) switch_fiber(threads[self].fiber, scheduler);
    const unsigned next = next_ready();
    place(next);
    switch_fiber(threads[self].fiber, threads[next].fiber);
}

// All lanes of the warp meet; `orders` their accesses to memory before and after.
void meet_at(Warp& warp, int line, bool orders) {
    Thread& self = threads[running];
    self.line = line;
    if (!warp.arrived) warp.line = line;
    if (warp.line != line)
        fault(DIVERGENT, line, sentence("lanes of one warp meet at different places: line %lld and line %lld", warp.line, line, 0));
    if (++warp.arrived < warp.size) {
        warp.waiting[warp.arrived - 1] = static_cast<int>(running);
        pause();
        return;
    }
    for (unsigned k = 0; k + 1 < warp.size; ++k) ready[ready_count++] = static_cast<unsigned>(warp.waiting[k]);
    warp.arrived = 0;
    ++warp.phase;
    if (orders) ++warp.epoch;
}

const View* view_of(std::uintptr_t base, std::uintptr_t address, unsigned bytes) {
    const View* named = nullptr;
    for (int k = 0; k < launch.view_count; ++k) {
        const View& view = launch.views[last_view];
        if (view.base == base) {
            if (view.low <= address && address + bytes <= view.high) return &view;
            named = &view;
        }
        last_view = last_view + 1 < launch.view_count ? last_view + 1 : 0;
    }
    report->view = named ? static_cast<int>(named - launch.views) : -1;
    return nullptr;
}

bool in_piece(std::uintptr_t base, std::uintptr_t address, unsigned bytes) {
    for (const Piece& piece : pieces)
        if (piece.low == base && piece.low <= address && address + bytes <= piece.high) return true;
    return false;
}

void access(const void* base, long long offset, unsigned bytes, int how, int line) {
    const auto from = reinterpret_cast<std::uintptr_t>(base), address = from + static_cast<std::uintptr_t>(offset);
    const auto space = reinterpret_cast<std::uintptr_t>(shared_space);
    const bool in_shared = from >= space && from < space + SHARED_SPACE;
    const View* view = in_shared ? nullptr : view_of(from, address, bytes);
    report->offset = offset, report->bytes = static_cast<int>(bytes), report->write = how & IT_CPU_WRITE;
    if (in_shared ? !in_piece(from, address, bytes) : !view) {
        if (in_shared) report->view = -2;
        fault(OUTSIDE, line, "");
    }
    report->view = in_shared ? -2 : static_cast<int>(view - launch.views);
    if (address % bytes) fault(MISALIGNED, line, "");
    Watch& watch = in_shared ? shared_watch : watches[static_cast<std::size_t>(view->watch)];
    const Stamp stamp = stamp_of(now, warps[running >> 5].epoch, running, how & IT_CPU_ATOMIC);
    Access other{0, 0};
    Moment since = now;
    if (in_shared) since.launch = now.block;   // each block has shared memory of its own
    since.acquired = first_acquire < now.epoch || threads[running].acquired;
    const Race race = watch.note(address, bytes, how & IT_CPU_WRITE, {stamp, line}, since, other);
    if (race == Race::None) return;
    report->other_thread = race == Race::Threads ? static_cast<int>(thread_of(other.stamp)) : -1;
    report->other_line = other.line;
    fault(RACE, line, "");
}

void begin_block(unsigned long long block) {
    it_cpu_here.block = {static_cast<unsigned>(block), 0, 0};
    now.block = ++now.epoch;
    first_acquire = ~std::uint64_t{0};
    memset(shared_space, POISON, launch.shared_bytes);
    pieces.clear();
    at_barrier = finished = ready_count = 0;
    idle = 0;
    const unsigned full = (launch.threads + 31) / 32;
    for (unsigned w = 0; w < full; ++w) {
        const unsigned rest = launch.threads - 32 * w;
        warps[w].arrived = warps[w].phase = warps[w].epoch = 0;
        warps[w].size = rest < 32 ? rest : 32;
    }
    for (unsigned t = 0; t < launch.threads; ++t) {
        Thread& thread = threads[t];
        thread.done = thread.acquired = false, thread.committed = thread.later_committed = 0;
        thread.copies.clear(), thread.later.clear();
        thread.fiber.start(body);
        ready[ready_count++] = t;
    }
}

unsigned long long common_divisor(unsigned long long a, unsigned long long b) { return b ? common_divisor(b, a % b) : a; }

}  // namespace intent_cpu

using namespace intent_cpu;

extern "C" {

it_cpu_place it_cpu_here;
unsigned char* it_cpu_shared = shared_space;

void it_cpu_barrier(int line) {
    threads[running].line = line;
    if (!at_barrier) barrier_line = static_cast<unsigned>(line);
    if (barrier_line != static_cast<unsigned>(line))
        fault(DIVERGENT, line, sentence("threads of one block meet at different barriers: line %lld and line %lld", barrier_line, line, 0));
    waiting_at_barrier[at_barrier++] = running;
    if (at_barrier < launch.threads) return pause();
    for (unsigned k = 0; k < at_barrier; ++k)
        if (waiting_at_barrier[k] != running) ready[ready_count++] = waiting_at_barrier[k];
    at_barrier = 0;
    ++now.epoch;
    for (Warp& warp : warps) warp.epoch = 0;
}

void it_cpu_warp_barrier(int line) {
    meet_at(warps[running >> 5], line, true);
}

const unsigned char* it_cpu_meet(const void* mine, unsigned bytes, int line) {
    Warp& warp = warps[running >> 5];
    auto& slots = warp.slots[warp.phase & 1];
    memcpy(slots[running & 31], mine, bytes);
    meet_at(warp, line, false);
    return slots[0];
}

void it_cpu_access(const void* base, long long offset, unsigned bytes, int how, int line) {
    if (how & IT_CPU_WRITE) idle = 0;
    access(base, offset, bytes, how, line);
}

void it_cpu_atomic(const void* base, long long offset, unsigned bytes, int how, int order, int line) {
    if (++idle > MOST_IDLE) fault(DEADLOCK, line, "the block waits on an atomic that nobody changes");
    threads[running].line = line;
    if (random_below(4) == 0) {   // others may come first; spinning ends only if they may
        ready[ready_count++] = running;
        pause();
    }
    if (order & IT_CPU_ACQUIRES) {
        threads[running].acquired = true;
        if (now.epoch < first_acquire) first_acquire = now.epoch;
    }
    access(base, offset, bytes, how | IT_CPU_ATOMIC, line);
    if (order & IT_CPU_RELEASES) releases.push_back({now.block, now.epoch, running});
}

void it_cpu_changed() { idle = 0; }

void it_cpu_piece(const void* base, unsigned bytes, int line) {
    const auto low = reinterpret_cast<std::uintptr_t>(base), space = reinterpret_cast<std::uintptr_t>(shared_space);
    for (const Piece& piece : pieces)
        if (piece.low == low && piece.high == low + bytes) return;
    report->view = -2, report->offset = static_cast<long long>(low - space), report->bytes = static_cast<int>(bytes);
    if (low + bytes > space + launch.shared_bytes) fault(OUTSIDE, line, "the piece ends after the block's shared memory");
    pieces.push_back({low, low + bytes});
}

void it_cpu_copy(void* piece, long long offset, const void* from, unsigned bytes, int line) {
    Thread& self = threads[running];
    access(piece, offset, bytes, IT_CPU_WRITE, line);
    self.copies.push_back({static_cast<unsigned char*>(piece), offset, from, bytes, line, self.committed});
}

void it_cpu_commit() { ++threads[running].committed; }

void it_cpu_wait(int groups) {
    Thread& self = threads[running];
    std::size_t kept = 0;
    for (const Copy& copy : self.copies) {
        if (copy.group >= self.committed - groups) {
            self.copies[kept++] = copy;
            continue;
        }
        access(copy.piece, copy.offset, copy.bytes, IT_CPU_WRITE, copy.line);   // it arrives now, at the latest
        if (copy.from)
            memcpy(copy.piece + copy.offset, copy.from, copy.bytes);
        else
            memset(copy.piece + copy.offset, 0, copy.bytes);
    }
    self.copies.resize(kept);
}

void it_cpu_later(void (*work)(const void*), const void* record, unsigned bytes) {
    Thread& self = threads[running];
    if (bytes > IT_CPU_RECORD) abort();
    Later later{work, self.later_committed, {}};
    memcpy(later.record, record, bytes);
    self.later.push_back(later);
}

void it_cpu_commit_later() { ++threads[running].later_committed; }

void it_cpu_wait_later(int groups) {
    Thread& self = threads[running];
    std::size_t done = 0;
    while (done < self.later.size() && self.later[done].group < self.later_committed - groups) {
        self.later[done].work(self.later[done].record);
        ++done;
    }
    self.later.erase(self.later.begin(), self.later.begin() + static_cast<std::ptrdiff_t>(done));
}

unsigned long long it_cpu_moment() { return now.epoch; }

void it_cpu_read_since(const void* base, long long offset, unsigned bytes, unsigned long long since, int line) {
    access(base, offset, bytes, IT_CPU_READ, line);
    const auto address = reinterpret_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(offset);
    Access other{0, 0};
    if (!shared_watch.written_since(address, bytes, since, running, other)) return;
    report->other_thread = static_cast<int>(thread_of(other.stamp)), report->other_line = other.line;
    fault(RACE, line, "");
}

// Runs one launch; 0, or the fault that ended it, which `out` describes.
int intent_cpu_run(const Launch* what, Report* out) {
    launch = *what, report = out;
    memset(out, 0, sizeof *out);
    out->view = -1;
    if (launch.threads > MOST_THREADS || launch.shared_bytes > SHARED_SPACE) abort();   // the launcher asks for less
    random_state = launch.seed * 0x9E3779B97F4A7C15ull + 0x632BE59BD9B4E019ull;
    now.launch = ++now.epoch;
    releases.clear();
    last_view = 0;
    watches.clear();
    for (int k = 0; k < launch.range_count; ++k) {
        const Range& range = launch.ranges[k];
        watches.emplace_back(range.low, range.high, range.grain);
    }
    it_cpu_here.block_dim = {launch.threads, 1, 1};
    it_cpu_here.grid_dim = {static_cast<unsigned>(launch.blocks), 1, 1};
    unsigned long long step = random_bits() % launch.blocks | 1, block = random_bits() % launch.blocks;
    while (common_divisor(step, launch.blocks) != 1) step += 2;
    for (unsigned long long k = 0; k < launch.blocks && !out->fault; ++k, block = (block + step) % launch.blocks) {
        begin_block(block);
        const unsigned first = next_ready();
        place(first);
        switch_fiber(scheduler, threads[first].fiber);
    }
    watches.clear();
    return out->fault;
}

float it_cpu_bessel_i0f(float x) { return std::cyl_bessel_if(0.0f, std::fabs(x)); }
double it_cpu_bessel_i0(double x) { return std::cyl_bessel_i(0.0, std::fabs(x)); }

}
