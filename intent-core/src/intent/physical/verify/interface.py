"""Rules on the interface: everything that a program names, it declares."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from intent import kir
from intent.physical.fragment import View
from intent.physical.ops import Argument, LaunchValue
from intent.physical.program import Program, ScalarParam
from intent.physical.verify.comparison import Comparison
from intent.physical.verify.rule import EXTENT, SELF_CONTAINED, Problem, Rule, operations
from intent.physical.walk import resources_of
from intent.types import Extent
from intent.types.extent import Scalar, Symbol

__all__ = ["RULES"]


def interface(program: Program) -> Iterator[Problem]:
    """Parameters have distinct names; every view, argument, symbol and scalar used is declared."""
    names = [parameter.name for parameter in program.params]
    for name in sorted({n for n in names if names.count(n) > 1}):
        yield Problem(text=f"two parameters are called '{name}'")
    views = set(program.views)
    scalars = {scalar.name: scalar.dtype for scalar in program.scalars}
    for op in operations(program):
        for resource in resources_of(op):
            if isinstance(resource, View) and resource not in views:
                yield Problem(text=f"view '{resource.name}' is not a parameter of the program", op=op)
        if isinstance(op, Argument):
            declared = scalars.get(op.parameter)
            if declared is None:
                yield Problem(text=f"'{op.parameter}' is not a scalar parameter", op=op)
            elif declared != op.result.dtype:
                yield Problem(text=f"scalar '{op.parameter}' is {declared}, not {op.result.dtype}", op=op)
    yield from _bound(program)


def _bound(program: Program) -> Iterator[Problem]:
    symbols = {atom.name for view in program.views for e in view.shape for atom in e.atoms()
               if isinstance(atom, Symbol)}  # fmt: skip
    symbols |= {s for view in program.views for s in view.strides or () if isinstance(s, str)}
    integers = {scalar.name for scalar in program.scalars if scalar.dtype.is_integer}
    reported: set[str] = set()
    for extent, _ in _extents(program):
        for atom in extent.atoms():
            missing = (isinstance(atom, Symbol) and atom.name not in symbols) or (
                isinstance(atom, Scalar) and atom.name not in integers
            )
            if missing and str(atom) not in reported:
                reported.add(str(atom))
                yield Problem(text=f"extent '{extent}' uses {atom}, which no parameter binds")


def launch_visible(program: Program) -> Iterator[Problem]:
    """Extents of interface, program space, guards, conditions and launch values are launch-visible."""
    for extent, what in _extents(program):
        if not extent.launch_visible:
            yield Problem(text=f"{what} '{extent}' depends on a value of the device")


def _extents(program: Program) -> Iterator[tuple[Extent, str]]:
    for view in program.views:
        yield from ((extent, f"the extent of view '{view.name}'") for extent in view.shape)
    for segment in program.segments:
        yield from ((axis.extent, "the extent of a segment axis") for axis in segment.axes)
        yield segment.length, "the length of a segment"
        yield segment.offset, "the offset of a segment"
    yield from ((guard.extent, "the extent of a guard") for guard in program.guards)
    for condition in program.conditions:
        yield condition.lhs, "the left side of a condition"
        yield condition.rhs, "the right side of a condition"
    for buffer in program.workspace:
        yield from ((extent, f"the extent of workspace buffer '{buffer.name}'") for extent in buffer.shape)
    for op in operations(program):
        if isinstance(op, LaunchValue):
            yield op.extent, "launch value"


def interface_faithful(comparison: Comparison) -> Iterator[Problem]:
    """The program declares the kernel's parameters, in order, and every launch condition of it."""
    program, kernel = comparison.program, comparison.kernel
    wanted, seen = [_declared(p) for p in kernel.params], [_declared(p) for p in program.params]
    if len(seen) != len(wanted):
        yield Problem(text=f"the program has {len(seen)} parameters, the kernel {len(wanted)}")
    for ours, theirs in zip(seen, wanted, strict=False):
        if ours != theirs:
            yield Problem(text=f"a parameter is declared as {_text(ours)}, in the kernel as {_text(theirs)}")
    for condition in kernel.conditions:
        if condition not in program.conditions:
            yield Problem(text=f"the kernel's launch condition {condition.text} is missing")


def _declared(parameter: View | ScalarParam | kir.View | kir.ScalarParam) -> tuple[object, ...]:
    """What a caller has to know of a parameter."""
    if isinstance(parameter, View | kir.View):
        p = parameter
        return (p.name, p.dtype, p.shape, p.mode, p.strides, p.alias, p.noalias)
    if isinstance(parameter, kir.ScalarParam):
        return (parameter.name, parameter.value.dtype)
    return (parameter.name, parameter.dtype)


def _text(declared: tuple[object, ...]) -> str:
    return ", ".join(str(part) for part in declared if part is not None)


RULES: Final = (
    Rule(name="interface-faithful", sentence=SELF_CONTAINED, compare=interface_faithful),
    Rule(name="interface", sentence=SELF_CONTAINED, check=interface),
    Rule(name="launch-visible", sentence=EXTENT, check=launch_visible),
)
