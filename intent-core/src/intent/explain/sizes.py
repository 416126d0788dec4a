"""Extents to draw a picture for when no launch has given any: a handful of programs, passes and a ragged end."""

from __future__ import annotations

from collections.abc import Iterator

from intent.physical import Guard, Lane, LaunchValue, Loop, Program
from intent.physical.ops import Constant
from intent.physical.walk import walk
from intent.types import Extent
from intent.types.extent import Atom, Call, Scalar, Symbol

__all__ = ["chosen_extents"]

_SMALLEST = 6
_OTHER = 12
"""For extents that no program space and no loop shows."""


def chosen_extents(program: Program) -> dict[Atom, int]:
    """A value for every symbol and integer scalar that an extent of the program mentions."""
    wished: dict[Atom, int] = {}
    for extent, value in _wishes(program):
        atom = _only(extent)
        if atom is not None:
            wished.setdefault(atom, value)
    for segment in program.segments:
        for extent in (axis.extent for axis in segment.axes):
            for atom in _atoms(extent):
                wished.setdefault(atom, _SMALLEST)
    for extent in _mentioned(program):
        for atom in _atoms(extent):
            wished.setdefault(atom, _OTHER)
    wished = {atom: value if value < 100 else value // 10 * 10 for atom, value in wished.items()}
    _equal(program, wished)
    for guard in program.guards:
        _guarded(guard, wished)
    return wished


def _wishes(program: Program) -> Iterator[tuple[Extent, int]]:
    """Most wanted first: five programs per axis, then four passes per loop, then three quarters of all lanes."""
    for segment in program.segments:
        for axis in segment.axes:
            yield axis.extent, axis.block * 5 - axis.block // 3 if axis.block > 1 else _SMALLEST
    for segment in program.segments:
        ops = list(walk(segment.body))
        defined = {r.id: op for op in ops for r in op.results}
        for op in ops:
            if isinstance(op, Loop):
                end, step = defined.get(op.end.id), defined.get(op.step.id)
                if isinstance(end, LaunchValue) and isinstance(step, Constant):
                    size = int(step.value)
                    yield end.extent, size * 4 - size // 3 if size > 1 else _SMALLEST
    sizes = {
        d.name: d.size
        for s in program.segments
        for op in walk(s.body)
        if isinstance(op, Lane)
        for d in (op.dim,)
    }
    for extent in _mentioned(program):
        atom = _only(extent)
        label = "".join(c if c.isalnum() else "_" for c in f"axis_{atom}")
        if label in sizes and sizes[label] > 1:
            yield extent, max(1, sizes[label] * 3 // 4)


def _mentioned(program: Program) -> Iterator[Extent]:
    for view in program.views:
        yield from view.shape
    for condition in program.conditions:
        yield from (condition.lhs, condition.rhs)
    for segment in program.segments:
        yield segment.length
        for op in walk(segment.body):
            if isinstance(op, LaunchValue):
                yield op.extent


def _atoms(extent: Extent) -> Iterator[Atom]:
    return (a for a in extent.atoms() if isinstance(a, Symbol | Scalar))


def _only(extent: Extent) -> Atom | None:
    """The atom of an extent that has one, such as N, or max(G, 0)."""
    atoms = list(dict.fromkeys(_atoms(extent)))
    simple = all(
        isinstance(a, Symbol | Scalar) or (isinstance(a, Call) and a.op in ("max", "min"))
        for a in extent.atoms()
    )
    return atoms[0] if len(atoms) == 1 and simple and extent.const is None else None


def _equal(program: Program, wished: dict[Atom, int]) -> None:
    for condition in program.conditions:
        if condition.kind != "at_least":
            first, second = _only(condition.lhs), _only(condition.rhs)
            if first is not None and second is not None:
                wished[second] = wished[first]
            elif first is not None and condition.rhs.const is not None:
                wished[first] = condition.rhs.const
            elif second is not None and condition.lhs.const is not None:
                wished[second] = condition.lhs.const


def _guarded(guard: Guard, wished: dict[Atom, int]) -> None:
    atom = _only(guard.extent)
    if atom is None:
        return
    match guard.kind:
        case "at_most":
            wished[atom] = min(wished[atom], guard.bound)
        case "divisible":
            wished[atom] = max(guard.bound, wished[atom] // guard.bound * guard.bound)
        case "equal":
            wished[atom] = guard.bound
