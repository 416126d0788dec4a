"""What an intrinsic is: a name, a Python signature and a docstring; its meaning is given by the front end.

Each family of intrinsics has a file of its own. A function decorated with :func:`intrinsic` becomes an
:class:`Intrinsic` that keeps its signature for editors, ``help()`` and the front end's argument binding.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import Signature
from typing import Any, ClassVar, Final, Generic, ParamSpec

from intent.diagnostics import IntrinsicOutsideKernel, RemovedConstruct, UnknownIntrinsic
from intent.language.binding import bind, signature_text
from intent.language.removed import REMOVED
from intent.types import Span

__all__ = ["INTRINSICS", "Intrinsic", "Namespace", "intrinsic"]

P = ParamSpec("P")

INTRINSICS: Final[dict[str, Intrinsic[...]]] = {}
"""Every intrinsic by its name without the ``I.``, for example ``reduce.sum``."""


class Intrinsic(Generic[P]):
    """An operation of the language. It has a meaning only inside kernels and helpers.

    ``name`` is what authors write after ``I.``; ``signature`` its parameters under their canonical names;
    ``aliases`` maps further keyword spellings to canonical names.
    """

    def __init__(self, name: str, signature: Signature, doc: str | None, aliases: Mapping[str, str]) -> None:
        self.name: Final = name
        self.aliases: Final = dict(aliases)
        self.signature: Final = signature
        self.__name__ = name.rsplit(".", maxsplit=1)[-1]
        self.__doc__ = doc
        self.__signature__ = signature
        if name in INTRINSICS:
            message = f"intrinsic {name} is defined twice"
            raise ValueError(message)
        INTRINSICS[name] = self

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        raise IntrinsicOutsideKernel(self.name)

    def bind(
        self,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        span: Span | None = None,
        chain: Iterable[Span] = (),
    ) -> dict[str, Any]:
        """Arguments by canonical parameter name, defaults filled in, ``**fields`` as a dict of its own.

        Raises:
            MissingArgument, TooManyArguments, UnknownKeyword, RepeatedArgument: at ``span``.
        """
        return bind(
            f"I.{self.name}", self.signature, args, kwargs or {}, aliases=self.aliases, span=span, chain=chain
        )

    @property
    def signature_text(self) -> str:
        """The call as an author writes it, for example ``I.full(shape, fill, dtype)``."""
        return signature_text(f"I.{self.name}", self.signature)

    def __getattr__(self, member: str) -> Any:
        raise _no_member(self.name, member, ())

    def __repr__(self) -> str:
        return f"I.{self.name}"

    def __reduce__(self) -> tuple[Callable[[str], Intrinsic[...]], tuple[str]]:
        return _named, (self.name,)


class Namespace:
    """A group of intrinsics, reached as ``I.<name>.<member>``."""

    name: ClassVar[str]

    def __getattr__(self, member: str) -> Any:
        raise _no_member(self.name, member, dir(self))

    def __repr__(self) -> str:
        return f"I.{self.name}"


def intrinsic(name: str, /, **aliases: str) -> Callable[[Callable[P, Any]], Intrinsic[P]]:
    """Make the decorated function the intrinsic ``I.<name>``; ``aliases`` are further keyword spellings."""

    def define(function: Callable[P, Any]) -> Intrinsic[P]:
        return Intrinsic(name, inspect.signature(function), inspect.getdoc(function), aliases)

    return define


def _named(name: str) -> Intrinsic[...]:
    """How copies and pickles find the one intrinsic of a name."""
    return INTRINSICS[name]


def _no_member(owner: str, member: str, members: Iterable[str]) -> AttributeError:
    if member.startswith("__"):  # what inspect, copy and pickle probe for
        return AttributeError(member)
    path = f"{owner}.{member}"
    if path in REMOVED:
        return RemovedConstruct(path, REMOVED[path])
    known = [f"{owner}.{name}" for name in members if not name.startswith("_") and name != "name"]
    return UnknownIntrinsic(path, known or INTRINSICS)
