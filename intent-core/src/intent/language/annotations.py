"""What authors write behind the colon of a kernel's parameter (spec: kernel-and-host 1, 4, 6).

``I.In[...]`` and the others only keep what was written; :mod:`intent.language.signature` judges it, so that
an error can point at the author's line.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from intent.diagnostics import UnknownKeyword
from intent.language.source import line_span

__all__ = [
    "Constexpr",
    "ConstexprAnnotation",
    "Constraints",
    "In",
    "InOut",
    "Mode",
    "Out",
    "ViewAnnotation",
    "constraints",
]

Mode = Literal["in", "out", "inout"]


@dataclass(frozen=True, kw_only=True)
class ViewAnnotation:
    """``I.In[items]`` and its like, unchecked."""

    mode: Mode
    items: tuple[Any, ...]

    def __repr__(self) -> str:
        name = {"in": "In", "out": "Out", "inout": "InOut"}[self.mode]
        return f"I.{name}[{', '.join(map(repr, self.items))}]"


@dataclass(frozen=True, kw_only=True)
class ConstexprAnnotation:
    """``I.Constexpr[type]``, unchecked."""

    type: Any

    def __repr__(self) -> str:
        return f"I.Constexpr[{getattr(self.type, '__name__', self.type)}]"


@dataclass(frozen=True, kw_only=True)
class Constraints:
    """What a view promises about its layout and its allocation; see :func:`constraints`."""

    strides: tuple[int | str | None, ...] | None = None
    alias: str | None = None
    noalias: bool = False

    def __repr__(self) -> str:
        parts = [
            *([f"strides={self.strides!r}"] if self.strides is not None else []),
            *([f"alias={self.alias!r}"] if self.alias is not None else []),
            *(["noalias=True"] if self.noalias else []),
        ]
        return f"I.constraints({', '.join(parts)})"


def constraints(
    *,
    strides: tuple[int | str | None, ...] | None = None,
    alias: str | None = None,
    noalias: bool = False,
    **other: object,
) -> Constraints:
    """Promises of the caller about one view, the third item of ``I.In[dtype, shape, constraints]``.

    Args:
        strides: one entry for each axis, in elements: an int, a symbol, or None for any stride.
        alias: views that name the same group share one allocation.
        noalias: this view overlaps no other; the check at the call is left out.
        **other: refused: layouts, alignments and the like are chosen for each target.

    Raises:
        UnknownKeyword: another name is given.

    spec: kernel-and-host 6
    """
    for name in other:
        frame = sys._getframe(1)  # noqa: SLF001 -- the author's line
        raise UnknownKeyword(
            "I.constraints",
            name,
            accepted=("strides", "alias", "noalias"),
            signature="I.constraints(*, strides=None, alias=None, noalias=False)",
            span=line_span(frame.f_code.co_filename, frame.f_lineno, frame.f_globals),
        )
    return Constraints(strides=strides, alias=alias, noalias=noalias)


class _View:
    """A view of an external allocation: ``I.In[dtype, shape]``, perhaps with ``I.constraints(...)``."""

    mode: ClassVar[Mode]

    def __class_getitem__(cls, items: object) -> ViewAnnotation:
        return ViewAnnotation(mode=cls.mode, items=items if isinstance(items, tuple) else (items,))


class In(_View):
    """A view that the kernel only reads: ``x: I.In[I.f32, ("M", "N")]``; ``()`` is rank zero.

    Equal symbols have equal extents at the call; different symbols promise nothing. spec: kernel-and-host 1
    """

    mode = "in"


class Out(_View):
    """A view that the kernel writes: ``y: I.Out[I.f32, ("M", "N")]``. What is not written keeps its value."""

    mode = "out"


class InOut(_View):
    """A view that the kernel reads and writes: ``state: I.InOut[I.f32, ("M",)]``."""

    mode = "inout"


class Constexpr:
    """A parameter bound when the kernel is compiled: ``CAUSAL: I.Constexpr[bool]``.

    Its type is int, float, bool, str or a subclass of I.Enum. Bind it with ``intent.compile(kernel,
    constexprs={"CAUSAL": True})``; a Python default is allowed. spec: kernel-and-host 4
    """

    def __class_getitem__(cls, type_: object) -> ConstexprAnnotation:
        return ConstexprAnnotation(type=type_)
