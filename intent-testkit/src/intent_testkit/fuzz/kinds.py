"""What a generator knows of the text it writes: types, magnitudes, parameters, whole programs.

Floats hold small whole numbers only, so that every order of every sum and product gives the same bits and
results can be compared exactly; ``bound`` is the largest magnitude that a value can have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np

from intent.types.dtypes import BY_NAME
from intent_testkit.cases.draw import Array

Extents = Mapping[str, int]

INTEGERS: Final = ("i32", "i64", "i8", "u8", "u32", "i16", "u64", "u16")
FLOATS: Final = ("f32", "f64", "f16", "bf16")
EXACT: Final = {"f64": 2**50, "f32": 2**23, "f16": 2**10, "bf16": 2**7}
"""Whole numbers up to here, and sums of two of them, are exact."""
WIDENED: Final = {"i8": "i32", "i16": "i32", "u8": "u32", "u16": "u32", "f16": "f32", "bf16": "f32"}
"""What sums, products and contractions give."""


@dataclass(frozen=True, kw_only=True)
class Value:
    """An expression of the text: its type, and the largest magnitude of a float."""

    text: str
    dtype: str
    shape: tuple[str, ...] = ()
    bound: float = 0.0

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS


Turn = Literal["same", "flip", "transpose"]
TURNS: Final[tuple[Turn, ...]] = ("same", "flip", "transpose")
Draw = Literal["small", "bits", "index", "permutation", "offsets", "flag", "special"]


@dataclass(frozen=True, kw_only=True)
class Param:
    """One parameter. ``draw`` fills In and InOut views; ``limit`` bounds the values of an index."""

    name: str
    dtype: str
    shape: tuple[str, ...] = ()
    role: Literal["in", "out", "inout", "scalar"]
    draw: Draw = "small"
    limit: str = "1"
    value: int = 0
    over: str = ""
    """The view of the same alias group that this one shows again, turned by ``turn``."""
    turn: Turn = "same"
    alias: str = ""

    @property
    def annotation(self) -> str:
        """How the parameter is declared."""
        if self.role == "scalar":
            return f"{self.name}: I.{self.dtype}"
        axes = ", ".join(a if a.isdigit() else f'"{a}"' for a in self.shape)
        comma = "," if len(self.shape) == 1 else ""
        mode = {"in": "In", "out": "Out", "inout": "InOut"}[self.role]
        rest = f', I.constraints(alias="{self.alias}")' if self.alias else ""
        return f"{self.name}: I.{mode}[I.{self.dtype}, ({axes}{comma}){rest}]"

    def turned(self, array: Any) -> Any:
        """The elements of the view that this one shows again, as this one has them."""
        return {"same": array, "flip": array[::-1], "transpose": array.T}[self.turn]


@dataclass(frozen=True, kw_only=True)
class Program:
    """A kernel as text, its parameters, and the extents to run it at."""

    seed: int
    source: str
    params: tuple[Param, ...]
    extents: tuple[Extents, ...]
    formulas: tuple[tuple[str, str], ...] = ()
    """Symbols that are functions of earlier ones."""
    features: frozenset[str] = field(default=frozenset(), compare=False)
    name: str = "fuzzed"

    @property
    def views(self) -> tuple[Param, ...]:
        return tuple(p for p in self.params if p.role != "scalar")


def evaluate(dim: str, extents: Extents) -> int:
    """The value of an extent written in terms of symbols."""
    return int(dim) if dim.isdigit() else int(eval(dim, {}, dict(extents)))  # noqa: S307 -- the text is our own


def draw(program: Program, extents: Extents, rng: np.random.Generator) -> dict[str, Any]:
    """Arguments by name: arrays, and numpy scalars of the declared dtype."""
    return overlaid(program, {p.name: _draw(p, extents, rng) for p in program.params})


def overlaid(program: Program, values: dict[str, Any]) -> dict[str, Any]:
    """The same values, with the views of an alias group over one array."""
    for p in program.params:
        if p.over:
            values[p.name] = p.turned(values[p.over])
    return values


def _draw(param: Param, extents: Extents, rng: np.random.Generator) -> Any:
    kind = BY_NAME[param.dtype].numpy
    if param.role == "scalar":
        return kind.type(param.value)
    shape = tuple(evaluate(a, extents) for a in param.shape)
    if param.role == "out":
        return np.full(shape, 77, np.int64).astype(kind)
    return _fill(param, shape, extents, rng).astype(kind)


def _fill(param: Param, shape: tuple[int, ...], extents: Extents, rng: np.random.Generator) -> Array:
    limit = evaluate(param.limit, extents)
    if param.draw == "index":
        return rng.integers(0, max(1, limit), shape)
    if param.draw == "permutation":
        return rng.permutation(limit)[: shape[0]]
    if param.draw == "offsets":
        inner = np.sort(rng.integers(0, limit + 1, max(0, shape[0] - 2)))
        return np.concatenate([[0], inner, [limit]])[: shape[0]]
    if param.draw == "flag" or param.dtype == "bool":
        return rng.integers(0, 2, shape)
    if param.draw == "bits" or not BY_NAME[param.dtype].is_float:
        low = 0 if param.dtype.startswith("u") else -9
        return rng.integers(low, 10, shape)
    numbers = rng.integers(-3, 4, shape).astype(np.float64)
    if param.draw == "special":
        return np.where(rng.random(shape) < 0.15, rng.choice([np.nan, np.inf, -np.inf], shape), numbers)
    return numbers
