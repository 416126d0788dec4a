"""Launch-visible bounds of run-time extents: buffers and resident lanes need to know how large an axis can be."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

from intent import kir
from intent.construct.facts import Facts
from intent.construct.indexing import indexed_axes
from intent.kir.walk import walk
from intent.types import Extent
from intent.types.extent import Atom, Call, Dyn, const, dyn, maximum


class UpperBounds:
    """Upper bounds by eight rules, tried in turn.

    1. A term ``min(a, b)`` with a positive coefficient is at most either argument: ``min(c*64 + 64, T) - c*64 <= 64``.
    2. A loop variable is at least its begin and at most its end: ``N - i <= N``.
    3. A subregion has at most as many members as the region it was sliced from.
    4. Steps are at least 1: ``ceildiv(n, step) <= n`` where n is not negative.
    5. What is not negative takes away nothing or something: ``N - p*p <= N``.
    6. A domain whose members all index an axis has at most as many as that axis (see :mod:`intent.construct.indexing`).
    7. A term ``max(a, b)`` with a positive coefficient is at most the larger one of bounds of both.
    8. A quotient, a remainder and a right shift of what is not negative are at most that, whatever they are by.

    Data that breaks the rules of the language may break bounds by rules 3, 6 and 8, and no others.
    """

    def __init__(self, kernel: kir.Kernel, facts: Facts) -> None:
        self.facts = facts
        self.parents: dict[Extent, Extent] = {}
        extents = {d.id: d.extent for d in kernel.domains}
        for domain in kernel.domains:
            parent = None if domain.parent is None else extents[domain.parent]
            if domain.extent is not None and parent is not None:
                self.parents.setdefault(domain.extent, parent)
        for extent, axis in indexed_axes(kernel):
            self.parents.setdefault(extent, axis)
        self.parts = dict(_parts(kernel))

    def sure(self, e: Extent) -> bool:
        """Whether ``e`` is at most ``of(e)`` for any data: not only where subregions and indices keep to the rules."""
        if e.launch_visible:
            return True
        alone = copy(self)
        alone.parents, alone.parts = {}, {}
        return alone.of(e) == self.of(e)

    def of(self, e: Extent, depth: int = 6) -> Extent | None:
        """A launch-visible extent that ``e`` cannot exceed, or None. The tightest constant wins."""
        if e.launch_visible:
            return e
        if depth == 0:
            return None
        found = [
            b for candidate in self._larger(e, depth - 1) if (b := self.of(candidate, depth - 1)) is not None
        ]
        constants = [b.const for b in found if b.const is not None]
        if constants:
            return const(min(constants))
        return found[0] if found else None

    def _larger(self, e: Extent, depth: int) -> Iterator[Extent]:
        for monomial, k in e.terms:
            term = Extent(((monomial, k),))
            if k < 0 and monomial and self.facts.nonnegative(Extent(((monomial, 1),))):
                yield e - term
            if len(monomial) == 1:  # the other factors of a product may be negative
                for bound in self._bounds(monomial[0], depth) if k > 0 else self._least(monomial[0]):
                    yield e - term + k * bound
        parent = self.parents.get(e)
        if parent is not None:
            yield parent

    def _bounds(self, atom: Atom, depth: int) -> Iterator[Extent]:
        """What an atom is at most."""
        match atom:
            case Dyn():
                _, high = self.facts.dyn.get(atom.value, (None, None))
                if high is not None:
                    yield high
                whole = self.parts.get(atom.value)
                if whole is not None and self.facts.nonnegative(whole):
                    yield whole
            case Call(op="min"):
                yield from atom.args
            case Call(op="ceildiv") if self.facts.nonnegative(atom.args[0]):
                yield atom.args[0]
            case Call(op="max"):
                bounds = [self.of(arg, depth) for arg in atom.args]
                known = [b for b in bounds if b is not None]
                if len(known) == len(bounds):
                    yield self._largest(known)

    def _least(self, atom: Atom) -> Iterator[Extent]:
        """What an atom is at least."""
        low, _ = self.facts.dyn.get(atom.value, (None, None)) if isinstance(atom, Dyn) else (None, None)
        if low is not None:
            yield low

    def _largest(self, bounds: list[Extent]) -> Extent:
        """The largest one; those that another one is shown not to be below are left out."""
        kept = bounds[:1]
        for bound in bounds[1:]:
            if not any(self.facts.at_most(bound, other) for other in kept):
                kept = [other for other in kept if not self.facts.at_most(other, bound)] + [bound]
        return maximum(*kept) if len(kept) > 1 else kept[0]


def _parts(kernel: kir.Kernel) -> Iterator[tuple[int, Extent]]:
    """Index scalars that are no more than what they are a quotient, remainder or right shift of."""
    made = {r.id: op for op in walk(kernel.body) for r in op.results}
    for value, op in made.items():
        if not isinstance(op, kir.Pointwise) or op.fn not in ("floordiv", "mod", "shr") or op.result.rank:
            continue
        whole = made.get(op.operands[0].id)
        match whole:
            case kir.ExtentValue():
                yield value, whole.extent
            case kir.Constant(value=int(number)):
                yield value, const(number)
            case _:
                yield value, dyn(op.operands[0].id)
