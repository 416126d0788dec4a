"""All arguments of an emitted kernel, and when a launch may run its text with 32-bit index arithmetic.

Index values are 64-bit in the language (spec: logical-program 1, one numerical definition); where all of a launch's
provably fit, the narrower text gives the same results.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Generic, TypeVar

from intent.physical.apart import offsets_fit
from intent.provider.emission.arguments import Parameter, value_of
from intent.provider.emission.bounds import INT32_MAX, INT32_MIN, Interval
from intent.provider.protocol import Invocation
from intent.types import Extent
from intent.types.extent import Atom, Scalar, Symbol

__all__ = ["Signature"]

P = TypeVar("P", bound=Parameter)


@dataclass(frozen=True, kw_only=True)
class Signature(Generic[P]):
    """Arguments in order. Providers add what their builds need to know.

    For index values to be int32, ``facts`` must fit int32, and the extents ``signs`` must not be negative: the text
    divides them without flooring.
    """

    parameters: tuple[P, ...]
    facts: tuple[Interval, ...] = ()
    signs: tuple[Extent, ...] = ()

    def last_strides(self) -> tuple[int, ...]:
        """The positions of the strides that are 1 in row-major arrays: of each view the last axis that has one."""
        last = {p.view: i for i, p in enumerate(self.parameters) if p.kind == "stride"}  # by rising axis
        return tuple(last.values())

    def small(self, invocation: Invocation) -> bool:
        """Whether every index value, element offset and index argument of this launch fits 32 bits."""
        if not offsets_fit((view.shape, view.strides) for view in invocation.views.values()):
            return False
        passed = [value_of(p, invocation) for p in self.parameters if p.index]
        if not all(INT32_MIN <= value <= INT32_MAX for value in passed):
            return False
        env = _environment(invocation)
        try:
            return all(sign.evaluate(env) >= 0 for sign in self.signs) and all(
                fact.low.evaluate(env) >= INT32_MIN and fact.high.evaluate(env) <= INT32_MAX
                for fact in self.facts
            )
        except ZeroDivisionError:  # a bound of a segment that has no programs in this launch
            return False

    def assumes(self) -> frozenset[str]:
        """The symbols and scalars on which layouts depend: index arguments, and what the facts mention."""
        extents = [*self.signs, *(e for fact in self.facts for e in (fact.low, fact.high))]
        mentioned = {a.name for e in extents for a in e.atoms() if isinstance(a, (Symbol, Scalar))}
        return frozenset(mentioned | {p.name for p in self.parameters if p.index and p.name})


def _environment(invocation: Invocation) -> dict[Atom, int]:
    """Symbols and integer scalars by name."""
    env: dict[Atom, int] = {Symbol(name): value for name, value in invocation.extents.items()}
    env |= {Scalar(name): int(value) for name, value in invocation.scalars.items() if math.isfinite(value)}
    return env | {Scalar(name): value for name, value in invocation.extents.items()}
