"""Which argument of a call over several lines an error is about, so that its own line is blamed.

An error of an operation stands at the call. Where the call fills one line that is the line at fault; where it fills
several, the author looks for the argument, and the error's facts say which: the parameter or the text that it names,
or what its cause is always about.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from intent.diagnostics import IntentError, InvalidAxis, InvalidPermutation, ReshapeCount

__all__ = ["argument_at_fault"]

_ABOUT: Final[dict[type[IntentError], tuple[str, ...]]] = {
    InvalidAxis: ("axis", "reduce", "batch"),
    InvalidPermutation: ("perm", "permutation"),
    ReshapeCount: ("shape",),
}
"""Parameters that a cause is about whatever the operation is."""


def argument_at_fault(
    error: IntentError, call: ast.Call, parameters: Sequence[str], text_of: Callable[[ast.expr], str]
) -> ast.expr | None:
    """The part of ``call`` that ``error`` is about; None where it is about the call or stands on one line.

    ``parameters`` are the callee's in order, for positional arguments; ``text_of`` is how errors print expressions.
    """
    if call.end_lineno == call.lineno:
        return None
    named = list(_named(call, parameters))
    for name, node in named:
        if f"{name}=" in error.seen or f"'{name}'" in error.message or error.message.startswith(f"{name}= "):
            return node
    for shown in reversed(error.seen):
        for _, node in named:
            found = next((n for n in ast.walk(node) if isinstance(n, ast.expr) and text_of(n) == shown), None)
            if found is not None:
                return found
    about = _ABOUT.get(type(error), ())
    candidates = [node for name, node in named if name in about]
    return candidates[0] if len(candidates) == 1 else None


def _named(call: ast.Call, parameters: Sequence[str]) -> Iterator[tuple[str, ast.expr]]:
    """Arguments with the parameter that each is for; after a starred one positions are unknown."""
    known = list(parameters)
    for position, node in enumerate(call.args):
        if isinstance(node, ast.Starred):
            known = []
        yield (known[position] if position < len(known) else "", node)
    for keyword in call.keywords:
        yield keyword.arg or "", keyword.value
