"""Dropping operations without effects whose results nobody reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from intent.kir import (
    AssumeInBounds,
    Atomic,
    BufferAlloc,
    DomainID,
    DomainInfo,
    For,
    If,
    Iota,
    Op,
    Region,
    ScatterReduce,
    Store,
    While,
)
from intent.kir.roles import roles
from intent.kir.walk import operands_of, regions_of, walk
from intent.types import Extent
from intent.types.extent import Dyn

_EFFECTS = (Store, ScatterReduce, Atomic, BufferAlloc, AssumeInBounds)


Bounds = Mapping[DomainID, tuple[Extent, ...]]


def drop_dead(region: Region, bounds: Bounds) -> Region:
    """The region without dead operations. A loop without effects whose results are unused is dead.

    ``bounds``: extents whose values are needed beside a domain that is used.
    """
    return _region(region, set(), bounds)


def _region(region: Region, used: set[int], bounds: Bounds) -> Region:
    """``used`` collects the ids of the values that what is kept reads."""
    used.update(value.id for value in region.yields)
    kept: list[Op] = []
    for op in reversed(region.ops):
        if not _effectful(op) and not any(result.id in used for result in op.results):
            continue
        kept.append(_op(op, used, bounds))
    for arg in region.args:
        _use_extents(arg.shape, used)
    return replace(region, ops=tuple(reversed(kept)))


def _op(op: Op, used: set[int], bounds: Bounds) -> Op:
    regions = {
        f.name: _region(region, used, bounds)
        for f, role in roles(type(op))
        if role == "region" and (region := getattr(op, f.name)) is not None
    }
    used.update(value.id for value in operands_of(op))
    for result in op.results:
        _use_extents(result.shape, used)
    for field in fields(op):
        value = getattr(op, field.name)
        if isinstance(value, Extent):
            _use_extents((value,), used)
    if isinstance(op, BufferAlloc):
        _use_extents(op.buffer.shape, used)
    if isinstance(op, Iota | For | While) and op.domain is not None:
        _use_extents(bounds.get(op.domain, ()), used)
    changed: dict[str, Any] = {
        name: region for name, region in regions.items() if region is not getattr(op, name)
    }
    return replace(op, **changed) if changed else op


def _use_extents(extents: Iterable[Extent], used: set[int]) -> None:
    for extent in extents:
        used.update(atom.value for atom in extent.atoms() if isinstance(atom, Dyn))


def _effectful(op: Op) -> bool:
    if isinstance(op, _EFFECTS):
        return True
    return isinstance(op, If | For | While) and any(
        _effectful(inner) for r in regions_of(op) for inner in r.ops
    )


def used_domains(body: Region, domains: Iterable[DomainInfo]) -> tuple[DomainInfo, ...]:
    """The domains that an operation names, and their parents."""
    domains = tuple(domains)
    wanted = {op.domain for op in walk(body) if isinstance(op, Iota | For | While)}
    for info in reversed(domains):
        if info.id in wanted and info.parent is not None:
            wanted.add(info.parent)
    return tuple(info for info in domains if info.id in wanted)
