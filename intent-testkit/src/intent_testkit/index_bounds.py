"""Bounds of index values against the values: no value that an instance computes lies outside of its bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intent.physical import Fragment, Pointwise, Program
from intent.physical.walk import walk
from intent.provider.emission import Bounds, Interval, Width
from intent.types.extent import Binding, const


class WrongBound(AssertionError):
    """A value lies outside of what the text that is emitted for it was made for."""


def bounds_of(program: Program) -> Bounds:
    """The bounds that a provider finds for the program."""
    bounds = Bounds()
    for segment in program.segments:
        bounds.bind(segment.body.args[0], Interval(const(0), segment.length - 1))
        bounds.region(segment.body)
    return bounds


def within_bounds(program: Program, env: Binding) -> Callable[[Fragment, Any, Any], None]:
    """What watches a run of the program under ``env`` (see :func:`intent.reference.physical.execute`).

    Raises WrongBound, at once for a bound that no launch asks about.
    """
    bounds = bounds_of(program)
    signs = _signs_hold(bounds, env)
    unsigned = _unsigned(program, bounds) if signs else frozenset()
    _all_asked(program, bounds)
    known: dict[int, tuple[int, int] | None] = {}

    def ends(fragment: Fragment) -> tuple[int, int] | None:
        interval = bounds.interval(fragment)
        if interval is None or (bounds.leans(fragment) and not signs):
            return None
        try:
            low, high = interval.low.evaluate(env), interval.high.evaluate(env)
        except (
            ZeroDivisionError
        ):  # of a quotient by an extent that is zero in this launch; launches take wide indices
            return None
        if low > high:  # a remainder by nothing, on lanes that are all silent; passes give it another divisor
            return None
        return (max(low, 0) if fragment.id in unsigned else low), high

    def watch(fragment: Fragment, array: Any, active: Any) -> None:
        if fragment.dtype.kind != "index" or (active is not None and not active.any()):
            return
        if fragment.id not in known:
            known[fragment.id] = ends(fragment)
        within = known[fragment.id]
        values = array[active] if active is not None and active.size == array.shape[0] else array
        if within is not None and values.size and (values.min() < within[0] or values.max() > within[1]):
            raise WrongBound(f"{fragment} has {values}, not from {within}\n{program}")

    return watch


def _signs_hold(bounds: Bounds, env: Binding) -> bool:
    try:
        return all(extent.evaluate(env) >= 0 for extent in bounds.launch_signs())
    except ZeroDivisionError:  # of a segment that has no programs in this launch
        return False


def _all_asked(program: Program, bounds: Bounds) -> None:
    """Every bound of a value that is emitted in INDEX is among those that a launch compares with 32 bits."""
    facts = set(bounds.launch_facts())
    for segment in program.segments:
        for fragment in (r for op in walk(segment.body) for r in op.results if r.dtype.kind == "index"):
            interval = bounds.interval(fragment)
            if bounds.width(fragment) is Width.INDEX and interval not in facts:
                raise WrongBound(f"no launch asks whether {fragment}, {interval}, fits\n{program}")


def _unsigned(program: Program, bounds: Bounds) -> frozenset[int]:
    """Operands of divisions that are written without flooring."""
    return frozenset(
        operand.id
        for segment in program.segments
        for op in walk(segment.body)
        if isinstance(op, Pointwise) and bounds.floors_by_fact(op)
        for operand in op.operands
    )
