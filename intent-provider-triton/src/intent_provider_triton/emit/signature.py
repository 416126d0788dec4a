"""The kernel's arguments: what each one is, so that a launch can compute its value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from intent.physical import Buffer, ScalarParam, View
from intent.provider.emission import Interval
from intent.types import Extent
from intent_provider_triton.emit.literals import SIGNATURE
from intent_provider_triton.emit.names import Namer

Kind = Literal["view", "buffer", "stride", "extent", "scalar"]


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One argument of the emitted kernel.

    ``view``/``buffer``: a pointer; ``stride``: of ``view`` along ``axis``; ``extent``: the symbol ``name``;
    ``scalar``: a run-time scalar. ``index``: its integer type is INDEX. ``type``: Triton's signature name otherwise.
    """

    emitted: str
    kind: Kind
    type: str = ""
    index: bool = False
    view: str = ""
    axis: int = 0
    name: str = ""
    buffer: int = -1


@dataclass(frozen=True, kw_only=True)
class Signature:
    """All arguments in order, without the trailing constexpr INDEX.

    ``facts`` are the bounds that must fit int32, ``signs`` the extents that must be >= 0, for INDEX to be int32.
    """

    parameters: tuple[Parameter, ...]
    facts: tuple[Interval, ...] = ()
    signs: tuple[Extent, ...] = ()
    uses_index: bool = True


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
        kind = "*" + SIGNATURE[view.dtype.name]
        return self._add(
            ("view", view.name), view.name, Parameter(emitted="", kind="view", type=kind, view=view.name)
        )

    def stride(self, view: View, axis: int) -> str:
        key = ("stride", view.name, axis)
        hint = f"{view.name}_stride_{axis}"
        made = Parameter(emitted="", kind="stride", index=True, view=view.name, axis=axis)
        return self._add(key, hint, made)

    def extent(self, name: str) -> str:
        return self._add(("extent", name), name, Parameter(emitted="", kind="extent", index=True, name=name))

    def scalar(self, param: ScalarParam) -> str:
        index = param.dtype.kind == "index"
        kind = SIGNATURE[param.dtype.name]
        made = Parameter(emitted="", kind="scalar", type=kind, index=index, name=param.name)
        return self._add(("scalar", param.name), param.name, made)

    def buffer(self, buffer: Buffer) -> str:
        kind = "*" + SIGNATURE[buffer.dtype.name]
        made = Parameter(emitted="", kind="buffer", type=kind, buffer=buffer.id)
        return self._add(("buffer", buffer.id), f"{buffer.name}_buffer", made)

    def _add(self, key: tuple[object, ...], hint: str, made: Parameter) -> str:
        if key not in self._found:
            name = self._reserved.get((made.kind, hint)) or self.namer.fresh(hint)
            fields = {
                k: getattr(made, k) for k in ("kind", "type", "index", "view", "axis", "name", "buffer")
            }
            self._found[key] = Parameter(emitted=name, **fields)
        return self._found[key].emitted

    def parameters(self, order: tuple[View | ScalarParam, ...]) -> tuple[Parameter, ...]:
        """Pointers in the author's order, scalars, then strides, extents, and workspace pointers."""
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
