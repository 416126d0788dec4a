"""Walking physical programs by field roles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from intent.kir.roles import flattened, named, read
from intent.physical.fragment import Buffer, Fragment, Region, Resource
from intent.physical.ops import Op
from intent.physical.program import Program


def operands_of(op: Op) -> Iterator[Fragment]:
    """Every fragment the operation reads directly, nested regions excluded."""
    for name, role in read(type(op)):
        value = getattr(op, name)
        if role == "operands":
            yield from value
        elif value is not None:
            yield value


def regions_of(op: Op) -> Iterator[Region]:
    """The nested regions of the operation."""
    for name in named(type(op), "region"):
        if (value := getattr(op, name)) is not None:
            yield value


def within(op: Op) -> tuple[Op, ...]:
    """The operation and every one inside of it, outer before inner."""
    return flattened((op,))


def reads_of(op: Op) -> Iterator[Fragment]:
    """Every fragment that the operation and those inside of it read, what its regions yield included."""
    for inner in within(op):
        yield from operands_of(inner)
        for region in regions_of(inner):
            yield from region.yields


def map_regions(op: Op, change: Callable[[Region], Region]) -> Op:
    """The operation with ``change`` of each of its nested regions; the same object where none changes."""
    inner: dict[str, Any] = {
        name: new
        for name in named(type(op), "region")
        if (old := getattr(op, name)) is not None and (new := change(old)) is not old
    }
    return replace(op, **inner) if inner else op


def resources_of(op: Op) -> Iterator[Resource]:
    """The memory objects the operation names."""
    for name in named(type(op), "resource"):
        yield getattr(op, name)


def walk(region: Region) -> Iterator[Op]:
    """Every operation of the region and of nested regions, outer before inner."""
    return iter(region.all_ops)


def last_id(program: Program) -> int:
    """The greatest id of an operation, value or buffer of the program."""
    found = 0
    for segment in program.segments:
        found = max([found, *(a.id for a in segment.body.args)])
        for op in walk(segment.body):
            found = max([found, op.id, *(r.id for r in op.results)])
            found = max([found, *(a.id for region in regions_of(op) for a in region.args)])
            found = max([found, *(r.id for r in resources_of(op) if isinstance(r, Buffer))])
    return found
