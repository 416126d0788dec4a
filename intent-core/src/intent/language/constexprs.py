"""Types and values of Constexpr parameters (spec: kernel-and-host 4)."""

from __future__ import annotations

from typing import Any

from intent.diagnostics import AnnotationError, ConstexprWrongType
from intent.language.enums import Enum
from intent.types import DType, Span
from intent.types.dtypes import BOOL

__all__ = ["check_constexpr", "check_constexpr_type"]

_TYPES = (bool, int, float, str)


def check_constexpr_type(name: str, type_: object, span: Span | None = None) -> type[Any]:
    """The type of a constexpr, if it is one that the language has.

    Raises:
        AnnotationError: another type, or an I.Enum without members or with two names for one value.
    """
    if isinstance(type_, type) and issubclass(type_, Enum):
        if not len(type_):
            raise AnnotationError(
                name, f"the enum {type_.__name__} has no members", fix="add members", span=span
            )
        twice = [alias for alias, member in type_.__members__.items() if alias != member.name]
        if twice:
            raise AnnotationError(
                name,
                f"the enum {type_.__name__} has two names for one value: {twice[0]}",
                fix="give every member its own value",
                span=span,
            )
        return type_
    if isinstance(type_, type) and type_ in _TYPES:
        return type_
    if type_ is BOOL:  # ``from intent.language import *`` hides Python's bool
        return bool
    python = {"bool": "bool", "index": "int", "int": "int", "uint": "int", "float": "float"}
    hint = python[type_.kind] if isinstance(type_, DType) else "int"
    raise AnnotationError(
        name,
        "a constexpr is an int, float, bool, str or I.Enum, not a run-time type",
        found=f"I.Constexpr[{getattr(type_, '__name__', type_)}]",
        fix=f"write I.Constexpr[{hint}]",
        span=span,
    )


def check_constexpr(name: str, type_: type[Any] | None, value: object, span: Span | None = None) -> Any:
    """``value`` as a constant of ``type_``; an int becomes a float where a float is declared.

    Raises:
        ConstexprWrongType: ``value`` is of another type (True is not an int, 1 is not a bool).
    """
    if type_ is float and type(value) is int:
        return float(value)
    if type_ is not None and (type(value) is type_ or (issubclass(type_, Enum) and isinstance(value, type_))):
        return value
    expected = f"a member of {type_.__name__}" if type_ and issubclass(type_, Enum) else _article(type_)
    raise ConstexprWrongType(name, expected, value, span=span)


def _article(type_: type[Any] | None) -> str:
    name = type_.__name__ if type_ else "value"
    return f"an {name}" if name == "int" else f"a {name}"
