"""Launch-visible extents as expressions of the kernel's arguments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from intent.diagnostics import CapabilityError
from intent.provider.emission.bounds import Interval
from intent.provider.emission.python.value import Prec, Value, index_literal
from intent.provider.emission.width import Width
from intent.types import Extent
from intent.types.dtypes import INDEX
from intent.types.extent import Atom, Call, Scalar, Symbol

__all__ = ["ExtentWriter"]


class ExtentWriter(ABC):
    """Writes extents; a provider spells the conversions and the functions in them.

    ``symbol`` and ``scalar`` name the arguments, ``require`` is told what must fit the index type.
    """

    def __init__(
        self,
        provider: str,
        symbol: Callable[[str], str],
        scalar: Callable[[str], Value],
        require: Callable[..., None],
    ) -> None:
        self._provider = provider
        self._symbol = symbol
        self._scalar = scalar
        self._require = require

    @abstractmethod
    def converted(self, value: Value, width: Width) -> Value:
        """A scalar argument of another integer type as an index value of this width."""

    @abstractmethod
    def call(self, call: Call, a: Value, b: Value) -> Value:
        """A function of two extents, whose texts are ``a`` and ``b``."""

    def write(self, extent: Extent) -> Value:
        """The extent as an index scalar. Raises CapabilityError for a data-derived one."""
        if extent.const is not None:
            return index_literal(extent.const)
        width = Interval(extent, extent).width
        terms = [self._term(list(monomial), k, width) for monomial, k in extent.terms]
        # A leading negative term would need a unary minus; a sum reads better with a positive term first.
        terms.sort(key=lambda t: t[1] < 0)
        text, sign, prec = terms[0]
        if sign < 0:
            text, prec = f"0 - {text}", Prec.SUM
        for other, sign, _ in terms[1:]:
            text, prec = f"{text} {'-' if sign < 0 else '+'} {other}", Prec.SUM
        return Value(text=text, prec=prec, dtype=INDEX, width=width)

    def _term(self, atoms: list[Atom], k: int, width: Width) -> tuple[str, int, Prec]:
        factors = [self._atom(a, width) for a in atoms]
        if abs(k) != 1 or not factors:
            factors.append(index_literal(abs(k)))
        if len(factors) == 1:
            (only,) = factors
            return only.at(Prec.PRODUCT), 1 if k > 0 else -1, only.prec
        return " * ".join(f.at(Prec.UNARY) for f in factors), 1 if k > 0 else -1, Prec.PRODUCT

    def _atom(self, atom: Atom, width: Width) -> Value:
        if isinstance(atom, Symbol):
            return Value(text=self._symbol(atom.name), prec=Prec.ATOM, dtype=INDEX, width=Width.INDEX)
        if isinstance(atom, Scalar):
            value = self._scalar(atom.name)
            return value if value.dtype.kind == "index" else self.converted(value, width)
        if isinstance(atom, Call):
            first, second = atom.args
            # The parts of a sum may wrap around, what a division or comparison reads may not.
            self._require(first, second, first + second)
            return self.call(atom, self.write(first), self.write(second))
        raise CapabilityError(
            self._provider, capability="data-derived extents as launch values", needed=str(atom)
        )
