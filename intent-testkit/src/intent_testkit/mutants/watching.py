"""Watching the right compiler: what it makes of the cases, and which cases and tests run which lines.

Every case, and every few tests, have a process of their own: what one of them runs depends on no other that came before
it in the same process and left its answers in a cache.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from intent_testkit.cases import ALL
from intent_testkit.mutants.asked import Asking, watched_conditions
from intent_testkit.mutants.expense import Expense, together
from intent_testkit.mutants.forked import Lost, forked
from intent_testkit.mutants.right import Lines, Right, file_of, lines_run, telling_first
from intent_testkit.mutants.rooms import Room
from intent_testkit.mutants.tested import collected, noted, of_core
from intent_testkit.plans import Compiled

TESTS: Final = 4
"""Tests that share a process."""
Share = tuple[str, ...]
"""The name of one case, or those of a few tests."""


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """What a share shows: as :class:`Right` has it, and how long it took.

    ``failed``: what its tests said that fail although nothing is wrong.
    """

    seconds: Mapping[str, float]
    lines: Lines = field(default_factory=dict)
    programs: Mapping[str, frozenset[str]] = field(default_factory=dict)
    expenses: Mapping[str, Expense] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)


def watch(room: Room, modules: Sequence[str], every: int = 1, jobs: int = 1) -> Right:
    """Make every program of each ``every``-th case once, and run the room's tests, watching the lines that run.

    Tests that fail already say nothing about mutants, and are not asked; ``Right.failing`` has them. Which cases and
    tests run a line depends neither on ``jobs`` nor on the order; the order in which they are listed is by how much
    they tell in a second.
    """
    right = Right(lines={}, programs={}, expenses={})
    right.compiled.update({case.name: Compiled(case) for case in ALL[::every]})
    tests, unread = collected(of_core(*room.tests))
    right.failing.update(unread)
    shares: list[Share] = [*dealt(tests, TESTS), *((name,) for name in right.compiled)]
    files = {file_of(module): module for module in modules}
    seconds: dict[str, float] = {}
    found = dict(forked(shares, partial(_seen, room, right, files), jobs))
    for share in shares:
        seen = found[share]
        if isinstance(seen, Lost):
            right.failing.update(dict.fromkeys(share, seen.value))
            continue
        right.programs.update(seen.programs)
        right.expenses.update(seen.expenses)
        right.failing.update(seen.failed)
        seconds |= seen.seconds
        merge(right.lines, seen.lines)
    rank = telling_first(right.lines, seconds)
    for mutant, names in _mattered(room, right, modules, shares, jobs):
        right.mattered[mutant] = sorted(names & rank.keys(), key=rank.__getitem__)
    return right


def dealt(tests: Sequence[str], each: int) -> Iterator[Share]:
    """Shares of at most ``each`` tests. Those that follow each other are often equally slow: they go apart."""
    hands = -(-len(tests) // each)
    return (tuple(tests[k::hands]) for k in range(hands))


def _seen(room: Room, right: Right, files: Mapping[str, str], share: Share) -> _Seen:
    import coverage

    tracer = coverage.Coverage(include=list(files), data_file=None, branch=False)
    tracer.set_option("run:disable_warnings", ["no-data-collected"])  # a test may run none of the lines
    tracer.start()
    try:
        seen = _tests(share, tracer) if "::" in share[0] else _case(room, right, share[0], tracer)
    finally:
        tracer.stop()
    return replace(seen, lines=lines_run(tracer.get_data(), files, seen.seconds))


def _tests(names: Share, tracer: Any) -> _Seen:
    seconds, failed = noted(names, tracer.switch_context)
    return _Seen(seconds=seconds, failed=failed)


def _case(room: Room, right: Right, name: str, tracer: Any) -> _Seen:
    tracer.switch_context(name)
    began = time.process_time()
    all_made = list(room.made(right.lowered(name)))
    for made in all_made:
        if made.digest is None:
            made.check()
    return _Seen(
        seconds={name: time.process_time() - began},
        programs={name: frozenset(m.digest for m in all_made if m.digest is not None)},
        expenses={name: together(m.expense for m in all_made)},
    )


def merge(lines: Lines, more: Lines) -> None:
    """Add what another share ran."""
    for module, by_line in more.items():
        for line, names in by_line.items():
            lines.setdefault(module, {}).setdefault(line, []).extend(names)


def _mattered(
    room: Room, right: Right, modules: Sequence[str], shares: Sequence[Share], jobs: int
) -> Iterator[tuple[str, set[str]]]:
    """The same once more with every condition watched: those of several, and the cases and tests they matter in."""
    with watched_conditions(modules) as asking:
        seen = [found for _, found in forked(shares, partial(_asked, room, right, asking), jobs)]
    for name in asking.known:
        yield name, {each for found in seen if not isinstance(found, Lost) for each in found.get(name, ())}


def _asked(room: Room, right: Right, asking: Asking, share: Share) -> dict[str, set[str]]:
    """That all goes well is of no matter now."""

    def begin(name: str) -> None:
        asking.current = name

    if "::" in share[0]:
        noted(share, begin)
    else:
        begin(share[0])
        with suppress(Exception):
            for made in room.made(right.lowered(share[0])):
                if made.digest is None:
                    made.check()
    return dict(asking.mattered)
