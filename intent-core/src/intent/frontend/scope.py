"""Names of one function body while it is lowered, and Python objects as front-end values."""

from __future__ import annotations

import builtins
import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from intent import language
from intent.diagnostics import MutableCapture, NameMayBeUndefined, RuntimeCapture, UnknownName
from intent.frontend.values import (
    ELLIPSIS,
    NONE,
    DTypeRef,
    FrontValue,
    Function,
    IntrinsicRef,
    Literal,
    PyConst,
    Tuple,
    Undefined,
)
from intent.language import FnDefinition, Intrinsic, KernelDefinition, Namespace, RecordFormat, ScaledFormat
from intent.language.definitions import Definition
from intent.types import DType, Span

_OPAQUE: tuple[type, ...] = (str, Namespace, ModuleType, KernelDefinition, ScaledFormat, RecordFormat)
"""Compile-time objects that are handed on as they are."""


@dataclass(kw_only=True)
class Scope:
    """``names`` maps local names to values; what is not there is looked up around the definition.

    ``local``: the names that the body assigns, with the line; as in Python they never are those of outside.
    """

    definition: Definition[...]
    names: dict[str, FrontValue] = field(default_factory=dict)
    local: Mapping[str, int] = field(default_factory=dict)
    captured: dict[str, object] = field(default_factory=dict)
    caller: Mapping[str, FrontValue] = field(default_factory=dict)
    """The names of the body that calls this one, which it cannot see; ``through``: what passes them on."""
    through: str | None = None

    def lookup(self, name: str, span: Span) -> FrontValue:
        """The value of a name.

        Raises UnknownName, RuntimeCapture, MutableCapture, NameMayBeUndefined, BranchTypesDiffer.
        """
        found = self.names.get(name)
        if isinstance(found, Undefined):
            raise found.error(span)
        if found is not None:
            return found
        captures = self.definition.captures
        if name in self.local and name in captures:
            where = f"in this function, at line {self.local[name]}, and so never the name around it"
            raise NameMayBeUndefined(name, assigned=where, span=span)
        if name not in captures:
            if name in self.caller:
                raise RuntimeCapture(name, helper=self.definition.name, through=self.through, span=span)
            known = [n for n in self.names if not n.startswith(".")]
            raise UnknownName(name, [*known, *captures], span=span)
        value = captures[name]
        if isinstance(value, bool | int | float | str | enum.Enum | DType):
            self.captured[name] = value
        return wrap(value, name, span)


def wrap(value: Any, name: str, span: Span) -> FrontValue:
    """A Python object as a front-end value. Raises MutableCapture for what a kernel cannot see."""
    if isinstance(value, FrontValue):
        return value
    if isinstance(value, enum.Enum):
        return PyConst(value=value)
    if isinstance(value, bool | int | float):
        return Literal(value=value)
    if value is None:
        return NONE
    if value is Ellipsis:
        return ELLIPSIS
    if isinstance(value, DType):
        return DTypeRef(dtype=value)
    if isinstance(value, Intrinsic):
        return IntrinsicRef(intrinsic=value)
    if isinstance(value, FnDefinition):
        return Function(definition=value)
    if isinstance(value, _OPAQUE) or _is_enum(value):
        return PyConst(value=value)
    if (
        value is language.dtype or getattr(builtins, name, None) is value
    ):  # what may be called is for the call to say
        return PyConst(value=value)
    raise MutableCapture(name, value, span=span)


def wrap_default(value: Any, name: str, span: Span) -> FrontValue:
    """A default of a helper's parameter; tuples of constants are allowed there."""
    if isinstance(value, tuple):
        return Tuple(items=tuple(wrap_default(item, name, span) for item in value))
    return wrap(value, name, span)


def _is_enum(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, enum.Enum)
