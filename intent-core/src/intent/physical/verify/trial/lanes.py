"""How many lanes of a dim a trial has to compute: those that are members, and two that are not.

At small extents most lanes of a block are padding. Padding lanes are all alike, so two of them show what any of them
would do wrong. A dim is cut short only if nothing can tell: every access along it is masked, whatever is reduced along
it comes from such a read or such a choice, all these tests are against one known bound, which is no less than the
axes that are accessed (a test of the author's may be against less), and its lane numbers are not data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from intent.physical.fragment import Buffer, Dim, Fragment, Region
from intent.physical.ops import (
    Atomic,
    Bitcast,
    Broadcast,
    Cast,
    Constant,
    Contract,
    Histogram,
    Lane,
    LaunchValue,
    Load,
    Loop,
    Op,
    Pointwise,
    Reduce,
    Rename,
    Scan,
    Store,
)
from intent.physical.program import Program
from intent.physical.verify.trial.bounds import Bounds
from intent.physical.walk import operands_of, regions_of
from intent.types.extent import Atom

__all__ = ["live_lanes"]

_PADDING: Final = 2
_TESTS: Final = {"lt": 0, "le": 1}
_TURNED: Final = {"gt": 0, "ge": 1}
_COMPARED: Final = frozenset({"lt", "le", "gt", "ge", "ne", "eq"})
Tests = Mapping[Dim, int]
_NO_TESTS: Final[Tests] = {}


class _Lanes:
    """One walk over the code that runs at given extents."""

    def __init__(self, program: Program, extents: Mapping[Atom, int]) -> None:
        self.bounds = Bounds(extents)
        self.along: dict[int, tuple[Dim, int]] = {}
        """Index values that are a lane number, plus something not negative, plus a known number."""
        self.tests: dict[int, Tests] = {}
        """Per predicate: lanes of a dim from this number on fail it."""
        self.masked: dict[int, Tests] = {}
        """Per value: lanes of a dim from this number on are nothing."""
        self.members: dict[Dim, set[int]] = {}
        self.whole: set[Dim] = set()
        self.renamed: list[tuple[Dim, Dim]] = []
        for segment in program.segments:
            self._region(segment.body)

    def _region(self, region: Region) -> None:
        for op in region.ops:
            if isinstance(op, Loop) and self.bounds.never(op):
                continue
            self.bounds.see(op)
            for inner in regions_of(op):
                # What a loop carries is masked if what it yields is; the first value is the identity.
                self.masked |= {a.id: dict.fromkeys(a.dims, 0) for a in inner.args}
                self._region(inner)
                for result, value in zip(op.results, inner.yields, strict=False):
                    found = self.masked.get(value.id, _NO_TESTS)
                    before = self.masked.get(result.id, found)
                    self.masked[result.id] = _both(before, found)
            self._op(op)

    def _op(self, op: Op) -> None:
        match op:
            case Lane():
                self.along[op.result.id] = op.dim, 0
            case Pointwise():
                self._pointwise(op)
            case Load() | Store() | Atomic():
                self._access(op)
            case Cast() | Bitcast() | Broadcast():
                self._data(op.value)
                self.masked[op.result.id] = self.masked.get(op.value.id, _NO_TESTS)
                self.tests[op.result.id] = self.tests.get(op.value.id, _NO_TESTS)
            case Rename():
                self.renamed.append((op.source, op.target))
                self._data(op.value)
            case Reduce():
                self._met(op.dims, *op.operands)
            case Scan():
                self._met((op.dim,), *op.operands)
            case Contract():
                a, b = (self.masked.get(v.id, _NO_TESTS) for v in (op.lhs, op.rhs))
                self._reduced(op.dims, {**a, **b})
            case Histogram():
                self._data(op.values)
                self._reduced(op.dims, self.tests.get(op.valid.id, _NO_TESTS) if op.valid else _NO_TESTS)
            case Constant() | LaunchValue():
                pass
            case _:
                for value in operands_of(op):
                    self._data(value)

    def _data(self, value: Fragment) -> None:
        """A lane number that is used as a number."""
        if value.id in self.along:
            self.whole.add(self.along[value.id][0])

    def _met(self, dims: tuple[Dim, ...], *values: Fragment) -> None:
        for value in values:
            self._data(value)
            self._reduced(dims, self.masked.get(value.id, _NO_TESTS))

    def _reduced(self, dims: tuple[Dim, ...], masked: Tests) -> None:
        for dim in dims:
            if dim in masked:
                self.members.setdefault(dim, set()).add(masked[dim])
            else:
                self.whole.add(dim)

    def _access(self, op: Load | Store | Atomic) -> None:
        resource = op.source if isinstance(op, Load) else op.target
        tests = self.tests.get(op.valid.id, _NO_TESTS) if op.valid is not None else _NO_TESTS
        for value in set(operands_of(op)) - set(op.coordinates):
            self._data(value)
        dims = {d for c in op.coordinates for d in c.dims} if isinstance(op, Load) else set(op.dims)
        for dim in dims:
            if dim in tests:
                self.members.setdefault(dim, set()).add(tests[dim])
            elif not isinstance(resource, Buffer):
                self.whole.add(dim)
        if isinstance(op, Load):
            self.masked[op.result.id] = tests
        for coordinate, extent in zip(op.coordinates, resource.shape, strict=True):
            found = self.along.get(coordinate.id)
            if found is None or found[1] or found[0] not in tests:
                continue
            if tests[found[0]] < extent.evaluate(self.bounds.extents):
                self.whole.add(found[0])

    def _pointwise(self, op: Pointwise) -> None:
        inside = [v for v in op.operands if v.id in self.along]
        outside = [v for v in op.operands if v.id not in self.along]
        if op.fn in _COMPARED and len(op.operands) == 2:
            self._compared(op)
        elif op.fn == "add" and len(inside) == len(outside) == 1 and not outside[0].dims:
            dim, offset = self.along[inside[0].id]
            self.along[op.result.id] = dim, offset + self.bounds.known.get(outside[0].id, 0)
        else:
            for value in inside:
                self._data(value)
        parts = [self.masked.get(v.id, _NO_TESTS) for v in op.operands]
        if op.fn == "select":
            chosen = self.tests.get(op.operands[0].id, _NO_TESTS)
            self.masked[op.result.id] = {**_both(parts[1], parts[2]), **chosen}
        elif op.fn in ("mul", "and") and len(parts) == 2:
            self.masked[op.result.id] = {**parts[0], **parts[1]}
        else:
            joined = parts[0]
            for part in parts[1:]:
                joined = _both(joined, part)
            self.masked[op.result.id] = joined
        if op.fn == "and":
            a, b = (self.tests.get(v.id, _NO_TESTS) for v in op.operands)
            self.tests[op.result.id] = {**a, **b, **{d: min(a[d], b[d]) for d in a.keys() & b.keys()}}

    def _compared(self, op: Pointwise) -> None:
        left, right = op.operands
        for here, there, table in ((left, right, _TESTS), (right, left, _TURNED)):
            known = self.bounds.known.get(there.id)
            if here.id not in self.along or known is None:
                continue
            dim, offset = self.along[here.id]
            if op.fn in table:
                self.tests[op.result.id] = self.masked[op.result.id] = {
                    dim: max(0, known + table[op.fn] - offset)
                }
            elif op.fn == "eq":
                self.whole.add(dim)


def _both(a: Tests, b: Tests) -> Tests:
    """What holds of two values together: lanes that are nothing in both."""
    return {d: max(a[d], b[d]) for d in a.keys() & b.keys()}


def live_lanes(program: Program, extents: Mapping[Atom, int]) -> dict[Dim, int]:
    """The number of lanes to compute per dim, at most its size."""
    lanes = _Lanes(program, extents)
    sizes = {}
    for dim in program.dims:
        bounds = {n for n in lanes.members.get(dim, ()) if n}
        short = len(bounds) == 1 and dim not in lanes.whole
        sizes[dim] = min(dim.size, max(bounds) + _PADDING) if short else dim.size
    changed = True
    while changed:
        changed = False
        for a, b in lanes.renamed:
            if sizes[a] != sizes[b]:
                sizes[a] = sizes[b] = max(sizes[a], sizes[b])
                changed = True
    return sizes
