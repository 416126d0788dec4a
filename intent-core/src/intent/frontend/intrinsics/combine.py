"""Combine regions: a pure helper of two accumulators, lowered on one element (spec: logical-program 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from intent.diagnostics import CompilerFault, ImpureHelper, IntentError, SchemaMismatch, ShapeMismatch
from intent.frontend.builder import Builder
from intent.frontend.emission import Purity
from intent.frontend.intrinsics.call import Call
from intent.frontend.intrinsics.shapes import conform
from intent.frontend.values import (
    BufferRef,
    DTypeRef,
    ExtentRef,
    FrontValue,
    Function,
    IntrinsicRef,
    Leaf,
    Literal,
    PyConst,
    Tensor,
    Tuple,
    ViewRef,
    arranged,
    leaves,
    map_leaves,
    rebuild,
    same_structure,
)
from intent.kir import Region, Value
from intent.types import Extent

__all__ = ["Captures", "as_schema", "captures", "combine_region", "helper_name", "leaf_type"]


@dataclass(frozen=True, kw_only=True)
class Captures:
    """Operands of a helper: ``fronts`` as the author wrote them, ``values`` the run-time components.

    ``sliced``: where the helper is lowered on one element, the components of a slice's shape. They are not among
    ``values``: they travel beside the elements, and each combination hands its own on.
    """

    fronts: tuple[FrontValue, ...]
    values: tuple[Value, ...]
    sliced: tuple[Tensor, ...] = ()

    def arguments(self, builder: Builder, sliced: Sequence[Tensor] = ()) -> tuple[FrontValue, ...]:
        """The operands inside the innermost region: run-time components become its arguments.

        ``sliced``: one element of each of those, which are arguments already.
        """
        elements = {id(whole): element for whole, element in zip(self.sliced, sliced, strict=True)}

        def argument(leaf: FrontValue) -> FrontValue:
            if not isinstance(leaf, Tensor):
                return leaf
            if id(leaf) in elements:
                return elements[id(leaf)]
            return builder.loaded(builder.argument(leaf.dtype, leaf.shape, leaf.value.name))

        return tuple(map_leaves(front, argument) for front in self.fronts)

    def repeated(self, builder: Builder, shape: tuple[Extent, ...], axes: Sequence[int]) -> list[Tensor]:
        """``sliced`` along the axes ``axes`` of ``shape``, which a slice does not have."""
        kept = tuple(k for k in range(len(shape)) if k not in axes)
        return [builder.spread(t, kept, shape) for t in self.sliced]


def captures(call: Call, parameter: str, slice_shape: tuple[Extent, ...] | None = None) -> Captures:
    """The operands that a helper takes beside its parts. Compile-time objects stay; memory is read here.

    ``slice_shape``: the helper is lowered on one element; tensors are broadcast to this shape of a whole slice.
    """

    def captured(leaf: FrontValue) -> FrontValue:
        if isinstance(leaf, Literal | PyConst | DTypeRef | Function | IntrinsicRef):
            return leaf
        if isinstance(leaf, ExtentRef) and leaf.extent.launch_visible:
            return leaf
        if isinstance(leaf, ViewRef | BufferRef) and slice_shape is not None:
            _refuse_memory(call, parameter, leaf, slice_shape)
        tensor = call.builder.data(leaf, call.what)
        return tensor if slice_shape is None else _to_slice(call, parameter, tensor, slice_shape)

    front = call.front(parameter)
    items = front.items if isinstance(front, Tuple) else (front,)
    fronts = tuple(map_leaves(item, captured) for item in items)
    tensors = [leaf for item in fronts for leaf in leaves(item) if isinstance(leaf, Tensor)]
    sliced = tuple(t for t in tensors if t.shape and slice_shape is not None)
    return Captures(fronts=fronts, values=tuple(t.value for t in tensors if t not in sliced), sliced=sliced)


def _refuse_memory(
    call: Call, parameter: str, memory: ViewRef | BufferRef, slice_shape: tuple[Extent, ...]
) -> None:
    """A view of more axes than a slice can only be meant to be read or written by the helper: ImpureHelper."""
    if len(memory.resource.shape) > len(slice_shape):
        raise ImpureHelper(
            helper_name(call.callee("combine")),
            role=f"combine= of {call.what}",
            effect=f"'{memory.resource.name}' itself is given in {parameter}=",
            span=call.builder.span,
        )


def _to_slice(call: Call, parameter: str, tensor: Tensor, shape: tuple[Extent, ...]) -> Tensor:
    """A scalar as it is, anything else broadcast to the shape of a slice. Raises ShapeMismatch."""
    if not tensor.shape:
        return tensor
    what = f"{parameter}= of {call.what}"
    if len(call.builder.broadcast_shapes([tensor.shape, shape], what)) != len(shape):
        raise ShapeMismatch(what, {"the operand": tensor.shape, "one slice": shape}, span=call.builder.span)
    return call.builder.broadcast_to(tensor, shape)


def helper_name(callee: Function | IntrinsicRef) -> str:
    """The helper as the author calls it."""
    if isinstance(callee, IntrinsicRef):
        return f"I.{callee.intrinsic.name}"
    return str(getattr(callee.definition, "name", callee.definition))


def combine_region(call: Call, schema: FrontValue, held: Captures, role: str = "combine") -> Region:
    """``combine(acc, element, operands...)`` on scalars of the components' dtypes, then of ``held.sliced``.

    ``schema`` is a product of leaves that have the components' dtypes. Raises ImpureHelper, SchemaMismatch.
    """
    builder, callee = call.builder, call.callee(role)
    scalars = map_leaves(schema, lambda leaf: Leaf(dtype=leaf_type(leaf).dtype))
    name = helper_name(callee)
    builder.open(
        isolated=True, pure=Purity(helper=name, role=f"{role}= of {call.what}", through="combine_operands")
    )
    beside = [Leaf(dtype=t.dtype) for t in held.sliced]
    lhs, mine = builder.arguments(scalars), builder.arguments(Tuple(items=tuple(beside)))
    rhs, _ = builder.arguments(scalars), builder.arguments(Tuple(items=tuple(beside)))
    own = [leaf for leaf in leaves(mine) if isinstance(leaf, Tensor)]
    result = _apply(call, callee, lhs, rhs, held.arguments(builder, own))
    made = as_schema(call, result, scalars, f"the result of {name}")
    return builder.close([*made, *builder.values(own)])


def _apply(
    call: Call,
    callee: Function | IntrinsicRef,
    lhs: FrontValue,
    rhs: FrontValue,
    operands: Sequence[FrontValue],
) -> FrontValue:
    builder = call.builder
    if isinstance(callee, IntrinsicRef):
        pairs = zip(leaves(lhs), leaves(rhs), strict=True)
        name = callee.intrinsic.name
        return rebuild(lhs, iter([builder.pointwise(name, a, b, what=f"I.{name}") for a, b in pairs]))
    try:
        return call.inline(callee, [lhs, rhs, *operands])
    except IntentError as error:
        if type(error).__name__ in ("WrongRank", "InvalidAxis"):
            note = f"{helper_name(callee)} works on one element of each component, not on slices"
            error.notes = (*error.notes, note)
        raise


def as_schema(call: Call, result: FrontValue, schema: FrontValue, what: str) -> tuple[Value, ...]:
    """The components of a helper's result, which must be those of ``schema``; literals take their dtypes.

    Extents that are not one identity are demanded equal. Raises SchemaMismatch.
    """
    result = arranged(result, schema)
    if not same_structure(result, schema):
        raise SchemaMismatch(
            what, expected=schema.describe(), found=result.describe(), span=call.builder.span
        )
    found: list[Value] = []
    for part, component in zip(leaves(result), leaves(schema), strict=True):
        wanted = leaf_type(component)
        tensor = call.builder.materialize(part, wanted.dtype, what)
        if not tensor.shape and wanted.shape and isinstance(part, Literal):
            tensor = call.builder.full(wanted.shape, tensor)
        if tensor.dtype is not wanted.dtype or tensor.rank != len(wanted.shape):
            raise SchemaMismatch(
                what, expected=schema.describe(), found=result.describe(), span=call.builder.span
            )
        found.append(conform(call.builder, tensor, wanted.shape, what).value)
    return tuple(found)


def leaf_type(component: FrontValue) -> Leaf:
    """The type of one component of a schema, which is a product of leaves or tensors."""
    if not isinstance(component, Leaf | Tensor):
        raise CompilerFault(f"a schema holds {component.describe()}", stage="the front end")
    return Leaf(dtype=component.dtype, shape=component.shape)
