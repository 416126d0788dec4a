"""A kernel that may write where it reads: what it reads is copied first (language, decisions 6 and 7).

    view x: f32[N] in alias="in place"      buffer !0 x: f32[N]
    view y: f32[N] out alias="in place"     buffer_alloc !0; store !0[...] = load x[...]
    ... load x ...                          ... load !0 ...

The copy is private storage like any other buffer: where instances keep to their own elements each copies just these,
else one instance copies everything before it writes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from intent.kir.effects import Atomic, BufferAlloc, Store
from intent.kir.kernel import Kernel
from intent.kir.ops import ExtentValue, Iota, Load, Op
from intent.kir.roles import roles
from intent.kir.value import Buffer, DomainID, DomainInfo, OpID, Region, Relation, Value, ValueID, View
from intent.kir.walk import regions_of, resources_of, walk
from intent.types.dtypes import INDEX
from intent.types.extent import const

__all__ = ["can_copy", "with_copies"]

_GROUP: Final = "in place"


def can_copy(kernel: Kernel, pairs: Iterable[tuple[str, str]]) -> bool:
    """Whether the views of these (written, read) pairs may be the very same elements after :func:`with_copies`."""
    views = {view.name: view for view in kernel.views}
    names = {name for pair in pairs for name in pair}
    read = {other for _, other in pairs}
    atomics = {op.target.name for op in walk(kernel.body) if isinstance(op, Atomic)}
    groups = {frozenset(pair) for pair in pairs}
    return (
        all(views[name].alias is None for name in names)
        and all(views[name].mode == "in" for name in read)
        and not read & atomics
        and len(_joined(groups)) == 1
    )


def with_copies(kernel: Kernel, pairs: Iterable[tuple[str, str]]) -> Kernel:
    """The kernel for calls in which each pair (written, read) of views is the very same elements."""
    pairs = tuple(pairs)
    together = {name for pair in pairs for name in pair}
    views = {
        view.name: replace(view, alias=_GROUP, coincident=True) if view.name in together else view
        for view in kernel.views
    }
    made = _Copies(kernel, views)
    for name in sorted({other for _, other in pairs}):
        made.copy(views[name])
    return replace(
        kernel,
        params=tuple(views.get(p.name, p) for p in kernel.params),
        body=replace(kernel.body, ops=(*made.ops, *made.region(kernel.body).ops)),
        domains=(*kernel.domains, *made.domains),
    )


def _joined(groups: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    found: list[frozenset[str]] = []
    for group in groups:
        touching = [other for other in found if other & group]
        found = [other for other in found if not other & group] + [group.union(*touching)]
    return found


class _Copies:
    """The operations that copy views, and the kernel's own with the copies in the views' places."""

    def __init__(self, kernel: Kernel, views: dict[str, View]) -> None:
        every = list(walk(kernel.body))
        regions = [kernel.body, *(r for op in every for r in regions_of(op))]
        values = [*(v for op in every for v in op.results), *(v for r in regions for v in r.args)]
        buffers = [r for op in every for r in resources_of(op) if isinstance(r, Buffer)]
        self._op = max((op.id for op in every), default=0)
        self._value = max((v.id for v in values), default=0)
        self._buffer = max((b.id for b in buffers), default=-1)
        self._domain = max((d.id for d in kernel.domains), default=-1)
        self._views = views
        self._span = kernel.span
        self.ops: list[Op] = []
        self.domains: list[DomainInfo] = []
        self.copies: dict[str, Buffer] = {}

    def copy(self, view: View) -> None:
        """A buffer that holds the view's elements from the beginning."""
        self._buffer += 1
        buffer = Buffer(id=self._buffer, name=view.name, dtype=view.dtype, shape=view.shape, span=view.span)
        relation = self._everything(view)
        self._emit(BufferAlloc, buffer=buffer)
        held = self._value_of(view)
        self._emit(Load, results=(held,), source=view, relation=relation)
        self._emit(Store, target=buffer, relation=relation, value=held)
        self.copies[view.name] = buffer

    def _everything(self, view: View) -> Relation:
        """Every element of a view, each axis by itself."""
        coordinates = []
        if view.rank:
            begin, step = (self._number(k) for k in (0, 1))
        for axis, extent in enumerate(view.shape):
            self._domain += 1
            domain = DomainInfo(id=DomainID(self._domain), name=f"{view.name}_{axis}", extent=extent)
            self.domains.append(domain)
            self._value += 1
            along = Value(id=ValueID(self._value), dtype=INDEX, shape=(extent,), name=domain.name)
            self._emit(Iota, results=(along,), begin=begin, step=step, domain=domain.id)
            coordinates.append(along)
        return Relation(coordinates=tuple(coordinates), axes=tuple((k,) for k in range(view.rank)))

    def _number(self, number: int) -> Value:
        self._value += 1
        value = Value(id=ValueID(self._value), dtype=INDEX)
        self._emit(ExtentValue, results=(value,), extent=const(number))
        return value

    def _value_of(self, view: View) -> Value:
        self._value += 1
        return Value(id=ValueID(self._value), dtype=view.dtype, shape=view.shape, name=view.name)

    def _emit(self, node: type[Op], **payload: Any) -> None:
        self._op += 1
        self.ops.append(node(id=OpID(self._op), span=self._span, **payload))

    def region(self, region: Region) -> Region:
        """The region with copies in the places of views that were copied."""
        return replace(region, ops=tuple(map(self._changed, region.ops)))

    def _changed(self, op: Op) -> Op:
        new: dict[str, Any] = {}
        for field, role in roles(type(op)):
            value = getattr(op, field.name)
            if role == "region" and value is not None:
                new[field.name] = self.region(value)
            elif role == "resource" and isinstance(value, View):
                new[field.name] = self.copies.get(value.name, self._views[value.name])
        return replace(op, **new)
