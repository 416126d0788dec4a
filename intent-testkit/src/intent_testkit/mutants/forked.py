"""Work shared out among processes: everything in a fork of its own, so that nothing is left of what came before."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from math import inf
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Final, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
_FORK: Final = multiprocessing.get_context("fork")


class Lost(Enum):
    """There is no result: the process died, or was ended because it took too long."""

    DIED = "the process died"
    LATE = "no end"


def forked(
    items: Sequence[Item],
    work: Callable[[Item], Result],
    jobs: int,
    *,
    most: float = inf,
    begin_within: float = inf,
) -> Iterator[tuple[Item, Result | Lost]]:
    """What ``work`` makes of every item, ``jobs`` at a time; in the order in which they end.

    ``most``: seconds by the clock that one may take. ``begin_within``: seconds after which none begins; those that
    have begun are waited for, since the slow ones among them say as much as the others.
    """
    waiting = list(reversed(items))
    running: dict[Connection, tuple[ForkProcess, Item, float]] = {}
    began = time.monotonic()
    while waiting or running:
        if time.monotonic() - began > begin_within:
            waiting.clear()
        while waiting and len(running) < jobs:
            item = waiting.pop()
            here, there = _FORK.Pipe(duplex=False)
            process = _FORK.Process(target=_child, args=(there, work, item))
            process.start()
            there.close()
            running[here] = process, item, time.monotonic()
        ended = set(wait(list(running), timeout=1))
        for here, (process, item, since) in list(running.items()):
            if here in ended or time.monotonic() - since > most:
                del running[here]
                yield item, _received(here) if here in ended else Lost.LATE
                process.kill()
                process.join()
                here.close()


def _child(there: Connection, work: Callable[[Item], Result], item: Item) -> None:
    there.send(work(item))
    there.close()


def _received(here: Connection) -> Result | Lost:
    try:
        found: Result = here.recv()
    except EOFError:
        return Lost.DIED
    return found
