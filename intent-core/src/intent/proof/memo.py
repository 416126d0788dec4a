"""Answers kept by content: a claim, its facts and whether the solver may be asked."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from intent.proof.outcome import Method
from intent.types.extent import Atom

_KEPT = 20_000


@dataclass(frozen=True, kw_only=True)
class Answer:
    """``used``: numbers of the facts of a proof; ``model``: refuting values; neither: ``why`` it is unknown."""

    used: frozenset[int] | None = None
    method: Method = "constants"
    model: tuple[tuple[Atom, int], ...] | None = None
    why: str = ""


class Memo:
    """The latest answers of this process."""

    def __init__(self) -> None:
        self._answers: dict[Hashable, Answer] = {}

    def get(self, key: Hashable) -> Answer | None:
        """The kept answer."""
        return self._answers.get(key)

    def put(self, key: Hashable, answer: Answer) -> None:
        """Keep an answer; the oldest make room."""
        if len(self._answers) >= _KEPT:
            for old in list(self._answers)[: _KEPT // 4]:
                del self._answers[old]
        self._answers[key] = answer

    def clear(self) -> None:
        """Forget everything."""
        self._answers.clear()


MEMO = Memo()
