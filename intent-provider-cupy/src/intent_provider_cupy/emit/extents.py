"""Launch-visible extents as C++ expressions of the kernel's arguments."""

from __future__ import annotations

from collections.abc import Callable

from intent.diagnostics import CapabilityError
from intent.provider.emission import Interval, Width, never_negative
from intent.types import Extent
from intent.types.dtypes import INDEX
from intent.types.extent import Atom, Call, Scalar, Symbol
from intent_provider_cupy.emit.literals import literal
from intent_provider_cupy.emit.value import Prec, Value


class ExtentWriter:
    """Writes extents.

    ``symbol`` and ``scalar`` name the arguments, ``require`` is told what must fit Index.
    """

    def __init__(
        self, symbol: Callable[[str], str], scalar: Callable[[str], Value], require: Callable[..., None]
    ) -> None:
        self._require = require
        self._symbol = symbol
        self._scalar = scalar

    def write(self, extent: Extent) -> Value:
        """The extent as an index scalar. Raises CapabilityError for a data-derived one."""
        if extent.const is not None:
            return literal(extent.const, INDEX)
        width = Interval(extent, extent).width
        terms = [self._term(list(monomial), k) for monomial, k in extent.terms]
        # A leading negative term would need a unary minus.
        terms.sort(key=lambda t: t[1] < 0)
        text, sign, prec = terms[0]
        if sign < 0:
            text, prec = f"-{text}" if prec is Prec.ATOM else f"-({text})", Prec.UNARY
        for other, sign, _ in terms[1:]:
            text, prec = f"{text} {'-' if sign < 0 else '+'} {other}", Prec.SUM
        return Value(text=text, prec=prec, dtype=INDEX, width=width)

    def _term(self, atoms: list[Atom], k: int) -> tuple[str, int, Prec]:
        factors = [self._atom(a) for a in atoms]
        sign = 1 if k > 0 else -1
        if abs(k) != 1 or not factors:
            factors.append(literal(abs(k), INDEX))
        if len(factors) == 1:
            (only,) = factors
            return only.at(Prec.PRODUCT), sign, max(only.prec, Prec.PRODUCT)
        return " * ".join(f.at(Prec.UNARY) for f in factors), sign, Prec.PRODUCT

    def _atom(self, atom: Atom) -> Value:
        if isinstance(atom, Symbol):
            return Value(text=self._symbol(atom.name), prec=Prec.ATOM, dtype=INDEX, width=Width.INDEX)
        if isinstance(atom, Scalar):
            value = self._scalar(atom.name)
            if value.dtype.kind == "index":
                return value
            return Value(text=f"(Index){value.atom}", prec=Prec.UNARY, dtype=INDEX, width=Width.INDEX)
        if isinstance(atom, Call):
            return self._call(atom)
        raise CapabilityError("cupy", capability="data-derived extents as launch values", needed=str(atom))

    def _call(self, call: Call) -> Value:
        a, b = (self.write(x) for x in call.args)
        first, second = call.args
        # The parts of a sum may wrap around, what a division or comparison reads may not.
        self._require(first, second, first + second)
        if call.op == "broadcast":
            text = f"({a.at(Prec.COMPARE)} == 1 ? {b.text} : {a.text})"
        elif call.op in ("max", "min"):
            text = f"it_{call.op}<Index>({a.text}, {b.text})"
        elif call.op == "ceildiv":
            text = f"-it_floor_div<Index>(-{a.atom}, {b.text})"
            if never_negative(first):
                text = f"({a.at(Prec.SUM)} + {b.at(Prec.SUM)} - 1) / {b.at(Prec.UNARY)}"
            return Value(text=text, prec=Prec.PRODUCT, dtype=INDEX, width=Width.INDEX)
        elif never_negative(first) and never_negative(second):  # a zero divisor is invalid input
            symbol = "/" if call.op == "floordiv" else "%"
            text = f"{a.at(Prec.PRODUCT)} {symbol} {b.at(Prec.UNARY)}"
            return Value(text=text, prec=Prec.PRODUCT, dtype=INDEX, width=Width.INDEX)
        else:
            name = "it_floor_div" if call.op == "floordiv" else "it_floor_mod"
            text = f"{name}<Index>({a.text}, {b.text})"
        return Value(text=text, prec=Prec.ATOM, dtype=INDEX, width=Width.INDEX)
