"""Errors of definitions: decorators, parameter annotations and specialization."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Unpack

from intent.diagnostics.base import IntentError, Where
from intent.diagnostics.words import did_you_mean, listing

__all__ = [
    "AnnotationError",
    "ConstexprMissing",
    "ConstexprUnknown",
    "ConstexprWrongType",
    "HelperCalledDirectly",
    "IntrinsicOutsideKernel",
    "KernelCalledDirectly",
    "NotADefinition",
    "SourceUnavailable",
    "UnknownDType",
]


class SourceUnavailable(IntentError):
    """The Python source of a kernel or helper cannot be read."""

    code = "INT001"

    def __init__(self, name: str, file: str, **where: Unpack[Where]) -> None:
        super().__init__(
            f"the source of '{name}' cannot be read",
            seen={"its file": file},
            fix="define it in a file, a notebook cell, or code registered in linecache before it is executed",
            **where,
        )


class KernelCalledDirectly(IntentError):
    """A kernel definition was called like a Python function."""

    code = "INT002"

    def __init__(self, name: str, **where: Unpack[Where]) -> None:
        super().__init__(
            f"kernel '{name}' is a definition and cannot be called",
            fix=f"compile it first: artifact = intent.compile({name}); artifact(...)",
            **where,
        )


class IntrinsicOutsideKernel(IntentError):
    """An intrinsic was called by ordinary Python code."""

    code = "INT003"

    def __init__(self, name: str, **where: Unpack[Where]) -> None:
        super().__init__(
            f"I.{name} only has a meaning inside a kernel or helper",
            fix=f"call I.{name} in a function decorated with @intent.kernel or @intent.fn",
            **where,
        )


class AnnotationError(IntentError):
    """A parameter's annotation is missing or is not one of the forms the language has."""

    code = "INT004"

    def __init__(
        self,
        parameter: str,
        problem: str,
        *,
        found: object = None,
        fix: str | None = None,
        **where: Unpack[Where],
    ) -> None:
        super().__init__(
            f"parameter '{parameter}': {problem}",
            seen={} if found is None else {"the annotation": found},
            fix=fix
            or 'write a view such as I.In[I.f32, ("M", "N")], a scalar such as I.f32, or I.Constexpr[int]',
            **where,
        )


class ConstexprMissing(IntentError):
    """A Constexpr parameter without a default was not given at specialization."""

    code = "INT005"

    def __init__(self, kernel: str, names: Iterable[str], **where: Unpack[Where]) -> None:
        names = tuple(names)
        values = ", ".join(f'"{name}": ...' for name in names)
        super().__init__(
            f"kernel '{kernel}' needs a value for constexpr {listing(names)}",
            fix=f"give one when compiling: intent.compile({kernel}, constexprs={{{values}}})",
            **where,
        )


class ConstexprUnknown(IntentError):
    """``constexprs=`` names something that is not a Constexpr parameter."""

    code = "INT006"

    def __init__(self, kernel: str, name: str, known: Iterable[str], **where: Unpack[Where]) -> None:
        known = tuple(known)
        super().__init__(
            f"kernel '{kernel}' has no constexpr '{name}'",
            seen={"its constexprs": ", ".join(known) or "none"},
            fix=did_you_mean(name, known) or f"remove '{name}' from constexprs=",
            **where,
        )


class ConstexprWrongType(IntentError):
    """The value given for a Constexpr parameter is not of its declared type."""

    code = "INT007"

    def __init__(self, name: str, expected: str, value: object, **where: Unpack[Where]) -> None:
        super().__init__(
            f"constexpr '{name}' takes {expected}",
            seen={"the value given": f"{value!r} ({type(value).__name__})"},
            fix=f"pass {expected} for '{name}'",
            **where,
        )


class HelperCalledDirectly(IntentError):
    """A helper (``@intent.fn``) was called by ordinary Python code."""

    code = "INT008"

    def __init__(self, name: str, **where: Unpack[Where]) -> None:
        super().__init__(
            f"helper '{name}' can only be called from a kernel or another helper",
            fix=f"call {name}(...) in a function decorated with @intent.kernel",
            **where,
        )


class NotADefinition(IntentError):
    """Something that is not a kernel (or not a plain function) was given where one is needed."""

    code = "INT009"

    def __init__(self, needed: str, found: object, *, fix: str, **where: Unpack[Where]) -> None:
        super().__init__(f"{needed} is needed here", seen={"the object given": repr(found)}, fix=fix, **where)


class UnknownDType(IntentError):
    """A name that is no dtype of the language."""

    code = "INT010"

    def __init__(
        self, name: object, known: Iterable[str], *, foreign: Mapping[str, str], **where: Unpack[Where]
    ) -> None:
        known = tuple(known)
        same = foreign.get(str(name))
        super().__init__(
            f"'{name}' is not a dtype",
            seen={"the dtypes": " ".join(known)},
            fix=f"write '{same}'"
            if same
            else did_you_mean(str(name), known) or "use one of the dtypes above",
            **where,
        )
