"""Times on a GPU: device events, a cold L2 cache, contenders in turn, medians."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from intent_testkit.bench.contender import Call

FLUSH_BYTES: Final = 256 << 20
LEAST_MS: Final = 100.0
LEAST_ROUNDS: Final = 15
MOST_ROUNDS: Final = 2000


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Median and interquartile spread (relative to the median) of one call."""

    milliseconds: float
    spread: float
    repetitions: int


def interleave(torch: Any, calls: Mapping[str, Call]) -> dict[str, Timing]:
    """Time every call in turn, round after round, until each has run for at least 100 ms.

    Before each call a buffer larger than L2 is overwritten; that launch also hides the host's launch time of
    the call behind it, so the events enclose device work only. A round begins with an untimed call of its last
    contender, so that the first one, too, finds a device that has just been busy: behind the pause between two rounds
    a call takes up to 0.3 ms longer on an H200.
    """
    flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")
    for call in calls.values():
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    times: dict[str, list[float]] = {name: [] for name in calls}
    rounds = 0
    while rounds < MOST_ROUNDS and (
        rounds < LEAST_ROUNDS or min((sum(t) for t in times.values()), default=LEAST_MS) < LEAST_MS
    ):
        marks = {}
        for call in list(calls.values())[-1:]:
            call()
        for name, call in calls.items():
            flush.zero_()
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            call()
            end.record()
            marks[name] = begin, end
        torch.cuda.synchronize()
        for name, (begin, end) in marks.items():
            times[name].append(begin.elapsed_time(end))
        rounds += 1
    return {name: _summary(sample) for name, sample in times.items()}


def _summary(sample: list[float]) -> Timing:
    middle = statistics.median(sample)
    low, _, high = statistics.quantiles(sample, n=4)
    return Timing(milliseconds=middle, spread=(high - low) / middle, repetitions=len(sample))
