"""Rules of combine, summarize, apply and emit regions: schemas and purity (spec: logical-program 5, 6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from intent.kir.effects import Atomic, BufferAlloc, ScatterReduce, Store
from intent.kir.kernel import Kernel
from intent.kir.ops import Load, RandomBits, Reduce, RegionFold, RegionScan, Scan
from intent.kir.value import Region, Value
from intent.kir.verify.rule import Facts, Problem, kernel_rule, op_rule
from intent.kir.walk import regions_of, walk
from intent.types import DType, Extent

_IMPURE = (Load, Store, ScatterReduce, Atomic, BufferAlloc, RandomBits)
Schema = tuple[DType, tuple[Extent, ...]]


@kernel_rule
def pure_regions(kernel: Kernel) -> Iterator[Problem]:
    """Regions of structured operations read and write no memory and draw no random numbers."""
    for op in walk(kernel.body):
        if isinstance(op, Reduce | Scan | RegionFold | RegionScan | ScatterReduce):
            for region in regions_of(op):
                for inner in walk(region):
                    if isinstance(inner, _IMPURE):
                        yield Problem(f"region {region.id} contains {type(inner).__name__}", inner)


@op_rule(Reduce, Scan)
def combine_schema(op: Reduce | Scan, _: Facts) -> Iterator[str]:
    """combine: (acc..., element..., captures...) of scalars to the components; captures align with a slice."""
    if op.combine is None:
        return
    components: list[Schema] = [(v.dtype, ()) for v in op.operands]
    captures: list[Schema] = [(v.dtype, ()) for v in op.captures]
    whole = op.operands[0].shape
    removed = op.axes if isinstance(op, Reduce) else (op.axis,)
    one_slice = tuple(extent for axis, extent in enumerate(whole) if axis not in removed)
    if any(v.shape not in ((), one_slice) for v in op.captures):
        yield "a capture is a scalar, or has the shape of one slice"
    yield from _schema(op.combine, [*components, *components, *captures], components, "combine")


@op_rule(ScatterReduce)
def scatter_combine_schema(op: ScatterReduce, _: Facts) -> Iterator[str]:
    """combine: (old, value) of scalars to the new element."""
    if op.combine is not None:
        element: Schema = (op.target.dtype, ())
        yield from _schema(op.combine, [element, element], [element], "combine")


@op_rule(RegionFold)
def fold_schema(op: RegionFold, _: Facts) -> Iterator[str]:
    """summarize: (slices..., captures...) to a summary; combine: two summaries to one; results: a summary."""
    summary = _types(op.identity)
    if _types(op.results) != summary:
        yield "the result has the identity's schema"
    yield from _fold_regions(op, summary)


@op_rule(RegionScan)
def region_scan_schema(op: RegionScan, _: Facts) -> Iterator[str]:
    """apply: (summary..., state...) to a state; emit: (slices..., state..., captures...) to output slices."""
    summary, state, captures = _types(op.identity), _types(op.initial), _types(op.captures)
    yield from _fold_regions(op, summary)
    yield from _schema(op.apply, [*summary, *state], state, "apply")
    outputs = [(v.dtype, _sliced(v, op.output_axis, op.slice_extent)) for v in op.results[: op.outputs]]
    yield from _schema(op.emit, [*_slices(op), *state, *captures], outputs, "emit")


def _fold_regions(op: RegionFold | RegionScan, summary: list[Schema]) -> Iterator[str]:
    yield from _schema(op.summarize, [*_slices(op), *_types(op.captures)], summary, "summarize")
    yield from _schema(op.combine, [*summary, *summary], summary, "combine")


def _slices(op: RegionFold | RegionScan) -> list[Schema]:
    return [(v.dtype, _sliced(v, op.axis, op.slice_extent)) for v in op.source]


def _sliced(value: Value, axis: int, extent: Extent) -> tuple[Extent, ...]:
    return tuple(extent if k == axis else e for k, e in enumerate(value.shape))


def _types(values: Sequence[Value]) -> list[Schema]:
    return [(v.dtype, v.shape) for v in values]


def _schema(region: Region, arguments: list[Schema], yields: list[Schema], name: str) -> Iterator[str]:
    if _types(region.args) != arguments:
        yield f"{name} takes {_text(_types(region.args))}, not {_text(arguments)}"
    if _types(region.yields) != yields:
        yield f"{name} gives {_text(_types(region.yields))}, not {_text(yields)}"


def _text(schema: list[Schema]) -> str:
    return "(" + ", ".join(f"{d}[{', '.join(map(str, s))}]" for d, s in schema) + ")"
