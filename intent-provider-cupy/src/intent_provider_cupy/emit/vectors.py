"""Which accesses may move several lanes at once, and what the layout has to say for that.

A vector is a run of lanes of one dim whose numbers start at a multiple of its length, all in one thread. Its access
is one of consecutive, aligned elements if the last coordinate counts along the dim from a multiple of the length,
nothing else in the offset moves along it or is off by less, and either all of its lanes are active or none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from intent.physical import (
    Atomic,
    Broadcast,
    Buffer,
    Cast,
    Constant,
    Dim,
    Fragment,
    Lane,
    LaunchValue,
    Load,
    Loop,
    Op,
    Pointwise,
    Store,
    View,
)
from intent.types import Extent
from intent.types.extent import Symbol
from intent_provider_cupy.emit.layout import Table

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body


@dataclass(frozen=True, kw_only=True)
class Vector:
    """``length`` lanes along ``dim`` at once, where ``condition`` (a constant expression of the layout) holds."""

    dim: Dim
    length: int
    condition: str


@dataclass(frozen=True)
class _Need:
    """A fact of the layout: ``least`` divides the argument, or (0) a stride is one."""

    key: tuple[object, ...]
    least: int
    resource: View | None = None


class _Prover:
    """Proves one access; every method says whether, and notes what it needs."""

    def __init__(self, body: Body, dim: Dim, length: int) -> None:
        self.body = body
        self.dim = dim
        self.length = length
        self.needs: list[_Need] = []
        self._defined: Mapping[int, Op] = body.placing.defined
        self._loops: Mapping[int, Loop] = body.placing.loop_of

    def counts(self, value: Fragment) -> bool:
        """Whether the value is a multiple of the length plus the lane number along the dim."""
        op = self._defined.get(value.id)
        if isinstance(op, Lane):
            return op.dim == self.dim
        if isinstance(op, Broadcast | Cast) and op.value.dtype.kind == "index":
            return self.counts(op.value)
        if isinstance(op, Pointwise) and op.fn == "add":
            return any(
                self.dim not in fixed.dims and self.counts(varying) and self.multiple(fixed, self.length)
                for varying, fixed in (op.operands, op.operands[::-1])
            )
        return False

    def multiple(self, value: Fragment, of: int) -> bool:
        """Whether ``of`` divides the value, on every lane."""
        if of == 1:
            return True
        op = self._defined.get(value.id)
        if isinstance(op, Constant):
            return int(op.value) % of == 0
        if isinstance(op, LaunchValue):
            return self.multiple_extent(op.extent, of)
        if isinstance(op, Broadcast):
            return self.multiple(op.value, of)
        if isinstance(op, Pointwise) and op.fn == "mul":
            return self._product(op, of)
        if isinstance(op, Pointwise) and op.fn in ("add", "sub", "minimum", "maximum", "mod"):
            return all(self.multiple(o, of) for o in op.operands)
        loop = self._loops.get(value.id)
        return loop is not None and self.multiple(loop.begin, of) and self.multiple(loop.step, of)

    def _product(self, op: Pointwise, of: int) -> bool:
        for a, b in (op.operands, op.operands[::-1]):
            constant = self._defined.get(b.id)
            if isinstance(constant, Constant) and constant.value:
                shared = int(constant.value) & -int(constant.value)
                return self.multiple(a, max(1, of // shared))
        return any(self.multiple(o, of) for o in op.operands)

    def multiple_extent(self, extent: Extent, of: int) -> bool:
        """Whether ``of`` divides an extent, if the layout has it divide one symbol of each term."""
        for monomial, k in extent.terms:
            if k % of == 0:
                continue
            symbol = next((a for a in monomial if isinstance(a, Symbol)), None)
            if symbol is None:
                return False
            self.needs.append(_Need(("extent", symbol.name), of))
        return True

    def together(self, valid: Fragment | None) -> bool:
        """Whether the lanes of a vector are all active or all not."""
        if valid is None or self.dim not in valid.dims:
            return True
        op = self._defined.get(valid.id)
        if isinstance(op, Broadcast):
            return self.together(op.value)
        if isinstance(op, Pointwise) and op.fn in ("and", "or", "not"):
            return all(self.together(o) for o in op.operands)
        if isinstance(op, Pointwise) and op.fn in ("lt", "ge"):
            a, b = op.operands
            return self.dim not in b.dims and self.counts(a) and self.multiple(b, self.length)
        return False

    def strides(self, op: Load | Store | Atomic) -> bool:
        """Whether the offset counts by one along the dim, and all else in it is a multiple of the length."""
        source = op.source if isinstance(op, Load) else op.target
        last = len(op.coordinates) - 1
        if isinstance(source, Buffer):
            # Every stride but the last axis's has the last extent as a factor, and so has the size of a slice.
            whole = last == 0 and (source.scope == "invocation" or source.id in self.body.buffers)
            return whole or self.multiple_extent(source.shape[-1], self.length)
        for axis, coordinate in enumerate(op.coordinates):
            declared = source.strides[axis] if source.strides is not None else None
            if axis == last:
                if isinstance(declared, int) and declared != 1:
                    return False
                if not isinstance(declared, int):
                    self.needs.append(_Need(("stride", source.name, axis), 0, source))
            elif isinstance(declared, int):
                if declared % self.length and not self.multiple(coordinate, self.length):
                    return False
            else:
                self.needs.append(_Need(("stride", source.name, axis), self.length, source))
        return True


def vector_of(body: Body, op: Load | Store | Atomic, dims: tuple[Dim, ...], table: Table) -> Vector | None:
    """The widest vector with which an access of the lanes ``dims`` may be made, None for single lanes."""
    source = op.source if isinstance(op, Load) else op.target
    if not op.coordinates:
        return None
    dim = body.placing.running(op.coordinates[-1])
    if dim is None or any(dim in c.dims for c in op.coordinates[:-1]):
        return None
    low = next((k for k, b in enumerate(table.bits(dim)) if b is not None), len(table.bits(dim)))
    length = min(1 << low, max(1, body.context.widest // source.dtype.bytes))
    while length > 1:
        prover = _Prover(body, dim, length)
        if prover.counts(op.coordinates[-1]) and prover.together(op.valid) and prover.strides(op):
            facts = _facts(body, prover, op, length)
            if (run := table.runs.get(dim)) is not None:
                body.runs[run].wanted = True
                body.runs[run].needs += [f for f in facts if f not in body.runs[run].needs]
                return Vector(dim=dim, length=length, condition=f"{run} >= {length}")
            return Vector(dim=dim, length=length, condition=" && ".join(facts) or "true")
        length //= 2
    return None


def _facts(body: Body, prover: _Prover, op: Load | Store | Atomic, length: int) -> list[str]:
    source = op.source if isinstance(op, Load) else op.target
    signature = body.context.signature
    texts = [_said(body, need) for need in dict.fromkeys(prover.needs)]
    if isinstance(source, View):
        signature.view(source)
        texts.append(signature.divided(("view", source.name), length * source.dtype.bytes))
    elif source.id not in body.buffers:
        signature.buffer(source)
        texts.append(signature.divided(("buffer", source.id), length * source.dtype.bytes))
    return texts


def _said(body: Body, need: _Need) -> str:
    signature = body.context.signature
    if need.resource is None:
        signature.extent(str(need.key[1]))
        return signature.divided(need.key, need.least)
    axis = int(str(need.key[2]))
    if not need.least:
        return signature.unit(need.resource, axis)
    signature.stride(need.resource, axis)
    return signature.divided(need.key, need.least)
