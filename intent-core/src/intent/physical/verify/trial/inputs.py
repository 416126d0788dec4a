"""Inputs of a trial: small extents that the launch conditions allow, and data for every parameter.

Extents are chosen so that blocks repeat and the last one has one member, which the smallest mistake of a bound leaves
out, as far as the work stays within a budget.
Index data must stay inside what it indexes, and is tried in several patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Final

import numpy as np

from intent import kir
from intent.kir.walk import operands_of, regions_of, walk
from intent.physical.fragment import Fragment, View
from intent.physical.ops import Constant, LaunchValue, Load, Loop, Op, Pointwise, Store
from intent.physical.program import Guard, Program
from intent.physical.verify.rule import operations
from intent.physical.verify.trial.reach import Reach
from intent.physical.verify.trial.ring import Array, fingerprint, scramble, storage
from intent.physical.walk import operands_of as inputs_of
from intent.physical.walk import walk as walk_physical
from intent.types import DType, Extent
from intent.types.dtypes import BOOL
from intent.types.extent import Atom, Dyn, Scalar, Symbol

__all__ = ["EXTREMES", "PATTERNS", "Inputs", "assignments", "far", "index_views", "rounds"]

PATTERNS: Final = ("ordinals", "steps", "spread", "halves", "zeros", "ones")
"""What index data holds: its own position, the number of its parameter, small numbers at random, half its position,
nothing but zero, nothing but one."""
EXTREMES: Final = ("tops", "bottoms")
"""More patterns: the last or the first place that there is, in every other element, and any place between. What
floats and booleans mask is let through there, whichever way they are compared."""
_POSITIVE: Final = np.int64((1 << 62) - 1)

_FEW: Final = (3, 2, 4, 5, 1, 6, 8)
_SMALL: Final = (4, 3, 5, 2, 1, 6, 8)
_TRIES: Final = 1000
_EACH: Final = 4
_AGAIN: Final = 2
Binding = dict[Atom, int]


@dataclass(frozen=True)
class Inputs:
    """One set of inputs: values of extents, and the pattern of index data.

    ``alike``: some elements are equal, and zero among them, so that comparisons meet equal numbers.
    ``ends``: what index data of the pattern "last" holds before its end, and there.
    ``reach``: how far index data of a pattern of ``EXTREMES`` may go; what has no entry holds its own position.
    """

    extents: Mapping[Atom, int]
    pattern: str
    indices: tuple[str, ...]
    alike: bool = True
    ends: tuple[int, int] = (0, 0)
    reach: Reach = field(default_factory=dict)

    def size(self, shape: tuple[Extent, ...]) -> tuple[int, ...]:
        """A shape in numbers."""
        return tuple(e.evaluate(self.extents) for e in shape)

    def contents(self, name: str, dtype: DType, shape: tuple[int, ...]) -> Array:
        """Initial elements of a view, flat."""
        count = int(np.prod(shape, dtype=np.int64))
        position = np.arange(count, dtype=np.int64)
        noise = scramble(position, fingerprint(f"view {name} {self.pattern}"))
        extreme = (position % 2 == 0) & (self.pattern in EXTREMES)
        if dtype is BOOL:
            return np.asarray(((noise & 1) != 0) | extreme)
        mixed = np.where((noise & 0x40) == 0, (noise & 3) - 1, noise) if self.alike else noise
        if dtype.is_float:
            size = noise & _POSITIVE
            return np.asarray(np.where(extreme, size if self.pattern == "tops" else -size, mixed))
        if name not in self.indices:
            return mixed.astype(storage(dtype))
        last = position % shape[-1] if shape else position
        chosen = {
            "ordinals": last,
            "steps": last * 0 + self.indices.index(name),
            "spread": (noise & 0xFFFF) % 3,
            "halves": last // 2,
            "zeros": last * 0,
            "ones": last * 0 + 1,
            "last": np.where(last == (shape[-1] if shape else 1) - 1, self.ends[1], self.ends[0]),
        }
        if self.pattern not in EXTREMES:
            return chosen[self.pattern].astype(storage(dtype))
        if name not in self.reach:
            return last.astype(storage(dtype))
        most = min((e.evaluate(self.extents) for e in self.reach[name] if e.launch_visible), default=1 << 62)
        most = max(1, min(most, dtype.maximum + 1))
        end = most - 1 if self.pattern == "tops" else 0
        return np.where(extreme, end, (noise & _POSITIVE) % most).astype(storage(dtype))

    def argument(self, name: str, dtype: DType) -> Array:
        """The value of a scalar parameter."""
        if dtype is BOOL:
            return np.asarray(True)
        if dtype.is_float:
            return scramble(np.asarray(np.int64(1)), fingerprint(f"argument {name}"))
        return np.asarray(self.extents.get(Scalar(name), 2), storage(dtype))


def index_views(kernel: kir.Kernel) -> tuple[str, ...]:
    """The views (or their alias groups), in order, whose elements reach a coordinate, a bound, an extent or a bin."""
    made: dict[int, kir.Op] = {r.id: op for op in walk(kernel.body) for r in op.results}
    values: dict[int, kir.Value] = {v.id: v for op in walk(kernel.body) for v in op.results}
    owner = {a.id: op for op in walk(kernel.body) for region in regions_of(op) for a in region.args}
    wanted: list[kir.Value] = []
    for op in walk(kernel.body):
        match op:
            case kir.Load() | kir.Store() | kir.ScatterReduce() | kir.Atomic() | kir.Gather():
                wanted += op.relation.coordinates
            case kir.For():
                wanted += (op.begin, op.end, op.step)
            case kir.Iota():
                wanted += (op.begin, op.step)
            case kir.Histogram():
                wanted.append(op.values)
            case kir.SparseContract():
                wanted += op.metadata
            case kir.AssumeInBounds():
                wanted.append(op.index)
            case kir.ExtentValue():
                wanted += _measured((op.extent,), values)
        for result in op.results:
            wanted += _measured(result.shape, values)
    seen: set[int] = set()
    found: set[str] = set()
    while wanted:
        value = wanted.pop()
        source = made.get(value.id) or owner.get(value.id)
        if value.id in seen or source is None:
            continue
        seen.add(value.id)
        if isinstance(source, kir.Load) and isinstance(source.source, kir.View):
            found.add(source.source.alias or source.source.name)
        wanted += operands_of(source)
        for region in regions_of(source):
            wanted += region.yields
    return tuple(dict.fromkeys(p for view in kernel.views if (p := view.alias or view.name) in found))


def _measured(shape: tuple[Extent, ...], values: Mapping[int, kir.Value]) -> list[kir.Value]:
    """The values of the kernel that extents rest on."""
    return [values[a.value] for e in shape for a in e.atoms() if isinstance(a, Dyn) and a.value in values]


def far(program: Program, kernel: kir.Kernel, views: tuple[str, ...]) -> Iterator[Inputs]:
    """Index data that gives all members to one point, where data says how far a loop of the program goes.

    Other patterns give each point about one: its loop never comes to a second block, nor to another instance's part.
    """
    counted = _counted(program)
    several = frozenset(atom for e, _ in counted for atom in _atoms(e))
    for turned in (True, False) if counted else ():
        for extents in islice(assignments(kernel, program, several, turned=turned), 1):
            for reach in sorted({e.evaluate(extents) for e, _ in counted}, reverse=True):
                yield from (Inputs(extents, "last", views, ends=(begin, reach)) for begin in (0, 1))


def _counted(program: Program) -> list[tuple[Extent, int]]:
    """Axes of views that loops walk as far as data says, with how many members there should be before the last."""
    made = {r.id: op for op in operations(program) for r in op.results}
    found: list[tuple[Extent, int]] = []
    for loop in operations(program):
        step = made.get(loop.step.id) if isinstance(loop, Loop) else None
        if not (isinstance(loop, Loop) and isinstance(step, Constant) and _rests(loop.end, Load, made)):
            continue
        for op in walk_physical(loop.body):
            view = op.source if isinstance(op, Load) else op.target if isinstance(op, Store) else None
            if isinstance(view, View) and isinstance(op, Load | Store):
                found += (
                    (e, 2 * int(step.value) + 1)  # two blocks for parts, and one for another point
                    for e, at in zip(view.shape, op.coordinates, strict=True)
                    if _rests(at, loop.body.args[0], made)
                )
    return [(extent, block) for extent, block in dict.fromkeys(found) if _visible(extent)]


def _rests(value: Fragment, on: Fragment | type[Op], made: Mapping[int, Op]) -> bool:
    """Whether an index computation rests on a value, or on an operation of a class; not by way of memory."""
    left, seen = [value], set[int]()
    while left:
        current = left.pop()
        op = made.get(current.id)
        if current == on or (isinstance(on, type) and isinstance(op, on)):
            return True
        if op is not None and op.id not in seen and not isinstance(op, Load):
            seen.add(op.id)
            left += inputs_of(op)
    return False


class _Search:
    """Backtracking over the values of extents, in order of preference."""

    def __init__(
        self, kernel: kir.Kernel, program: Program, several: frozenset[Atom], *, turned: bool
    ) -> None:
        self.aims = [(c.lhs - c.rhs, 0) for c in kernel.conditions if c.kind == "equal"]
        self.aims += [(g.extent, n) for g in program.guards for n in _of_guard(g, several)]
        blocks = (*_blocked(program), *_counted(program))
        self.aims += [(e, block + 1) for e, block in blocks if not several.isdisjoint(_atoms(e))]
        self.prefer = _preferences(kernel, program, several, turned=turned)
        self.tries = _TRIES
        extents = tuple({e for view in kernel.views for e in view.shape})
        self.tests: list[tuple[frozenset[Atom], Callable[[Binding], bool]]] = [
            *((_atoms(c.lhs, c.rhs), partial(_met, c)) for c in kernel.conditions if _visible(c.lhs, c.rhs)),
            *((_atoms(g.extent), partial(_kept, g)) for g in program.guards),
            *((_atoms(e), partial(_positive, e)) for e in extents),
        ]

    def run(self) -> Iterator[Binding]:
        yield from self._choose(list(self.prefer), {})

    def _choose(self, left: list[Atom], bound: Binding) -> Iterator[Binding]:
        if not left:
            yield dict(bound)
            return
        atom, *rest = left
        for value in dict.fromkeys((*self._solutions(atom, bound), *self.prefer[atom])):
            self.tries -= 1
            if self.tries < 0:
                return
            bound[atom] = value
            if self._allowed(bound, atom):
                yield from self._choose(rest, bound)
            del bound[atom]

    def _solutions(self, atom: Atom, bound: Binding) -> Iterator[int]:
        """Values of the atom that make an extent what is asked for."""
        for extent, wanted in self.aims:
            atoms = _atoms(extent)
            if atom not in atoms or not atoms <= {*bound, atom} or not _visible(extent):
                continue
            yield from _roots(partial(_off, extent, wanted, bound, atom))

    def _allowed(self, bound: Binding, newest: Atom) -> bool:
        """Whether everything that can be checked now holds."""
        return all(test(bound) for atoms, test in self.tests if newest in atoms and atoms <= bound.keys())


def _off(extent: Extent, wanted: int, bound: Binding, atom: Atom, value: int) -> int:
    """By how much the extent misses what is wanted when the atom has a value."""
    return extent.evaluate(bound | {atom: value}) - wanted


def _roots(function: Callable[[int], int]) -> Iterator[int]:
    """A positive root, if the function is linear, or grows by the same in equal steps."""
    first, step = function(1), 1
    while step <= 8 and (slope := function(1 + step) - first) == 0:
        step += 1
    found = 1 - first * step // slope if slope else 0
    if found >= 1 and function(found) == 0:
        yield found


def _atoms(*extents: Extent) -> frozenset[Atom]:
    """The atoms that a launch binds."""
    return frozenset(a for e in extents for a in e.atoms() if isinstance(a, Symbol | Scalar))


def _visible(*extents: Extent) -> bool:
    return all(e.launch_visible for e in extents)


def _met(condition: kir.Condition, bound: Binding) -> bool:
    return condition.holds(condition.lhs.evaluate(bound), condition.rhs.evaluate(bound))


def _kept(guard: Guard, bound: Binding) -> bool:
    return guard.holds(guard.extent.evaluate(bound))


def _positive(extent: Extent, bound: Binding) -> bool:
    return extent.evaluate(bound) >= 1


def _preferences(
    kernel: kir.Kernel, program: Program, several: frozenset[Atom], *, turned: bool
) -> dict[Atom, tuple[int, ...]]:
    """Values to try per atom: more than one block for those in ``several``, then few."""
    wanted: dict[Atom, list[int]] = {}
    for extent in _extents(kernel, program):
        for atom in extent.atoms():
            if isinstance(atom, Symbol | Scalar):
                wanted.setdefault(atom, [])
    literals = {k for c in kernel.conditions for e in (c.lhs, c.rhs) for _, k in e.terms if 1 < k <= 256}
    many = sorted({k * n for k in literals for n in (1, 2, 3)})
    found = {}
    scalars = [p.name for p in kernel.scalars]
    for number, (atom, values) in enumerate(wanted.items()):
        turn = (number + turned) % 2
        order = _FEW if several else _SMALL
        small = order[turn:] + order[:turn]
        # Of a begin, an end and a step the end comes later, and the step is short.
        place = scalars.index(atom.name) if isinstance(atom, Scalar) and atom.name in scalars else 3
        first = ((1,), (3,), (2,), ())[min(place, 3)]
        found[atom] = tuple(dict.fromkeys((*values, *first, *small, *many)))
    return found


def _of_guard(guard: Guard, several: frozenset[Atom]) -> list[int]:
    blocks = any(atom in several for atom in guard.extent.atoms())
    match guard.kind:
        case "equal":
            return [guard.bound]
        case "divisible":
            return [2 * guard.bound, guard.bound] if blocks else [guard.bound]
        case "at_most":
            return [max(1, guard.bound * 3 // 4)] if blocks else []


def _extents(kernel: kir.Kernel, program: Program) -> Iterator[Extent]:
    yield from (e for view in kernel.views for e in view.shape)
    yield from (e for condition in kernel.conditions for e in (condition.lhs, condition.rhs))
    yield from (guard.extent for guard in program.guards)
    yield from (axis.extent for segment in program.segments for axis in segment.axes)
    yield from (op.extent for op in walk(kernel.body) if isinstance(op, kir.ExtentValue))
    yield from (e for op in walk(kernel.body) for value in op.results for e in value.shape)
    yield from (op.extent for op in operations(program) if isinstance(op, LaunchValue))


def _blocked(program: Program) -> list[tuple[Extent, int]]:
    """Extents that are walked in blocks, with the block: axes of program space and counted loops.

    Of what instances share parts of, with two blocks.
    """
    found: list[tuple[Extent, int]] = []
    for segment in program.segments:
        found += ((axis.extent, axis.block) for axis in segment.axes)
    made = {r.id: op for op in operations(program) for r in op.results}
    for op in operations(program):
        step = made.get(op.step.id) if isinstance(op, Loop) else None
        if isinstance(op, Loop) and isinstance(step, Constant):
            several = 2 if _begins_with_a_part(op, made) else 1
            found += ((extent, several * int(step.value)) for extent in _measured_by(op.end, made))
    return [(extent, block) for extent, block in dict.fromkeys(found) if block > 1]


def _begins_with_a_part(loop: Loop, made: Mapping[int, Op]) -> bool:
    """Whether a loop walks an instance's part of an axis: two whole ones and a third are what can be mixed up."""
    op = made.get(loop.begin.id)
    return isinstance(op, Pointwise) and op.fn == "mul" and any(_measured_by(loop.begin, made))


def _measured_by(value: Fragment, made: Mapping[int, Op]) -> Iterator[Extent]:
    """The extents that an index computation rests on."""
    op = made.get(value.id)
    if isinstance(op, LaunchValue):
        yield op.extent
    elif isinstance(op, Pointwise):
        for operand in op.operands:
            yield from _measured_by(operand, made)


def rounds(program: Program) -> Iterator[frozenset[Atom]]:
    """Which atoms get more than one block in each round of a trial: all, then each alone, then none."""
    atoms = tuple(dict.fromkeys(atom for e, _ in _blocked(program) for atom in sorted(_atoms(e), key=str)))
    atoms += tuple(
        a for g in program.guards if g.kind == "at_most" for a in g.extent.atoms()
        if isinstance(a, Symbol | Scalar) and a not in atoms
    )  # fmt: skip
    yield frozenset(atoms)
    if len(atoms) > 1:
        yield from (frozenset({atom}) for atom in atoms)
    yield from (frozenset() for _ in range(_AGAIN))


def assignments(
    kernel: kir.Kernel, program: Program, several: frozenset[Atom], *, turned: bool = False
) -> Iterator[Binding]:
    """Legal values of all extents, several blocks for the atoms in ``several``, few of everything else.

    ``turned``: extents that are otherwise three are two, and the other way round.
    """
    yield from islice(_Search(kernel, program, several, turned=turned).run(), _EACH)
