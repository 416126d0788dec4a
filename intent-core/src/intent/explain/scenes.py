"""The picture in numbers: some programs of every segment, and the boxes of each resource that they touch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from intent.construct import Plan
from intent.explain.quantity import Environment, value_of
from intent.explain.ranges import Pass, Ranges
from intent.explain.report import Extent, Footprint, Picture, Sample, Scene, Span, Tensor
from intent.explain.sizes import chosen_extents
from intent.physical import Atomic, Load, Program, Resource, Segment, Store, View
from intent.physical.walk import walk
from intent.types.extent import Scalar, Symbol

__all__ = ["picture"]

_SHOWN = 10
"""Programs along each of the last two axes; of longer axes this many, evenly spread, first and last included."""
_SHOWN_ALONE = 40
_ACCESSES = (Load, Store, Atomic)


def picture(program: Program, plan: Plan, env: Environment | None) -> Picture:
    """The picture for the launch's extents, or for made-up ones when none are known."""
    used = env if env is not None else chosen_extents(program)
    scenes = [_scene(segment, plan.groups[segment.group].grouped, used) for segment in program.segments]
    names = [(atom.name, value) for atom, value in used.items() if isinstance(atom, Symbol | Scalar)]
    return Picture(
        chosen=env is None,
        extents=tuple(Extent(name=name, value=value) for name, value in dict(names).items()),
        scenes=tuple(s for s in scenes if s is not None),
    )


def _scene(segment: Segment, grouped: int, env: Environment) -> Scene | None:
    found = [value_of(axis.programs, env) for axis in segment.axes]
    counts = [n for n in found if n is not None]
    if len(counts) < len(found):
        return None
    resources: dict[str, Resource] = {}
    for op in walk(segment.body):
        if isinstance(op, _ACCESSES):
            made = op.source if isinstance(op, Load) else op.target
            resources.setdefault(made.name, made)
    ranges = Ranges(segment, env)
    samples = [_sample(segment, number, blocks, ranges, env) for number, blocks in _programs(counts, grouped)]
    return Scene(
        group=segment.group,
        programs=tuple(counts),
        tensors=tuple(_tensor(r, env) for r in resources.values()),
        samples=tuple(samples),
    )


def _tensor(resource: Resource, env: Environment) -> Tensor:
    shape = tuple(max(0, value_of(e, env) or 0) for e in resource.shape)
    return Tensor(name=resource.name, kind="view" if isinstance(resource, View) else "buffer", shape=shape)


def _programs(counts: Sequence[int], grouped: int) -> list[tuple[int, tuple[int, ...]]]:
    """Ids in the segment with their block numbers: those of the first block of all but the last two axes."""
    if not all(counts):
        return []
    if not counts:
        return [(0, ())]
    shown = [_spread(n, _SHOWN_ALONE if len(counts) == 1 else _SHOWN) for n in counts[-2:]]
    front = (0,) * (len(counts) - len(shown))
    return [(_number(counts, (*front, *last), grouped), (*front, *last)) for last in product(*shown)]


def _spread(count: int, shown: int) -> list[int]:
    if count <= shown:
        return list(range(count))
    return sorted({round(k * (count - 1) / (shown - 1)) for k in range(shown)})


def _number(counts: Sequence[int], blocks: Sequence[int], grouped: int) -> int:
    """The program id of a block: row-major, or with the last two axes walked in groups of rows."""
    number = 0
    for count, block in zip(counts, blocks, strict=True):
        number = number * count + block
    if grouped > 1 and len(counts) >= 2:
        rows, columns = counts[-2:]
        row, column = blocks[-2:]
        first = row // grouped * grouped
        height = min(rows - first, grouped)
        within = first * columns + column * height + row - first
        number = number - (row * columns + column) + within
    return number


def _sample(
    segment: Segment, number: int, blocks: tuple[int, ...], ranges: Ranges, env: Environment
) -> Sample:
    boxes: dict[Pass, dict[int, tuple[Span, ...]]] = {}
    accesses = [op for op in walk(segment.body) if isinstance(op, _ACCESSES)]
    passes: tuple[Pass, ...] = ("all", "first", "last")
    for which in passes:
        ranges.enter(number, which)
        boxes[which] = {op.id: _box(op, ranges, env) for op in accesses}
    return Sample(
        program=number,
        blocks=blocks,
        footprints=tuple(
            Footprint(
                access=op.id,
                swept=boxes["all"][op.id],
                first=boxes["first"][op.id],
                last=boxes["last"][op.id],
            )
            for op in accesses
        ),
    )


def _box(op: Load | Store | Atomic, ranges: Ranges, env: Environment) -> tuple[Span, ...]:
    """The coordinates per axis, cut to the resource."""
    resource = op.source if isinstance(op, Load) else op.target
    spans = []
    for found, extent in zip(ranges.box(op.coordinates, op.valid), resource.shape, strict=True):
        last = (value_of(extent, env) or 0) - 1
        low, high = (0, last) if found is None else found
        spans.append(Span(low=max(0, low), high=min(last, high), known=found is not None))
    return tuple(spans)
