"""Whether a destination relation reaches every element at most once (spec: logical-program 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from intent.kir import Relation, Resource
from intent.kir.destinations import within_store
from intent.kir.facts import launch_facts
from intent.proof import Collision, Proved, Unknown, injective
from intent.types import Extent

if TYPE_CHECKING:
    from intent.frontend.emission import Emitter


def distinct_elements(
    emitter: Emitter, resource: Resource, relation: Relation, shape: tuple[Extent, ...]
) -> Proved | Collision | Unknown:
    """Whether distinct elements of ``shape`` have distinct destinations, by the launch conditions known so far."""
    claim = within_store(emitter.defs, emitter.frames[0].args, resource, relation, shape)
    return injective(claim, launch_facts(emitter.conditions))
