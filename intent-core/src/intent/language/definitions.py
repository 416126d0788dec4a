"""The decorators ``@intent.kernel`` and ``@intent.fn`` (spec: kernel-and-host 1, 3).

Decorating keeps the Python function and takes its source and its captured constants; nothing is analysed,
imported or compiled until :func:`intent.compile` asks for it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from types import FrameType, FunctionType
from typing import Any, ClassVar, Generic, ParamSpec

from intent.diagnostics import HelperCalledDirectly, KernelCalledDirectly, NotADefinition, UnknownKeyword
from intent.language.binding import bind
from intent.language.captures import Captures
from intent.language.namespace import AnnotationScope
from intent.language.signature import KernelSignature, resolve_signature
from intent.language.source import FunctionSource, line_span
from intent.types import Span

__all__ = ["Definition", "FnDefinition", "KernelDefinition", "fn", "kernel"]

P = ParamSpec("P")


class Definition(Generic[P]):
    """A decorated Python function: its source, and what it captures."""

    decorator: ClassVar[str]

    def __init__(self, function: Callable[P, Any] | None, frame: FrameType | None) -> None:
        if not isinstance(function, FunctionType) or function.__name__ == "<lambda>":
            raise NotADefinition(
                "a function written with def",
                function,
                fix=f"put @intent.{self.decorator} directly above a def, below other decorators",
                span=None if frame is None else _line_of(frame),
            )
        self.function = function
        self.source = FunctionSource(function)
        self.captures = Captures(function, self.source)
        self.annotation_scope = AnnotationScope(function, frame)
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.__module__ = function.__module__
        self.__doc__ = function.__doc__
        self.__wrapped__ = function

    @property
    def name(self) -> str:
        """The function's own name."""
        return self.function.__name__

    @property
    def python_signature(self) -> inspect.Signature:
        """Parameters and defaults as Python sees them; annotations are left as written."""
        return inspect.signature(self.function)

    def __reduce__(self) -> str:
        return self.__qualname__  # copies and pickles refer to the definition by its global name

    def __repr__(self) -> str:
        return f"<intent.{self.decorator} {self.__qualname__} at {self.source.file}:{self.source.first_line}>"


class KernelDefinition(Definition[P]):
    """One logical kernel; give it to :func:`intent.compile`."""

    decorator = "kernel"

    @cached_property
    def signature(self) -> KernelSignature:
        """The typed parameters. Raises AnnotationError at the author's line."""
        return resolve_signature(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        raise KernelCalledDirectly(self.name)


class FnDefinition(Definition[P]):
    """A typed helper of kernels; it is typed anew at each call."""

    decorator = "fn"

    def bind(
        self,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        span: Span | None = None,
        chain: Iterable[Span] = (),
    ) -> dict[str, Any]:
        """Arguments by parameter name, defaults filled in.

        Raises:
            MissingArgument, TooManyArguments, UnknownKeyword, RepeatedArgument: at ``span``.
        """
        return bind(self.name, self.python_signature, args, kwargs or {}, span=span, chain=chain)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        raise HelperCalledDirectly(self.name)


def _refuse_options(decorator: str, options: Mapping[str, object], frame: FrameType) -> None:
    """Decorators take no options: how a kernel runs is chosen for each target."""
    for name in options:
        signature = f"@intent.{decorator}"
        raise UnknownKeyword(
            f"intent.{decorator}", name, accepted=(), signature=signature, span=_line_of(frame)
        )


def _line_of(frame: FrameType) -> Span | None:
    """The line that a frame is at: that of the decorator."""
    return line_span(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)


def kernel(function: Callable[P, Any] | None = None, **options: object) -> KernelDefinition[P]:
    """Define a kernel: one specialization is one artifact is one launch (spec: kernel-and-host 1).

    Parameters are views (``I.In[...]``, ``I.Out[...]``, ``I.InOut[...]``), run-time scalars (``I.f32``) and
    constexprs (``I.Constexpr[int]``). A kernel returns nothing; results go to Out and InOut views.

    Raises:
        NotADefinition: the decorated object is not a plain function.
        UnknownKeyword: options were given.
    """
    frame = sys._getframe(1)  # noqa: SLF001 -- local names in annotations
    _refuse_options("kernel", options, frame)
    return KernelDefinition(function, frame)


def fn(function: Callable[P, Any] | None = None, **options: object) -> FnDefinition[P]:
    """Define a helper that kernels call with scalars, tensors, tuples and records (spec: kernel-and-host 3).

    Raises:
        NotADefinition: the decorated object is not a plain function.
        UnknownKeyword: options were given.
    """
    frame = sys._getframe(1)  # noqa: SLF001 -- local names in annotations
    _refuse_options("fn", options, frame)
    return FnDefinition(function, frame)
