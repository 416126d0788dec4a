"""Where the lanes of fragments live: every bit of a lane number is a bit of the thread number or of a register number.

A table gives each dim such places. Dims that occur together in a fragment never share a bit of the thread number, so
that a fragment holds exactly the bits of its own dims; thread bits that none of them uses tell replicas apart. A dim
that a fragment lacks is therefore replication, and broadcasting costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from intent.physical import Dim

LANE_BITS = 5
"""Bits of the thread number that tell the lanes of one warp apart."""

Bits = tuple[int | None, ...]
"""Places of a dim's bits, lowest first: the bit of the thread number, or None for a register bit."""


def bit_count(size: int) -> int:
    """K of the size 2**k."""
    count = size.bit_length() - 1
    if size != 1 << count:
        raise ValueError(f"{size} is not a power of two")
    return count


@dataclass(frozen=True, kw_only=True)
class Table:
    """Places of dims for a block of ``1 << thread_bits`` threads."""

    index: int
    thread_bits: int
    places: Mapping[Dim, Bits]
    runs: Mapping[Dim, str] = field(default_factory=dict)
    """Dims whose lowest register bits become the next ones above the thread's where vectors cannot be used: the name
    of the constant that says how many neighbouring lanes a thread holds."""

    def bits(self, dim: Dim) -> Bits:
        """The places of one dim."""
        return self.places[dim]

    def registers(self, dim: Dim) -> int:
        """How many lanes of the dim one thread holds."""
        return 1 << sum(b is None for b in self.places[dim])

    def looped(self, dims: Iterable[Dim]) -> tuple[Dim, ...]:
        """The dims of which a thread holds several lanes."""
        return tuple(d for d in dims if self.registers(d) > 1)

    def mask(self, dims: Iterable[Dim]) -> int:
        """The bits of the thread number that the dims use."""
        return sum(1 << b for d in dims for b in self.places[d] if b is not None)

    def spare(self, dims: Iterable[Dim]) -> int:
        """The bits of the thread number that tell replicas of a fragment apart."""
        return ((1 << self.thread_bits) - 1) & ~self.mask(dims)

    def thread_part(self, dim: Dim, thread: str) -> str:
        """The part of the lane number that the thread number gives, "" for nothing."""
        bits = self.places[dim]
        if dim in self.runs:
            threads = [b for b in bits if b is not None]
            return f"{moved(thread, threads[0], 0, len(threads), self.thread_bits)} * {self.runs[dim]}"
        terms = []
        for low, count in _runs(bits):
            first = bits[low]
            assert first is not None
            terms.append(moved(thread, first, low, count, self.thread_bits))
        return " + ".join(terms)

    def movable(self, dim: Dim) -> int:
        """How many neighbouring lanes a thread holds, if the threads hold the next ones in order; else 1."""
        bits = self.places[dim]
        low = next((k for k, b in enumerate(bits) if b is not None), len(bits))
        threads = [b for b in bits if b is not None]
        ordered = threads == list(range(threads[0], threads[0] + len(threads))) if threads else False
        together = ordered and bits[low : low + len(threads)] == tuple(threads)
        return 1 << low if together else 1

    def warp_part(self, dim: Dim, thread: str, first: int = LANE_BITS) -> str:
        """The part of the lane number that bits of the thread number from ``first`` on give, "0" for nothing.

        By default they are the number of the warp.
        """
        bits = tuple(b if b is not None and b >= first else None for b in self.places[dim])
        terms = [moved(thread, bits[low] or 0, low, count, self.thread_bits) for low, count in _runs(bits)]
        return " + ".join(terms) or "0"

    def register_part(self, dim: Dim, counter: str) -> str:
        """The part of the lane number that the register number gives, "" for nothing."""
        if (run := self.runs.get(dim)) is not None:
            threads = sum(b is not None for b in self.places[dim])
            return f"{counter} % {run} + {counter} / {run} * ({run} << {threads})"
        places = [i for i, b in enumerate(self.places[dim]) if b is None]
        terms, j = [], 0
        while j < len(places):
            count = 1
            while j + count < len(places) and places[j + count] == places[j] + count:
                count += 1
            terms.append(moved(counter, j, places[j], count, len(places)))
            j += count
        return " + ".join(terms)


def moved(text: str, source: int, target: int, count: int, total: int) -> str:
    """``count`` bits of ``text`` from bit ``source`` moved to bit ``target``; ``text`` has ``total`` bits."""
    whole = source + count == total
    if source == 0:
        part = text if whole else f"({text} & {(1 << count) - 1})"
    else:
        part = f"({text} >> {source})" if whole else f"({text} >> {source} & {(1 << count) - 1})"
    return part if target == 0 else f"{part} * {1 << target}"


def numbered(bits: Sequence[int], text: str, total: int) -> str:
    """The number whose bits, lowest first, are these bits of ``text``, which has ``total`` bits."""
    terms, low = [], 0
    while low < len(bits):
        count = 1
        while low + count < len(bits) and bits[low + count] == bits[low] + count:
            count += 1
        terms.append(moved(text, bits[low], low, count, total))
        low += count
    return " + ".join(terms) or "0"


def _runs(bits: Bits) -> list[tuple[int, int]]:
    """Stretches (first dim bit, length) whose thread bits follow one another."""
    runs: list[tuple[int, int]] = []
    for i, b in enumerate(bits):
        if b is None:
            continue
        if runs and sum(runs[-1]) == i and bits[i - 1] is not None and bits[i - 1] == b - 1:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((i, 1))
    return runs


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """How threads exchange registers so that each holds ``1 << vector`` neighbours along ``dim``.

    ``word``: lanes that stay together; ``steps``: for each bit the distance of registers and the mask of threads.
    """

    dim: Dim
    vector: int
    word: int
    steps: tuple[tuple[int, int], ...]


def exchanged(dim: Dim, bits: Bits, vector: int) -> tuple[Bits, Exchange] | None:
    """Places with ``vector`` register bits lowest, where bits of the lane and register bits above them give way."""
    low = next((k for k, b in enumerate(bits) if b is not None), len(bits))
    end = next((k for k in range(low, len(bits)) if bits[k] is None), len(bits))
    for need in range(min(vector, end) - low, 0, -1):
        threads = [b for b in bits[low : low + need] if b is not None]
        if bits[end : end + need] == (None,) * need and all(b < LANE_BITS for b in threads):
            places = (*bits[:low], *[None] * need, *bits[low + need : end], *threads, *bits[end + need :])
            steps = tuple((1 << (low + k), 1 << b) for k, b in enumerate(threads))
            return places, Exchange(dim=dim, vector=low + need, word=1 << low, steps=steps)
    return None


@dataclass(frozen=True, kw_only=True)
class Want:
    """What one fragment asks of a table.

    ``dims`` occur together. ``first`` is the dim along which memory runs, whose lowest ``vector`` bits should be
    registers; ``apart``: none of them, whatever others want, since each lane is an access of its own and those of a
    warp should lie together. Greater ``weight`` is served first.
    """

    dims: tuple[Dim, ...]
    weight: int = 0
    first: Dim | None = None
    vector: int = 0
    apart: bool = False


@dataclass
class TableBuilder:
    """Finds places for all dims of the wants. ``fixed`` dims have theirs already."""

    index: int
    thread_bits: int
    places: dict[Dim, Bits] = field(default_factory=dict)

    def build(self, wants: Sequence[Want]) -> Table:
        """Serve the wants by weight, the innermost dims first."""
        together = _together(wants)
        vectors: dict[Dim, int] = {}
        for want in wants:
            if want.first is not None:
                vectors[want.first] = max(vectors.get(want.first, 0), want.vector)
        vectors.update((want.first, 0) for want in wants if want.first is not None and want.apart)
        for want in sorted(wants, key=lambda w: -w.weight):
            order = list(reversed(want.dims))
            if want.first is not None:
                order.sort(key=lambda d: d != want.first)
            total = sum(bit_count(d.size) for d in want.dims)
            for dim in order:
                if dim not in self.places:
                    vector = vectors.get(dim, 0) if dim == want.first else 0
                    vector = min(vector, max(0, total - self.thread_bits))
                    self.places[dim] = self._place(dim, vector, together[dim])
        return Table(index=self.index, thread_bits=self.thread_bits, places=dict(self.places))

    def _place(self, dim: Dim, vector: int, others: set[Dim]) -> Bits:
        taken = {b for d in others for b in self.places.get(d, ())}
        free = [b for b in range(self.thread_bits) if b not in taken]
        count = bit_count(dim.size)
        low = min(vector, count)
        threads = free[: count - low]
        rest = count - low - len(threads)
        return (*[None] * low, *threads, *[None] * rest)


def _together(wants: Iterable[Want]) -> dict[Dim, set[Dim]]:
    found: dict[Dim, set[Dim]] = {}
    for want in wants:
        for dim in want.dims:
            found.setdefault(dim, set()).update(d for d in want.dims if d != dim)
    return found
