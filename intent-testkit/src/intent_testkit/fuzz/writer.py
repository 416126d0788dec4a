"""The text of one kernel while it grows: parameters, statements, and the values that are in scope."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from random import Random
from typing import Any, Final, TypeVar

from intent_testkit.fuzz.kinds import (
    EXACT,
    FLOATS,
    INTEGERS,
    WIDENED,
    Draw,
    Extents,
    Param,
    Program,
    Value,
    evaluate,
)

T = TypeVar("T")

ELEMENTS: Final = 1 << 12
"""No value has more elements than this at any extents."""
USUAL: Final = (2, 3, 4, 5, 6, 7, 8, 9, 13, 15, 16, 17)
ASSIGNMENTS: Final = 3
LONG: Final = (31, 33, 64, 65, 70, 130)
SMALL: Final = (0, 1, 1, 2, 3, 4)


class Writer:
    """Emits statements and remembers what their names mean."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)  # noqa: S311 -- chance, not secrets
        self.seed = seed
        self.params: list[Param] = []
        self.helpers: dict[str, str] = {}
        self.lines: list[str] = []
        self.pool: list[Value] = []
        self.indent = 1
        self.count = 0
        self.features: set[str] = set()
        self.symbols: dict[str, tuple[int, ...]] = {}
        self.formulas: list[tuple[str, str]] = []
        self.written: set[str] = set()
        """Views that are written: reads of them are not free to move."""
        self.special = self.rng.random() < 0.12
        """Whether float inputs hold NaN and infinities too."""
        self.chain = self.rng.random() < 0.35
        """Whether every statement builds on the one before."""
        count = self.rng.choice((1, 2, 2, 3, 3))
        for name in ("M", "N", "K")[:count]:
            usual = USUAL if self.rng.random() < 0.93 else LONG
            self.symbols[name] = (self.rng.choice(usual), self.rng.choice(SMALL), self.rng.choice(USUAL))
        if count > 1 and self.rng.random() < 0.15:
            self.symbols["N"] = self.symbols["M"]

    # -- chance ------------------------------------------------------------------------------------------------

    def chance(self, p: float) -> bool:
        """True with probability ``p``."""
        return self.rng.random() < p

    def any(self, items: Sequence[T]) -> T:
        """One of the items."""
        return self.rng.choice(items)

    # -- extents -----------------------------------------------------------------------------------------------

    @property
    def extents(self) -> tuple[Extents, ...]:
        """The assignments that the kernel will run at."""
        return tuple({name: sizes[k] for name, sizes in self.symbols.items()} for k in range(ASSIGNMENTS))

    def sizes(self, dim: str) -> tuple[int, ...]:
        """The values of an extent at every assignment."""
        return tuple(evaluate(dim, e) for e in self.extents)

    def elements(self, shape: Sequence[str]) -> int:
        """The most elements that a shape has."""
        totals = [1] * ASSIGNMENTS
        for dim in shape:
            totals = [t * s for t, s in zip(totals, self.sizes(dim), strict=True)]
        return max(totals)

    def fits(self, shape: Sequence[str]) -> bool:
        """Whether a value of this shape is small enough."""
        return len(shape) <= 4 and self.elements(shape) <= ELEMENTS

    def dim(self) -> str:
        """A symbol, seldom a number."""
        return self.any(list(self.symbols)) if self.chance(0.93) else self.any(("1", "2", "4", "3"))

    def shape(self, rank: int | None = None) -> tuple[str, ...]:
        """A random shape of symbols."""
        for _ in range(20):
            found = tuple(self.dim() for _ in range(self.any((1, 1, 2, 2, 2, 3)) if rank is None else rank))
            if self.fits(found):
                return found
        return ("2",) * (rank or 1)

    # -- text --------------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        """Add one statement."""
        self.lines.append("    " * self.indent + text)

    def name(self, prefix: str = "v") -> str:
        """A fresh name."""
        self.count += 1
        return f"{prefix}{self.count}"

    def let(self, text: str, dtype: str, shape: Sequence[str] = (), bound: float = 0.0) -> Value:
        """``vN = text``, added to the pool."""
        name = self.name()
        self.line(f"{name} = {text}")
        found = self.tamed(Value(text=name, dtype=dtype, shape=tuple(shape), bound=bound))
        self.pool.append(found)
        return found

    def tamed(self, value: Value) -> Value:
        """The value, or a clamped one when its magnitude leaves no room for exact arithmetic."""
        if not value.is_float or value.bound <= EXACT[value.dtype]:
            return value
        name = self.name()
        self.line(f"{name} = I.clamp({value.text}, -3.0, 3.0)")
        return replace(value, text=name, bound=3.0)

    def bounded(self, value: Value, limit: float) -> Value:
        """The value as it is when its magnitude is at most ``limit``, else clamped."""
        if not value.is_float or value.bound <= limit:
            return value
        return replace(value, text=f"I.clamp({value.text}, -{limit:.1f}, {limit:.1f})", bound=limit)

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """An indented block; names made inside do not live on."""
        self.line(header)
        kept, at = list(self.pool), len(self.lines)
        self.indent += 1
        yield
        if len(self.lines) == at:
            self.line("pass")
        self.indent -= 1
        self.pool = kept

    def helper(self, name: str, text: str) -> str:
        """Make sure that a helper exists; gives its name."""
        self.helpers[name] = text
        return name

    # -- parameters --------------------------------------------------------------------------------------------

    def param(
        self, role: Any, dtype: str, shape: Sequence[str], draw: Draw = "small", limit: str = "1"
    ) -> Param:
        """A new view; extents that are not symbols get one."""
        prefix = {"in": "x", "out": "y", "inout": "u"}[role]
        found = Param(
            name=self.name(prefix),
            dtype=dtype,
            shape=tuple(self._symbol(d) for d in shape),
            role=role,
            draw=draw,
            limit=limit,
        )
        self.params.append(found)
        return found

    def _symbol(self, dim: str) -> str:
        if dim.isdigit() or dim in self.symbols:
            return dim
        name = f"P{len(self.symbols)}"
        self.symbols[name] = self.sizes(dim)
        self.formulas.append((name, dim))
        return name

    def scalar(self, dtype: str, value: int) -> Value:
        """A new run-time scalar."""
        found = Param(name=self.name("s"), dtype=dtype, role="scalar", value=value)
        self.params.append(found)
        return Value(text=found.name, dtype=dtype, bound=abs(value))

    def input(self, dtype: str, shape: Sequence[str], draw: Draw = "small", limit: str = "1") -> Value:
        """The whole of a new In view."""
        if self.special and draw == "small" and dtype in FLOATS:
            draw = "special"
        view = self.param("in", dtype, shape, draw, limit)
        found = Value(text=f"{view.name}[...]", dtype=dtype, shape=tuple(shape), bound=3.0)
        if self.chance(0.5):
            return self.let(found.text, dtype, shape, 3.0)
        return found

    # -- values ------------------------------------------------------------------------------------------------

    def dtype(self) -> str:
        """A random arithmetic dtype."""
        return self.any((*FLOATS[:2], *FLOATS[:2], *FLOATS, *INTEGERS[:2], *INTEGERS[:2], *INTEGERS))

    def pick(self, want: Callable[[Value], bool] = lambda _: True) -> Value | None:
        """A random value of the pool, later ones more often."""
        found = [v for v in self.pool if want(v)]
        if not found:
            return None
        if self.chain and self.chance(0.75):
            return found[-1]
        at = max(self.rng.randrange(len(found)), self.rng.randrange(len(found)))
        return found[at]

    def numeric(self, rank: int | None = None, least: int = 1) -> Value:
        """A number tensor of the pool, or a new input."""
        found = self.pick(
            lambda v: (
                v.dtype not in {"bool", "index"} and (v.rank == rank if rank is not None else v.rank >= least)
            )
        )
        if found is None or self.chance(0.04 if self.chain else 0.15):
            return self.input(
                self.dtype(), self.shape(rank if rank is not None else max(least, self.any((1, 2, 2, 3))))
            )
        return found

    def of(self, dtype: str, shape: Sequence[str]) -> Value:
        """A value of exactly this type: from the pool, converted, or new."""
        shape = tuple(shape)
        found = self.pick(lambda v: v.shape == shape and v.dtype == dtype)
        if found is not None and self.chance(0.85):
            return found
        if dtype == "bool":
            made = self.of(self.any(("i32", "f32")), shape)
            return self.let(
                f"{made.text} {self.any(('>', '<=', '==', '!='))} {self.any((0, 1, 2))}", "bool", shape
            )
        if self.chance(0.4):
            other = self.pick(lambda v: v.shape == shape and v.dtype != "bool" and castable(v, dtype))
            if other is not None and other.is_float:
                return self.let(f"I.cast({other.text}, I.{dtype})", dtype, shape, other.bound)
            if other is not None:
                number = other.text if dtype not in FLOATS else f"{other.text} % 3"
                return self.let(f"I.cast({number}, I.{dtype})", dtype, shape, 3.0)
        if shape and all(d.isdigit() or d in self.symbols for d in shape) and self.chance(0.8):
            return self.input(dtype, shape)
        literal = self.any(("1", "2", "0", "3"))
        if shape:
            return self.let(f"I.full({tuple_text(shape)}, {literal}, I.{dtype})", dtype, shape, 3.0)
        return self.let(f"I.cast({literal}, I.{dtype})", dtype, (), 3.0)

    def finish(self) -> Program:
        """The program; every symbol of the text is bound from a shape."""
        head = ["import intent", "import intent.language as I", ""]
        for text in self.helpers.values():
            head += ["", *text.strip().splitlines(), ""]
        bound = self._bind_symbols()
        params = ", ".join(p.annotation for p in self.params)
        body = [f"    {line}" for line in bound] + (self.lines or ["    pass"])
        source = "\n".join([*head, "", "@intent.kernel", f"def fuzzed({params}):", *body, ""])
        return Program(
            seed=self.seed,
            source=source,
            params=tuple(self.params),
            extents=self.extents,
            formulas=tuple(self.formulas),
            features=frozenset(self.features),
        )

    def _bind_symbols(self) -> list[str]:
        text = "\n".join(self.lines)
        found = []
        for name in self.symbols:
            places = [(p.name, k) for p in self.params for k, a in enumerate(p.shape) if a == name]
            if places and f"{name}" in text:
                found.append("{} = {}.shape[{}]".format(name, *places[0]))
            elif not places:
                self.params.append(Param(name=f"z{name}", dtype="i8", shape=(name,), role="in"))
                found.append(f"{name} = z{name}.shape[0]")
        return found


def tuple_text(items: Sequence[str]) -> str:
    """A Python tuple of texts."""
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def castable(value: Value, dtype: str) -> bool:
    """Whether every value converts without leaving the dtype's range."""
    if value.is_float and dtype not in FLOATS:
        return value.bound <= 100 and not (dtype.startswith("u"))
    return dtype not in FLOATS or not value.is_float or value.bound <= EXACT[dtype]


def widened(dtype: str) -> str:
    """The dtype of a sum."""
    return WIDENED.get(dtype, dtype)
