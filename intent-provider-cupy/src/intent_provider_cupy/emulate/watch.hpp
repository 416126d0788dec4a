// Who touched which element last: finds accesses outside their view and accesses that race.
//
// Every barrier of a block begins a new epoch, and epochs never repeat. Two accesses to one element by different threads race
// if one writes, not both are atomic, and nothing orders them: neither a barrier of the block nor, inside a warp, a
// __syncwarp. Accesses by different blocks race unless the first one's block released it and the second one's acquired: a
// release covers what its thread did before it, and what any thread of the block did before a barrier before it; an acquire
// covers what its thread does after it, and what any thread does after a barrier after it. What was released is not compared
// with what was acquired.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <utility>
#include <vector>

namespace intent_cpu {

// epoch | warp epoch | several threads | several warps | atomic | thread
using Stamp = std::uint64_t;
constexpr unsigned THREAD_BITS = 10, WARP_EPOCH_BITS = 14, EPOCH_AT = THREAD_BITS + 3 + WARP_EPOCH_BITS;
constexpr Stamp THREAD = (1u << THREAD_BITS) - 1, ATOMIC = 1u << THREAD_BITS, WARPS = ATOMIC << 1, MANY = ATOMIC << 2;

inline std::uint64_t epoch_of(Stamp s) { return s >> EPOCH_AT; }
inline unsigned warp_epoch_of(Stamp s) { return (s >> (THREAD_BITS + 3)) & ((1u << WARP_EPOCH_BITS) - 1); }
inline unsigned thread_of(Stamp s) { return s & THREAD; }
inline unsigned warp_of(Stamp s) { return thread_of(s) >> 5; }

// One access: when and by whom, and the line of the text.
struct Access { Stamp stamp; int line; };

// An epoch in which a thread released, and the one in which its block began.
struct Release { std::uint64_t block, epoch; unsigned thread; };

struct Moment {
    std::uint64_t launch, block, epoch;   // the epochs in which launch and block began, and the one of now
    const std::vector<Release>* releases; // of this launch, in order
    bool acquired;                        // the running thread sees what others have released
};

enum class Race { None, Threads, Blocks };

inline Stamp stamp_of(const Moment& now, unsigned warp_epoch, unsigned thread, bool atomic) {
    const Stamp most = (1u << WARP_EPOCH_BITS) - 1;
    const Stamp local = warp_epoch < most ? warp_epoch : most;
    return now.epoch << EPOCH_AT | local << (THREAD_BITS + 3) | (atomic ? ATOMIC : 0) | thread;
}

// Whether a release of its block covers the access.
inline bool released(Stamp last, const std::vector<Release>& releases) {
    for (const Release& release : releases) {
        if (release.block > epoch_of(last)) return false;
        if (release.epoch > epoch_of(last)) return true;
        if (release.epoch == epoch_of(last) && release.thread == thread_of(last) && !(last & MANY)) return true;
    }
    return false;
}

// Whether `next` may not stand beside the earlier access `last`, given that one of them writes.
inline Race against(Stamp last, Stamp next, const Moment& now) {
    if (epoch_of(last) < now.launch || (last & next & ATOMIC)) return Race::None;
    if (epoch_of(last) < now.block) return now.acquired && released(last, *now.releases) ? Race::None : Race::Blocks;
    if (epoch_of(last) < now.epoch) return Race::None;
    if (thread_of(last) == thread_of(next) && !(last & MANY)) return Race::None;
    const bool one_warp = warp_of(last) == warp_of(next) && !(last & WARPS);
    return one_warp && warp_epoch_of(last) < warp_epoch_of(next) ? Race::None : Race::Threads;
}

// The stamps of a range of memory, one for each `grain` bytes, in pages that come when they are touched: a range may be
// larger than memory.
class Watch {
public:
    Watch(std::uintptr_t low, std::uintptr_t high, unsigned grain)
        : low_(low), grain_(grain), pages_(directory((high - low) / (std::size_t(grain) * PAGE) + 1)) {}
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    Watch(Watch&& other) noexcept : low_(other.low_), grain_(other.grain_), pages_(other.pages_), touched_(std::move(other.touched_)) {
        other.pages_ = nullptr;
    }
    ~Watch() {
        for (Page* page : touched_) ::free(page);
        ::free(pages_);
    }

    // Notes an access; gives what it races with, and who and where that was in `other`.
    Race note(std::uintptr_t address, unsigned bytes, bool write, const Access& access, const Moment& now, Access& other) {
        const std::size_t end = (address - low_ + bytes + grain_ - 1) / grain_;
        for (std::size_t k = (address - low_) / grain_; k < end; ++k) {
            Cell& cell = cell_of(k);
            const Race found = write ? note_write(cell, access, now, other) : note_read(cell, access, now, other);
            if (found != Race::None) return found;
        }
        return Race::None;
    }

    // Whether anyone has written to a range in a later epoch than `since`, or another thread in that epoch; and who and where.
    bool written_since(std::uintptr_t address, unsigned bytes, std::uint64_t since, unsigned thread, Access& other) {
        const std::size_t end = (address - low_ + bytes + grain_ - 1) / grain_;
        for (std::size_t k = (address - low_) / grain_; k < end; ++k) {
            other = cell_of(k).written;
            const std::uint64_t epoch = epoch_of(other.stamp);
            if (epoch > since || (epoch == since && thread_of(other.stamp) != thread)) return true;
        }
        return false;
    }

private:
    struct Cell { Access written, read; };
    static constexpr std::size_t PAGE = 512;
    struct Page { Cell cells[PAGE]; };

    static Page** directory(std::size_t count) {
        auto** pages = static_cast<Page**>(::calloc(count, sizeof(Page*)));
        if (!pages) abort();
        return pages;
    }

    Cell& cell_of(std::size_t k) {
        Page*& page = pages_[k / PAGE];
        if (!page) {
            page = static_cast<Page*>(::calloc(1, sizeof(Page)));
            if (!page) abort();
            touched_.push_back(page);
        }
        return page->cells[k % PAGE];
    }

    static Race note_write(Cell& cell, const Access& access, const Moment& now, Access& other) {
        for (const Access& last : {cell.written, cell.read}) {
            const Race found = against((other = last).stamp, access.stamp, now);
            if (found != Race::None) return found;
        }
        cell.written = access;
        if (access.stamp & ATOMIC) cell.read = access;
        return Race::None;
    }

    static Race note_read(Cell& cell, const Access& access, const Moment& now, Access& other) {
        const Race found = against((other = cell.written).stamp, access.stamp, now);
        if (found != Race::None) return found;
        const Stamp last = cell.read.stamp;
        Stamp stamp = access.stamp;
        if (epoch_of(last) == now.epoch && thread_of(last) != thread_of(stamp)) {
            stamp |= MANY | (last & WARPS) | (warp_of(last) != warp_of(stamp) ? WARPS : 0);
            stamp &= last | ~ATOMIC;   // atomic only if all readers are
        }
        cell.read = {stamp, access.line};
        return Race::None;
    }

    std::uintptr_t low_;
    unsigned grain_;
    Page** pages_;
    std::vector<Page*> touched_;
};

}  // namespace intent_cpu
