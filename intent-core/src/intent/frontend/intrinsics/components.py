"""Components of one generic reduction or scan that have different ranks (spec: logical-program 6).

Every component has the operation's axes; what remains without them is its slice. The logical IR combines one element
of each component, so slices are aligned from the right and repeated; a result goes back to its own slice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from intent.diagnostics import SchemaMismatch, ShapeMismatch
from intent.frontend.builder import Builder
from intent.frontend.intrinsics.call import Call
from intent.frontend.values import FULL, FrontValue, Literal, Tensor
from intent.kir import Op, Region, ValueID
from intent.kir.walk import operands_of, regions_of, walk
from intent.types.extent import const

__all__ = ["Components", "aligned"]


@dataclass(frozen=True, kw_only=True)
class Components:
    """``tensors`` of one shape; ``axes`` of that shape; per component the joint axes that it really has."""

    tensors: tuple[Tensor, ...]
    axes: tuple[int, ...]
    own: tuple[tuple[int, ...], ...]

    def restored(self, builder: Builder, results: Sequence[Tensor], *, removed: bool) -> list[FrontValue]:
        """The results with the axes that their components have; ``removed``: the operation's axes are gone."""
        kept = [k for k in range(self.tensors[0].rank) if not (removed and k in self.axes)]
        return [self._restored(builder, r, own, kept) for r, own in zip(results, self.own, strict=True)]

    def _restored(self, builder: Builder, result: Tensor, own: tuple[int, ...], kept: list[int]) -> Tensor:
        if all(k in own for k in kept):
            return result
        for position, k in enumerate(kept):
            if k not in own:
                builder.condition("at_least", result.shape[position], const(1), "a component of lower rank")
        items = [FULL if k in own else Literal(value=0) for k in kept]
        return builder.gather(result, builder.access(result.shape, items, "the result"))

    def check(self, call: Call, region: Region) -> None:
        """A component of lower rank may only depend on components that have no further axes."""
        count, side_width = len(self.tensors), len(region.yields)
        for k, own in enumerate(self.own):
            higher = [j for j in range(count) if set(self.own[j]) - set(own)]
            foreign = {region.args[j + side].id for j in higher for side in (0, side_width)}
            if foreign & _needed(region, region.yields[k].id):
                raise SchemaMismatch(
                    f"a component of {call.what}", expected="a result of the component's own slice",
                    found="one that depends on a component of higher rank", span=call.builder.span,
                )  # fmt: skip


def aligned(call: Call, tensors: tuple[Tensor, ...]) -> Components:
    """The components with one shape. Raises InvalidAxis, ShapeMismatch."""
    builder, rank = call.builder, max(t.rank for t in tensors)
    axes = call.axes("axis", rank)
    if not any(_lower(call, t, rank) for t in tensors):
        joint = builder.broadcast(*tensors, what=call.what)
        return Components(tensors=joint, axes=axes, own=(tuple(range(rank)),) * len(joint))
    places = [_places(call, t, rank, axes) for t in tensors]
    shape = [const(1)] * rank
    for tensor, placed in zip(tensors, places, strict=True):
        spread = [const(1)] * rank
        for k, place in enumerate(placed):
            spread[place] = tensor.shape[k]
        shape = list(builder.broadcast_shapes([tuple(shape), tuple(spread)], call.what))
    made = tuple(builder.spread(t, p, tuple(shape)) for t, p in zip(tensors, places, strict=True))
    whole = tuple(range(rank))
    own = tuple(p if _lower(call, t, rank) else whole for t, p in zip(tensors, places, strict=True))
    return Components(tensors=made, axes=axes, own=own)


def _lower(call: Call, tensor: Tensor, rank: int) -> bool:
    """Whether a component has fewer axes than another and all those of the operation; a scalar is repeated."""
    return 0 < tensor.rank < rank and all(-tensor.rank <= a < tensor.rank for a in call.integers("axis"))


def _places(call: Call, tensor: Tensor, rank: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    """Where the axes of a component stand in the joint shape."""
    if not _lower(call, tensor, rank):
        return tuple(range(rank - tensor.rank, rank))
    free = [k for k in range(rank) if k not in axes]
    mine = sorted(a % tensor.rank for a in call.integers("axis"))
    rest = free[len(free) - (tensor.rank - len(mine)) :]
    placed = tuple(axes[mine.index(k)] if k in mine else rest.pop(0) for k in range(tensor.rank))
    if list(placed) != sorted(placed):
        fix = "give the components their axes in one order"
        raise ShapeMismatch(call.what, {"a component": tensor.shape}, fix=fix, span=call.builder.span)
    return placed


def _needed(region: Region, value: ValueID) -> set[ValueID]:
    """The values that a value of a region depends on."""
    makers = {r.id: op for op in walk(region) for r in op.results}
    found: set[ValueID] = set()
    pending = [value]
    while pending:
        current = pending.pop()
        if current in found:
            continue
        found.add(current)
        if current in makers:
            pending += _inputs(makers[current])
    return found


def _inputs(op: Op) -> list[ValueID]:
    nested = [v.id for r in regions_of(op) for v in r.yields]
    return [*nested, *(v.id for v in operands_of(op))]
