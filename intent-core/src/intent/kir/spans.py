"""The places in the author's source that a kernel's parts come from, beside its text, which does not hold them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, TypeVar

from intent.kir.kernel import Kernel
from intent.kir.ops import Op
from intent.kir.roles import roles
from intent.kir.value import Buffer, Region, Resource, View
from intent.kir.walk import walk
from intent.types import Span

__all__ = ["Place", "put_places", "take_places"]

Place = tuple[str, int, int, int, int, str]
"""The fields of a span in their order."""

_Spanned = TypeVar("_Spanned")


def take_places(kernel: Kernel) -> list[Place]:
    """The place of every part in a fixed order."""
    found: list[Place] = []

    def take(part: _Spanned) -> _Spanned:
        found.append(tuple(getattr(part.span, f.name) for f in fields(Span)))  # type: ignore[attr-defined]
        return part

    _each(kernel, take)
    return found


def put_places(kernel: Kernel, places: list[Place]) -> Kernel:
    """The kernel with the places that :func:`take_places` gave for one that is equal. Raises ValueError."""
    left = iter(places)

    def put(part: _Spanned) -> _Spanned:
        place = next(left, None)
        if place is None:
            raise ValueError("there are fewer places than parts")
        return replace(part, span=Span(*place))  # type: ignore[type-var]

    placed = _each(kernel, put)
    if next(left, None) is not None:
        raise ValueError("there are more places than parts")
    return placed


def _each(kernel: Kernel, change: Any) -> Kernel:
    """The kernel with every part changed: itself, parameters, buffers, domains, conditions, promises, operations."""
    kernel = change(kernel)
    params = tuple(map(change, kernel.params))
    views: dict[str, View] = {p.name: p for p in params if isinstance(p, View)}
    buffers: dict[int, Buffer] = {}
    for op in walk(kernel.body):
        for field, role in roles(type(op)):
            resource = getattr(op, field.name) if role == "resource" else None
            if isinstance(resource, Buffer) and resource.id not in buffers:
                buffers[resource.id] = change(resource)
    domains, conditions, assumptions = (
        tuple(map(change, parts)) for parts in (kernel.domains, kernel.conditions, kernel.assumptions)
    )

    def resourced(resource: Resource) -> Resource:
        return buffers[resource.id] if isinstance(resource, Buffer) else views[resource.name]

    return replace(
        kernel,
        params=params,
        body=_region(kernel.body, change, resourced),
        domains=domains,
        conditions=conditions,
        assumptions=assumptions,
    )


def _region(region: Region, change: Any, resourced: Any) -> Region:
    return replace(region, ops=tuple(_op(op, change, resourced) for op in region.ops))


def _op(op: Op, change: Any, resourced: Any) -> Op:
    changed: Op = change(op)
    new: dict[str, Any] = {}
    for field, role in roles(type(op)):
        value = getattr(op, field.name)
        if role == "region" and value is not None:
            new[field.name] = _region(value, change, resourced)
        elif role == "resource":
            new[field.name] = resourced(value)
    return replace(changed, **new)
