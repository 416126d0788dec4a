"""Launch-visible extents as cuTile expressions of the kernel's arguments."""

from __future__ import annotations

from collections.abc import Callable

from intent.diagnostics import CapabilityError
from intent.provider.emission import Interval, Width
from intent.provider.emission.python import Prec, Value
from intent.types import Extent
from intent.types.dtypes import INDEX
from intent.types.extent import Atom, Call, Scalar, Symbol
from intent_provider_cutile.emit.literals import literal


class ExtentWriter:
    """Writes extents. ``symbol`` and ``scalar`` name the arguments."""

    def __init__(self, symbol: Callable[[str], str], scalar: Callable[[str], Value]) -> None:
        self._symbol = symbol
        self._scalar = scalar

    def write(self, extent: Extent) -> Value:
        """The extent as an index scalar. Raises CapabilityError for a data-derived one."""
        if extent.const is not None:
            return literal(extent.const, INDEX)
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
            target = "INDEX" if width is Width.INDEX else "ct.int64"
            text = f"ct.astype({value.text}, {target})"
            return Value(text=text, prec=Prec.ATOM, dtype=INDEX, width=width)
        if isinstance(atom, Call):
            return self._call(atom)
        raise CapabilityError("cutile", capability="data-derived extents as launch values", needed=str(atom))

    def _call(self, call: Call) -> Value:
        a, b = (self.write(x) for x in call.args)
        if call.op in ("floordiv", "mod"):  # both floor, like the language's
            symbol = "//" if call.op == "floordiv" else "%"
            text = f"{a.at(Prec.PRODUCT)} {symbol} {b.at(Prec.UNARY)}"
            return Value(text=text, prec=Prec.PRODUCT, dtype=INDEX, width=Width.INDEX)
        text = {
            "max": f"ct.maximum({a.text}, {b.text})",
            "min": f"ct.minimum({a.text}, {b.text})",
            "broadcast": f"ct.where({a.at(Prec.BITOR)} == 1, {b.text}, {a.text})",
            "ceildiv": f"ct.cdiv({a.text}, {b.text})",
        }[call.op]
        return Value(text=text, prec=Prec.ATOM, dtype=INDEX, width=Width.INDEX)
