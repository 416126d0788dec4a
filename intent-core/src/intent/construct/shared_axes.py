"""Axes that several units have: what instances of their group can be spread over."""

from __future__ import annotations

from intent import kir
from intent.construct.demand import AxisKey, Signature
from intent.construct.units import Candidate, Unit, target_resource

Common = list[tuple[Candidate, list[AxisKey]]]


def common_axes(units: list[Unit]) -> Common:
    """The axes that all units have, in the first unit's order, each with the keys of all units.

    In order of preference: the same loop; axes that meet in memory, so that what one unit writes along one the
    other finds along the other; axes of one class and extent. Where units meet so that two axes of one of them would be
    one (what is written turned round is read straight), they have none in common.
    """
    found = []
    taken: list[set[AxisKey]] = [set() for _ in units]
    for candidate in units[0].candidates:
        matches = [candidate]
        for n, unit in enumerate(units[1:], 1):
            free = [c for c in unit.candidates if not taken[n] & set(c.keys)]
            match = (
                next((c for c in unit.candidates if c.keys == candidate.keys), None)
                or next((c for c in free if any(c.keys == m.keys for m in matches)), None)
                or next((c for c in free if _met(units[:n], matches, unit, c)), None)
                or next(
                    (c for c in free if c.label == candidate.label and c.extent is candidate.extent), None
                )
            )
            if match is None:
                break
            matches.append(match)
        else:
            keys = [k for m in matches for k in m.keys]
            if any(_axes_among(unit, keys) > 1 for unit in units):
                continue
            for n, match in enumerate(matches):
                taken[n] |= set(match.keys)
            found.append((candidate, keys))
    return found


def _axes_among(unit: Unit, keys: list[AxisKey]) -> int:
    """How many axes of a unit have one of the keys."""
    return sum(not set(c.keys).isdisjoint(keys) for c in unit.candidates)


def _met(units: list[Unit], matches: list[Candidate], unit: Unit, candidate: Candidate) -> bool:
    return any(
        match.extent is candidate.extent and _meet(other, set(match.keys), unit, set(candidate.keys))
        for other, match in zip(units, matches, strict=True)
    )


def _meet(a: Unit, a_keys: set[AxisKey], b: Unit, b_keys: set[AxisKey]) -> bool:
    """Whether an axis of memory that one of the units writes follows both axes alike."""
    for one, other in ((a, b), (b, a)):
        mine, theirs = (a_keys, b_keys) if one is a else (b_keys, a_keys)
        for op, written in one.writes:
            for resource, signature in _accesses(other):
                if _same(resource, target_resource(op)) and _along(written, mine) & _along(signature, theirs):
                    return True
    return False


def _same(a: kir.Resource, b: kir.Resource) -> bool:
    """Whether equal coordinates are one element."""
    return a == b or (
        isinstance(a, kir.View) and isinstance(b, kir.View) and a.coincident and a.alias == b.alias
    )


def _along(signature: tuple[Signature, ...], keys: set[AxisKey]) -> set[tuple[int, object]]:
    """The axes of memory that follow one of the keys, with begin and step."""
    return {(axis, s[1]) for axis, s in enumerate(signature) if s is not None and s[0] in keys}


def _accesses(unit: Unit) -> list[tuple[kir.Resource, tuple[Signature, ...]]]:
    return [
        *((target_resource(op), signature) for op, signature in unit.writes),
        *((read.op.source, read.signature) for read in unit.reads),
    ]
