"""Domains, views and buffers of the numpy rendering of the language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Invalid(Exception):
    """The program does what the language forbids: it has no meaning to compare."""


class Conflict(Invalid):
    """Two parallel points reach one element, and one of them writes it."""


class Domain:
    """``begin, begin + step, ...`` below ``end``; slices keep source coordinates."""

    def __init__(self, begin: int, end: int, step: int = 1) -> None:
        if step <= 0:
            raise Invalid(f"step {step}")
        self.begin, self.end, self.step = int(begin), int(end), int(step)

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.begin, self.end, self.step))

    def __getitem__(self, key: slice) -> Domain:
        begin = self.begin if key.start is None else int(key.start)
        end = self.end if key.stop is None else int(key.stop)
        if not self.begin <= begin <= end <= self.end:
            raise Invalid(f"subregion [{begin}, {end}) of [{self.begin}, {self.end})")
        return Domain(begin, end, self.step)


class Points:
    """The parallel point that is running: a number, and the numbers of the points around it."""

    def __init__(self) -> None:
        self.epoch = 0
        self.begin()

    def begin(self) -> None:
        """Forget the points of the run before, which may have ended inside one of them."""
        self.now = 0
        self.around: dict[int, frozenset[int]] = {0: frozenset()}
        self.epoch += 1

    def each(self, region: Iterable[Any]) -> Iterator[Any]:
        """The points of a parallel loop, one after the other."""
        outer = self.now
        for item in region:
            self.now = len(self.around)
            self.around[self.now] = self.around[outer] | {outer}
            yield item
        self.now = outer
        if not outer:
            self.epoch += 1

    def conflict(self, users: Array) -> bool:
        """Whether an element was used by a point that is neither this one nor around or inside it."""
        return any(
            user == SEVERAL
            or (user not in {0, self.now} | self.around[self.now] and self.now not in self.around[user])
            for user in np.unique(users).tolist()
        )


SEVERAL: Final = -1
POINTS = Points()


class View:
    """A view or buffer: reads are copies, every index is checked, reads of unwritten elements are refused.

    Elements remember the parallel points that read and wrote them: unordered conflicts have no meaning.
    """

    def __init__(self, array: Array, *, known: bool = True) -> None:
        self.array = array
        self.known = np.full(array.shape, known)
        self.wrote = np.zeros(array.shape, np.int64)
        self.read = np.zeros(array.shape, np.int64)
        self.epoch = POINTS.epoch

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents as Python integers."""
        return self.array.shape

    def __getitem__(self, key: Any) -> Any:
        where = plain_key(key, self.shape)
        if not np.all(self.known[where]):
            raise Invalid("an element is read that was never written")
        if POINTS.now:
            self._meet(self.wrote[where])
            before = self.read[where]
            self.read[where] = np.where((before == 0) | (before == POINTS.now), POINTS.now, SEVERAL)
        return tensor(np.array(self.array[where]))

    def __setitem__(self, key: Any, value: Any) -> None:
        where = plain_key(key, self.shape)
        if POINTS.now:
            self._meet(self.wrote[where])
            self._meet(self.read[where])
            self.wrote[where] = POINTS.now
        self.array[where] = value
        self.known[where] = True

    def _meet(self, users: Any) -> None:
        if self.epoch != POINTS.epoch:
            self.epoch = POINTS.epoch
            self.wrote[...] = 0
            self.read[...] = 0
        elif POINTS.conflict(users):
            raise Conflict("parallel points conflict")

    def update(self, key: Any, change: Callable[[Any], Any]) -> Any:
        """An indivisible update; gives the old value."""
        where = plain_key(key, self.shape)
        old = tensor(np.array(self.array[where]))
        self.array[where] = change(old)
        return old


class Tensor(np.ndarray[Any, Any]):
    """A tensor value, which also takes domains as subscripts."""

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(plain_key(key, self.shape))


def tensor(value: Any) -> Any:
    """An array as a tensor; scalars stay numpy scalars."""
    array = np.asarray(value)
    return array[()] if array.ndim == 0 else array.view(Tensor)


def plain_key(key: Any, shape: tuple[int, ...]) -> Any:
    """A subscript of the language as numpy's, with every index in range."""
    items = list(key) if isinstance(key, tuple) else [key]
    taken = sum(1 for item in items if item is not None and item is not Ellipsis)
    if any(item is Ellipsis for item in items):
        at = next(k for k, item in enumerate(items) if item is Ellipsis)
        items[at : at + 1] = [slice(None)] * (len(shape) - taken)
    else:
        items += [slice(None)] * (len(shape) - taken)
    axis = 0
    found: list[Any] = []
    for item in items:
        if item is None:
            found.append(None)
            continue
        found.append(_one(item, shape[axis]))
        axis += 1
    return tuple(found)


def _one(item: Any, extent: int) -> Any:
    if isinstance(item, Domain):
        if item.begin < item.end and not 0 <= item.begin <= item.end <= extent:
            raise Invalid(f"[{item.begin}, {item.end}) of an axis of {extent}")
        return slice(item.begin, max(item.begin, item.end), item.step)
    if isinstance(item, slice):
        begin = 0 if item.start is None else int(item.start)
        end = extent if item.stop is None else int(item.stop)
        if not 0 <= begin <= end <= extent:
            raise Invalid(f"[{begin}, {end}) of an axis of {extent}")
        return slice(begin, end)
    index = np.asarray(item)
    if index.size and (index.min() < 0 or index.max() >= extent):
        raise Invalid(f"index {index.min()}..{index.max()} of an axis of {extent}")
    return index.view(np.ndarray) if index.ndim else int(index)
