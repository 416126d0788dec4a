"""A program against its kernel on small inputs, in exact arithmetic: where they part first.

The kernel is executed as it stands and the program instance by instance, on extents small enough to be done at once
and chosen so that blocks repeat and the last one is partial. In the ring (see ``ring``) every legal order gives the
same numbers, so the writes of every effect must be the very same: as many, to the same elements, of the same values.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from intent import kir
from intent.kir.walk import operands_of, walk
from intent.kir.walk import regions_of as regions_in
from intent.physical.ops import Atomic, BufferAlloc, Constant, Loop, Pointwise
from intent.physical.program import Program
from intent.physical.verify.rule import operations
from intent.physical.verify.trial import accesses, execution, regions, structured
from intent.physical.verify.trial.cause import Difference, Part, cause
from intent.physical.verify.trial.effort import MOST, SCRAMBLED, effort
from intent.physical.verify.trial.events import Writes
from intent.physical.verify.trial.inputs import (
    EXTREMES,
    PATTERNS,
    Inputs,
    assignments,
    far,
    rounds,
)
from intent.physical.verify.trial.logical import Logical, Unclean, Undecided, place
from intent.physical.verify.trial.machine import Machine, Targets, Trap
from intent.physical.verify.trial.meanings import Meanings
from intent.physical.verify.trial.reach import Reach
from intent.physical.verify.trial.ring import Array, Ring
from intent.physical.verify.trial.structured import LAWS
from intent.physical.verify.trial.unknown import holds_unknown, steered
from intent.types.extent import Atom

__all__ = ["Difference", "Trial", "attempt", "targets_of"]

ENOUGH: Final = MOST * 7 // 10
"""What is left of the effort when no more data is tried."""
SPELLED: Final = SCRAMBLED - {"div", "exp", "exp2", "log", "sqrt"}
"""Functions that targets may lack, and passes may spell with others."""
_PLACES_ONLY: Final = "microscaled formats are not numbers of the ring: only what is accessed was compared"
_REGISTERED: Final = (accesses, execution, regions, structured)
"""Importing these registers what operations do."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What a trial found. ``decided``: whether the effects were compared; else ``reason`` says why not."""

    decided: bool
    reason: str = ""
    difference: Difference | None = None
    inputs: Inputs | None = None


def attempt(program: Program, kernel: kir.Kernel, meanings: Meanings | None = None) -> Trial:
    """Run both on inputs on which the kernel has a meaning; ``meanings``: what it does, kept from earlier trials.

    A fault of the trial itself leaves it undecided, with a warning: it is no reason to refuse a program.
    """
    try:
        return _attempt(program, meanings or Meanings(kernel))
    except Exception as error:  # noqa: BLE001 -- whatever it is, the checker failed and not the program
        text = f"the trial of '{program.name}' failed: {error!r}"
        warnings.warn(text, RuntimeWarning, stacklevel=2)
        return Trial(decided=False, reason=text)


def _attempt(program: Program, meanings: Meanings) -> Trial:
    """Trials in rounds.

    First with several blocks along every axis, or along one axis at a time where that is too much; then, on other
    extents and other data, with few of everything. Index data goes as far as it may in one more, of the first extents.
    """
    kernel, views = meanings.kernel, meanings.index_views
    done: Trial | None = None
    reason = "no small extents satisfy the launch conditions and guards"
    left = MOST
    together = False
    reach: Reach = meanings.reach
    for number, several in enumerate(rounds(program)):
        if (together and several) or (number and left < ENOUGH and done is not None and not several):
            continue
        for extents in assignments(kernel, program, several, turned=number % 2 == 1):
            cost = effort(program, kernel, extents)
            if cost > left:
                reason = "even small extents ask for too much work"
                break
            left -= cost
            try:
                found = _cleanly(program, meanings, extents, number, alike=not several)
            except Unclean as error:
                reason = str(error)
                continue
            except Undecided as error:
                return Trial(decided=False, reason=str(error))
            if found.difference is not None:
                return found
            done, together = done or found, together or number == 0
            for pattern in EXTREMES if reach and cost * len(EXTREMES) <= left else ():
                left -= cost
                inputs = Inputs(extents, pattern, views, alike=not several, reach=reach)
                more = _tried(program, meanings, inputs)
                if more is not None and more.difference is not None:
                    return more
            reach = {}
            break
    return (done and _far(program, meanings)) or done or Trial(decided=False, reason=reason)


def _far(program: Program, meanings: Meanings) -> Trial | None:
    """What is different where data gives one point as many members as there are."""
    kernel = meanings.kernel
    clean: Mapping[Atom, int] | None = None
    for inputs in far(program, kernel, meanings.index_views):
        if inputs.extents != (clean or inputs.extents) or effort(program, kernel, inputs.extents) > MOST:
            continue
        found = _tried(program, meanings, inputs)
        if found is None:
            continue
        if found.difference is not None:
            return found
        clean = inputs.extents
    return None


def _tried(program: Program, meanings: Meanings, inputs: Inputs) -> Trial | None:
    """Compare on data that the kernel need not accept; None where it does not."""
    try:
        return _compare(program, meanings, inputs)
    except (Unclean, Undecided):
        return None


def _cleanly(
    program: Program, meanings: Meanings, extents: Mapping[Atom, int], number: int, *, alike: bool
) -> Trial:
    """Compare on a pattern of index data that the kernel accepts. Raises Unclean when there is none."""
    reason, views = Unclean(), meanings.index_views
    turn = number % len(PATTERNS)
    for pattern in (*PATTERNS[turn:], *PATTERNS[:turn]) if views else PATTERNS[turn : turn + 1]:
        try:
            return _compare(program, meanings, Inputs(extents, pattern, views, alike))
        except Unclean as error:
            reason = error
    raise reason


def _compare(program: Program, meanings: Meanings, inputs: Inputs) -> Trial:
    with np.errstate(all="ignore"):
        return _executed(program, meanings, inputs)


def _executed(program: Program, meanings: Meanings, inputs: Inputs) -> Trial:
    kernel = meanings.kernel
    ring = Ring(infinite=_infinite(program, kernel))
    blocks = _blocks(program)
    if holds_unknown(kernel) and steered(kernel):
        raise Undecided("microscaled formats are not numbers of the ring, and decide what is executed")
    logical = meanings.of(inputs, ring, blocks)
    targets = targets_of(program, kernel)
    if any(
        isinstance(op, kir.Atomic) and op.id in targets.exchanged and _used(kernel, op)
        for op in walk(kernel.body)
    ):
        raise Undecided("what an atomic found is used, and a loop around compare-and-swap finds it")
    machine = Machine(program, inputs, ring, targets)
    try:
        machine.run()
    except Trap as trap:
        found = Difference(rule=trap.rule, text=trap.text, op=trap.op)
        return Trial(decided=True, difference=found, inputs=inputs)
    difference = next(_differences(logical, machine), None)
    if holds_unknown(kernel) and difference is None:
        return Trial(decided=False, reason=_PLACES_ONLY, inputs=inputs)
    if difference is None:
        return Trial(decided=True, inputs=inputs)
    _require_same_functions(program, kernel)
    for in_order, cut in ((True, blocks), (True, {}), (False, {})) if _author_combines(kernel) else ():
        other = meanings.of(inputs, ring, cut, in_order=in_order)
        if next(_differences(other, machine), None) is None:
            return Trial(decided=True, inputs=inputs)
        if not _same(logical, other):
            raise Undecided(LAWS)
    return Trial(decided=True, difference=cause(program, logical, machine, difference), inputs=inputs)


def _used(kernel: kir.Kernel, atomic: kir.Atomic) -> bool:
    """Whether anything uses what the atomic found."""
    found = set(atomic.results)
    return any(
        not found.isdisjoint(operands_of(op)) or any(not found.isdisjoint(r.yields) for r in regions_in(op))
        for op in walk(kernel.body)
    )


def _require_same_functions(program: Program, kernel: kir.Kernel) -> None:
    """A function that the program spells with others is no number of the ring."""
    spelled = {op.fn for op in operations(program) if isinstance(op, Pointwise)}
    for op in walk(kernel.body):
        if isinstance(op, kir.Pointwise) and op.fn in SPELLED | {"fma"} and op.fn not in spelled:
            raise Undecided(f"'{op.fn}' is spelled with other functions")


def _author_combines(kernel: kir.Kernel) -> bool:
    """Whether the order of evaluation rests on laws of the author's."""
    region = kir.RegionFold | kir.RegionScan
    return any(
        isinstance(op, region)
        or (isinstance(op, kir.Reduce | kir.Scan | kir.ScatterReduce) and op.combine is not None)
        for op in walk(kernel.body)
    )


def _same(a: Logical, b: Logical) -> bool:
    """Whether two executions of a kernel wrote the same."""
    if a.events.writes.keys() != b.events.writes.keys():
        return False
    return all(
        np.array_equal(x, y)
        for key, writes in a.events.writes.items()
        for x, y in zip(writes.sorted(), b.events.writes[key].sorted(), strict=True)
    )


def targets_of(program: Program, kernel: kir.Kernel) -> Targets:
    """What the kernel's writes go to, and which buffers of the program are the kernel's."""
    effects: dict[int, kir.Resource] = {}
    collisions: set[int] = set()
    allocated: dict[int, kir.Buffer] = {}
    for op in walk(kernel.body):
        match op:
            case kir.Store() | kir.Atomic():
                effects[op.id] = op.target
            case kir.ScatterReduce():
                effects[op.id] = op.target
                collisions.add(op.id)
            case kir.BufferAlloc():
                allocated[op.id] = op.buffer
                if op.init is not None:
                    effects[op.id] = op.buffer
    plain: dict[int, str] = {op.id: op.kind for op in walk(kernel.body) if isinstance(op, kir.Atomic)}
    exchanged = {
        op.origin
        for op in operations(program)
        if isinstance(op, Atomic) and op.kind == "compare_exchange" and op.origin is not None
        and plain.get(op.origin) != "compare_exchange"
    }  # fmt: skip
    buffers = {
        op.buffer.id: allocated[op.origin]
        for op in operations(program)
        if isinstance(op, BufferAlloc)
        and op.origin in allocated
        and op.buffer.name == allocated[op.origin].name
    }
    return Targets(
        effects=effects,
        buffers=buffers,
        collisions=frozenset(collisions | exchanged),
        exchanged=frozenset(exchanged),
    )


def _differences(logical: Logical, machine: Machine) -> Iterator[Part]:
    kept = set(machine.targets.buffers.values())
    unknown = holds_unknown(logical.kernel)
    for op in walk(logical.kernel.body):
        target = machine.targets.effects.get(op.id)
        if target is None or (isinstance(target, kir.Buffer) and target not in kept):
            continue
        wanted, seen = logical.events.writes.get(op.id), machine.events.writes.get(op.id)
        found = _writes(
            op,
            target,
            wanted or Writes(),
            seen or Writes(),
            places=unknown or op.id in machine.targets.exchanged,
        )
        if found is not None:
            yield found
    for view in logical.kernel.views if not unknown else ():
        ours, theirs = machine.memory[place(view)], logical.memory[place(view)]
        if _settled(logical.kernel, view) and not np.array_equal(ours, theirs):
            count = int(np.sum(ours != theirs))
            text = f"'{view.name}' differs in {count} of {ours.size} elements at the end, though its writes do not"
            yield Part(effect=None, text=text)


def _settled(kernel: kir.Kernel, view: kir.View) -> bool:
    """Whether the final contents of a view do not depend on the order of atomics."""
    return not any(
        isinstance(op, kir.Atomic)
        and isinstance(op.target, kir.View)
        and place(op.target) == place(view)
        and op.kind in ("store", "exchange", "compare_exchange")
        for op in walk(kernel.body)
    )


def _writes(op: kir.Op, target: kir.Resource, wanted: Writes, seen: Writes, *, places: bool) -> Part | None:
    """How the writes of an effect differ; only in their ``places`` where what is written depends on the order."""
    (elements, digests), (others, theirs) = wanted.sorted(), seen.sorted()
    if places:
        digests, theirs = np.zeros_like(digests), np.zeros_like(theirs)
    if isinstance(target, kir.Buffer):  # copies of one buffer may be written by each of their owners
        elements, digests = _distinct(elements, digests)
        others, theirs = _distinct(others, theirs)
    if not np.array_equal(elements, others):
        strange, lost = np.setdiff1d(others, elements), np.setdiff1d(elements, others)
        text = (
            f"'{target.name}' is written {others.size} times instead of {elements.size}: "
            f"{lost.size} elements are left out, {strange.size} are written that should not be"
        )
        return Part(effect=op, text=text, strange=strange.size, lost=lost.size, written=others.size)
    if not np.array_equal(digests, theirs):
        count = int(np.sum(digests != theirs))
        return Part(effect=op, text=f"{count} of {elements.size} writes of '{target.name}' have other values")
    return None


def _distinct(elements: Array, digests: Array) -> tuple[Array, Array]:
    pairs = np.unique(np.stack([elements, digests]), axis=1)
    return pairs[0], pairs[1]


def _infinite(program: Program, kernel: kir.Kernel) -> bool:
    """Whether infinities may occur: literals of both sides, or extremes of floats, whose identity they are."""
    literals = [
        op for op in (*walk(kernel.body), *operations(program)) if isinstance(op, kir.Constant | Constant)
    ]
    return any(isinstance(op.value, float) and abs(op.value) in (float("inf"), 448.0) for op in literals)


def _blocks(program: Program) -> dict[int, int]:
    """The step of the loop that a KIR operation became, if it is one number."""
    made = {r.id: op for op in operations(program) for r in op.results}
    found: dict[int, int] = {}
    for op in operations(program):
        step = made.get(op.step.id) if isinstance(op, Loop) else None
        if op.origin is not None and isinstance(step, Constant):
            found.setdefault(op.origin, int(step.value))
    return found
