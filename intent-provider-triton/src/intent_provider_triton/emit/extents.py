"""Launch-visible extents as Triton expressions of the kernel's arguments."""

from __future__ import annotations

from collections.abc import Callable

from intent.diagnostics import CapabilityError
from intent.provider.emission import Interval, Width, never_negative
from intent.provider.emission.python import Prec, Value
from intent.types import Extent
from intent.types.dtypes import INDEX
from intent.types.extent import Atom, Call, Scalar, Symbol
from intent_provider_triton.emit.literals import literal


class ExtentWriter:
    """Writes extents.

    ``symbol`` and ``scalar`` name the arguments, ``need`` asks for prelude functions, ``require`` is told what must fit
    INDEX.
    """

    def __init__(
        self,
        symbol: Callable[[str], str],
        scalar: Callable[[str], Value],
        need: Callable[[str], str],
        require: Callable[..., None],
    ) -> None:
        self._require = require
        self._symbol = symbol
        self._scalar = scalar
        self._need = need

    def write(self, extent: Extent) -> Value:
        """The extent as an index scalar. Raises CapabilityError for a data-derived one."""
        if extent.const is not None:
            return literal(extent.const, INDEX)
        width = Interval(extent, extent).width
        terms = [self._term(list(monomial), k, width) for monomial, k in extent.terms]
        # A leading negative term would need a unary minus; Triton's arguments read better sum first.
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
            factors.append(literal(abs(k), INDEX))
        if len(factors) == 1:
            (only,) = factors
            return only.at(Prec.PRODUCT), 1 if k > 0 else -1, only.prec
        return " * ".join(f.at(Prec.UNARY) for f in factors), 1 if k > 0 else -1, Prec.PRODUCT

    def _atom(self, atom: Atom, width: Width) -> Value:
        if isinstance(atom, Symbol):
            return Value(text=self._symbol(atom.name), prec=Prec.ATOM, dtype=INDEX, width=Width.INDEX)
        if isinstance(atom, Scalar):
            value = self._scalar(atom.name)
            if value.dtype.kind == "index":
                return value
            target = "INDEX" if width is Width.INDEX else "tl.int64"
            return Value(text=f"{value.atom}.to({target})", prec=Prec.ATOM, dtype=INDEX, width=width)
        if isinstance(atom, Call):
            return self._call(atom)
        raise CapabilityError("triton", capability="data-derived extents as launch values", needed=str(atom))

    def _call(self, call: Call) -> Value:
        a, b = (self.write(x) for x in call.args)
        first, second = call.args
        # The parts of a sum may wrap around, what a division or comparison reads may not.
        self._require(first, second, first + second)
        text = {
            "max": f"tl.maximum({a.text}, {b.text})",
            "min": f"tl.minimum({a.text}, {b.text})",
            "broadcast": f"tl.where({a.at(Prec.BITOR)} == 1, {b.text}, {a.text})",
            "ceildiv": f"tl.cdiv({a.text}, {b.text})",
        }.get(call.op)
        if text is None or (call.op == "ceildiv" and not never_negative(first)):
            proven = never_negative(first) and never_negative(second)  # a zero divisor is invalid input
            text, prec = self._division(call.op, a, b, proven=proven)
            return Value(text=text, prec=prec, dtype=INDEX, width=Width.INDEX)
        return Value(text=text, prec=Prec.ATOM, dtype=INDEX, width=Width.INDEX)

    def _division(self, op: str, a: Value, b: Value, *, proven: bool) -> tuple[str, Prec]:
        if op == "ceildiv":
            return f"0 - {self._need('_floor_div')}(0 - {a.at(Prec.PRODUCT)}, {b.text})", Prec.SUM
        if proven:
            symbol = "//" if op == "floordiv" else "%"
            return f"{a.at(Prec.PRODUCT)} {symbol} {b.at(Prec.UNARY)}", Prec.PRODUCT
        name = self._need("_floor_div" if op == "floordiv" else "_floor_mod")
        return f"{name}({a.text}, {b.text})", Prec.ATOM
