"""Combine regions: a pure helper of two accumulators, lowered on one element (spec: logical-program 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from intent.diagnostics import CompilerFault, IntentError, NotSupportedYet, SchemaMismatch
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

__all__ = ["Captures", "as_schema", "captures", "combine_region", "helper_name", "leaf_type", "only_scalars"]


@dataclass(frozen=True, kw_only=True)
class Captures:
    """Operands of a helper: ``fronts`` as the author wrote them, ``values`` the run-time components."""

    fronts: tuple[FrontValue, ...]
    values: tuple[Value, ...]

    def arguments(self, builder: Builder) -> tuple[FrontValue, ...]:
        """The operands inside the innermost region: run-time components become its arguments."""
        return tuple(map_leaves(front, lambda leaf: _argument(builder, leaf)) for front in self.fronts)


def captures(call: Call, parameter: str) -> Captures:
    """The operands that a helper takes whole. Compile-time objects stay what they are; memory is read."""
    front = call.front(parameter)
    items = front.items if isinstance(front, Tuple) else (front,)
    fronts = tuple(map_leaves(item, lambda leaf: _captured(call, leaf)) for item in items)
    values = tuple(leaf.value for item in fronts for leaf in leaves(item) if isinstance(leaf, Tensor))
    return Captures(fronts=fronts, values=values)


def _captured(call: Call, leaf: FrontValue) -> FrontValue:
    if isinstance(leaf, Literal | PyConst | DTypeRef | Function | IntrinsicRef):
        return leaf
    if isinstance(leaf, ExtentRef) and leaf.extent.launch_visible:
        return leaf
    return call.builder.data(leaf, call.what)


def _argument(builder: Builder, leaf: FrontValue) -> FrontValue:
    if not isinstance(leaf, Tensor):
        return leaf
    return builder.loaded(builder.argument(leaf.dtype, leaf.shape, leaf.value.name))


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


def only_scalars(call: Call, held: Captures, parameter: str) -> None:
    """Refuse operands with axes where the helper is lowered on one element."""
    for value in held.values:
        if value.shape:
            raise NotSupportedYet(
                f"a tensor in {parameter}= of {call.what}",
                fix="pass scalars, or make it a component of the value",
                span=call.builder.span,
            )


def leaf_type(component: FrontValue) -> Leaf:
    """The type of one component of a schema, which is a product of leaves or tensors."""
    if not isinstance(component, Leaf | Tensor):
        raise CompilerFault(f"a schema holds {component.describe()}", stage="the front end")
    return Leaf(dtype=component.dtype, shape=component.shape)
