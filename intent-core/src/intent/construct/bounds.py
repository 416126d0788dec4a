"""Launch-visible bounds of run-time extents: buffers and resident lanes need to know how large an axis can be."""

from __future__ import annotations

from intent import kir
from intent.construct.facts import Facts
from intent.construct.indexing import indexed_axes
from intent.types import Extent
from intent.types.extent import Call, Dyn, const


class UpperBounds:
    """Upper bounds by six rules, tried in turn.

    1. A term ``min(a, b)`` with a positive coefficient is at most either argument: ``min(c*64 + 64, T) - c*64 <= 64``.
    2. A loop variable is at least its begin and at most its end: ``N - i <= N``.
    3. A subregion has at most as many members as the region it was sliced from.
    4. Steps are at least 1: ``ceildiv(n, step) <= n`` where n is not negative.
    5. What is not negative takes away nothing or something: ``N - p*p <= N``.
    6. A domain whose members all index an axis has at most as many as that axis (see :mod:`intent.construct.indexing`).
    """

    def __init__(self, kernel: kir.Kernel, facts: Facts) -> None:
        self.facts = facts
        self.parents: dict[Extent, Extent] = {}
        known = {d.id: d for d in kernel.domains}
        for domain in kernel.domains:
            parent = known.get(domain.parent) if domain.parent is not None else None
            if domain.extent is not None and parent is not None and parent.extent is not None:
                self.parents.setdefault(domain.extent, parent.extent)
        for extent, axis in indexed_axes(kernel):
            self.parents.setdefault(extent, axis)

    def of(self, e: Extent, depth: int = 6) -> Extent | None:
        """A launch-visible extent that ``e`` cannot exceed, or None. The tightest constant wins."""
        if e.launch_visible:
            return e
        if depth == 0:
            return None
        found = [b for candidate in self._larger(e) if (b := self.of(candidate, depth - 1)) is not None]
        constants = [b.const for b in found if b.const is not None]
        if constants:
            return const(min(constants))
        return found[0] if found else None

    def _larger(self, e: Extent) -> list[Extent]:
        found = []
        for monomial, k in e.terms:
            if k < 0 and monomial and self.facts.nonnegative(Extent(((monomial, 1),))):
                found.append(e - Extent(((monomial, k),)))
            for atom in monomial:
                if isinstance(atom, Call) and atom.op == "ceildiv" and k > 0 and len(monomial) == 1:
                    found += [e.substitute({atom: atom.args[0]})] * self.facts.nonnegative(atom.args[0])
                if isinstance(atom, Call) and atom.op == "min" and k > 0 and len(monomial) == 1:
                    found += [e.substitute({atom: arg}) for arg in atom.args]
                if (
                    isinstance(atom, Call)
                    and atom.op == "max"
                    and k > 0
                    and len(monomial) == 1
                    and e.terms[0][0] == monomial
                ):
                    found += [
                        e.substitute({atom: arg}) for arg in atom.args if not self.facts.nonnegative(-arg)
                    ][:1]
                if isinstance(atom, Dyn) and atom.value in self.facts.dyn and len(monomial) == 1:
                    low, high = self.facts.dyn[atom.value]
                    bound = high if k > 0 else low
                    if bound is not None:
                        found.append(e.substitute({atom: bound}))
        parent = self.parents.get(e)
        if parent is not None:
            found.append(parent)
        return found
