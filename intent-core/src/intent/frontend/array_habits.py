"""Habits from array libraries: their methods and functions, refused with what to write instead."""

from __future__ import annotations

from types import ModuleType
from typing import Final

from intent import language
from intent.diagnostics import UnsupportedSyntax
from intent.language import INTRINSICS
from intent.language.dtypes import FOREIGN
from intent.types import DType
from intent.types.span import Span

__all__ = ["LIBRARIES", "refuse_function", "refuse_method"]

_METHODS: Final = {
    "T": "I.transpose({})",
    "all": "I.reduce.all({}, axis=...)",
    "any": "I.reduce.any({}, axis=...)",
    "argmax": "values, indices = I.arg_reduce.max({}, axis=...)",
    "argmin": "values, indices = I.arg_reduce.min({}, axis=...)",
    "astype": "I.cast({}, dtype)",
    "copy": "{}: reads are snapshots, and values never change",
    "cumsum": "I.cumsum({}, axis=...)",
    "dtype": "the dtype itself, for example I.f32",
    "fill": "{}[...] = value",
    "flatten": "I.reshape({}, (-1,))",
    "max": "I.reduce.max({}, axis=...)",
    "mean": "I.reduce.sum({}, axis=...) / count",
    "min": "I.reduce.min({}, axis=...)",
    "ndim": "the number of axes, which a kernel knows",
    "permute": "I.transpose({}, perm=(...))",
    "prod": "I.reduce.prod({}, axis=...)",
    "ravel": "I.reshape({}, (-1,))",
    "reshape": "I.reshape({}, shape)",
    "size": "{}.shape, whose extents you may multiply",
    "squeeze": "I.reshape({}, shape)",
    "sum": "I.reduce.sum({}, axis=...)",
    "to": "I.cast({}, dtype)",
    "transpose": "I.transpose({}, perm=(...))",
    "unsqueeze": "{}[:, None]",
    "view": "I.bitcast({}, dtype), or I.reshape({}, shape)",
}

LIBRARIES: Final = frozenset(
    {"cuda", "cupy", "jax", "ml_dtypes", "numba", "numpy", "scipy", "torch", "triton"}
)
"""Modules of which a kernel reads no more than a few numbers."""
_TARGET: Final = ("backend", "cuda", "device", "runtime", "version")


def refuse_method(written: str, name: str, span: Span, dtype: DType | None) -> None:
    """Refuse ``written.name`` if arrays have such a method elsewhere; anything else is the caller's.

    ``dtype`` is that of the array, if it has one.

    Raises:
        UnsupportedSyntax: with the operation to write.
    """
    instead = _METHODS.get(name) or (f"I.{name}({{}})" if name in INTRINSICS else None)
    if name == "dtype" and dtype is not None:
        instead = f"I.{dtype}"
    if instead is not None:
        fix = f"write {instead.replace('{}', written)}"
        raise UnsupportedSyntax(f"the array method '{name}'", fix=fix, span=span)


def refuse_function(module: ModuleType, name: str, text: str, span: Span) -> None:
    """Refuse ``text``, which names ``name`` of ``module``, if it is a computation on the host.

    Questions about the target are the caller's.

    Raises:
        UnsupportedSyntax: with the operation to write, if the language has one of that name.
    """
    if name in language.__all__:
        raise UnsupportedSyntax(f"the host function '{text}'", fix=f"write I.{name}", span=span)
    if name in FOREIGN:
        raise UnsupportedSyntax(f"the host's '{text}'", fix=f"write I.{FOREIGN[name]}", span=span)
    if module.__name__.partition(".")[0] in LIBRARIES and not any(word in text for word in _TARGET):
        fix = "write it with operations of intent.language, or compute it on the host and pass it"
        raise UnsupportedSyntax(f"the host function '{text}'", fix=fix, span=span)
