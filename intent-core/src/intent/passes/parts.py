"""A walked block as parts of fewer lanes, which one pass goes through side by side.

    for i by 8192:  x = f(i + lane:8192)    ->    for i by 8192:  x0 = f(i + lane:2048) .. x3 = f(i + 6144 + lane:2048)

What a lane carries is carried once for all parts, and what is done once a pass (rescaling) is done once for them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Self

from intent import physical as ph
from intent.passes.building import Builder
from intent.physical.walk import operands_of, walk
from intent.types.dtypes import INDEX

COUNT: Final = 4
LEAST: Final = 1024
"""Lanes of a part: fewer would leave threads without a vector of their own."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """How a lane dim is divided: the dim of one part, the ids of lane indices, and what they are in every part."""

    whole: ph.Dim
    part: ph.Dim
    lanes: frozenset[int]
    places: tuple[ph.Fragment, ...]

    @classmethod
    def of(cls, b: Builder, whole: ph.Dim, loops: Iterable[ph.Loop]) -> Self | None:
        """Parts of a dim that the loops' bodies only have through its lane index, if it is long enough."""
        lanes: set[int] = set()
        if whole.size % COUNT or whole.size < COUNT * LEAST:
            return None
        for loop in loops:
            own = {r.id for op in walk(loop.body) for r in op.results} | {a.id for a in loop.body.args}
            for op in walk(loop.body):
                if isinstance(op, ph.Rename | ph.Lane | ph.Scan) or whole in getattr(op, "dims", ()):
                    return None
                for f in operands_of(op):
                    if f.id in own or whole not in f.dims:
                        continue
                    if not isinstance(b.known.definition.get(f.id), ph.Lane):
                        return None
                    lanes.add(f.id)
        part = b.part(whole, COUNT)
        lane = b.add(ph.Lane, INDEX, (part,), name=part.axis, dim=part)
        places = tuple(b.pointwise("add", lane, b.index(k * part.size)) if k else lane for k in range(COUNT))
        return cls(whole=whole, part=part, lanes=frozenset(lanes), places=places)

    def dims(self, dims: Iterable[ph.Dim]) -> tuple[ph.Dim, ...]:
        """Dims of one part."""
        return tuple(self.part if d == self.whole else d for d in dims)

    def names(self, number: int) -> dict[int, ph.Fragment]:
        """What lane indices are in one part."""
        return dict.fromkeys(self.lanes, self.places[number])

    def retyped(self, ops: Iterable[ph.Op]) -> tuple[ph.Op, ...]:
        """The operations as they are for one part, under the same ids: something to copy from."""
        return tuple(self._mapped(op) for op in ops)

    def _mapped(self, value: Any) -> Any:
        match value:
            case ph.Fragment():
                return replace(value, dims=self.dims(value.dims)) if self.whole in value.dims else value
            case ph.Region():
                return ph.Region(
                    args=self._mapped(value.args),
                    ops=self._mapped(value.ops),
                    yields=self._mapped(value.yields),
                )
            case tuple():
                return tuple(self._mapped(v) for v in value)
            case ph.Op():
                return replace(value, **{f.name: self._mapped(getattr(value, f.name)) for f in fields(value)})
        return value
