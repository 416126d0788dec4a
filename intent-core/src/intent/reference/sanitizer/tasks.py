"""Which accesses are ordered: points of parallel loops as tasks, and what atomics order between them.

Two accesses are concurrent when the innermost parallel loop execution around both of them runs them in
different points (spec: logical-program 3), unless a release of the one reached an acquire of the other
(spec: logical-program 10). The evaluator runs one point after another, so this does not depend on luck.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from intent import kir

__all__ = ["Event", "Path", "Task", "Tasks"]

FOREVER = 1 << 62


@dataclass(kw_only=True, eq=False)
class Task:
    """One point of one execution of a parallel loop.

    ``epoch`` counts its releases; ``known`` maps other tasks to the last of their epochs that is ordered before
    what this task does next.
    """

    number: int
    instance: int
    point: int
    epoch: int = 0
    known: dict[int, int] = field(default_factory=dict)


Path = tuple[Task, ...]


@dataclass(frozen=True, kw_only=True)
class Event:
    """One access: ``verb`` is what it does, ``point`` the loops' variables at that time as text."""

    op: kir.Op
    verb: str
    atomic: bool
    path: Path
    epoch: int
    point: str


class Tasks:
    """The parallel points around the current operation, outermost first."""

    def __init__(self) -> None:
        self.path: Path = ()
        self.ordering = False
        """Whether any atomic of the kernel orders anything."""
        self._instances = 0
        self._numbers = 0
        self._running: list[tuple[int, list[Task]]] = []

    def entered(self) -> None:
        """An execution of a parallel loop begins."""
        self._instances += 1
        self._running.append((self._instances, []))

    def point(self, value: int) -> None:
        """The loop goes on with another point."""
        instance, done = self._running[-1]
        self._numbers += 1
        task = Task(number=self._numbers, instance=instance, point=value)
        self.path = (*self.path[: len(self._running) - 1], task)
        if self.ordering:
            done.append(task)

    def left(self) -> None:
        """The loop ended; everything its points did comes before what follows."""
        _, done = self._running.pop()
        self.path = self.path[: len(self._running)]
        if self.ordering and self.path:
            for task in done:
                self.path[-1].known |= task.known
                self.path[-1].known[task.number] = FOREVER

    def concurrent(self, event: Event) -> bool:
        """Whether an earlier access is unordered with what runs now."""
        for there, here in zip(event.path, self.path, strict=False):
            if there is here:
                continue
            return there.instance == here.instance and not self._released(event)
        return False

    def _released(self, event: Event) -> bool:
        number = event.path[-1].number
        return self.ordering and any(task.known.get(number, -1) >= event.epoch for task in self.path)

    def release(self) -> dict[int, int]:
        """What is ordered before an acquire of what is released now."""
        out: dict[int, int] = {}
        for task in self.path:
            for number, epoch in task.known.items():
                out[number] = max(out.get(number, -1), epoch)
            out[task.number] = task.epoch
            task.epoch += 1
        return out

    def acquire(self, released: dict[int, int]) -> None:
        """From here on, what was released comes before."""
        known = self.path[-1].known
        for number, epoch in released.items():
            known[number] = max(known.get(number, -1), epoch)
