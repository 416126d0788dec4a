"""What a kernel or helper sees of the names around it (spec: kernel-and-host 3).

Numbers, strings, enum members and dtypes are taken at decoration and stay what they were. Other names, such
as a helper that is defined further down, are looked up when they are asked for.
"""

from __future__ import annotations

import ast
import builtins
import enum
from collections.abc import Callable, Iterator, Mapping
from types import CodeType
from typing import Any

from intent.language.source import FunctionSource
from intent.types import DType

__all__ = ["Captures", "is_constant"]

_CONSTANTS = (bool, int, float, str, enum.Enum, DType, type(None))


def is_constant(value: object) -> bool:
    """Whether ``value`` is an immutable constant that a kernel may capture as an implicit Constexpr."""
    return isinstance(value, _CONSTANTS)


class Captures(Mapping[str, Any]):
    """Outer names by value: closure variables before globals before builtins.

    Iteration gives the names that the body mentions and that are bound around it.
    """

    def __init__(self, function: Callable[..., Any], source: FunctionSource) -> None:
        self._source = source
        self._globals = function.__globals__
        cells = function.__closure__ or ()
        self._cells = dict(zip(function.__code__.co_freevars, cells, strict=True))
        names = {*self._cells, *_names(function.__code__)}
        self._constants = {n: v for n in names if is_constant(v := self._look_up(n, None)) and v is not None}

    def __getitem__(self, name: str) -> Any:
        if name in self._constants:
            return self._constants[name]
        missing = object()
        value = self._look_up(name, missing)
        if value is missing:
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        body = ast.Module(body=self._source.tree.body, type_ignores=[])
        mentioned = {n.id: None for n in ast.walk(body) if isinstance(n, ast.Name)}
        return (name for name in mentioned if name in self._cells or name in self._globals)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        missing = object()
        return isinstance(name, str) and self._look_up(name, missing) is not missing

    def _look_up(self, name: str, default: object) -> object:
        if name in self._cells:
            try:
                return self._cells[name].cell_contents
            except ValueError:  # assigned only after the decoration
                return default
        if name in self._globals:
            return self._globals[name]
        return getattr(builtins, name, default)


def _names(code: CodeType) -> Iterator[str]:
    """Names that ``code`` and the functions inside it may load from outside."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
