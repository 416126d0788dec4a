"""Walking the logical IR by field roles."""

from __future__ import annotations

from collections.abc import Iterator

from intent.kir.ops import Op
from intent.kir.roles import named, read
from intent.kir.value import Region, Resource, Value


def operands_of(op: Op) -> Iterator[Value]:
    """Every value the operation reads directly, relations' coordinates included, nested regions excluded."""
    for name, role in read(type(op)):
        value = getattr(op, name)
        if value is None:
            continue
        if role == "operand":
            yield value
        elif role == "operands":
            yield from value
        else:
            yield from value.coordinates


def regions_of(op: Op) -> Iterator[Region]:
    """The nested regions of the operation."""
    for name in named(type(op), "region"):
        if (value := getattr(op, name)) is not None:
            yield value


def resources_of(op: Op) -> Iterator[Resource]:
    """The memory objects the operation names."""
    for name in named(type(op), "resource"):
        yield getattr(op, name)


def walk(region: Region) -> Iterator[Op]:
    """Every operation of the region and of nested regions, in program order, outer before inner."""
    return iter(region.all_ops)
