"""Errors about what was written: names, calls and Python constructs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import FunctionType
from typing import Unpack

from intent.diagnostics.base import IntentError, Where
from intent.diagnostics.words import did_you_mean, listing, plural

__all__ = [
    "MissingArgument",
    "MutableCapture",
    "NotSupportedYet",
    "Recursion",
    "RemovedConstruct",
    "RepeatedArgument",
    "RuntimeCapture",
    "TargetQuery",
    "TooManyArguments",
    "UnknownAttribute",
    "UnknownIntrinsic",
    "UnknownKeyword",
    "UnknownName",
    "UnsupportedSyntax",
]


class UnsupportedSyntax(IntentError):
    """A Python construct that the language does not have."""

    code = "INT011"

    def __init__(self, construct: str, *, fix: str, **where: Unpack[Where]) -> None:
        super().__init__(f"{construct} cannot be used in a kernel or helper", fix=fix, **where)


class NotSupportedYet(IntentError):
    """A construct of the language that this version does not compile yet."""

    code = "INT012"

    def __init__(self, construct: str, *, fix: str | None = None, **where: Unpack[Where]) -> None:
        super().__init__(
            f"{construct} is part of the language but not supported yet",
            fix=fix or "write this part with other constructs; docs/language.md says what is supported",
            **where,
        )
        self.construct = construct


class RemovedConstruct(IntentError, AttributeError):
    """A name that the language does not have, and what to write instead (spec: logical-program 5, 7)."""

    code = "INT013"

    def __init__(self, name: str, instead: str, **where: Unpack[Where]) -> None:
        super().__init__(f"I.{name} is not part of the language", fix=instead, **where)


class UnknownName(IntentError):
    """A name that is bound neither in the kernel nor around it."""

    code = "INT014"

    def __init__(self, name: str, known: Iterable[str] = (), **where: Unpack[Where]) -> None:
        super().__init__(
            f"the name '{name}' is not defined here",
            fix=did_you_mean(name, known) or f"assign '{name}' before it is used",
            **where,
        )


class UnknownIntrinsic(IntentError, AttributeError):
    """``I.<name>`` does not exist."""

    code = "INT015"

    def __init__(self, name: str, known: Iterable[str], **where: Unpack[Where]) -> None:
        super().__init__(
            f"intent.language has no '{name}'",
            fix=did_you_mean(name, known, prefix="I.") or "dir(intent.language) lists every name",
            **where,
        )


class MissingArgument(IntentError):
    """A call leaves out required arguments."""

    code = "INT016"

    def __init__(
        self, callee: str, missing: Sequence[str], *, signature: str, **where: Unpack[Where]
    ) -> None:
        super().__init__(
            f"{callee} needs {listing(missing)}",
            seen={"its signature": signature},
            fix="pass " + ", ".join(f"{name}=..." for name in missing),
            **where,
        )


class TooManyArguments(IntentError):
    """A call passes more positional arguments than there are parameters for."""

    code = "INT017"

    def __init__(
        self, callee: str, *, given: int, accepted: int, signature: str, **where: Unpack[Where]
    ) -> None:
        super().__init__(
            f"{callee} takes {plural(accepted, 'positional argument')}, {given} given",
            seen={"its signature": signature},
            fix="remove the extra arguments or pass them by keyword",
            **where,
        )


class UnknownKeyword(IntentError):
    """A call passes a keyword that the callee does not have."""

    code = "INT018"

    def __init__(
        self, callee: str, keyword: str, *, accepted: Iterable[str], signature: str, **where: Unpack[Where]
    ) -> None:
        super().__init__(
            f"{callee} has no parameter '{keyword}'",
            seen={"its signature": signature},
            fix=did_you_mean(keyword, accepted) or f"remove {keyword}=",
            **where,
        )


class RepeatedArgument(IntentError):
    """A call gives one parameter twice: by position and by keyword, or under both of its spellings."""

    code = "INT019"

    def __init__(self, callee: str, parameter: str, *, spelling: str, **where: Unpack[Where]) -> None:
        twice = "twice" if spelling == parameter else f"twice, once as '{spelling}'"
        super().__init__(f"{callee} is given '{parameter}' {twice}", fix=f"pass '{parameter}' once", **where)


class UnknownAttribute(IntentError):
    """``value.name`` where the value has no such field or property."""

    code = "INT020"

    def __init__(
        self, value: str, kind: str, attribute: str, known: Iterable[str] = (), **where: Unpack[Where]
    ) -> None:
        known = tuple(known)
        fallback = f"its attributes are {listing(known)}" if known else f"use '{value}' without an attribute"
        super().__init__(
            f"'{value}' has no attribute '{attribute}'",
            seen={value: kind},
            fix=did_you_mean(attribute, known) or fallback,
            **where,
        )


class Recursion(IntentError):
    """A helper calls itself, directly or through others (spec: kernel-and-host 3)."""

    code = "INT021"

    def __init__(self, cycle: Sequence[str], **where: Unpack[Where]) -> None:
        super().__init__(
            f"helper '{cycle[0]}' calls itself",
            seen={"the cycle": " -> ".join(cycle)},
            fix="write the repetition as a for or while loop",
            **where,
        )


class MutableCapture(IntentError):
    """A kernel or helper uses an outer object that can change after decoration."""

    code = "INT022"

    def __init__(self, name: str, value: object, **where: Unpack[Where]) -> None:
        fix = f"pass '{name}' as a parameter, or capture a number, string, I.Enum member or dtype"
        if isinstance(value, FunctionType):
            fix = f"decorate '{name}' with @intent.fn"
        super().__init__(
            f"'{name}' is captured from outside and is not an immutable constant",
            seen={name: f"a {type(value).__name__}"},
            fix=fix,
            **where,
        )


class RuntimeCapture(IntentError):
    """A helper uses a run-time value of the body that calls it (spec: kernel-and-host 3)."""

    code = "INT023"

    def __init__(self, name: str, *, helper: str, through: str | None = None, **where: Unpack[Where]) -> None:
        way = f"through {through}=(...)" if through else "as an argument"
        super().__init__(
            f"helper '{helper}' captures the run-time value '{name}'",
            fix=f"pass '{name}' {way} and take it as a parameter of '{helper}'",
            **where,
        )


class TargetQuery(IntentError):
    """A kernel asks for the target, the device or a launch configuration (spec: kernel-and-host 1)."""

    code = "INT024"

    def __init__(self, query: str, **where: Unpack[Where]) -> None:
        super().__init__(
            f"'{query}' asks about the target, which a kernel cannot see",
            fix="decide on the host and pass the decision as a Constexpr parameter",
            **where,
        )
