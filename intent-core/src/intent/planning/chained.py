"""Contractions whose result is summed by the next one along a walked axis: attention, and what is shaped like it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from intent import kir
from intent.construct import Analysis
from intent.kir.walk import walk

HEAD = 128
"""The longest head that is planned for when nothing is known."""
LONGEST_HEAD = 256
"""The longest head whose results one instance holds; a longer one is walked, and the chain computed for every part."""
_COMPARISONS = ("lt", "le", "gt", "ge")


@dataclass(frozen=True, kw_only=True)
class Chain:
    """The axis that the second contraction sums, and whether a mask compares it with the rows.

    A mask splits the walk into blocks with and without it. ``rows``: how many there are, 0 where that is not asked.
    """

    walked: str
    masked: bool
    rows: int = 0


def chain_of(analysis: Analysis, contractions: Sequence[kir.Contract], rows: str) -> Chain | None:
    """The chain among a group's contractions over the instance axis ``rows``, if there is one."""
    for n, op in enumerate(contractions):
        for axis, _ in op.reduce:
            walked = analysis.classes.label((op.lhs.id, axis))
            if any(_has(analysis, earlier, walked) for earlier in contractions[:n]):
                return Chain(walked=walked, masked=_masked(analysis, walked, rows))
    return None


def heads_of(analysis: Analysis) -> set[str]:
    """Axes that only one contraction of a chain has, and that are short in practice.

    What the first one sums, and what the second one leaves besides the rows.
    """
    label = analysis.classes.label
    contractions = [op for op in walk(analysis.kernel.body) if isinstance(op, kir.Contract)]
    found: set[str] = set()
    for n, op in enumerate(contractions):
        for axis, _ in op.reduce:
            for earlier in contractions[:n]:
                if _has(analysis, earlier, label((op.lhs.id, axis))):
                    rows = {label((earlier.result.id, k)) for k in range(earlier.result.rank)}
                    left = {label((op.result.id, k)) for k in range(op.result.rank)}
                    found |= {label((earlier.lhs.id, k)) for k, _ in earlier.reduce} | (left - rows)
    return found


def _has(analysis: Analysis, op: kir.Contract, walked: str) -> bool:
    return any(analysis.classes.label((op.result.id, k)) == walked for k in range(op.result.rank))


def _masked(analysis: Analysis, walked: str, rows: str) -> bool:
    """Whether the kernel compares places along the walked axis with places along the rows."""
    for op in walk(analysis.kernel.body):
        if isinstance(op, kir.Pointwise) and op.fn in _COMPARISONS and op.operands[0].dtype.name == "index":
            found = {analysis.classes.label((op.result.id, k)) for k in range(op.result.rank)}
            if walked in found and rows in found:
                return True
    return False
