"""Launch conditions: everything that must hold of a call, checked before anything is written.

In order: shapes, symbols and strides (:mod:`intent.runtime.extents`); writable and whole memory;
devices; the conditions of the kernel's text; the size of the program space. Overlap comes last, because a
program may allow to run in place (:mod:`intent.runtime.overlap`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from intent.diagnostics import DeviceMismatch, GridLimit, LaunchCondition, ReadOnlyArgument
from intent.kir.kernel import Kernel
from intent.physical import Guard, Program
from intent.runtime.arguments import Bound
from intent.runtime.extents import value_of
from intent.runtime.overlap import check_writable_layout
from intent.types import Extent
from intent.types.extent import Atom, Scalar

__all__ = ["check_conditions", "check_devices", "check_memory", "program_length", "violated_guards"]

_INDEX_MAXIMUM: Final = (1 << 63) - 1


def check_memory(kernel: Kernel, bound: Bound) -> None:
    """Views that are written are writable and have one place per element.

    Raises:
        ReadOnlyArgument, ZeroStrideWritable: The parameter and what was found.
    """
    for view in kernel.views:
        array = bound.arrays[view.name]
        if view.mode == "in" or array.empty:
            continue
        if array.readonly:
            raise ReadOnlyArgument(view.name, mode=_MODES[view.mode], span=view.span)
        check_writable_layout(view, array)


_MODES: Final = {"out": "I.Out", "inout": "I.InOut"}


def check_devices(bound: Bound, *, on_gpu: bool) -> str:
    """The one device of all arrays: ``cpu`` or ``cuda:N``.

    Raises:
        DeviceMismatch: Arrays are on several devices, or not where the artifact runs.
    """
    devices = {name: array.device for name, array in bound.arrays.items()}
    found = set(devices.values())
    wrong = {d for d in found if d.startswith("cuda") != on_gpu}
    if wrong:
        raise DeviceMismatch(devices, needed="a GPU" if on_gpu else "the CPU")
    if len(found) > 1:
        raise DeviceMismatch(devices)
    return found.pop() if found else ("cuda:0" if on_gpu else "cpu")


def check_conditions(kernel: Kernel, env: Mapping[Atom, int], scalars: Mapping[str, object]) -> None:
    """The conditions between extents that the kernel's text needs (language decision 5).

    What stands in a branch is asked only of calls that take it; ``scalars`` are the call's.

    Raises:
        LaunchCondition: Names the condition, the values of both sides and what needs it.
    """
    flags: dict[Atom, int] = {Scalar(n): int(v) for n, v in scalars.items() if isinstance(v, bool)}
    known = {**flags, **env}
    for condition in kernel.conditions:
        if not condition.asked(partial(value_of, env=known, needed_by=condition.reason)):
            continue
        lhs, rhs = (
            value_of(side, env, needed_by=condition.reason) for side in (condition.lhs, condition.rhs)
        )
        if not condition.holds(lhs, rhs):
            values = {str(atom): env[atom] for side in (condition.lhs, condition.rhs)
                      for atom in side.atoms() if atom in env}  # fmt: skip
            values |= {str(condition.lhs): lhs, str(condition.rhs): rhs}
            raise LaunchCondition(
                condition.text, values=values, needed_by=condition.reason, span=condition.span
            )


def violated_guards(program: Program, env: Mapping[Atom, int]) -> list[tuple[Guard, int]]:
    """The guards that this call does not satisfy, with the value of their extent."""
    values = [(guard, value_of(guard.extent, env, needed_by="a plan")) for guard in program.guards]
    return [(guard, value) for guard, value in values if not guard.holds(value)]


def program_length(program: Program, env: Mapping[Atom, int], *, limit: int, provider: str) -> int:
    """The number of programs to launch (spec: kir-to-gpu-program 4.1 to 4.3).

    Raises:
        LaunchCondition: An extent is negative or beyond the range of ``index``.
        GridLimit: There are more programs than one launch of the provider allows.
    """
    for segment in program.segments:
        for axis in segment.axes:
            _check_extent(axis.label, axis.extent, value_of(axis.extent, env, needed_by=axis.label))
    length = program.length.evaluate(env)
    if length > limit:
        raise GridLimit(program.name, length=length, limit=limit, provider=provider, span=program.span)
    return length


def _check_extent(label: str, extent: Extent, value: int) -> None:
    if not 0 <= value <= _INDEX_MAXIMUM:
        raise LaunchCondition(
            f"0 <= {extent} < 2**63", values={str(extent): value}, needed_by=f"the axis '{label}'"
        )
