"""Extents: interned integer expressions for shapes, bounds and launch lengths (spec: logical-program 2).

An extent is a polynomial with integer coefficients over atoms, so ``M*N`` and ``N*M`` are one object and
equality of extents is identity of the expression. Atoms are

* ``Symbol``: an extent symbol of a view (non-negative, bound at the call),
* ``Scalar``: an integer runtime scalar parameter (any sign, bound at the call),
* ``Dyn``: the run-time value of one SSA value (never launch-visible),
* ``Var``: a variable of a claim to be proven (never part of a kernel or program),
* ``Call``: an operation that is not polynomial (``floordiv mod max min broadcast``).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce


@dataclass(frozen=True)
class Symbol:
    """An extent symbol of the kernel's views; non-negative."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Scalar:
    """An integer runtime scalar parameter, used in a shape or bound."""

    name: str

    def __str__(self) -> str:
        return f"${self.name}"


@dataclass(frozen=True)
class Dyn:
    """The value of the index-typed SSA value ``value`` (a KIR value id)."""

    value: int

    def __str__(self) -> str:
        return f"%{self.value}"


@dataclass(frozen=True)
class Var:
    """A variable of a claim: any integer that the facts allow (``intent.proof``)."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Call:
    """A non-polynomial operation.

    ``floordiv`` and ``mod`` floor like Python's; ``broadcast(a, b)`` is b if a is 1 else a.
    """

    op: str
    args: tuple[Extent, ...]

    def __str__(self) -> str:
        return f"{self.op}({', '.join(map(str, self.args))})"


Atom = Symbol | Scalar | Dyn | Var | Call
Monomial = tuple[Atom, ...]
Binding = Mapping[Atom, int]

_INTERNED: dict[tuple[tuple[Monomial, int], ...], Extent] = {}


class Extent:
    """An interned integer expression; compare with ``==`` or ``is``. Build with :func:`const`, :func:`symbol`, ..."""

    __slots__ = ("_hash", "terms")
    terms: tuple[tuple[Monomial, int], ...]
    _hash: int

    def __new__(cls, terms: tuple[tuple[Monomial, int], ...]) -> Extent:  # noqa: PYI034 -- interned, never subclassed
        found = _INTERNED.get(terms)
        if found is None:
            found = super().__new__(cls)
            found.terms = terms
            found._hash = hash(terms)
            _INTERNED[terms] = found
        return found

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other

    def __reduce__(self) -> tuple[type[Extent], tuple[tuple[tuple[Monomial, int], ...]]]:
        return Extent, (self.terms,)

    def __copy__(self) -> Extent:
        return self

    def __deepcopy__(self, memo: object) -> Extent:
        return self

    @property
    def const(self) -> int | None:
        """The value when it is a compile-time constant, else None."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and not self.terms[0][0]:
            return self.terms[0][1]
        return None

    def atoms(self) -> Iterator[Atom]:
        """Every atom, those inside calls included, possibly repeated."""
        for monomial, _ in self.terms:
            for atom in monomial:
                yield atom
                if isinstance(atom, Call):
                    for arg in atom.args:
                        yield from arg.atoms()

    @property
    def launch_visible(self) -> bool:
        """Whether the value is known before launch (spec: kir-to-gpu-program 4.2)."""
        return not any(isinstance(a, Dyn | Var) for a in self.atoms())

    def evaluate(self, env: Binding) -> int:
        """The integer value under ``env``. Raises KeyError for an unbound atom."""
        return sum(k * reduce(operator.mul, (_atom_value(a, env) for a in m), 1) for m, k in self.terms)

    def substitute(self, env: Mapping[Atom, Extent]) -> Extent:
        """Replace atoms (inside calls too) by extents."""
        total = const(0)
        for monomial, k in self.terms:
            product = const(k)
            for atom in monomial:
                product = product * _atom_substitute(atom, env)
            total = total + product
        return total

    def __add__(self, other: Extent | int) -> Extent:
        total = dict(self.terms)
        for m, k in as_extent(other).terms:
            total[m] = total.get(m, 0) + k
        return _normal(total)

    def __neg__(self) -> Extent:
        return Extent(tuple((m, -k) for m, k in self.terms))

    def __sub__(self, other: Extent | int) -> Extent:
        return self + -as_extent(other)

    def __mul__(self, other: Extent | int) -> Extent:
        total: dict[Monomial, int] = {}
        for m1, k1 in self.terms:
            for m2, k2 in as_extent(other).terms:
                m = tuple(sorted((*m1, *m2), key=_atom_key))
                total[m] = total.get(m, 0) + k1 * k2
        return _normal(total)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: int) -> Extent:
        return const(other) - self

    def __floordiv__(self, other: Extent | int) -> Extent:
        """Floor division; exact polynomial division is folded. The divisor must be positive to mean anything."""
        return floordiv(self, as_extent(other))

    def __mod__(self, other: Extent | int) -> Extent:
        b = as_extent(other)
        if self.const is not None and b.const:
            return const(self.const % b.const)
        quotient = floordiv(self, b)
        if not any(isinstance(a, Call) and a.op == "floordiv" for a in quotient.atoms()):
            return self - quotient * b
        return call("mod", self, b)

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        parts: list[str] = []
        for monomial, k in self.terms:
            factors = [str(a) for a in monomial]
            if abs(k) != 1 or not factors:
                factors.insert(0, str(abs(k)))
            sign = "-" if k < 0 else "+"
            parts.append(
                f" {sign} {'*'.join(factors)}" if parts else ("-" if k < 0 else "") + "*".join(factors)
            )
        return "".join(parts)

    __repr__ = __str__


def _atom_key(atom: Atom) -> tuple[str, str]:
    return type(atom).__name__, str(atom)


def _normal(total: Mapping[Monomial, int]) -> Extent:
    kept = [(m, k) for m, k in total.items() if k]
    # Highest degree first, then by text: a stable order makes the terms a canonical key.
    kept.sort(key=lambda mk: (-len(mk[0]), tuple(map(_atom_key, mk[0]))))
    return Extent(tuple(kept))


def const(value: int) -> Extent:
    """The constant extent ``value``."""
    return Extent((((), int(value)),)) if value else Extent(())


def symbol(name: str) -> Extent:
    """The extent bound by the view symbol ``name``."""
    return Extent((((Symbol(name),), 1),))


def scalar(name: str) -> Extent:
    """The value of the integer scalar parameter ``name``."""
    return Extent((((Scalar(name),), 1),))


def dyn(value: int) -> Extent:
    """The run-time value of SSA value ``value``."""
    return Extent((((Dyn(value),), 1),))


def var(name: str) -> Extent:
    """The variable ``name`` of a claim."""
    return Extent((((Var(name),), 1),))


def as_extent(value: Extent | int) -> Extent:
    """``value`` as an extent."""
    return value if isinstance(value, Extent) else const(value)


def call(op: str, *args: Extent) -> Extent:
    """``op`` applied to extents, folded when all are constant."""
    if all(a.const is not None for a in args):
        return const(_FOLD[op](*[a.const for a in args if a.const is not None]))
    if op in ("max", "min"):
        args = tuple(sorted(set(args), key=str))
        if len(args) == 1:
            return args[0]
    return Extent((((Call(op, args),), 1),))


def floordiv(a: Extent, b: Extent) -> Extent:
    """``floor(a / b)`` for positive ``b``; terms that ``b`` divides exactly are taken out."""
    if b.const == 1:
        return a
    if a.const is not None and b.const:
        return const(a.const // b.const)
    if len(b.terms) != 1:
        return call("floordiv", a, b) if a is not b else const(1)
    (divisor, scale) = b.terms[0]
    exact, rest = const(0), const(0)
    for monomial, k in a.terms:
        remaining = list(monomial)
        divides = k % scale == 0
        for atom in divisor:
            if atom in remaining:
                remaining.remove(atom)
            else:
                divides = False
        term = Extent(((monomial, k),))
        if divides:
            exact = exact + Extent(((tuple(remaining), k // scale),))
        else:
            rest = rest + term
    if rest.const == 0:
        return exact
    if rest.const is not None and not divisor:
        return exact + (rest.const // scale)
    if rest.const == -1 and exact.terms:
        return exact - 1  # the divisor is at least 1, so floor(-1 / b) is -1
    return exact + call("floordiv", rest, b)


def ceildiv(a: Extent, b: Extent | int) -> Extent:
    """``ceil(a / b)`` for positive ``b``."""
    b = as_extent(b)
    if b.const == 1:
        return a
    if a.const is not None and b.const:
        return const(-(-a.const // b.const))
    return call("ceildiv", a, b)


def maximum(*args: Extent | int) -> Extent:
    """The largest of the arguments."""
    return call("max", *map(as_extent, args))


def minimum(*args: Extent | int) -> Extent:
    """The smallest of the arguments."""
    return call("min", *map(as_extent, args))


def broadcast(a: Extent, b: Extent) -> Extent:
    """The broadcast extent of two extents that are equal or one of which is 1."""
    if a is b or b.const == 1:
        return a
    if a.const == 1:
        return b
    # A constant other than 1 decides the result: the other side is equal to it or is 1.
    if a.const is not None:
        return a
    if b.const is not None:
        return b
    return call("broadcast", *sorted((a, b), key=str))


def _atom_value(atom: Atom, env: Binding) -> int:
    if isinstance(atom, Call):
        return _FOLD[atom.op](*[a.evaluate(env) for a in atom.args])
    return env[atom]


def _atom_substitute(atom: Atom, env: Mapping[Atom, Extent]) -> Extent:
    if atom in env:
        return env[atom]
    if isinstance(atom, Call):
        args = tuple(a.substitute(env) for a in atom.args)
        if args == atom.args:
            return Extent((((atom,), 1),))
        if atom.op == "floordiv":
            return floordiv(*args)
        if atom.op == "ceildiv":
            return ceildiv(*args)
        if atom.op == "broadcast":
            return broadcast(*args)
        return call(atom.op, *args)
    return Extent((((atom,), 1),))


_FOLD: dict[str, Callable[..., int]] = {
    "floordiv": lambda a, b: a // b,
    "ceildiv": lambda a, b: -(-a // b),
    "mod": lambda a, b: a % b,
    "max": max,
    "min": min,
    "broadcast": lambda a, b: b if a == 1 else a,
}
