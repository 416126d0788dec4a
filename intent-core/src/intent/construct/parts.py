"""An axis that several instances share: each reduces a part of it (spec: kir-to-gpu-program 2 and 7).

What a reduction declares, that its combine is associative, is what permits it; parts are contiguous and are put
together in order, so that a fold may share its axis too. ``split`` puts the parts together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from intent import physical as ph
from intent.diagnostics import PlanError
from intent.types import Extent
from intent.types.extent import ceildiv, const

if TYPE_CHECKING:
    from intent.construct.context import Context
    from intent.construct.frame import Frame

Values = tuple[ph.Fragment, ...]

MOST: Final = (1 << 31) - 1
"""Most parts of an axis: the count of those that have arrived is an ``i32``."""


def checked(split: tuple[str, int]) -> tuple[str, int]:
    """The label and the number of parts that a plan names.

    Raises:
        PlanError: The second is no number of instances.
    """
    label, count = split
    if type(count) is not int or not 2 <= count <= MOST:
        raise PlanError(f"{label} is shared out among {count!r} instances; it takes an int from 2 to {MOST}")
    return label, count


@dataclass(frozen=True, kw_only=True)
class State:
    """A reduction over the shared axis: the results of one operation, which are those of a part.

    ``start``: the identities, of the results' dims or fewer. ``combine``: two states, in order, as one.
    ``across``: the states in lanes of some dims as one, where their order does not matter; None where it does.
    """

    results: Values
    start: Values
    combine: Callable[[Values, Values], Values]
    across: Callable[[Values, tuple[ph.Dim, ...]], Values] | None = None


@dataclass(kw_only=True)
class Share:
    """The axes of class ``label`` are walked in ``count`` parts; this instance has the one of ordinal ``part``.

    ``team``: the ordinal of the instances that share one walk. ``states``: the reductions that were made of parts;
    ``stores``: how many writes were, and ``others``: how many of the group's writes were not. ``apart``: whether writes
    may be made of parts.
    """

    label: str
    count: int
    team: ph.Fragment
    part: ph.Fragment
    apart: bool = True
    states: list[State] = field(default_factory=list)
    stores: int = 0
    others: int = 0

    def bounds(
        self, c: Context, e: Extent, end: ph.Fragment, block: int, frame: Frame
    ) -> tuple[ph.Fragment, ph.Fragment]:
        """Begin and end of this instance's part of an axis that ends at ``end``; parts are whole blocks, or empty."""
        length = self._length(c, e, end, block, frame)
        begin = c.emitter.pointwise("mul", self.part, length)
        after = c.emitter.pointwise("add", begin, length)
        return begin, c.emitter.pointwise("minimum", after, end)

    def _length(self, c: Context, e: Extent, end: ph.Fragment, block: int, frame: Frame) -> ph.Fragment:
        blocks = ceildiv(e, const(block * self.count))
        if blocks.launch_visible:
            return c.extent(blocks * const(block), frame).fragment
        emitter = c.emitter
        # Data may say anything; of what is not negative divisions are plain.
        end = emitter.pointwise("maximum", end, emitter.index(0))
        up = emitter.pointwise("add", end, emitter.index(block * self.count - 1))
        whole = emitter.pointwise("floordiv", up, emitter.index(block * self.count))
        return emitter.pointwise("mul", whole, emitter.index(block))
