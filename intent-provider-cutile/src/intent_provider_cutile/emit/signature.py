"""The kernel's arguments as cuTile's compiler needs them."""

from __future__ import annotations

from dataclasses import dataclass

from intent.diagnostics import CapabilityError
from intent.physical import ScalarParam, View
from intent.provider import emission
from intent_provider_cutile.emit.literals import TYPES

__all__ = ["PASSING", "Parameter", "Passing", "Signature", "SignatureBuilder"]


@dataclass(frozen=True, kw_only=True)
class Passing:
    """How a scalar of some dtype reaches the kernel: launches know bool, i32, i64 and f32 only.

    ``annotation`` and ``argument``: the parameter's annotation and dtype. ``back``: the expression that makes the
    scalar of the argument called ``{}``, empty where they are the same.
    """

    annotation: str
    argument: str
    back: str = ""


PASSING = {
    "bool": Passing(annotation="bool", argument="bool_"),
    "i32": Passing(annotation="int", argument="int32"),
    "i64": Passing(annotation="ct.ScalarInt64", argument="int64"),
    "f32": Passing(annotation="float", argument="float32"),
    **{
        name: Passing(annotation="int", argument="int32", back=f"ct.astype({{}}, {TYPES[name]})")
        for name in ("i8", "i16", "u8", "u16")
    },
    "u32": Passing(annotation="ct.ScalarInt64", argument="int64", back="ct.astype({}, ct.uint32)"),
    # 64 bits travel as an i64 of the same bits.
    "u64": Passing(annotation="ct.ScalarInt64", argument="int64", back="ct.bitcast({}, ct.uint64)"),
    "f64": Passing(annotation="ct.ScalarInt64", argument="int64", back="ct.bitcast({}, ct.float64)"),
    "f16": Passing(annotation="float", argument="float32", back="ct.astype({}, ct.float16)"),
    "bf16": Passing(annotation="float", argument="float32", back="ct.astype({}, ct.bfloat16)"),
}
"""How each scalar dtype is passed; ``index`` is Index, 32 or 64 bits wide as the launch needs."""


@dataclass(frozen=True, kw_only=True)
class Parameter(emission.Parameter):
    """One argument of the emitted kernel.

    Of an array only the base address counts. ``index``: its type is INDEX. ``alias``: views of one group may overlap.
    """

    alias: str = ""

    @property
    def annotated(self) -> str:
        """The parameter as it stands in the kernel's definition."""
        if self.kind in ("view", "buffer"):
            return f"{self.emitted}: ct.IndexedWithInt64"
        if self.index:
            return f"{self.emitted}: Index"
        return f"{self.emitted}: {PASSING[self.dtype].annotation}"

    @property
    def prologue(self) -> str:
        """The statement that gives the parameter's name its meaning in the body, or nothing."""
        if self.kind in ("view", "buffer"):
            return f"{self.emitted} = {self.emitted}.get_raw_memory()"
        back = "" if self.index else PASSING[self.dtype].back
        return f"{self.emitted} = {back.format(self.emitted)}" if back else ""


@dataclass(frozen=True, kw_only=True)
class Signature(emission.Signature[Parameter]):
    """All arguments in order.

    ``tiled`` names the views whose strides must not be negative: they are read or written in whole tiles.
    """

    tiled: tuple[str, ...] = ()


class SignatureBuilder(emission.Arguments[Parameter]):
    """Collects the arguments that the text really uses."""

    def view(self, view: View) -> str:
        """The address of a view's first element."""
        name = super().view(view)
        self.change(("view", view.name), alias=view.alias or "")
        return name

    def scalar(self, param: ScalarParam) -> str:
        """The value of a scalar parameter. Raises CapabilityError for a dtype that no launch passes."""
        if param.dtype.kind != "index" and param.dtype.name not in PASSING:
            raise CapabilityError("cutile", capability="scalars of this type", needed=param.dtype)
        return super().scalar(param)
