"""A logical kernel as text that people read and :mod:`intent.kir.parse` reads back equal.

::

    kernel row_sum
      view x: f32[M, N] in
      view y: f32[M] out
      domain 0 rows
      body ^0() {
        %0 index = extent_value #0 extent=<0>
        ...
        %6:total f32[M] = reduce #6 operands=(%5:x) axes=(1) kind=sum
        store #7 target=@y relation=[%2:rows(0)] value=%6:total
      }

One line is one operation: results with their types, the operation's name and id, then its fields by name, in
the order of their declaration; a field that has its default is left out. Fields come from the roles that node
classes declare, so a new operation needs no code here. Spans are not printed: they do not take part in
comparison.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, Field
from typing import Any, Final

from intent.kir.kernel import Kernel
from intent.kir.ops import Op
from intent.kir.roles import roles
from intent.kir.value import Buffer, Region, Relation, Resource, ScalarParam, Value, View
from intent.kir.walk import resources_of, walk
from intent.types import Extent

__all__ = ["RESERVED", "operation_name", "print_kernel", "print_op", "print_region"]

_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
RESERVED: Final = frozenset({"None", "True", "False", "nan", "inf", "yield"})
"""Words that stand for themselves in attributes, so strings spelled like them are quoted."""


def print_kernel(kernel: Kernel) -> str:
    """The whole kernel as text; ``parse_kernel(print_kernel(k)) == k``."""
    lines = [f"kernel {_word(kernel.name)}"]
    lines += [f"  {line}" for line in _header(kernel)]
    lines += [f"  body {print_region(kernel.body, indent=1)}"]
    return "\n".join(lines) + "\n"


def print_region(region: Region, *, indent: int = 0) -> str:
    """``^id(args) { ... }`` with one operation per line; ``indent`` is the level of the opening line."""
    pad = "  " * (indent + 1)
    arguments = ", ".join(map(_definition, region.args))
    lines = [f"^{region.id}({arguments}) {{"]
    lines += [pad + print_op(op, indent=indent + 1) for op in region.ops]
    if region.yields:
        lines.append(f"{pad}yield {', '.join(map(_use, region.yields))}")
    return "\n".join([*lines, "  " * indent + "}"])


def print_op(op: Op, *, indent: int = 0) -> str:
    """One operation; nested regions take further lines."""
    parts = [f"{operation_name(type(op))} #{op.id}"]
    for field, role in roles(type(op)):
        value = getattr(op, field.name)
        if role == "result" or _is_default(field, value):
            continue
        parts.append(f"{field.name}={_field(role, value, indent)}")
    line = " ".join(parts)
    return f"{', '.join(map(_definition, op.results))} = {line}" if op.results else line


def operation_name(node_type: type[Op]) -> str:
    """``RegionFold`` is printed ``region_fold``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", node_type.__name__).lower()


def _header(kernel: Kernel) -> Iterator[str]:
    for parameter in kernel.params:
        yield _view(parameter) if isinstance(parameter, View) else _scalar(parameter)
    for buffer in _buffers(kernel):
        yield f"buffer !{buffer.id} {_word(buffer.name)}: {_type(buffer)}"
    for domain in kernel.domains:
        parent = "" if domain.parent is None else f" parent={domain.parent}"
        extent = "" if domain.extent is None else f" extent=<{domain.extent}>"
        bounds = "" if domain.begin is None else f" begin=<{domain.begin}> end=<{domain.end}>"
        yield f"domain {domain.id} {_word(domain.name)}{parent}{extent}{bounds}"
    for condition in kernel.conditions:
        when = "".join(f" when {test.kind} <{test.lhs}> <{test.rhs}>" for test in condition.when)
        reason = json.dumps(condition.reason)
        yield f"condition {condition.kind} <{condition.lhs}> <{condition.rhs}> {reason}{when}"
    for assumption in kernel.assumptions:
        yield f"assume {assumption.kind} {json.dumps(assumption.detail)}"
    for name, value in kernel.constexprs:
        yield f"constexpr {_word(name)} {json.dumps(value)}"


def _view(view: View) -> str:
    text = f"view {_word(view.name)}: {_type(view)} {view.mode}"
    if view.strides is not None:
        text += f" strides={_attribute(view.strides)}"
    if view.alias is not None:
        text += f" alias={_word(view.alias)}"
    return text + (" noalias" if view.noalias else "") + (" coincident" if view.coincident else "")


def _scalar(parameter: ScalarParam) -> str:
    return f"scalar {_word(parameter.name)}: {_definition(parameter.value)}"


def _buffers(kernel: Kernel) -> Iterable[Buffer]:
    found: dict[int, Buffer] = {}
    for op in walk(kernel.body):
        for resource in resources_of(op):
            if isinstance(resource, Buffer):
                found.setdefault(resource.id, resource)
    return found.values()


def _is_default(field: Field[Any], value: Any) -> bool:
    return field.default is not MISSING and type(value) is type(field.default) and value == field.default


def _field(role: str, value: Any, indent: int) -> str:
    if value is None:
        return "None"
    match role:
        case "operand":
            return _use(value)
        case "operands":
            return f"({', '.join(map(_use, value))})"
        case "relation":
            return _relation(value)
        case "resource":
            return _resource(value)
        case "region":
            return print_region(value, indent=indent)
    return _attribute(value)


def _relation(relation: Relation) -> str:
    coordinates = zip(relation.coordinates, relation.axes, strict=True)
    return "[" + ", ".join(f"{_use(c)}({', '.join(map(str, axes))})" for c, axes in coordinates) + "]"


def _resource(resource: Resource) -> str:
    return f"@{_word(resource.name)}" if isinstance(resource, View) else f"!{resource.id}"


def _attribute(value: object) -> str:
    """None, bool, int, float, str, Extent, and tuples of them."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_attribute, value))})"
    if isinstance(value, str):
        return _word(value)
    if isinstance(value, Extent):
        return f"<{value}>"
    return repr(value)


def _definition(value: Value) -> str:
    return f"{_use(value)} {_type(value)}"


def _use(value: Value) -> str:
    return f"%{value.id}:{_word(value.name)}" if value.name else f"%{value.id}"


def _type(typed: Value | View | Buffer) -> str:
    return f"{typed.dtype}[{', '.join(map(str, typed.shape))}]" if typed.shape else str(typed.dtype)


def _word(text: str) -> str:
    return text if _WORD.match(text) and text not in RESERVED else json.dumps(text)
