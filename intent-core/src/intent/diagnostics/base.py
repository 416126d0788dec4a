"""The base of every error: a stable code, the author's place, the values seen and one suggested fix.

One class stands for one cause. A class builds its own message, values and fix from the facts that its
constructor takes, so that one cause always reads the same way whoever raises it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Self, TypedDict, TypeVar

from intent.diagnostics.render import render
from intent.types import Span

__all__ = ["IntentError", "Where"]

_E = TypeVar("_E", bound="IntentError")


class Where(TypedDict, total=False):
    """Keyword arguments that every error class passes on: where it happened.

    ``span`` is the blamed place. ``chain`` holds the call sites of helpers that led there, innermost first.
    ``notes`` are further sentences, each printed on a line of its own.
    """

    span: Span | None
    chain: Iterable[Span]
    notes: Iterable[str]


class IntentError(Exception):
    """Base of all errors that Intent raises.

    ``code`` is the stable identity of the cause (``INTxxx``), ``message`` one sentence without a place,
    ``seen`` maps names to the values found there, ``fix`` is the one suggested fix.
    """

    code: ClassVar[str] = "INT000"

    message: str
    span: Span | None
    seen: dict[str, str]
    fix: str | None
    chain: tuple[Span, ...]
    notes: tuple[str, ...]

    def __init__(
        self,
        message: str,
        *,
        seen: Mapping[str, object] | None = None,
        fix: str | None = None,
        span: Span | None = None,
        chain: Iterable[Span] = (),
        notes: Iterable[str] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.seen = {name: str(value) for name, value in (seen or {}).items()}
        self.fix = fix
        self.span = span
        self.chain = tuple(chain)
        self.notes = tuple(notes)

    def at(self, span: Span | None) -> Self:
        """Set the place if the error has none yet, and return the error."""
        if self.span is None:
            self.span = span
        return self

    def called_from(self, span: Span) -> Self:
        """Add one call site to the chain of helper calls (innermost first), and return the error."""
        self.chain = (*self.chain, span)
        return self

    def __str__(self) -> str:
        return render(self)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        # Constructors take facts, not messages: the default protocol cannot rebuild an error from ``args``.
        return _restore, (type(self), self.args, self.__dict__)


def _restore(cls: type[_E], args: tuple[object, ...], state: dict[str, object]) -> _E:
    error = cls.__new__(cls)
    error.args = args
    error.__dict__.update(state)
    return error
