"""Launch-visible extents in cuTile."""

from __future__ import annotations

from intent.provider.emission import Width, python
from intent.provider.emission.python import Prec, Value
from intent.types.dtypes import INDEX
from intent.types.extent import Call


class ExtentWriter(python.ExtentWriter):
    """Writes extents; cuTile's division and modulus floor, like the language's."""

    def converted(self, value: Value, width: Width) -> Value:
        """A scalar argument of another integer type as an index value of this width."""
        target = "INDEX" if width is Width.INDEX else "ct.int64"
        return Value(text=f"ct.astype({value.text}, {target})", prec=Prec.ATOM, dtype=INDEX, width=width)

    def call(self, call: Call, a: Value, b: Value) -> Value:
        """A function of two extents."""
        prec = Prec.ATOM
        if call.op in ("max", "min"):
            text = f"ct.{call.op}imum({a.text}, {b.text})"
        elif call.op == "broadcast":
            text = f"ct.where({a.at(Prec.BITOR)} == 1, {b.text}, {a.text})"
        elif call.op == "ceildiv":
            text = f"ct.cdiv({a.text}, {b.text})"
        else:
            symbol = "//" if call.op == "floordiv" else "%"
            text, prec = f"{a.at(Prec.PRODUCT)} {symbol} {b.at(Prec.UNARY)}", Prec.PRODUCT
        return Value(text=text, prec=prec, dtype=INDEX, width=Width.INDEX)
