"""When a launch may run a text with 32-bit index arithmetic (spec: logical-program 1, one numerical definition)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from intent.physical.apart import offsets_fit
from intent.provider.emission.arguments import Parameter, value_of
from intent.provider.emission.bounds import INT32_MAX, INT32_MIN, Interval
from intent.provider.protocol import Invocation
from intent.types import Extent
from intent.types.extent import Atom, Scalar, Symbol

__all__ = ["IndexFacts"]


@dataclass(frozen=True, kw_only=True)
class IndexFacts:
    """What must hold in a launch for its index values to be int32.

    ``bounds`` must fit int32, and the extents ``signs`` must not be negative: the text divides them without flooring.
    """

    bounds: tuple[Interval, ...] = ()
    signs: tuple[Extent, ...] = ()

    def hold(self, invocation: Invocation, parameters: Iterable[Parameter]) -> bool:
        """Whether every index value, element offset and index argument of this launch fits 32 bits."""
        if not offsets_fit((view.shape, view.strides) for view in invocation.views.values()):
            return False
        passed = [value_of(p, invocation) for p in parameters if p.index]
        if not all(INT32_MIN <= value <= INT32_MAX for value in passed):
            return False
        env = _environment(invocation)
        try:
            return all(sign.evaluate(env) >= 0 for sign in self.signs) and all(
                bound.low.evaluate(env) >= INT32_MIN and bound.high.evaluate(env) <= INT32_MAX
                for bound in self.bounds
            )
        except ZeroDivisionError:  # a bound of a segment that has no programs in this launch
            return False

    def mentioned(self) -> frozenset[str]:
        """The symbols and scalars on which the answer depends, besides shapes and strides."""
        extents = [*self.signs, *(e for bound in self.bounds for e in (bound.low, bound.high))]
        return frozenset(a.name for e in extents for a in e.atoms() if isinstance(a, (Symbol, Scalar)))


def _environment(invocation: Invocation) -> dict[Atom, int]:
    """Symbols and integer scalars by name."""
    env: dict[Atom, int] = {Symbol(name): value for name, value in invocation.extents.items()}
    env |= {Scalar(name): int(value) for name, value in invocation.scalars.items() if math.isfinite(value)}
    return env | {Scalar(name): value for name, value in invocation.extents.items()}
