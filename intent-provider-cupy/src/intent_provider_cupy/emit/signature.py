"""The kernel's arguments that the text really uses, under unique names."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from intent.physical import Buffer, ScalarParam, View
from intent.provider.emission import Width
from intent_provider_cupy.emit.interface import Kind, Parameter
from intent_provider_cupy.emit.literals import c_type, stored_type
from intent_provider_cupy.emit.names import Namer


@dataclass
class SignatureBuilder:
    """Collects arguments as they are asked for."""

    namer: Namer
    _found: dict[tuple[object, ...], Parameter] = field(default_factory=dict)
    _reserved: dict[tuple[str, str], str] = field(default_factory=dict)

    def reserve(self, kind: Kind, name: str) -> None:
        """Give the author's parameter or symbol its own name before any local can take it."""
        if (kind, name) not in self._reserved:
            self._reserved[kind, name] = self.namer.fresh(name)

    def view(self, view: View) -> str:
        constant = "const " if view.mode == "in" else ""
        made = Parameter(
            emitted="",
            kind="view",
            type=f"{constant}{stored_type(view.dtype)}*",
            dtype=view.dtype.name,
            view=view.name,
        )
        return self._add(("view", view.name), view.name, made)

    def stride(self, view: View, axis: int) -> str:
        made = Parameter(emitted="", kind="stride", type="Index", view=view.name, axis=axis)
        return self._add(("stride", view.name, axis), f"{view.name}_stride_{axis}", made)

    def extent(self, name: str) -> str:
        return self._add(
            ("extent", name), name, Parameter(emitted="", kind="extent", type="Index", name=name)
        )

    def scalar(self, param: ScalarParam) -> str:
        kind = c_type(param.dtype, Width.INDEX)
        made = Parameter(emitted="", kind="scalar", type=kind, dtype=param.dtype.name, name=param.name)
        return self._add(("scalar", param.name), param.name, made)

    def buffer(self, buffer: Buffer) -> str:
        made = Parameter(
            emitted="",
            kind="buffer",
            type=f"{stored_type(buffer.dtype)}*",
            dtype=buffer.dtype.name,
            buffer=buffer.id,
        )
        return self._add(("buffer", buffer.id), f"{buffer.name}_buffer", made)

    def divided(self, key: tuple[object, ...], least: int) -> str:
        """Whether ``least``, a power of two, divides the argument of ``key``: asked of the layout from now on."""
        parameter = self._found[key]
        name = parameter.divisor or self.namer.fresh(f"{parameter.emitted}_divisor")
        steps = tuple(sorted({*parameter.steps, least}))
        self._found[key] = replace(parameter, divisor=name, steps=steps)
        return f"{name} >= {least}"

    def unit(self, view: View, axis: int) -> str:
        """The layout's constant that says whether a stride is 1, asked for from now on."""
        self.stride(view, axis)
        key = ("stride", view.name, axis)
        parameter = self._found[key]
        if not parameter.unit:
            self._found[key] = replace(parameter, unit=self.namer.fresh(f"{parameter.emitted}_is_one"))
        return self._found[key].unit

    def _add(self, key: tuple[object, ...], hint: str, made: Parameter) -> str:
        if key not in self._found:
            name = self._reserved.get((made.kind, hint)) or self.namer.fresh(hint)
            self._found[key] = replace(made, emitted=name)
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
