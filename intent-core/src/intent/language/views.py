"""Checking what stands between the brackets of ``I.In[...]``, ``I.Out[...]`` and ``I.InOut[...]``."""

from __future__ import annotations

from typing import Any, NoReturn

from intent.diagnostics import AnnotationError
from intent.language.annotations import Constraints, ViewAnnotation
from intent.types import DType, Span

__all__ = ["check_view"]


def check_view(
    name: str, view: ViewAnnotation, span: Span | None = None
) -> tuple[DType, tuple[int | str, ...], Constraints | None]:
    """dtype, shape and constraints of a view (spec: kernel-and-host 6).

    Raises:
        AnnotationError: an item is missing, or not what it has to be.
    """
    items = view.items

    def fail(problem: str, fix: str) -> NoReturn:
        raise AnnotationError(name, problem, found=repr(view), fix=fix, span=span)

    if not 2 <= len(items) <= 3:
        fail("a view needs a dtype, a shape and perhaps constraints", 'write I.In[I.f32, ("M", "N")]')
    dtype, shape, constraints = (*items, None)[:3]
    if not isinstance(dtype, DType):
        fail("the first item of a view is a dtype", "write a dtype such as I.f32")
    if not isinstance(shape, tuple):
        one = f'"{shape}"' if isinstance(shape, str) else shape
        fail("the shape of a view is a tuple", f"write ({one},) for rank one and () for rank zero")
    for extent in shape:
        problem = _extent_problem(extent)
        if problem:
            fail(problem, 'an extent is a non-negative int or a symbol such as "N"')
    if constraints is not None:
        if not isinstance(constraints, Constraints):
            fail(
                "the third item of a view is I.constraints(...)",
                "write I.constraints(strides=..., alias=...)",
            )
        broken = _constraints_problem(constraints, len(shape)) or _shared_elements(view, shape, constraints)
        if broken:
            fail(*broken)
    return dtype, shape, constraints


def _extent_problem(extent: object) -> str | None:
    if isinstance(extent, str):
        return None if extent.isidentifier() else f"'{extent}' is not a symbol"
    if isinstance(extent, bool) or not isinstance(extent, int):
        return f"{extent!r} is not an extent"
    return "an extent cannot be negative" if extent < 0 else None


def _shared_elements(
    view: ViewAnnotation, shape: tuple[int | str, ...], constraints: Constraints
) -> tuple[str, str] | None:
    """A view that is written may not have several elements in one place."""
    pairs = zip(constraints.strides or (), shape, strict=bool(constraints.strides))
    if view.mode != "in" and any(stride == 0 and extent not in (0, 1) for stride, extent in pairs):
        return "a stride of 0 puts several written elements in one place", "write a stride other than 0"
    return None


def _constraints_problem(constraints: Any, rank: int) -> tuple[str, str] | None:
    if constraints.noalias and constraints.alias is not None:
        return "alias= and noalias= exclude each other", "keep one of alias= and noalias="
    if constraints.alias is not None and not isinstance(constraints.alias, str):
        return "alias= names a group", 'write alias="g"'
    strides = constraints.strides
    if strides is None:
        return None
    if not isinstance(strides, tuple) or len(strides) != rank:
        return "strides= has one entry for each axis", f"write a tuple of {rank} ints, symbols or None"
    for stride in strides:
        symbol = isinstance(stride, str) and stride.isidentifier()
        number = isinstance(stride, int) and not isinstance(stride, bool)
        if not (stride is None or symbol or number):
            return (
                f"{stride!r} is not a stride",
                "a stride is an int (in elements), a symbol, or None for any",
            )
    return None
