"""What one kernel does on the inputs of trials, kept: its programs meet the same inputs again and again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from functools import cached_property
from typing import Final

from intent import kir
from intent.kir.walk import walk
from intent.physical.verify.trial.inputs import Inputs, index_views
from intent.physical.verify.trial.logical import Logical, Unclean, Undecided
from intent.physical.verify.trial.reach import Reach, reaches
from intent.physical.verify.trial.ring import Ring

__all__ = ["Meanings"]

_MOST: Final = 32
"""Executions that are kept, the last ones used."""


class Meanings:
    """One kernel's side of the trials of its programs. Not for several threads at a time."""

    def __init__(self, kernel: kir.Kernel) -> None:
        self.kernel = kernel
        self._known: OrderedDict[Hashable, Logical | Unclean | Undecided] = OrderedDict()

    @cached_property
    def index_views(self) -> tuple[str, ...]:
        """The views whose elements say where something is."""
        return index_views(self.kernel)

    @cached_property
    def reach(self) -> Reach:
        """How far index data may go."""
        return reaches(self.kernel)

    @cached_property
    def _cut(self) -> frozenset[int]:
        """The operations whose sources are cut into slices."""
        region = kir.RegionFold | kir.RegionScan
        return frozenset(op.id for op in walk(self.kernel.body) if isinstance(op, region))

    def of(self, inputs: Inputs, ring: Ring, blocks: Mapping[int, int], *, in_order: bool = False) -> Logical:
        """The kernel executed on the inputs; only what it wrote is kept. Raises Unclean or Undecided."""
        cut = {op: block for op, block in blocks.items() if op in self._cut}
        key = _key(inputs, ring, cut, in_order=in_order)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._executed(
                Logical(self.kernel, inputs, ring, cut, in_order=in_order)
            )
            if len(self._known) > _MOST:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        if isinstance(found, Logical):
            return found
        raise type(found)(*found.args)

    @staticmethod
    def _executed(logical: Logical) -> Logical | Unclean | Undecided:
        try:
            logical.run()
        except (Unclean, Undecided) as error:
            return type(error)(*error.args)  # without the frames, which hold every value
        logical.values.clear()
        return logical


def _key(inputs: Inputs, ring: Ring, cut: Mapping[int, int], *, in_order: bool) -> Hashable:
    given = (inputs.pattern, inputs.indices, inputs.alike, inputs.ends, tuple(inputs.reach.items()))
    return (frozenset(inputs.extents.items()), given, ring.infinite, frozenset(cut.items()), in_order)
