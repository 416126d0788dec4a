"""One fault: a module of the compiler with one expression or statement replaced."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """``module``: dotted name. ``line``: of the replaced text, 1-based; ``statement``: of the statement around it.

    ``source``: the mutated module's text; ``original``: the right module's. ``fault`` names the operator
    (``drop-mask``); ``place`` the function it is in; ``number`` counts equal faults of a function, so that a name stays
    the same when lines move.
    """

    module: str
    line: int
    statement: int
    fault: str
    place: str
    number: int
    before: str
    after: str
    source: str
    original: str

    @property
    def name(self) -> str:
        """Stable while the function stays as it is: ``construct.access:load:drop-mask:0``."""
        return f"{self.module.removeprefix('intent.')}:{self.place}:{self.fault}:{self.number}"

    def __str__(self) -> str:
        return f"{self.name} (line {self.line}): {_short(self.before)}  ->  {_short(self.after)}"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 70 else flat[:67] + "..."
