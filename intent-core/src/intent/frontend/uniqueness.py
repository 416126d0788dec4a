"""Writes that meet, looked for when the whole kernel and all its launch conditions are known.

Points of parallel loops may meet, and so may the elements of one store whose destinations the author promised to be
distinct. What is shown needs nothing. What is refuted at every launch, however few its points, is an error with
numbers; what is refuted at some launches only is the author's promise (language decision 4), recorded with such a
launch. What depends on data is a promise too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from intent.diagnostics import CollidingWrites, NonInjectiveAssignment
from intent.kir import Assumption, For, Kernel, Op, Region, Store
from intent.kir.destinations import Destination, between_points, within_store
from intent.kir.facts import launch_facts
from intent.kir.walk import walk
from intent.proof import Collision, Distinct, Facts, Unknown, injective
from intent.types.extent import Dyn

__all__ = ["promised_points"]


def promised_points(kernel: Kernel) -> tuple[Assumption, ...]:
    """The promises that stores of parallel loops make. Raises CollidingWrites, NonInjectiveAssignment at the store."""
    facts = launch_facts(kernel.conditions)
    _refuse_broken(kernel, facts)
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


def _refuse_broken(kernel: Kernel, facts: Facts) -> None:
    """Refuse a store that every launch executes on all its elements, two of which meet whatever the launch."""
    defs: dict[int, Op] = {v.id: op for op in walk(kernel.body) for v in op.results}
    for store in _unconditional(kernel.body):
        if store.uniqueness != "assumed":
            continue
        claim = within_store(defs, kernel.body.args, store.target, store.relation, store.value.shape)
        outcome = injective(_moving(claim), facts)
        if isinstance(outcome, Collision) and outcome.always:
            name = store.target.name
            raise NonInjectiveAssignment(name, witness=outcome.witness(name), promised=True, span=store.span)


def _moving(claim: Distinct) -> Distinct:
    """The claim without coordinates that only a loop around the store changes: all of its elements share them."""
    own = {axis.atom for axis in claim.axes}
    kept = [
        k
        for k, e in enumerate(claim.coordinates)
        if own & set(e.atoms()) or not any(isinstance(a, Dyn) for a in e.atoms())
    ]
    coordinates = tuple(claim.coordinates[k] for k in kept)
    return replace(claim, coordinates=coordinates, shape=tuple(claim.shape[k] for k in kept))


def _unconditional(region: Region) -> Iterator[Store]:
    for op in region.ops:
        if isinstance(op, Store) and op.valid is None:
            yield op
        elif isinstance(op, For):
            yield from _unconditional(op.body)
