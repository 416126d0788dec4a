"""Subscripts: of views, buffers and tensors, of tuples, domains and ragged relations."""

from __future__ import annotations

import ast

from intent.diagnostics import IndexOutOfRange, NotConstexpr, UnsupportedSyntax, WrongKind
from intent.frontend.lowering import Lowering
from intent.frontend.relations import Access
from intent.frontend.values import (
    Address,
    BufferRef,
    Domain,
    ExtentRef,
    FrontValue,
    Literal,
    Ragged,
    RaggedGroup,
    Slice,
    Tensor,
    Tuple,
    ViewRef,
)


def lower_subscript(lowering: Lowering, node: ast.expr) -> FrontValue:
    """``base[items]`` as a value."""
    assert isinstance(node, ast.Subscript)
    base = lowering.expression(node.value)
    items = subscript_items(lowering, node.slice)
    builder = lowering.builder
    if isinstance(base, Tuple):
        return _of_tuple(lowering, base, items, node)
    if isinstance(base, Domain):
        return _of_domain(lowering, base, items, node)
    if isinstance(base, Ragged):
        return _of_ragged(lowering, base, items)
    if isinstance(base, RaggedGroup):
        return RaggedGroup(positions=_of_domain(lowering, base.positions, items, node), indices=base.indices)
    if isinstance(base, ViewRef | BufferRef | Tensor):
        return builder.subscript(base, items, name_of(node))
    raise WrongKind(
        "a subscript",
        expected="a view, buffer, tensor, tuple or domain",
        found=base.describe(),
        argument=ast.unparse(node.value),
        span=builder.span,
    )


def subscript_items(lowering: Lowering, node: ast.expr) -> tuple[FrontValue, ...]:
    """The items between the brackets; a tuple value stands for its items, as in Python."""
    if isinstance(node, ast.Tuple):
        return tuple(_item(lowering, item) for item in node.elts)
    item = _item(lowering, node)
    return item.items if isinstance(item, Tuple) else (item,)


def lower_address(lowering: Lowering, node: ast.Subscript) -> Address | None:
    """``view[i]`` as an address (language decision 2); None when the base is no view or buffer."""
    base = lowering.expression(node.value)
    if not isinstance(base, ViewRef | BufferRef):
        return None
    return Address(resource=base.resource, access=resource_access(lowering, base, node))


def resource_access(lowering: Lowering, base: ViewRef | BufferRef, node: ast.Subscript) -> Access:
    """The access of a subscript of a view or buffer."""
    resource = base.resource
    items = subscript_items(lowering, node.slice)
    return lowering.builder.access(resource.shape, items, name_of(node), resource)


def name_of(node: ast.Subscript) -> str:
    """The subscripted value in the author's words."""
    text = ast.unparse(node.value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _item(lowering: Lowering, node: ast.expr) -> FrontValue:
    if isinstance(node, ast.Slice):
        parts = (node.lower, node.upper, node.step)
        begin, end, step = (None if p is None else lowering.expression(p) for p in parts)
        return Slice(begin=begin, end=end, step=step)
    return lowering.expression(node)


def _of_tuple(
    lowering: Lowering, base: Tuple, items: tuple[FrontValue, ...], node: ast.Subscript
) -> FrontValue:
    """A component by static position, or a part by a static slice."""
    (item,) = items if len(items) == 1 else (Tuple(items=items),)
    if isinstance(item, Slice):
        bounds = [None if p is None else _static(lowering, p) for p in (item.begin, item.end, item.step)]
        return Tuple(items=base.items[slice(*bounds)])
    position = _static(lowering, item)
    if not -len(base.items) <= position < len(base.items):
        raise IndexOutOfRange(
            ast.unparse(node.value), position, axis=0, extent=len(base.items), span=lowering.builder.span
        )
    return base.items[position]


def _static(lowering: Lowering, front: FrontValue) -> int:
    if isinstance(front, Literal) and type(front.value) is int:
        return front.value
    if isinstance(front, ExtentRef) and front.extent.const is not None:
        return front.extent.const
    raise NotConstexpr("the position in a tuple", found=front.describe(), span=lowering.builder.span)


def _of_domain(
    lowering: Lowering, base: Domain, items: tuple[FrontValue, ...], node: ast.Subscript
) -> Domain:
    """A subregion; coordinates are the source's."""
    (item,) = items if len(items) == 1 else (Tuple(items=items),)
    if not isinstance(item, Slice):
        raise WrongKind(
            "a subscript of a domain",
            expected="begin:end",
            found=item.describe(),
            argument="the subscript",
            fix="write axis[begin:end], or compute the coordinate",
            span=lowering.builder.span,
        )
    if item.step is not None:
        raise UnsupportedSyntax(
            "a step in a subregion", fix="write I.domain(begin, end, step)", span=lowering.span(node)
        )
    return lowering.builder.subregion(base, item.begin, item.end)


def _of_ragged(lowering: Lowering, base: Ragged, items: tuple[FrontValue, ...]) -> RaggedGroup:
    """Group g: the members between two offsets (spec: logical-program 8)."""
    builder = lowering.builder
    if len(items) != 1:
        raise WrongKind("a group", expected="one identity", found=f"{len(items)} indices", span=builder.span)
    group = builder.scalar_index(items[0], "the identity of a group")
    following = builder.symbolic("add", group, Literal(value=1)) or builder.pointwise(
        "add", group, Literal(value=1)
    )
    begin = builder.subscript(base.offsets, (group,), "offsets")
    end = builder.subscript(base.offsets, (following,), "offsets")
    # With a mapping, the offsets divide the mapping; its elements are the members.
    source = base.members
    if base.indices is not None:
        source = builder.axis_domain(builder.shape_of(base.indices)[0])
    return RaggedGroup(positions=builder.subregion(source, begin, end), indices=base.indices)
