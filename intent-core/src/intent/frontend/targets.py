"""Binding names and writing elements: the left-hand sides of assignments and loops."""

from __future__ import annotations

import ast

from intent.diagnostics import ImmutableValue, MixedDTypes, UnsupportedSyntax, WrongKind, WrongRank
from intent.frontend.lowering import Lowering
from intent.frontend.relations import Access
from intent.frontend.subscripts import name_of, resource_access
from intent.frontend.values import (
    BufferRef,
    Domain,
    FrontValue,
    Literal,
    Tensor,
    Tuple,
    ViewRef,
    leaves,
)
from intent.kir import Cast, Resource
from intent.types.dtypes import INDEX


def bind_target(lowering: Lowering, target: ast.expr, value: FrontValue) -> None:
    """Assign ``value`` to a name, a tuple of targets, or elements of a view or buffer."""
    if isinstance(target, ast.Name):
        _bind_name(lowering, target.id, value)
    elif isinstance(target, ast.Tuple | ast.List):
        _unpack(lowering, target, value)
    elif isinstance(target, ast.Subscript):
        resource, access = destination(lowering, target)
        store(lowering, resource, access, value)
    elif isinstance(target, ast.Attribute):
        base = lowering.expression(target.value)
        raise ImmutableValue(ast.unparse(target.value), kind=base.describe(), span=lowering.span(target))
    else:
        raise UnsupportedSyntax(
            "this target", fix="assign to a name or a subscript", span=lowering.span(target)
        )


def _bind_name(lowering: Lowering, name: str, value: FrontValue) -> None:
    lowering.scope.names[name] = value
    if name.startswith("."):
        return
    if isinstance(value, Domain):
        lowering.builder.name_domain(value, name)
    for leaf in leaves(value):
        if isinstance(leaf, Tensor):
            lowering.builder.name(leaf.value, name)


def _unpack(lowering: Lowering, target: ast.Tuple | ast.List, value: FrontValue) -> None:
    if not isinstance(value, Tuple):
        raise WrongKind("unpacking", expected="a tuple", found=value.describe(), span=lowering.builder.span)
    items, targets = list(value.items), target.elts
    stars = [k for k, t in enumerate(targets) if isinstance(t, ast.Starred)]
    if len(stars) == 1 and len(items) >= len(targets) - 1:
        first, last = stars[0], len(items) - (len(targets) - 1 - stars[0])
        items = [*items[:first], Tuple(items=tuple(items[first:last])), *items[last:]]
        targets = [t.value if isinstance(t, ast.Starred) else t for t in targets]
    if len(items) != len(targets) or len(stars) > 1:
        raise WrongRank(
            "unpacking",
            expected=f"{len(targets)} components",
            found=len(items),
            value="its components",
            fix=f"write {len(items)} names on the left",
            span=lowering.builder.span,
        )
    for inner, item in zip(targets, items, strict=True):
        bind_target(lowering, inner, item)


def destination(lowering: Lowering, target: ast.Subscript) -> tuple[Resource, Access]:
    """The resource and relation of ``base[items]`` on the left. Raises ImmutableValue for anything without storage."""
    base = lowering.expression(target.value)
    span = lowering.span(target)
    if not isinstance(base, ViewRef | BufferRef):
        raise ImmutableValue(name_of(target), kind=base.describe(), span=span)
    with lowering.builder.at(span):
        lowering.builder.check_writable(base.resource)
        return base.resource, resource_access(lowering, base, target)


def store(lowering: Lowering, resource: Resource, access: Access, value: FrontValue) -> None:
    """Write ``value``; a literal takes the resource's dtype, anything else must have it.

    Coordinates and extents have no storage of their own: into integer elements they go as by ``I.cast``.
    """
    builder = lowering.builder
    tensor = builder.materialize(value, resource.dtype, f"the assignment to {resource.name}")
    if tensor.dtype is INDEX and resource.dtype.is_integer and resource.dtype is not INDEX:
        tensor = Tensor(value=builder.emit_one(Cast, resource.dtype, tensor.shape, value=tensor.value))
    if tensor.dtype is not resource.dtype and not isinstance(value, Literal):
        seen = {lowering.text_of(value, "the value"): tensor.dtype, resource.name: resource.dtype}
        first = next(iter(seen))
        raise MixedDTypes(
            f"{resource.name}[...] = {first}",
            {resource.name: resource.dtype, first: tensor.dtype},
            span=builder.span,
        )
    builder.store(resource, access, tensor)
