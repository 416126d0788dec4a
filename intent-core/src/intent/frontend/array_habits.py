"""Habits from array libraries: their methods and functions, refused with what to write instead."""

from __future__ import annotations

from types import ModuleType
from typing import Final

from intent import language
from intent.diagnostics import UnsupportedSyntax
from intent.types.span import Span

__all__ = ["LIBRARIES", "refuse_function", "refuse_method"]

_METHODS: Final = {
    "T": "I.transpose({})",
    "all": "I.reduce.all({}, axis=...)",
    "any": "I.reduce.any({}, axis=...)",
    "argmax": "values, indices = I.arg_reduce.max({}, axis=...)",
    "argmin": "values, indices = I.arg_reduce.min({}, axis=...)",
    "astype": "I.cast({}, dtype)",
    "cumsum": "I.cumsum({}, axis=...)",
    "flatten": "I.reshape({}, (-1,))",
    "max": "I.reduce.max({}, axis=...)",
    "mean": "I.reduce.sum({}, axis=...) / count",
    "min": "I.reduce.min({}, axis=...)",
    "permute": "I.transpose({}, perm=(...))",
    "prod": "I.reduce.prod({}, axis=...)",
    "ravel": "I.reshape({}, (-1,))",
    "reshape": "I.reshape({}, shape)",
    "sum": "I.reduce.sum({}, axis=...)",
    "to": "I.cast({}, dtype)",
    "transpose": "I.transpose({}, perm=(...))",
}

LIBRARIES: Final = frozenset(
    {"cuda", "cupy", "jax", "ml_dtypes", "numba", "numpy", "scipy", "torch", "triton"}
)
"""Modules of which a kernel reads no more than a few numbers."""
_TARGET: Final = ("backend", "cuda", "device", "runtime", "version")


def refuse_method(written: str, name: str, span: Span) -> None:
    """Refuse ``written.name`` if arrays have such a method elsewhere; anything else is the caller's.

    Raises:
        UnsupportedSyntax: with the operation to write.
    """
    if name in _METHODS:
        fix = f"write {_METHODS[name].format(written)}"
        raise UnsupportedSyntax(f"the array method '{name}'", fix=fix, span=span)


def refuse_function(module: ModuleType, name: str, text: str, span: Span) -> None:
    """Refuse ``text``, which names ``name`` of ``module``, if it is a computation on the host.

    Questions about the target are the caller's.

    Raises:
        UnsupportedSyntax: with the operation to write, if the language has one of that name.
    """
    if name in language.__all__:
        raise UnsupportedSyntax(f"the host function '{text}'", fix=f"write I.{name}", span=span)
    if module.__name__.partition(".")[0] in LIBRARIES and not any(word in text for word in _TARGET):
        fix = "write it with operations of intent.language, or compute it on the host and pass it"
        raise UnsupportedSyntax(f"the host function '{text}'", fix=fix, span=span)
