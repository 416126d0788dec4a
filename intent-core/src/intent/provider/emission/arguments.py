"""The arguments of an emitted kernel: collected while the text is written, computed again at every launch.

A program's interface is its views, scalars and workspace; a kernel's arguments are what its text really reads of
them: addresses, single strides and extents (spec: kir-to-gpu-program 8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from intent.physical import Buffer, Program, ScalarParam, View
from intent.provider.emission.names import Namer
from intent.provider.protocol import Invocation
from intent.types.extent import Symbol

__all__ = ["Arguments", "Kind", "Parameter", "value_of"]

Kind = Literal["view", "buffer", "stride", "extent", "scalar"]
_ORDER: tuple[Kind, ...] = ("view", "scalar", "stride", "extent", "buffer")


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One argument, called ``emitted`` in the text. Providers add what their target must know of it.

    ``view``: the address of element 0 of ``view``; ``buffer``: the address of workspace buffer ``buffer``; ``stride``:
    of ``view`` along ``axis``, in elements; ``extent``: the symbol ``name``; ``scalar``: the run-time scalar ``name``.
    ``dtype``: the element type of an address, or the scalar's own. ``index``: its type is that of indices, as wide as
    the launch needs. ``read_only``: nothing is written through this address.
    """

    emitted: str
    kind: Kind
    dtype: str = ""
    index: bool = False
    view: str = ""
    axis: int = 0
    name: str = ""
    buffer: int = -1
    read_only: bool = False


P = TypeVar("P", bound=Parameter)


class Arguments(Generic[P]):
    """Collects the arguments that a text reads, under unique names; ``make`` is the provider's parameter class.

    The methods that ask for an argument give its name in the text.
    """

    def __init__(self, namer: Namer, make: Callable[..., P]) -> None:
        self.namer = namer
        self._make = make
        self._found: dict[tuple[object, ...], P] = {}
        self._reserved: dict[tuple[str, str], str] = {}

    def reserve(self, program: Program) -> None:
        """Give the author's parameters, and the symbols of their shapes, their own names before any local takes one."""
        for param in program.params:
            self._reserve("view" if isinstance(param, View) else "scalar", param.name)
        for view in program.views:
            for extent in view.shape:
                for atom in extent.atoms():
                    if isinstance(atom, Symbol):
                        self._reserve("extent", atom.name)

    def _reserve(self, kind: Kind, name: str) -> None:
        if (kind, name) not in self._reserved:
            self._reserved[kind, name] = self.namer.fresh(name)

    def view(self, view: View) -> str:
        """The address of a view's first element."""
        return self.ask(
            ("view", view.name), view.name, kind="view", dtype=view.dtype.name, view=view.name,
            read_only=view.mode == "in",
        )  # fmt: skip

    def stride(self, view: View, axis: int) -> str:
        """A stride in elements."""
        key, hint = ("stride", view.name, axis), f"{view.name}_stride_{axis}"
        return self.ask(key, hint, kind="stride", index=True, view=view.name, axis=axis)

    def extent(self, name: str) -> str:
        """The value of a symbol."""
        return self.ask(("extent", name), name, kind="extent", index=True, name=name)

    def scalar(self, param: ScalarParam) -> str:
        """The value of a scalar parameter."""
        index = param.dtype.kind == "index"
        key = ("scalar", param.name)
        return self.ask(key, param.name, kind="scalar", dtype=param.dtype.name, index=index, name=param.name)

    def buffer(self, buffer: Buffer) -> str:
        """The address of a buffer in the workspace."""
        key, hint = ("buffer", buffer.id), f"{buffer.name}_buffer"
        return self.ask(key, hint, kind="buffer", dtype=buffer.dtype.name, buffer=buffer.id)

    def ask(self, key: tuple[object, ...], hint: str, *, kind: Kind, **fields: Any) -> str:
        """The argument of ``key``, made of the fields when it is first asked for."""
        if key not in self._found:
            name = self._reserved.get((kind, hint)) or self.namer.fresh(hint)
            self._found[key] = self._make(emitted=name, kind=kind, **fields)
        return self._found[key].emitted

    def change(self, key: tuple[object, ...], **fields: Any) -> P:
        """The argument of ``key``, with these fields from now on."""
        self._found[key] = replace(self._found[key], **fields)
        return self._found[key]

    def found(self, key: tuple[object, ...]) -> P:
        """The argument of ``key`` as it is now."""
        return self._found[key]

    def parameters(self, order: Iterable[View | ScalarParam]) -> tuple[P, ...]:
        """Views, then scalars, each in the author's order, then strides, extents, and workspace buffers."""
        names = [p.name for p in order]
        symbols = [name for kind, name in self._reserved if kind == "extent"]

        def rank(p: P) -> tuple[int, int, int]:
            author = p.view if p.kind in ("view", "stride") else p.name
            among = symbols if p.kind == "extent" else names
            return _ORDER.index(p.kind), among.index(author) if author in among else len(among), p.axis

        return tuple(sorted(self._found.values(), key=rank))


def value_of(parameter: Parameter, invocation: Invocation) -> bool | int | float:
    """The argument's value in a launch: an address, a stride in elements, an extent or a scalar."""
    if parameter.kind == "view":
        return invocation.views[parameter.view].pointer
    if parameter.kind == "stride":
        return invocation.views[parameter.view].strides[parameter.axis]
    if parameter.kind == "extent":
        return invocation.extents[parameter.name]
    if parameter.kind == "scalar":
        return invocation.scalars[parameter.name]
    assert invocation.workspace is not None
    assert invocation.workspace_offsets is not None
    return invocation.workspace.pointer + invocation.workspace_offsets[parameter.buffer]
