"""The kernel's arguments: what each one is, so that a launch can compute its value."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from intent.diagnostics import CapabilityError
from intent.physical import Buffer, ScalarParam, View
from intent.provider.emission import Interval
from intent_provider_cutile.emit.literals import TYPES
from intent_provider_cutile.emit.names import Namer

Kind = Literal["view", "buffer", "stride", "extent", "scalar"]


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
class Parameter:
    """One argument of the emitted kernel.

    ``view``/``buffer``: an array, of which only the base address counts; ``stride``: of ``view`` along ``axis``, in
    elements; ``extent``: the symbol ``name``; ``scalar``: a run-time scalar. ``index``: its type is INDEX.
    ``dtype``: element type of an array, or dtype of a scalar. ``alias``: views of one group may overlap.
    """

    emitted: str
    kind: Kind
    dtype: str = ""
    index: bool = False
    view: str = ""
    axis: int = 0
    name: str = ""
    buffer: int = -1
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
class Signature:
    """All arguments in order.

    ``facts`` are the bounds that must fit int32 for INDEX to be int32. ``tiled`` names the views whose strides must
    not be negative: they are read or written in whole tiles.
    """

    parameters: tuple[Parameter, ...]
    facts: tuple[Interval, ...] = ()
    tiled: tuple[str, ...] = ()


@dataclass
class SignatureBuilder:
    """Collects the arguments that the text really uses, under unique names."""

    namer: Namer
    _found: dict[tuple[object, ...], Parameter] = field(default_factory=dict)
    _reserved: dict[tuple[str, str], str] = field(default_factory=dict)

    def reserve(self, kind: Kind, name: str) -> None:
        """Give the author's parameter or symbol its own name before any local can take it."""
        if (kind, name) not in self._reserved:
            self._reserved[kind, name] = self.namer.fresh(name)

    def view(self, view: View) -> str:
        made = Parameter(
            emitted="", kind="view", dtype=view.dtype.name, view=view.name, alias=view.alias or ""
        )
        return self._add(("view", view.name), view.name, made)

    def stride(self, view: View, axis: int) -> str:
        key = ("stride", view.name, axis)
        hint = f"{view.name}_stride_{axis}"
        made = Parameter(emitted="", kind="stride", index=True, view=view.name, axis=axis)
        return self._add(key, hint, made)

    def extent(self, name: str) -> str:
        return self._add(("extent", name), name, Parameter(emitted="", kind="extent", index=True, name=name))

    def scalar(self, param: ScalarParam) -> str:
        index = param.dtype.kind == "index"
        if not index and param.dtype.name not in PASSING:
            raise CapabilityError("cutile", capability="scalars of this type", needed=param.dtype)
        made = Parameter(emitted="", kind="scalar", dtype=param.dtype.name, index=index, name=param.name)
        return self._add(("scalar", param.name), param.name, made)

    def buffer(self, buffer: Buffer) -> str:
        made = Parameter(emitted="", kind="buffer", dtype=buffer.dtype.name, buffer=buffer.id)
        return self._add(("buffer", buffer.id), f"{buffer.name}_buffer", made)

    def _add(self, key: tuple[object, ...], hint: str, made: Parameter) -> str:
        if key not in self._found:
            name = self._reserved.get((made.kind, hint)) or self.namer.fresh(hint)
            self._found[key] = replace(made, emitted=name)
        return self._found[key].emitted

    def parameters(self, order: tuple[View | ScalarParam, ...]) -> tuple[Parameter, ...]:
        """Views in the author's order, scalars, then strides, extents, and workspace buffers."""
        names = [p.name for p in order]
        symbols = list(self._reserved)

        def rank(p: Parameter) -> tuple[int, int, int]:
            group = {"view": 0, "scalar": 1, "stride": 2, "extent": 3, "buffer": 4}[p.kind]
            author = p.view if p.kind in ("view", "stride") else p.name
            place = names.index(author) if author in names else len(names)
            if p.kind == "extent":
                place = symbols.index(("extent", p.name)) if ("extent", p.name) in symbols else len(symbols)
            return group, place, p.axis

        return tuple(sorted(self._found.values(), key=rank))
