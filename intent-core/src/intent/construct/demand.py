"""Which elements of memory a value reads when it is evaluated at a statement's own coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from intent import kir
from intent.construct.definitions import Definitions
from intent.construct.shapes import reshape_groups
from intent.kir.walk import operands_of, regions_of
from intent.types.extent import const

AxisKey = tuple[str, int, int]
"""("for", op id, 0) for a parallel loop, ("store", op id, axis) for an axis of a stored value."""

MOVED = "~"
"""Marks a key whose axis a value follows at another place than the execution axis' own (a slice, say)."""


def moved(key: AxisKey) -> AxisKey:
    """The key of an axis that is followed at a distance."""
    return key if key[0].startswith(MOVED) else (MOVED + key[0], key[1], key[2])


def unmoved(key: AxisKey) -> AxisKey:
    """The execution axis that a key follows, at whatever distance."""
    return key[0].removeprefix(MOVED), key[1], key[2]


Signature = tuple[AxisKey, object] | None
"""A coordinate that is exactly one execution axis, with the identity of begin and step; None: anything else."""


@dataclass(frozen=True)
class Read:
    """A read reached from a statement, with a signature per source axis."""

    op: kir.Load
    signature: tuple[Signature, ...]


class Demand:
    """Traces values from a statement to the memory they read."""

    def __init__(
        self, definitions: Definitions, points: dict[int, AxisKey], loops: dict[int, kir.For]
    ) -> None:
        self.definitions = definitions
        self.points = points
        self.loops = loops
        self.seen: set[tuple[int, tuple[AxisKey | None, ...]]] = set()

    def signature(self, value: kir.Value, axes: tuple[AxisKey | None, ...]) -> Signature:
        """The signature of a coordinate value whose axes lie along ``axes``."""
        if value.rank == 0:
            key = self.points.get(value.id)
            return (
                None
                if key is None
                else (key, self._base(self.loops[value.id].begin, self.loops[value.id].step))
            )
        op = self.definitions.op.get(value.id)
        if isinstance(op, kir.Iota) and axes[0] is not None and not axes[0][0].startswith(MOVED):
            return axes[0], self._base(op.begin, op.step)
        return None

    def _followed(self, value: kir.Value, axes: tuple[AxisKey | None, ...]) -> AxisKey | None:
        """The execution axis that a coordinate into a value follows."""
        op = self.definitions.op.get(value.id)
        if isinstance(op, kir.Iota) and axes[0] is not None:
            key, base = axes[0], self._base(op.begin, op.step)
        elif (found := self.signature(value, axes)) is not None:
            key, base = found
        else:
            return None
        return key if base == (const(0), const(1)) else moved(key)

    def _base(self, begin: kir.Value, step: kir.Value) -> object:
        return self.definitions.symbol(begin), self.definitions.symbol(step)

    def relation(self, relation: kir.Relation, axes: tuple[AxisKey | None, ...]) -> tuple[Signature, ...]:
        """The signatures of a relation's coordinates."""
        return tuple(
            self.signature(v, tuple(axes[a] for a in spread))
            for v, spread in zip(relation.coordinates, relation.axes, strict=True)
        )

    def reads(self, value: kir.Value, axes: tuple[AxisKey | None, ...]) -> Iterator[Read]:
        """Every read that evaluating ``value`` along ``axes`` reaches."""
        if (value.id, axes) in self.seen:
            return
        self.seen.add((value.id, axes))
        op = self.definitions.op.get(value.id)
        if op is None:
            yield from self._argument(value, axes)
            return
        if isinstance(op, kir.Load):
            yield Read(op, self.relation(op.relation, axes))
            for v, spread in zip(op.relation.coordinates, op.relation.axes, strict=True):
                yield from self.reads(v, tuple(axes[a] for a in spread))
            if op.valid is not None:
                yield from self.reads(op.valid, axes)
            return
        for operand, inner in self._operands(op, value, axes):
            yield from self.reads(operand, inner)

    def _argument(self, value: kir.Value, axes: tuple[AxisKey | None, ...]) -> Iterator[Read]:
        """What a region's argument stands for, at the same axes.

        A carry read inside its loop is the loop's result one iteration before; slices keep their source's axes.
        """
        region = self.definitions.region[value.id]
        owner = self.definitions.owner.get(region)
        if owner is None:
            return
        for outer, args in _columns(owner):
            if value in args:
                yield from self.reads(outer[args.index(value)], axes)

    def _operands(  # noqa: C901 -- one case per kind of operation
        self, op: kir.Op, value: kir.Value, axes: tuple[AxisKey | None, ...]
    ) -> Iterator[tuple[kir.Value, tuple[AxisKey | None, ...]]]:
        match op:
            case kir.Pointwise():
                yield from ((v, axes) for v in op.operands)
            case kir.Cast() | kir.Bitcast():
                yield op.value, axes
            case kir.Broadcast():
                same = (
                    self.definitions.same(op.value.shape[k], op.result.shape[a])
                    for k, a in enumerate(op.axes)
                )
                yield op.value, tuple(axes[a] if s else None for a, s in zip(op.axes, same, strict=True))
            case kir.Transpose():
                inner: list[AxisKey | None] = [None] * len(axes)
                for k, a in enumerate(op.permutation):
                    inner[a] = axes[k]
                yield op.value, tuple(inner)
            case kir.Join():
                yield from ((op.lhs, axes[:-1]), (op.rhs, axes[:-1]))
            case kir.Reshape():
                found: list[AxisKey | None] = [None] * op.value.rank
                for old, new in reshape_groups(op.value.shape, op.result.shape):
                    if len(old) == 1 and len(new) == 1:
                        found[old[0]] = axes[new[0]]
                yield op.value, tuple(found)
            case kir.Gather():
                for v, spread in zip(op.relation.coordinates, op.relation.axes, strict=True):
                    yield v, tuple(axes[a] for a in spread)
                coordinates = zip(op.relation.coordinates, op.relation.axes, strict=True)
                yield op.source, tuple(self._followed(v, tuple(axes[a] for a in s)) for v, s in coordinates)
                if op.valid is not None:
                    yield op.valid, axes
            case kir.Reduce():
                free = iter(axes)
                spread_axes = tuple(None if k in op.axes else next(free) for k in range(op.operands[0].rank))
                yield from ((v, spread_axes) for v in op.operands)
                yield from ((v, (None,) * v.rank) for v in (*op.identity, *op.captures))
            case kir.Contract():
                yield from _contract_operands(op, op.lhs, op.rhs, axes)
            case kir.SparseContract():
                yield from _sparse_operands(op, axes)
            case kir.ScaledContract():
                row, column = axes
                yield from ((op.lhs, (row, None, None)), (op.lhs_scale, (row, None)))
                yield from ((op.rhs, (None, None, column)), (op.rhs_scale, (column, None)))
            case kir.RandomBits():
                yield from ((op.seed, axes), (op.counter, axes))
            case kir.Scan():
                along = tuple(None if k == op.axis else a for k, a in enumerate(axes))
                yield from ((v, along) for v in op.operands)
                yield from ((v, (None,) * v.rank) for v in (*op.identity, *op.captures))
            case kir.For() | kir.While() | kir.If() | kir.RegionFold() | kir.RegionScan():
                yield from _region_operands(op, op.results.index(value), axes)
            case _:
                for v in operands_of(op):
                    yield v, (None,) * v.rank
                for region in regions_of(op):
                    for v in region.yields:
                        yield v, (None,) * v.rank


def _region_operands(
    op: kir.For | kir.While | kir.If | kir.RegionFold | kir.RegionScan,
    k: int,
    axes: tuple[AxisKey | None, ...],
) -> Iterator[tuple[kir.Value, tuple[AxisKey | None, ...]]]:
    """What result ``k`` of an operation with regions follows from: what the regions yield for it, and what steers."""
    match op:
        case kir.For():
            yield from ((op.inits[k], axes), (op.body.yields[k], axes))
            yield from ((v, ()) for v in (op.begin, op.end, op.step))
        case kir.While():
            yield from ((op.inits[k], axes), (op.body.yields[k], axes), (op.condition.yields[0], ()))
        case kir.RegionFold():
            yield from (
                (op.identity[k], axes),
                (op.summarize.yields[k], axes),
                (op.combine.yields[k], axes),
            )
        case kir.RegionScan():
            if k < op.outputs:
                yield (
                    op.emit.yields[k],
                    tuple(None if n == op.output_axis else a for n, a in enumerate(axes)),
                )
            else:
                yield from ((op.initial[k - op.outputs], axes), (op.apply.yields[k - op.outputs], axes))
        case kir.If():
            yield from ((op.condition, ()), (op.then.yields[k], axes), (op.orelse.yields[k], axes))


Columns = Iterator[tuple[tuple[kir.Value, ...], tuple[kir.Value, ...]]]


def _columns(op: kir.Op) -> Columns:
    """Values and the region arguments that stand for them, in equal order."""
    match op:
        case kir.For():
            yield op.results, op.body.args[1:]
        case kir.While():
            yield op.results, op.body.args
            yield op.results, op.condition.args
        case kir.RegionFold():
            n, m = len(op.source), len(op.results)
            yield op.source, op.summarize.args[:n]
            yield op.captures, op.summarize.args[n:]
            yield op.results, op.combine.args[:m]
            yield op.summarize.yields, op.combine.args[m:]
        case kir.RegionScan():
            n, s = len(op.source), len(op.initial)
            for region, last in ((op.summarize, n), (op.emit, n + s)):
                yield op.source, region.args[:n]
                yield op.captures, region.args[last:]
            states = op.results[op.outputs :]
            yield states, op.emit.args[n : n + s]
            yield states, op.apply.args[len(op.identity) :]
            yield op.summarize.yields, op.apply.args[: len(op.identity)]


Operands = Iterator[tuple[kir.Value, tuple[AxisKey | None, ...]]]


def _contract_operands(
    op: kir.Contract | kir.SparseContract, lhs: kir.Value, rhs: kir.Value, axes: tuple[AxisKey | None, ...]
) -> Operands:
    summed = {k for k, _ in op.reduce}
    left = dict(zip((k for k in range(lhs.rank) if k not in summed), axes, strict=False))
    used = {k for _, k in (*op.reduce, *op.batch)}
    right = {rk: left[lk] for lk, rk in op.batch}
    right |= dict(zip((k for k in range(rhs.rank) if k not in used), axes[len(left) :], strict=True))
    yield lhs, tuple(left.get(k) for k in range(lhs.rank))
    yield rhs, tuple(right.get(k) for k in range(rhs.rank))


def _sparse_operands(op: kir.SparseContract, axes: tuple[AxisKey | None, ...]) -> Operands:
    (compressed, along), dense = _contract_operands(op, op.compressed, op.dense, axes)
    yield from ((compressed, along), dense)
    yield from ((v, along) for v in op.metadata)
