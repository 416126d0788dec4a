"""Region folds and region scans: the author's homomorphisms over slices (spec: logical-program 5).

The slice's extent is a fresh opaque identity: it may form shapes inside ``summarize`` and ``emit`` and never
becomes a value (language decision 17).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from intent.diagnostics import SchemaMismatch, SliceExtentObserved
from intent.frontend.builder import Builder
from intent.frontend.emission import Purity
from intent.frontend.intrinsics.call import Call, Lower
from intent.frontend.intrinsics.combine import Captures, as_schema, captures, helper_name, leaf_type
from intent.frontend.intrinsics.shapes import conform, transposed
from intent.frontend.leaves import default_dtype
from intent.frontend.values import (
    FrontValue,
    Function,
    Leaf,
    Literal,
    Tensor,
    Tuple,
    WeakLiteral,
    arranged,
    leaves,
    map_leaves,
    rebuild,
    same_structure,
)
from intent.kir import Region, RegionFold, RegionScan, Value
from intent.types import Extent
from intent.types.extent import const

__all__ = ["LOWERINGS"]


@dataclass(frozen=True, kw_only=True)
class _Source:
    """The source as the helper's leading arguments, its components, its axis and the fresh slice extent.

    ``tensors`` have the source axis at one place: a component that has it earlier has axes of extent 1 before it,
    ``added`` of them, which the helper does not see.
    """

    arguments: tuple[FrontValue, ...]
    tensors: tuple[Tensor, ...]
    added: tuple[int, ...]
    axis: int
    extent: Extent
    slice_extent: Extent

    def sliced(self, builder: Builder) -> list[FrontValue]:
        """One slice inside the innermost region: its components become the region's arguments."""
        components = zip(self.tensors, self.added, strict=True)

        def part(leaf: FrontValue) -> FrontValue:
            whole, added = next(components)
            shape = tuple(self.slice_extent if k == self.axis else e for k, e in enumerate(whole.shape))
            name = leaf.value.name if isinstance(leaf, Tensor) else ""
            made = builder.loaded(builder.argument(whole.dtype, shape, name))
            if not added:
                return made
            first = [Literal(value=0)] * added
            return builder.gather(made, builder.access(shape, first, name))

        return [map_leaves(argument, part) for argument in self.arguments]


def _fold(call: Call) -> FrontValue:
    source, held = _source(call), captures(call, "operands")
    summarize, schema = _summarize(call, source, held)
    identity = _identity(call, "identity", schema)
    schema = rebuild(schema, iter([Leaf(dtype=v.dtype, shape=v.shape) for v in identity]))
    results = call.builder.emit(
        RegionFold,
        *((v.dtype, v.shape) for v in identity),
        source=call.builder.values(source.tensors),
        axis=source.axis,
        slice_extent=source.slice_extent,
        identity=identity,
        captures=held.values,
        summarize=summarize,
        combine=_binary(call, "combine", schema, schema, schema),
    )
    return rebuild(schema, iter([call.builder.loaded(r) for r in results]))


def _scan(call: Call) -> FrontValue:
    builder, source, held = call.builder, _source(call), captures(call, "operands")
    summarize, schema = _summarize(call, source, held)
    identity = _identity(call, "identity", schema)
    started = _initial_state(call, schema)
    initial = builder.components(started, what=f"initial_state= of {call.what}")
    state = rebuild(started, iter([Leaf(dtype=t.dtype, shape=t.shape) for t in initial]))
    combine = _binary(call, "combine", schema, schema, schema)
    apply = _binary(call, "apply", schema, state, state)
    emit, outputs, axis = _emitted(call, source, state, held)
    types = [(leaf.dtype, _replaced(leaf.shape, axis, source.extent)) for leaf in outputs.types]
    results = builder.emit(
        RegionScan,
        *types,
        *((t.dtype, t.shape) for t in initial),
        source=builder.values(source.tensors),
        axis=source.axis,
        slice_extent=source.slice_extent,
        identity=identity,
        initial=builder.values(initial),
        captures=held.values,
        outputs=len(types),
        output_axis=axis,
        summarize=summarize,
        combine=combine,
        apply=apply,
        emit=emit,
    )
    made = [_moved(builder, Tensor(value=r), axis, a) for r, a in zip(results, outputs.axes, strict=False)]
    final = [builder.loaded(r) for r in results[len(types) :]]
    return Tuple(items=(rebuild(outputs.product, iter(made)), rebuild(state, iter(final))))


def _initial_state(call: Call, schema: FrontValue) -> FrontValue:
    """``initial_state=``; its literals take the dtypes that ``apply`` gives, which a trial shows."""
    builder, front = call.builder, call.front("initial_state")
    if not any(isinstance(leaf, Literal) for leaf in leaves(front)):
        return front
    mark = builder.mark()
    builder.trial += 1
    try:
        _open(call, "apply")
        opened = map_leaves(front, lambda leaf: _opened(builder, leaf))
        after = _inline(call, "apply", [builder.arguments(schema), opened])
    finally:
        builder.trial -= 1
        builder.undo(mark)
    after = arranged(after, front)
    if not same_structure(front, after):
        return front
    parts: list[FrontValue] = []
    for leaf, made in zip(leaves(front), leaves(after), strict=True):
        dtype = made.dtype if isinstance(leaf, Literal) and isinstance(made, Tensor) else None
        if isinstance(made, Tensor) and made.weak:
            dtype = next((w.expected for w in made.weak if w.expected), None)
        parts.append(leaf if dtype is None else builder.typed(leaf, dtype, f"initial_state= of {call.what}"))
    return rebuild(front, iter(parts))


def _opened(builder: Builder, leaf: FrontValue) -> FrontValue:
    """A component of the state inside the trial of ``apply``; a literal's dtype is open."""
    if isinstance(leaf, Literal):
        return Tensor(value=builder.argument(default_dtype(leaf.value)), weak=(WeakLiteral(),))
    data = builder.data(leaf)
    return builder.loaded(builder.argument(data.dtype, data.shape))


def _source(call: Call) -> _Source:
    """The components of ``source=``, all with the source axis and one extent along it."""
    builder, front = call.builder, call.front("source")
    arguments = front.items if isinstance(front, Tuple) else (front,)
    arguments = tuple(map_leaves(a, lambda leaf: builder.data(leaf, call.what)) for a in arguments)
    tensors = tuple(leaf for a in arguments for leaf in leaves(a) if isinstance(leaf, Tensor))
    if not tensors:
        raise call.wrong_kind("source", "at least one tensor")
    widest = max(t.rank for t in tensors)
    axes = [_axis(call, t, widest) for t in tensors]
    axis = max(axes)
    extent = tensors[0].shape[axes[0]]
    for tensor, own in zip(tensors[1:], axes[1:], strict=True):
        builder.equal_extents(extent, tensor.shape[own], f"source components of {call.what}", what=call.what)
    added = tuple(axis - own for own in axes)
    return _Source(
        arguments=arguments,
        tensors=tuple(_after(builder, t, n) for t, n in zip(tensors, added, strict=True)),
        added=added,
        axis=axis,
        extent=extent,
        slice_extent=builder.fresh_extent(opaque=True),
    )


def _axis(call: Call, tensor: Tensor, widest: int) -> int:
    """The source axis in one component: beside a wider one, coordinates and others of rank one have no other."""
    return 0 if tensor.rank == 1 < widest else call.axis("axis", tensor.rank)


def _after(builder: Builder, tensor: Tensor, added: int) -> Tensor:
    """``tensor`` with axes of extent 1 before its own."""
    if not added:
        return tensor
    axes = tuple(range(added, added + tensor.rank))
    return builder.spread(tensor, axes, (*[const(1)] * added, *tensor.shape))


def _open(call: Call, role: str) -> str:
    name = helper_name(call.callee(role))
    call.builder.open(
        isolated=True, pure=Purity(helper=name, role=f"{role}= of {call.what}", through="operands")
    )
    return name


def _inline(
    call: Call, role: str, arguments: Sequence[FrontValue], operands: Sequence[FrontValue] = ()
) -> FrontValue:
    """The helper on its parts and the operands; a helper that has no parameters for operands is not given them."""
    callee = call.callee(role)
    if not isinstance(callee, Function):
        raise call.wrong_kind(role, "a helper decorated with @intent.fn")
    room = len(callee.definition.python_signature.parameters)
    return call.inline(callee, arguments if room == len(arguments) else [*arguments, *operands])


def _summarize(call: Call, source: _Source, held: Captures) -> tuple[Region, FrontValue]:
    """The summarizer's region and the summary's schema, a product of leaves."""
    builder = call.builder
    name = _open(call, "summarize")
    result = _inline(call, "summarize", source.sliced(builder), held.arguments(builder))
    like = arranged(call.front("identity"), result)
    if not same_structure(result, like):
        raise SchemaMismatch(
            f"identity= of {call.what}", expected=result.describe(), found=like.describe(), span=builder.span
        )
    parts = builder.components(result, like, f"the result of {name}")
    schema, values = _shaped_like_identity(call, name, parts, like)
    for value in values:
        own = set(source.slice_extent.atoms())
        if any(atom in own for extent in value.shape for atom in extent.atoms()):
            raise SliceExtentObserved(
                name, use="the extent of the slice in the shape of a summary", span=builder.span
            )
    return builder.close(values), rebuild(result, iter(schema))


def _shaped_like_identity(
    call: Call, name: str, parts: Sequence[Tensor], like: FrontValue
) -> tuple[list[FrontValue], list[Value]]:
    """Summary components in the shapes of the identity, where the identity is a full slice."""
    schema: list[FrontValue] = []
    values: list[Value] = []
    for part, wanted in zip(parts, leaves(like), strict=True):
        shape = call.builder.shape_of(wanted)
        tensor = (
            conform(call.builder, part, shape, f"the result of {name}") if len(shape) == part.rank else part
        )
        schema.append(Leaf(dtype=tensor.dtype, shape=tensor.shape))
        values.append(tensor.value)
    return schema, values


def _identity(call: Call, parameter: str, schema: FrontValue) -> tuple[Value, ...]:
    """The identity in the summary's schema; one element-level value stands for a whole component."""
    builder = call.builder
    parts: list[FrontValue] = []
    for part, component in zip(leaves(arranged(call.front(parameter), schema)), leaves(schema), strict=True):
        wanted = leaf_type(component)
        tensor = builder.materialize(part, wanted.dtype, f"{parameter}= of {call.what}")
        parts.append(builder.full(wanted.shape, tensor) if wanted.shape and not tensor.shape else tensor)
    product = rebuild(schema, iter(parts))
    return as_schema(call, product, schema, f"{parameter}= of {call.what}")


def _binary(call: Call, role: str, first: FrontValue, second: FrontValue, result: FrontValue) -> Region:
    """``combine(summary, summary)`` or ``apply(summary, state)`` as a region."""
    builder = call.builder
    name = _open(call, role)
    made = _inline(call, role, [builder.arguments(first), builder.arguments(second)])
    return builder.close(as_schema(call, made, result, f"the result of {name}"))


@dataclass(frozen=True, kw_only=True)
class _Outputs:
    """The emitted product, its components' types with the slice axis moved, and the axis each had."""

    product: FrontValue
    types: list[Leaf]
    axes: list[int]


def _emitted(call: Call, source: _Source, state: FrontValue, held: Captures) -> tuple[Region, _Outputs, int]:
    """The emitter's region; every output has the slice axis exactly once, at one place for all."""
    builder = call.builder
    name = _open(call, "emit")
    one_slice = [*source.sliced(builder), builder.arguments(state)]
    result = _inline(call, "emit", one_slice, held.arguments(builder))
    parts = builder.components(result, what=f"the result of {name}")
    axes = [_slice_axis(call, name, part, source.slice_extent) for part in parts]
    axis = axes[0] if len(set(axes)) == 1 else 0
    moved = [
        transposed(builder, part, _move(part.rank, a, axis)) for part, a in zip(parts, axes, strict=True)
    ]
    region = builder.close(builder.values(moved))
    types = [Leaf(dtype=t.dtype, shape=t.shape) for t in moved]
    return region, _Outputs(product=result, types=types, axes=axes), axis


def _slice_axis(call: Call, name: str, part: Tensor, slice_extent: Extent) -> int:
    """Where an output has the slice's extent; the other extents must not depend on it."""
    places = [k for k, extent in enumerate(part.shape) if extent is slice_extent]
    hidden = any(a in call.builder.opaque for e in part.shape if e is not slice_extent for a in e.atoms())
    if len(places) != 1 or hidden:
        raise SchemaMismatch(
            f"the result of {name}",
            expected="outputs with the slice's axis exactly once",
            found=part.describe(),
            fix="emit one output for each member of the slice",
            span=call.builder.span,
        )
    return places[0]


def _move(rank: int, source: int, target: int) -> tuple[int, ...]:
    """The permutation that puts axis ``source`` at ``target`` and keeps the order of the others."""
    order = [axis for axis in range(rank) if axis != source]
    order.insert(target, source)
    return tuple(order)


def _moved(builder: Builder, tensor: Tensor, axis: int, wanted: int) -> Tensor:
    return transposed(builder, tensor, _move(tensor.rank, axis, wanted))


def _replaced(shape: tuple[Extent, ...], axis: int, extent: Extent) -> tuple[Extent, ...]:
    return tuple(extent if k == axis else e for k, e in enumerate(shape))


LOWERINGS: Final[dict[str, Lower]] = {"region_fold": _fold, "region_scan": _scan}
