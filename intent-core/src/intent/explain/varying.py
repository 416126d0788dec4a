"""Counts that differ between programs: measured program by program."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from intent.explain.quantity import Environment, value_of
from intent.explain.ranges import Interval, Ranges
from intent.physical import Fragment, Segment

__all__ = ["Means", "Walk"]

_PROGRAMS: Final = 128
"""Programs that are looked at; of more, this many evenly spread."""


@dataclass(frozen=True)
class Walk:
    """``begin, begin + step, ...`` below every one of ``ends``; no begin is 0, no step is 1."""

    begin: Fragment | None
    ends: tuple[Fragment, ...]
    step: Fragment | None


class Means:
    """Means over the programs of one segment."""

    def __init__(self, segment: Segment, env: Environment | None) -> None:
        self._segment = segment
        self._env = env
        self._known: dict[tuple[Walk, ...], float | None] = {}

    def of(self, walks: Iterable[Walk]) -> float | None:
        """The mean of the product of the walks' lengths; None without extents, or where one has no number."""
        key = tuple(walks)
        if key not in self._known:
            self._known[key] = self._measured(key)
        return self._known[key]

    def _measured(self, walks: tuple[Walk, ...]) -> float | None:
        programs = value_of(self._segment.length, self._env)
        if not programs or self._env is None:
            return None
        ranges = Ranges(self._segment, self._env)
        shown = min(programs, _PROGRAMS)
        total = 0.0
        for k in range(shown):
            ranges.enter(round(k * (programs - 1) / max(1, shown - 1)), "all")
            product = 1.0
            for walk in walks:
                length = _length(
                    (0, 0) if walk.begin is None else ranges.of(walk.begin),
                    _least(ranges.of(end) for end in walk.ends),
                    (1, 1) if walk.step is None else ranges.of(walk.step),
                )
                if length is None:
                    return None
                product *= length
            total += product
        return total / shown


def _least(ends: Iterable[Interval | None]) -> Interval | None:
    known = list(ends)
    if any(end is None for end in known):
        return None
    pairs = [end for end in known if end is not None]
    return min(low for low, _ in pairs), min(high for _, high in pairs)


def _length(begin: Interval | None, end: Interval | None, step: Interval | None) -> float | None:
    """The length of a walk; the mean of both ends where it follows the index of a loop around it."""
    if begin is None or end is None or step is None or step[0] < 1:
        return None
    ends = [max(0, -((b - e) // step[0])) for b, e in ((begin[0], end[0]), (begin[1], end[1]))]
    return sum(ends) / 2
