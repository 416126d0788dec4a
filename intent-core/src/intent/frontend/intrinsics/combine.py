"""Combine regions: a pure helper of two accumulators, lowered on one element (spec: logical-program 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from intent.diagnostics import CompilerFault, IntentError, SchemaMismatch, ShapeMismatch
from intent.frontend.builder import Builder
from intent.frontend.emission import Purity
from intent.frontend.intrinsics.call import Call
from intent.frontend.intrinsics.shapes import conform
from intent.frontend.values import (
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

    ``elementwise``: the helper is lowered on one element, so a component of a slice's shape comes as a scalar.
    """

    fronts: tuple[FrontValue, ...]
    values: tuple[Value, ...]
    elementwise: bool = False

    def arguments(self, builder: Builder) -> tuple[FrontValue, ...]:
        """The operands inside the innermost region: run-time components become its arguments."""

        def argument(leaf: FrontValue) -> FrontValue:
            if not isinstance(leaf, Tensor):
                return leaf
            shape = () if self.elementwise else leaf.shape
            return builder.loaded(builder.argument(leaf.dtype, shape, leaf.value.name))

        return tuple(map_leaves(front, argument) for front in self.fronts)


def captures(call: Call, parameter: str, slice_shape: tuple[Extent, ...] | None = None) -> Captures:
    """The operands that a helper takes beside its parts. Compile-time objects stay; memory is read here.

    ``slice_shape``: the helper is lowered on one element; tensors are broadcast to this shape of a whole slice.
    """

    def captured(leaf: FrontValue) -> FrontValue:
        if isinstance(leaf, Literal | PyConst | DTypeRef | Function | IntrinsicRef):
            return leaf
        if isinstance(leaf, ExtentRef) and leaf.extent.launch_visible:
            return leaf
        tensor = call.builder.data(leaf, call.what)
        return tensor if slice_shape is None else _to_slice(call, parameter, tensor, slice_shape)

    front = call.front(parameter)
    items = front.items if isinstance(front, Tuple) else (front,)
    fronts = tuple(map_leaves(item, captured) for item in items)
    values = tuple(leaf.value for item in fronts for leaf in leaves(item) if isinstance(leaf, Tensor))
    return Captures(fronts=fronts, values=values, elementwise=slice_shape is not None)


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
    """``combine(acc, element, operands...)`` on scalars of the components' dtypes.

    ``schema`` is a product of leaves that have the components' dtypes. Raises ImpureHelper, SchemaMismatch.
    """
    builder, callee = call.builder, call.callee(role)
    scalars = map_leaves(schema, lambda leaf: Leaf(dtype=leaf_type(leaf).dtype))
    name = helper_name(callee)
    builder.open(
        isolated=True, pure=Purity(helper=name, role=f"{role}= of {call.what}", through="combine_operands")
    )
    lhs, rhs = builder.arguments(scalars), builder.arguments(scalars)
    result = _apply(call, callee, lhs, rhs, held.arguments(builder))
    return builder.close(as_schema(call, result, scalars, f"the result of {name}"))


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
