"""Subscripts as typed index relations (spec: logical-program 9).

Each item of a subscript makes result axes at its place: a slice, domain or subregion one, ``None`` one of extent 1,
a scalar none. Index tensors broadcast together and make their joint axes where the first of them stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from intent.diagnostics import IndexOutOfRange, WrongDType, WrongKind, WrongRank
from intent.frontend.domains import Domains
from intent.frontend.values import (
    FULL,
    BufferRef,
    Domain,
    EllipsisValue,
    ExtentRef,
    FrontValue,
    Literal,
    NoneValue,
    RaggedGroup,
    Slice,
    Tensor,
    Tuple,
    ViewRef,
)
from intent.kir import Relation, Resource, Value
from intent.types import Extent
from intent.types.extent import const


@dataclass(frozen=True, kw_only=True, eq=False)
class Access:
    """A subscript of a source of known shape.

    ``shape``: the shape of the value read or written. ``whole``: per source axis, whether the whole axis is taken in
    order. ``new``: result axes made by ``None``. ``assumed``: per source axis, whether ``assume_in_bounds`` covers it.
    """

    relation: Relation
    shape: tuple[Extent, ...]
    whole: tuple[bool, ...]
    new: tuple[int, ...] = ()
    assumed: tuple[bool, ...] = ()

    @property
    def identity(self) -> bool:
        """Whether the subscript takes everything in order, apart from new axes."""
        return all(self.whole)


@dataclass(kw_only=True)
class _Plan:
    """What the items make: per source axis a coordinate and its result axes; per result axis its extent."""

    coordinates: list[Value] = field(default_factory=list)
    axes: list[tuple[int, ...]] = field(default_factory=list)
    shape: list[Extent] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    new: list[int] = field(default_factory=list)


class Relations(Domains):
    """Building relations from subscript items."""

    def access(
        self,
        shape: tuple[Extent, ...],
        items: Sequence[FrontValue],
        name: str,
        resource: Resource | None = None,
        *,
        masked: bool = False,
    ) -> Access:
        """The relation of ``source[items]``; ``name`` is the source in the author's words.

        ``masked``: a predicate may keep every lane from the source, so nothing is demanded of single indices.

        Raises WrongRank, WrongDType, WrongKind, IndexOutOfRange, SubregionOutOfBounds, ShapeMismatch.
        """
        items = self._complete(tuple(items), len(shape), name)
        items = tuple(self._item(item, name) for item in items)
        tensors = [item for item in items if isinstance(item, Tensor) and item.rank]
        joint = self.broadcast_shapes([t.shape for t in tensors], f"the index of {name}") if tensors else ()
        plan, first = _Plan(), None
        for item in items:
            if isinstance(item, NoneValue):
                plan.new.append(len(plan.shape))
                plan.shape.append(const(1))
                continue
            axis = len(plan.coordinates)
            if isinstance(item, Tensor) and item.rank:
                if first is None:
                    first = len(plan.shape)
                    plan.shape.extend(joint)
                value, axes = self._joint(item, joint)
                plan.coordinates.append(value)
                plan.axes.append(tuple(first + a for a in axes))
                plan.whole.append(False)
            elif isinstance(item, Slice | Domain):
                self._region(plan, item, shape[axis], name)
            else:
                self._scalar(plan, item, shape[axis], name, masked)
        relation = Relation(coordinates=tuple(plan.coordinates), axes=tuple(plan.axes))
        assumed = tuple(
            resource is not None and self.promised(c, resource, k) for k, c in enumerate(plan.coordinates)
        )
        return Access(
            relation=relation,
            shape=tuple(plan.shape),
            whole=tuple(plan.whole),
            new=tuple(plan.new),
            assumed=assumed,
        )

    def _complete(self, items: tuple[FrontValue, ...], rank: int, name: str) -> tuple[FrontValue, ...]:
        """The items with ``...`` and missing trailing axes spelled out as full slices."""
        taken = sum(not isinstance(i, NoneValue | EllipsisValue) for i in items)
        if taken > rank:
            raise WrongRank(
                f"the subscript of {name}",
                expected=f"at most {rank} indices",
                found=taken,
                value="indices given",
                fix=f"'{name}' has rank {rank}",
                span=self.span,
            )
        missing = (FULL,) * (rank - taken)
        places = [k for k, i in enumerate(items) if isinstance(i, EllipsisValue)]
        if len(places) > 1:
            raise WrongRank(
                f"the subscript of {name}",
                expected="at most one '...'",
                found=len(places),
                value="'...' given",
                fix="write ':' for single axes",
                span=self.span,
            )
        if not places:
            return items + missing
        return items[: places[0]] + missing + items[places[0] + 1 :]

    def _item(self, item: FrontValue, name: str) -> FrontValue:
        """One item in its canonical form: None, Slice, Domain, an integer Literal, ExtentRef or an index Tensor."""
        if isinstance(item, NoneValue | Slice | Domain | ExtentRef):
            return item
        if isinstance(item, RaggedGroup):
            return item.positions if item.indices is None else self.members(item)
        if isinstance(item, Literal) and type(item.value) is int:
            return item
        if isinstance(item, Tuple):
            raise WrongKind(
                f"the subscript of {name}",
                expected="integers, domains or slices",
                found=item.describe(),
                argument="one index",
                fix="write the components as separate indices",
                span=self.span,
            )
        if isinstance(item, Tensor | Literal | ViewRef | BufferRef):
            dtype = self.dtype_of(item)
            if dtype is None or not dtype.is_integer:
                raise WrongDType(
                    f"the subscript of {name}",
                    expected="an integer",
                    found={self.text_of(item, "the index"): item.describe()},
                    fix="compute with I.select instead of a mask" if dtype and dtype.kind == "bool" else None,
                    span=self.span,
                )
            return self.index(item, f"the subscript of {name}")
        raise WrongKind(
            f"the subscript of {name}",
            expected="integers, domains or slices",
            found=item.describe(),
            argument="one index",
            span=self.span,
        )

    def members(self, group: RaggedGroup) -> Tensor:
        """Member coordinates of one ragged group: its positions, or what the mapping gives for them."""
        positions = self.indices(group.positions)
        if group.indices is None:
            return positions
        return self.index(self.subscript(group.indices, (group.positions,)), "the member mapping")

    def subscript(self, front: FrontValue, items: Sequence[FrontValue]) -> Tensor:
        """``front[items]`` read as data."""
        raise NotImplementedError

    def _joint(self, tensor: Tensor, joint: tuple[Extent, ...]) -> tuple[Value, tuple[int, ...]]:
        """A coordinate value and its axes among the joint ones; axes of extent 1 that only broadcast are peeled."""
        value, axes = self.peel(tensor.value)
        placed = tuple(len(joint) - tensor.rank + a for a in axes)
        if all(extent is joint[a] for extent, a in zip(value.shape, placed, strict=True)):
            return value, placed
        return self.broadcast_to(tensor, joint).value, tuple(range(len(joint)))

    def _region(self, plan: _Plan, item: Slice | Domain, extent: Extent, name: str) -> None:
        """One axis of coordinates at its place."""
        full = isinstance(item, Slice) and item.begin is None and item.end is None and _unit(item.step)
        if isinstance(item, Slice):
            region = None if full else self._slice(item, extent)
        else:
            region = item
            full = (
                region.begin_extent.const == 0 and region.extent is extent and region.step_extent.const == 1
            )
            if not full:
                self._inside(region, extent, name, len(plan.coordinates))
        tensor = self.axis_coordinates(extent) if region is None else self.indices(region)
        plan.coordinates.append(tensor.value)
        plan.axes.append((len(plan.shape),))
        plan.shape.append(extent if region is None else region.extent)
        plan.whole.append(full)

    def _slice(self, item: Slice, extent: Extent) -> Domain:
        """``begin:end:step`` of an axis; static negative bounds count from the end (language decision 13)."""
        axis = self.axis_domain(extent)
        begin, end = (None if f is None else _from_end(f, extent) for f in (item.begin, item.end))
        part = self.subregion(axis, begin, end)
        return part if _unit(item.step) else self.strided(part, item.step or Literal(value=1))

    def strided(self, region: Domain, step: FrontValue) -> Domain:
        """Every ``step``-th member of a region."""
        return self.domain(region.begin, region.end, step)

    def _inside(self, region: Domain, extent: Extent, name: str, axis: int) -> None:
        """Note at launch that a region lies within an axis, where that is visible and always needed."""
        if self.unforeseen or not self.nonnegative(region.begin_extent):
            if region.begin_extent.const is not None and region.begin_extent.const < 0:
                raise IndexOutOfRange(name, region.begin_extent, axis=axis, extent=extent, span=self.span)
            if self.unforeseen:
                return
            self.condition("at_least", region.begin_extent, const(0), f"a subscript of {name}")
        if not self.nonnegative(extent - region.end_extent):
            self.condition("at_least", extent, region.end_extent, f"a subscript of {name}")

    def _scalar(self, plan: _Plan, item: FrontValue, extent: Extent, name: str, masked: bool) -> None:
        certain = not (masked or self.conditional or self.trial)
        if isinstance(item, Literal):
            index = int(item.value)
            if not masked:
                self._constant_index(index, extent, name, len(plan.coordinates), certain=certain)
            item = item if index >= 0 else ExtentRef(extent=extent + index)
        elif certain and not self.frames[-1].looped:
            self._visible_index(item, extent, name)
        plan.coordinates.append(self.index(item).value)
        plan.axes.append(())
        plan.whole.append(False)

    def _visible_index(self, item: FrontValue, extent: Extent, name: str) -> None:
        """An index that is known at launch is checked there (language decision 18)."""
        at = self.extent_of(item)
        if not at.launch_visible:
            return
        for high, low in ((at, const(0)), (extent, at + 1)):
            if not self.nonnegative(high - low):
                self.condition("at_least", high, low, f"an index of {name}")

    def _constant_index(self, index: int, extent: Extent, name: str, axis: int, *, certain: bool) -> None:
        if extent.const is not None and not -extent.const <= index < extent.const:
            raise IndexOutOfRange(name, index, axis=axis, extent=extent, span=self.span)
        if extent.const is None and certain:
            needed = const(index + 1 if index >= 0 else -index)
            self.condition("at_least", extent, needed, f"the index {index} of {name}")


def _unit(step: FrontValue | None) -> bool:
    return step is None or (isinstance(step, Literal) and step.value == 1)


def _from_end(front: FrontValue, extent: Extent) -> FrontValue:
    if isinstance(front, Literal) and type(front.value) is int and front.value < 0:
        return ExtentRef(extent=extent + front.value)
    return front
