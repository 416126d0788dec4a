"""Why no element is written twice by one store: proofs and promises of the logical stores.

spec: kir-to-gpu-program 2.4 (unique ownership) and logical-program 9 (provably injective destinations).
"""

from __future__ import annotations

from intent import kir
from intent import physical as ph
from intent.kir.destinations import between_points, within_store
from intent.kir.facts import launch_facts
from intent.kir.walk import walk
from intent.proof import Collision, Fact, Proved, Unknown, injective

__all__ = ["unique_stores"]


def unique_stores(kernel: kir.Kernel) -> dict[int, ph.Proof]:
    """A proof per store, by operation id: its elements are distinct, also between points of parallel loops."""
    facts = launch_facts(kernel.conditions)
    defs: dict[int, kir.Op] = {v.id: op for op in walk(kernel.body) for v in op.results}
    between = {d.store.id: injective(d.claim, facts) for d in between_points(kernel)}
    found: dict[int, ph.Proof] = {}
    for op in walk(kernel.body):
        if isinstance(op, kir.Store):
            outcomes: list[Proved | Collision | Unknown] = []
            if op.value.shape:
                claim = within_store(defs, kernel.body.args, op.target, op.relation, op.value.shape)
                outcomes.append(injective(claim, facts))
            if op.id in between:
                outcomes.append(between[op.id])
            found[op.id] = _proof(outcomes)
    return found


def _proof(outcomes: list[Proved | Collision | Unknown]) -> ph.Proof:
    if not outcomes:
        return ph.STATIC  # one element
    shown = [outcome for outcome in outcomes if isinstance(outcome, Proved)]
    if len(shown) < len(outcomes):
        missing = [o for o in outcomes if not o.proved]
        return ph.Proof(kind="assumed", text="; ".join(map(_doubt, missing)))
    facts: dict[Fact, None] = {fact: None for outcome in shown for fact in outcome.facts}
    return ph.Proof(kind="interval", facts=tuple(facts), text="; ".join(map(str, shown)))


def _doubt(outcome: Proved | Collision | Unknown) -> str:
    """Why it takes a promise."""
    return f"some calls are not so: {outcome.witness('')}" if isinstance(outcome, Collision) else str(outcome)
