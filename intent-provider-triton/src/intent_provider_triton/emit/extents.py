"""Launch-visible extents in Triton."""

from __future__ import annotations

from collections.abc import Callable

from intent.provider.emission import Width, never_negative, python
from intent.provider.emission.python import Prec, Value
from intent.types.dtypes import INDEX
from intent.types.extent import Call
from intent_provider_triton.spelling import PROVIDER


class ExtentWriter(python.ExtentWriter):
    """Writes extents; ``need`` asks for prelude functions."""

    def __init__(
        self,
        symbol: Callable[[str], str],
        scalar: Callable[[str], Value],
        need: Callable[[str], str],
        require: Callable[..., None],
    ) -> None:
        super().__init__(PROVIDER, symbol, scalar, require)
        self._need = need

    def converted(self, value: Value, width: Width) -> Value:
        """A scalar argument of another integer type as an index value of this width."""
        target = "INDEX" if width is Width.INDEX else "tl.int64"
        return Value(text=f"{value.atom}.to({target})", prec=Prec.ATOM, dtype=INDEX, width=width)

    def call(self, call: Call, a: Value, b: Value) -> Value:
        """A function of two extents; Triton's own division truncates."""
        first, second = call.args
        prec = Prec.ATOM
        if call.op in ("max", "min"):
            text = f"tl.{call.op}imum({a.text}, {b.text})"
        elif call.op == "broadcast":
            text = f"tl.where({a.at(Prec.BITOR)} == 1, {b.text}, {a.text})"
        elif call.op == "ceildiv":
            text = f"tl.cdiv({a.text}, {b.text})"
            if not never_negative(first):
                text = f"0 - {self._need('_floor_div')}(0 - {a.at(Prec.PRODUCT)}, {b.text})"
                prec = Prec.SUM
        elif never_negative(first) and never_negative(second):  # a zero divisor is invalid input
            symbol = "//" if call.op == "floordiv" else "%"
            text, prec = f"{a.at(Prec.PRODUCT)} {symbol} {b.at(Prec.UNARY)}", Prec.PRODUCT
        else:
            name = self._need("_floor_div" if call.op == "floordiv" else "_floor_mod")
            text = f"{name}({a.text}, {b.text})"
        return Value(text=text, prec=prec, dtype=INDEX, width=Width.INDEX)
