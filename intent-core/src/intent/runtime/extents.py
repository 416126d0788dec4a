"""What the arguments say about extents: the value of every symbol, checked to be one (language, views)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TypeAlias

from intent.diagnostics import ExtentMismatch, LaunchCondition, StrideMismatch
from intent.kir.kernel import Kernel
from intent.kir.ops import ExtentValue
from intent.kir.value import View
from intent.kir.walk import walk
from intent.runtime.arguments import Bound
from intent.runtime.array import Array
from intent.types.extent import Atom, Extent, Scalar, Symbol

__all__ = ["Environment", "bind_extents", "launch_atoms", "named", "value_of"]

Environment: TypeAlias = dict[Atom, int]
"""Values of the launch-visible atoms: symbols of views and integer scalar parameters."""


def bind_extents(kernel: Kernel, bound: Bound) -> Environment:
    """Bind every symbol and integer scalar, and check shapes and declared strides against them.

    Raises:
        ExtentMismatch: A fixed extent has another value, or one symbol has several; all values are shown.
        StrideMismatch: A declared stride differs.
    """
    integers = {p.name for p in kernel.scalars if p.value.dtype.is_integer}
    env: Environment = {Scalar(n): int(v) for n, v in bound.scalars.items() if n in integers}
    views = [(view, bound.arrays[view.name]) for view in kernel.views if view.name in bound.arrays]
    env |= _symbols(views)
    for view, array in views:
        _check_shape(view, array, env)
    _bind_strides(views, env)
    return env


def _symbols(views: Iterable[tuple[View, Array]]) -> Environment:
    """Symbols that stand alone as an extent; every place where one stands must agree."""
    seen: dict[Symbol, dict[str, int]] = {}
    spans = {}
    for view, array in views:
        for axis, extent in enumerate(view.shape):
            symbol = _symbol(extent)
            if symbol is not None:
                seen.setdefault(symbol, {})[f"{view.name}.shape[{axis}]"] = array.shape[axis]
                spans[symbol] = view.span
    for symbol, places in seen.items():
        if len(set(places.values())) > 1:
            raise ExtentMismatch(symbol, places, span=spans[symbol])
    return {symbol: next(iter(places.values())) for symbol, places in seen.items()}


@cache
def _symbol(extent: Extent) -> Symbol | None:
    """The symbol when the extent is nothing else."""
    atoms = list(extent.atoms())
    if len(atoms) == 1 and isinstance(atoms[0], Symbol) and extent.terms == (((atoms[0],), 1),):
        return atoms[0]
    return None


def _check_shape(view: View, array: Array, env: Mapping[Atom, int]) -> None:
    for axis, extent in enumerate(view.shape):
        if _symbol(extent) is not None:
            continue
        try:
            wanted = extent.evaluate(env)
        except KeyError:
            continue  # another parameter decides it: .run before its Outs exist
        if array.shape[axis] != wanted:
            declared = extent.const if extent.const is not None else f"{extent} = {wanted}"
            place = {f"{view.name}.shape[{axis}]": array.shape[axis]}
            raise ExtentMismatch(declared, place, span=view.span)


def _bind_strides(views: Iterable[tuple[View, Array]], env: Environment) -> None:
    """Check declared strides; a symbol among them is bound by the first axis of two or more elements."""
    loose: Environment = {}
    for view, array in views:
        for axis, declared in enumerate(view.strides or ()):
            found = array.strides[axis]
            symbol = Symbol(declared) if isinstance(declared, str) else None
            if declared is None:
                continue
            if array.shape[axis] < 2 or array.empty:  # no second element: the stride is never used
                if symbol is not None:
                    loose.setdefault(symbol, found)
                continue
            wanted = declared if symbol is None else env.setdefault(symbol, found)
            if wanted != found:
                expected = f"{declared} = {wanted}" if symbol is not None else wanted
                raise StrideMismatch(view.name, axis=axis, expected=expected, found=found, span=view.span)
    for unused, value in loose.items():
        env.setdefault(unused, value)


def value_of(extent: Extent, env: Mapping[Atom, int], *, needed_by: str) -> int:
    """The value of a launch-visible extent.

    Raises:
        LaunchCondition: The expression divides by an extent that is zero in this call.
    """
    try:
        return extent.evaluate(env)
    except ZeroDivisionError:
        values = {str(atom): env[atom] for atom in extent.atoms() if atom in env}
        raise LaunchCondition(
            f"{extent} has a value: no divisor is zero", values=values, needed_by=needed_by
        ) from None


def named(env: Mapping[Atom, int]) -> dict[str, int]:
    """The environment by name. A symbol hides a scalar of its name: that value stands among the scalars."""
    names = {atom.name: value for atom, value in env.items() if isinstance(atom, Scalar)}
    return names | {atom.name: value for atom, value in env.items() if isinstance(atom, Symbol)}


def launch_atoms(kernel: Kernel) -> Iterator[Atom]:
    """Every symbol and scalar that an extent of the kernel mentions, possibly repeated."""
    for extent in _extents(kernel):
        yield from extent.atoms()


def _extents(kernel: Kernel) -> Iterator[Extent]:
    for parameter in kernel.params:
        if isinstance(parameter, View):
            yield from parameter.shape
    for condition in kernel.conditions:
        yield from condition.extents
    for op in walk(kernel.body):
        for result in op.results:
            yield from result.shape
        if isinstance(op, ExtentValue):
            yield op.extent
