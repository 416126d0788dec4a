"""Which rule a difference between program and kernel breaks: what went wrong first, and where.

Effects that go to other elements are named by how they differ. Where only values differ, both sides are run again and
remember what they read and computed: members that the kernel reads and the program does not were left out; elements
that only the program reads have other coordinates; else the first operation none of whose values the program has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from intent import kir
from intent.kir.walk import regions_of as regions_in
from intent.kir.walk import walk
from intent.physical.fragment import Region
from intent.physical.ops import Constant, LaunchValue, Load, Loop, Op, Pointwise
from intent.physical.program import Program
from intent.physical.verify.rule import operations
from intent.physical.verify.trial.logical import Logical
from intent.physical.verify.trial.machine import Machine
from intent.physical.verify.trial.ring import Array
from intent.physical.walk import regions_of

__all__ = ["Difference", "Part", "cause"]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Where program and kernel part: the rule that it breaks, what was seen, the operation if one is to blame."""

    rule: str
    text: str
    op: Op | None = None


@dataclass(frozen=True, kw_only=True)
class Part:
    """How an effect differs. ``effect`` is None for contents at the end that no single effect explains."""

    effect: kir.Op | None
    text: str
    strange: int = 0
    lost: int = 0
    written: int = 1


_STRUCTURED: Final = (
    kir.Reduce, kir.Scan, kir.Contract, kir.SparseContract, kir.Histogram, kir.For, kir.While, kir.If,
)  # fmt: skip


def cause(program: Program, logical: Logical, machine: Machine, part: Part) -> Difference:
    """The rule that the difference breaks."""
    effect = part.effect
    if effect is None:
        return Difference(rule="effect-order", text=part.text)
    at = next((op for op in operations(program) if op.origin == effect.id and not op.results), None)
    if isinstance(effect, kir.BufferAlloc):
        return Difference(rule="buffer-initial", text=part.text, op=at)
    if part.strange or part.lost or part.written != 1:
        return Difference(rule=_of_elements(logical.kernel, part), text=part.text, op=at)
    return _of_values(program, logical, machine, part)


def _of_elements(kernel: kir.Kernel, part: Part) -> str:
    if not part.written:
        return "effect-covered"
    if part.strange:
        return "coordinate-relation" if part.lost else "access-validity"
    if part.lost and part.effect is not None and _within_derived(kernel, part.effect):
        return "member-traversal"
    return "ownership-complete"


def _within_derived(kernel: kir.Kernel, effect: kir.Op) -> bool:
    """Whether the effect stands in a loop over members that only device data names."""
    made = {r.id: op for op in walk(kernel.body) for r in op.results}
    for op in walk(kernel.body):
        if isinstance(op, kir.For) and effect in tuple(walk(op.body)):
            bounds = (made.get(op.begin.id), made.get(op.end.id))
            if any(not isinstance(b, kir.Constant | kir.ExtentValue) or not _visible(b) for b in bounds):
                return True
    return False


def _visible(op: kir.Op) -> bool:
    return not isinstance(op, kir.ExtentValue) or op.extent.launch_visible


def _of_values(program: Program, logical: Logical, machine: Machine, part: Part) -> Difference:
    """Both sides once more, remembering what they do."""
    inputs = replace(machine.inputs, alike=False)  # so that equal numbers mean equal computations
    wanted = Logical(logical.kernel, inputs, logical.ring, logical.blocks, in_order=logical.in_order)
    seen = Machine(program, inputs, machine.ring, machine.targets)
    wanted.trace, seen.trace = {}, {}
    wanted.run()
    seen.run()
    reads = [op for op in operations(program) if isinstance(op, Load) and op.origin in seen.events.reads]
    for load in reads:
        found = _of_reads(program, logical.kernel, load, wanted, seen)
        if found is not None:
            return Difference(rule=found, text=part.text, op=load)
    return _of_operations(logical.kernel, wanted.trace, seen.trace, part)


def _of_reads(program: Program, kernel: kir.Kernel, load: Load, wanted: Logical, seen: Machine) -> str | None:
    origin = load.origin
    op = next((op for op in walk(kernel.body) if op.id == origin), None)
    if origin is None or not isinstance(op, kir.Load) or op.source.name != load.source.name:
        return None
    theirs, ours = _joined(wanted.events.reads[origin]), _joined(seen.events.reads[origin])
    if np.setdiff1d(ours, theirs).size:
        return "coordinate-relation"
    lost = np.setdiff1d(theirs, ours)
    if not lost.size:
        return None
    if np.intersect1d(lost, _joined(seen.events.unmasked[origin])).size or _narrowed(program, load):
        return "narrowing-subset"
    return "member-traversal"


def _joined(parts: list[Array]) -> Array:
    return np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.int64)


def _narrowed(program: Program, load: Load) -> bool:
    """Whether a loop around the read runs to or from a computed bound."""
    made = {r.id: op for op in operations(program) for r in op.results}

    def around(region: Region, loops: tuple[Loop, ...]) -> tuple[Loop, ...] | None:
        for op in region.ops:
            if op is load:
                return loops
            for inner in regions_of(op):
                found = around(inner, (*loops, op) if isinstance(op, Loop) else loops)
                if found is not None:
                    return found
        return None

    loops = next((found for s in program.segments if (found := around(s.body, ())) is not None), ())
    bounds = (made.get(v.id) for loop in loops for v in (loop.begin, loop.end))
    return any(not isinstance(op, Constant | LaunchValue) for op in bounds)


def _of_operations(
    kernel: kir.Kernel, wanted: dict[int, list[Array]], seen: dict[int, list[tuple[Op, Array]]], part: Part
) -> Difference:
    """The first operation of the kernel none of whose values the program has."""
    helpers = {
        inner.id
        for op in walk(kernel.body)
        if isinstance(op, kir.RegionFold | kir.RegionScan)
        for region in regions_in(op)
        for inner in walk(region)
    }
    for op in sorted(walk(kernel.body), key=_ends(kernel).__getitem__):
        made = [(o, x) for o, x in seen.get(op.id, []) if x.dtype != np.bool_]
        values = [x.ravel() for x in wanted.get(op.id, []) if x.dtype != np.bool_ and x.size]
        if not made or not values:
            continue
        known = np.unique(np.concatenate([x.astype(np.int64) for x in values]))
        if any(bool(np.isin(x.astype(np.int64), known).any()) for _, x in made):
            continue
        return Difference(rule=_of_kind(op, made, op.id in helpers), text=part.text, op=made[-1][0])
    return Difference(rule="coordinate-relation", text=part.text)


def _ends(kernel: kir.Kernel) -> dict[kir.Op, int]:
    """When operations are done: those in regions before the one that has them."""
    order: dict[kir.Op, int] = {}

    def visit(region: kir.Region) -> None:
        for op in region.ops:
            for inner in regions_in(op):
                visit(inner)
            order[op] = len(order)

    visit(kernel.body)
    return order


def _of_kind(op: kir.Op, made: list[tuple[Op, Array]], helper: bool) -> str:
    if isinstance(op, kir.RegionFold | kir.RegionScan):
        return "region-segments"
    if isinstance(op, _STRUCTURED):
        return "region-segments" if helper else "structured-faithful"
    if isinstance(op, kir.Pointwise):
        other = any(isinstance(o, Pointwise) and o.fn != op.fn for o, _ in made)
        return "effect-values" if other else "coordinate-relation"
    return "coordinate-relation" if isinstance(op, kir.Load | kir.Iota | kir.ExtentValue) else "effect-values"
