"""Field roles of IR nodes, declared once; walking, printing, parsing and comparing derive from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING, Field, field, fields
from typing import Any, Literal

Role = Literal["operand", "operands", "region", "attribute", "resource", "relation", "result"]


def _role(role: Role, default: Any) -> Any:
    return field(metadata={"role": role}, **({} if default is MISSING else {"default": default}))


def operand(default: Any = MISSING) -> Any:
    """One value read by the operation (``Value`` or, with default None, ``Value | None``)."""
    return _role("operand", default)


def operands(default: Any = MISSING) -> Any:
    """A tuple of values read by the operation."""
    return _role("operands", default)


def relation(default: Any = MISSING) -> Any:
    """An index relation; its coordinates are values read by the operation."""
    return _role("relation", default)


def region(default: Any = MISSING) -> Any:
    """A nested region (``Region`` or ``Region | None``)."""
    return _role("region", default)


def resource(default: Any = MISSING) -> Any:
    """The memory object that the operation reads or writes."""
    return _role("resource", default)


def attribute(default: Any = MISSING) -> Any:
    """A compile-time fact of the operation."""
    return _role("attribute", default)


def result(default: Any = MISSING) -> Any:
    """The tuple of values the operation defines."""
    return _role("result", default)


_ROLES: dict[type, tuple[tuple[Field[Any], Role], ...]] = {}


def roles(node_type: type) -> tuple[tuple[Field[Any], Role], ...]:
    """The fields of a node type with their roles, in declaration order."""
    found = _ROLES.get(node_type)
    if found is None:
        found = tuple((f, f.metadata["role"]) for f in fields(node_type) if "role" in f.metadata)
        _ROLES[node_type] = found
    return found


_NAMED: dict[tuple[type, Role], tuple[str, ...]] = {}
_READ: dict[type, tuple[tuple[str, Role], ...]] = {}


def named(node_type: type, role: Role) -> tuple[str, ...]:
    """The names of the fields of a node type that have this role, in declaration order."""
    found = _NAMED.get((node_type, role))
    if found is None:
        found = _NAMED[node_type, role] = tuple(f.name for f, has in roles(node_type) if has == role)
    return found


def read(node_type: type) -> tuple[tuple[str, Role], ...]:
    """The names and roles of the fields of a node type that hold values it reads, in declaration order."""
    found = _READ.get(node_type)
    if found is None:
        values = ("operand", "operands", "relation")
        found = _READ[node_type] = tuple((f.name, has) for f, has in roles(node_type) if has in values)
    return found


def flattened(ops: Iterable[Any]) -> tuple[Any, ...]:
    """The operations and those of their regions (which have ``all_ops``), outer before inner."""
    found: list[Any] = []
    for op in ops:
        found.append(op)
        for name in named(type(op), "region"):
            if (inner := getattr(op, name)) is not None:
                found += inner.all_ops
    return tuple(found)
