"""A physical program as text that people read.

::

    program row_sum
      view x: f32[M, N] in
      view y: f32[M] out
      dims rows:4 cols:64
      guard N <= 64
      segment 0: rows = M / 4, length ceildiv(M, 4), offset 0
        ^(%0:id index) {
          %1 index = constant value=4
          %2:base index = pointwise fn=mul operands=(%0:id, %1)
          ...
          store target=@y coordinates=(%9:rows) value=%12:total dims=(rows:4) proofs=(guard)
        }

One line is one operation: results with dtype and dims, the operation's name, then its fields in declaration
order; a field that has its default is left out. Nothing is read back from this text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import MISSING, Field
from typing import Any

from intent.kir.roles import roles
from intent.physical.fragment import Buffer, Dim, Fragment, Region, Resource, View
from intent.physical.ops import BufferAlloc, Narrowed, Op
from intent.physical.program import Program, ScalarParam, Segment
from intent.physical.proof import Proof
from intent.types import Extent

__all__ = ["operation_name", "print_fragment", "print_op", "print_program", "print_region"]


def print_program(program: Program) -> str:
    """The whole program: interface, guards, then every segment with its body."""
    lines = [f"program {program.name}"]
    lines += [f"  {line}" for line in _header(program)]
    for segment in program.segments:
        lines.append(f"  {_segment(segment)}")
        lines.append(f"    {print_region(segment.body, indent=2)}")
    return "\n".join(lines) + "\n"


def print_region(region: Region, *, indent: int = 0) -> str:
    """``^(args) { ... }`` with one operation per line; ``indent`` is the level of the opening line."""
    pad = "  " * (indent + 1)
    lines = [f"^({', '.join(map(print_fragment, region.args))}) {{"]
    lines += [pad + print_op(op, indent=indent + 1) for op in region.ops]
    if region.yields:
        lines.append(f"{pad}yield {', '.join(map(_use, region.yields))}")
    return "\n".join([*lines, "  " * indent + "}"])


def print_op(op: Op, *, indent: int = 0) -> str:
    """One operation; nested regions take further lines."""
    if isinstance(op, BufferAlloc):
        return f"buffer_alloc {_buffer(op.buffer)}"
    parts = [operation_name(type(op))]
    for field, role in roles(type(op)):
        value = getattr(op, field.name)
        if role == "result" or _is_default(field, value):
            continue
        parts.append(f"{field.name}={_field(role, value, indent)}")
    line = " ".join(parts)
    return f"{', '.join(map(print_fragment, op.results))} = {line}" if op.results else line


def operation_name(node_type: type[Op]) -> str:
    """``BufferAlloc`` is printed ``buffer_alloc``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", node_type.__name__).lower()


def print_fragment(fragment: Fragment) -> str:
    """``%7:scores f32{rows:4, cols:64}``; a scalar has no braces."""
    dims = f"{{{', '.join(map(str, fragment.dims))}}}" if fragment.dims else ""
    return f"{_use(fragment)} {fragment.dtype}{dims}"


def _header(program: Program) -> Iterator[str]:
    for parameter in program.params:
        if isinstance(parameter, ScalarParam):
            yield f"scalar {parameter.name}: {parameter.dtype}"
        else:
            yield _view(parameter)
    for buffer in program.workspace:
        yield f"workspace {_buffer(buffer)}"
    if program.dims:
        yield f"dims {' '.join(map(str, program.dims))}"
    for guard in program.guards:
        yield f"guard {guard}"
    for condition in program.conditions:
        yield f"condition {condition.kind} {condition.lhs}, {condition.rhs}: {condition.reason}"
    for name, value in program.knobs:
        yield f"knob {name} = {value}"


def _segment(segment: Segment) -> str:
    axes = ", ".join(f"{axis.label} = {axis.extent} / {axis.block}" for axis in segment.axes) or "no axes"
    text = f"segment {segment.group}: {axes}, length {segment.length}, offset {segment.offset}"
    return text if segment.parts == 1 else f"{text}, {segment.parts} parts"


def _view(view: View) -> str:
    text = f"view {view.name}: {view.dtype}[{', '.join(map(str, view.shape))}] {view.mode}"
    if view.strides is not None:
        text += f" strides=({', '.join('?' if s is None else str(s) for s in view.strides)})"
    if view.alias is not None:
        text += f" alias={view.alias}"
    return text + (" noalias" if view.noalias else "")


def _buffer(buffer: Buffer) -> str:
    shape = f"[{', '.join(map(str, buffer.shape))}]"
    text = f"!{buffer.id}:{buffer.name} {buffer.dtype}{shape} {buffer.scope} {buffer.storage}"
    return f"{text} {buffer.role}" if buffer.role else text


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
        case "resource":
            return _resource(value)
        case "region":
            return print_region(value, indent=indent)
    return _attribute(value)


def _resource(resource: Resource) -> str:
    return f"@{resource.name}" if isinstance(resource, View) else f"!{resource.id}:{resource.name}"


def _attribute(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_attribute, value))})"
    if isinstance(value, Fragment):
        return _use(value)
    if isinstance(value, Narrowed):
        return f"{value.side} within {_use(value.bound)} by {_attribute(value.tests)}"
    if isinstance(value, (str, Dim, Proof)):
        return str(value)
    if isinstance(value, Extent):
        return f"<{value}>"
    return repr(value)


def _use(fragment: Fragment) -> str:
    return f"%{fragment.id}:{fragment.name}" if fragment.name else f"%{fragment.id}"
