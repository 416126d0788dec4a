"""Answers kept by content in this process: asking again is a look-up."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["Memo"]

_KEPT = 20_000
T = TypeVar("T")


class Memo(Generic[T]):
    """The latest answers; the oldest make room."""

    def __init__(self) -> None:
        self._answers: dict[Hashable, T] = {}

    def answer(self, question: Hashable, find: Callable[[], T]) -> T:
        """The kept answer to a question, or the one that ``find`` gives, which is kept."""
        found = self._answers.get(question)
        if found is None:
            found = find()
            if len(self._answers) >= _KEPT:
                for old in list(self._answers)[: _KEPT // 4]:
                    del self._answers[old]
            self._answers[question] = found
        return found

    def clear(self) -> None:
        """Forget everything."""
        self._answers.clear()
