"""Reads and writes through relations (spec: logical-program 9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from typing import Literal as Choice

from intent.diagnostics import NonInjectiveAssignment, ReadBeforeWrite, ShapeMismatch, WriteToReadOnly
from intent.frontend.injectivity import distinct_elements
from intent.frontend.relations import Access, Relations
from intent.frontend.values import FULL, BufferRef, FrontValue, Literal, Tensor, ViewRef
from intent.kir import Buffer, Gather, Load, Relation, Resource, Store, Value, View
from intent.proof import Collision
from intent.types import Extent
from intent.types.dtypes import INDEX
from intent.types.extent import dyn


class Accesses(Relations):
    """Loads, gathers and stores."""

    def subscript(self, front: FrontValue, items: Sequence[FrontValue], name: str | None = None) -> Tensor:
        """``front[items]``: a load of a view or buffer, a gather of a tensor."""
        name = name or self.text_of(front, "this value")
        if isinstance(front, ViewRef | BufferRef):
            resource = front.resource
            return self.load(resource, self.access(resource.shape, items, name, resource))
        tensor = self.data(front, f"the subscript of {name}")
        return self.gather(tensor, self.access(tensor.shape, items, name))

    def load(
        self, resource: Resource, access: Access, valid: Tensor | None = None, fill: Tensor | None = None
    ) -> Tensor:
        """Read of a view or buffer. Axes made by ``None`` are broadcast afterwards."""
        self._check_read(resource)
        relation, shape = _without_new(access)
        fields: dict[str, Any] = {
            "source": resource,
            "relation": relation,
            "valid": valid and valid.value,
            "fill": fill and fill.value,
            "assumed": access.assumed if any(access.assumed) else (),
        }
        key = (
            Load,
            resource.name,
            relation,
            valid and valid.value.id,
            fill and fill.value.id,
            access.assumed,
        )
        value = None if resource.mutable else self.known(key)
        if value is None:
            value = self.emit_one(Load, resource.dtype, shape, **fields)
            self.frames[-1].cons[key] = value
        return self._with_new(self.loaded(value), access)

    def gather(
        self, source: Tensor, access: Access, valid: Tensor | None = None, fill: Tensor | None = None
    ) -> Tensor:
        """Pure selection from a tensor value."""
        if access.identity and valid is None:
            return self._with_new(source, access)
        relation, shape = _without_new(access)
        value = self.emit_one(
            Gather,
            source.dtype,
            shape,
            source=source.value,
            relation=relation,
            valid=valid and valid.value,
            fill=fill and fill.value,
        )
        return self._with_new(self.loaded(value), access)

    def store(
        self,
        resource: Resource,
        access: Access,
        value: Tensor,
        valid: Tensor | None = None,
        uniqueness: Choice["proven", "assumed"] | None = None,
    ) -> None:
        """Unique write; ``value`` already has the resource's dtype and is broadcast to the destination's shape.

        ``uniqueness=None``: proven structurally, else a promise inside parallel loops, else refused.
        Raises WriteToReadOnly, NonInjectiveAssignment, ShapeMismatch.
        """
        self.check_writable(resource)
        relation, shape = _without_new(access)
        value = self._fitted(value, access, resource.name)
        found: Choice["proven", "assumed", "point"] = "point" if not shape else "proven"
        outcome = distinct_elements(self, resource, relation, shape) if shape else None
        if outcome is not None and not outcome.proved:
            met = outcome if isinstance(outcome, Collision) else None
            promised = uniqueness or ("assumed" if self.parallel else None)
            found = promised or self._collides(resource, relation, met)
            self.assume("unique", f"the elements of '{resource.name}' assigned here are distinct")
        self.emit(
            Store,
            target=resource,
            relation=relation,
            value=value.value,
            valid=valid and valid.value,
            uniqueness=found,
            assumed=access.assumed if any(access.assumed) else (),
        )

    def check_writable(self, resource: Resource) -> None:
        """Raise WriteToReadOnly for an In view."""
        if isinstance(resource, View) and resource.mode == "in":
            raise WriteToReadOnly(resource.name, span=self.span)

    def loaded(self, value: Value) -> Tensor:
        """A tensor for a value read from memory; an index scalar stands for itself as an extent."""
        return Tensor(value=value, extent=dyn(value.id) if value.dtype is INDEX and not value.shape else None)

    def _check_read(self, resource: Resource) -> None:
        """Refuse a read of an Out view or of an uninitialised buffer that provably precedes every write."""
        unwritten = resource.name not in self.written and not self.frames[-1].looped
        if unwritten and isinstance(resource, View) and resource.mode == "out" and resource.alias is None:
            raise ReadBeforeWrite(resource.name, span=self.span)
        if unwritten and isinstance(resource, Buffer):
            raise ReadBeforeWrite(resource.name, mode="uninitialised buffer", span=self.span)

    def _collides(self, resource: Resource, relation: Relation, met: Collision | None) -> Choice["assumed"]:
        index = ", ".join(self.text_of_value(c) or c.name or "..." for c in relation.coordinates)
        witness = met.witness(resource.name) if met is not None else None
        raise NonInjectiveAssignment(resource.name, index=index, witness=witness, span=self.span)

    def _fitted(self, value: Tensor, access: Access, name: str) -> Tensor:
        """``value`` broadcast to the destination; then the axes made by ``None`` are dropped."""
        what = f"the assignment to {name}"
        offset = len(access.shape) - value.rank
        if offset < 0:
            shapes = {"the value": value.shape, "the destination": access.shape}
            raise ShapeMismatch(what, shapes, span=self.span)
        for extent, wanted in zip(value.shape, access.shape[offset:], strict=True):
            if extent is not wanted and extent.const != 1:
                if extent.const is not None and wanted.const is not None:
                    shapes = {"the value": value.shape, "the destination": access.shape}
                    raise ShapeMismatch(what, shapes, span=self.span)
                self.condition("equal", extent, wanted, what)
        value = self.broadcast_to(value, access.shape)
        if not access.new:
            return value
        drop = [Literal(value=0) if k in access.new else FULL for k in range(len(access.shape))]
        return self.gather(value, self.access(value.shape, drop, name))

    def _with_new(self, tensor: Tensor, access: Access) -> Tensor:
        """Insert the axes that ``None`` makes."""
        if not access.new:
            return tensor
        kept = tuple(k for k in range(len(access.shape)) if k not in access.new)
        return self.spread(tensor, kept, access.shape)


def _without_new(access: Access) -> tuple[Relation, tuple[Extent, ...]]:
    """The relation and shape without the axes that ``None`` makes."""
    if not access.new:
        return access.relation, access.shape
    kept = [k for k in range(len(access.shape)) if k not in access.new]
    axes = tuple(tuple(kept.index(a) for a in placed) for placed in access.relation.axes)
    return Relation(coordinates=access.relation.coordinates, axes=axes), tuple(access.shape[k] for k in kept)
