"""Points of parallel loops whose writes meet, looked for when the whole kernel and all its launch conditions are known.

What is shown needs nothing. What is refuted at every launch, however few its points, is an error with numbers; what
is refuted at some launches only is the author's promise (language, decision 4), recorded with such a launch. What
depends on data is a promise too.
"""

from __future__ import annotations

from intent.diagnostics import CollidingWrites
from intent.kir import Assumption, Kernel
from intent.kir.destinations import Destination, between_points
from intent.kir.facts import launch_facts
from intent.proof import Collision, Facts, Unknown, injective

__all__ = ["promised_points"]


def promised_points(kernel: Kernel) -> tuple[Assumption, ...]:
    """The promises that stores of parallel loops make. Raises CollidingWrites at the store."""
    facts = launch_facts(kernel.conditions)
    found = (_promise(destination, facts) for destination in between_points(kernel))
    return tuple(promise for promise in found if promise is not None)


def _promise(destination: Destination, facts: Facts) -> Assumption | None:
    store = destination.store
    outcome = injective(destination.claim, facts)
    name = store.target.name
    points = ", ".join(axis.name for axis in destination.claim.apart)
    detail = f"different {points} write different elements of '{name}'"
    match outcome:
        case Collision():
            witness = outcome.witness(name)
            if destination.sure and outcome.always:
                raise CollidingWrites(name, witness=witness, span=store.span)
            return Assumption(kind="unique", detail=f"{detail}; not so: {witness}", span=store.span)
        case Unknown():
            return Assumption(kind="unique", detail=detail, span=store.span)
        case _:
            return None
