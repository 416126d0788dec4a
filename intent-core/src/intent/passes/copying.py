"""Copying operations while some values are known: what follows from them is simplified on the way.

    copy = Copier(builder, {mask.id: true})
    copy.ops(loop.body.ops)

    %4 bool{rows, cols} = pointwise fn=and operands=(%2, %3)        %3 is true       (nothing)
    %5 f32{rows, cols} = pointwise fn=select operands=(%4, %1, %0)  ->               %5 f32 ... operands=(%2, %1, %0)

Every rule holds bit for bit, with three exceptions that the caller has to be entitled to: ``finite`` takes
``0 * x`` for 0 and ``-inf - x`` for -inf although x may be infinite or NaN; a sum that contributes 0.0 is left
out only where ``sums`` says that the other side is never -0.0; a fold's or reduction's identity is one by the
author's declaration.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any, Final

from intent import physical as ph
from intent.passes.building import Builder
from intent.passes.constants import Value, same
from intent.physical.walk import walk

_REPEATED: Final = (
    ph.Load,
    ph.Contract,
    ph.Histogram,
    ph.Reduce,
    ph.Cast,
    ph.Bitcast,
    ph.Rename,
    ph.Lane,
    ph.LaunchValue,
)
EFFECTS: Final = (ph.Store, ph.Atomic, ph.Fence, ph.BufferAlloc)


class Copier:
    """Copies operations to the builder's current region under a substitution.

    Args:
        names: What a value of the original stands for in the copy.
        finite: Whether ``0 * x`` may be taken for 0, and what meets -inf for what it is with a finite number.
        sums: Ids of original values that are running sums, never -0.0.
        still: Whether no memory changes in what is copied: equal reads are then made once, equal products too.
        counter: The copied loop's index in the original. A coordinate that moves with it and is proven by guard
            keeps its whole test: the assumptions in ``names`` are for values, not for staying in bounds.
    """

    def __init__(
        self,
        builder: Builder,
        names: dict[int, ph.Fragment],
        *,
        finite: bool = False,
        sums: frozenset[int] = frozenset(),
        counter: ph.Fragment | None = None,
        still: bool = False,
    ) -> None:
        self.still = still
        self.b = builder
        self.names = names
        self.assumed = frozenset(names) - {counter.id} if counter is not None else frozenset()
        self.counter = counter
        self.finite = finite
        self.sums = {names[k].id if k in names else k for k in sums}
        self.effects = 0

    def get(self, value: ph.Fragment) -> ph.Fragment:
        """What a value of the original is in the copy."""
        return self.names.get(value.id, value)

    def value(self, value: ph.Fragment) -> Value | None:
        """The constant that a value of the original is in the copy, or None."""
        return self.b.known.value(self.get(value))

    def ops(self, ops: tuple[ph.Op, ...]) -> None:
        """Copy operations in order."""
        span, origin = self.b.span, self.b.origin
        for op in ops:
            self.op(op)
        self.b.span, self.b.origin = span, origin

    def op(self, op: ph.Op) -> None:
        """Copy one operation, or say what it is without it."""
        if len(op.results) == 1 and op.result.id in self.names:
            return  # assumed
        self.b.span, self.b.origin = op.span, op.origin
        found = self._simplified(op)
        if found is not None:
            self.names[op.result.id] = self.b.broadcast(found, op.result.dims)
            return
        if not self._idle(op):
            self._copy(op)

    def _idle(self, op: ph.Op) -> bool:
        """Whether the operation is an effect on no lane, without results."""
        effect = isinstance(op, ph.Store | ph.Atomic) and not op.results
        return effect and op.valid is not None and self.value(op.valid) is False  # type: ignore[attr-defined]

    # -- simplification ------------------------------------------------------------------------------------------

    def _simplified(self, op: ph.Op) -> ph.Fragment | None:
        match op:
            case ph.Constant():
                return self.b.constant(op.value, op.result.dtype)
            case ph.Pointwise():
                return self._pointwise(op)
            case ph.Broadcast():
                return self.get(op.value)
            case ph.Cast():
                return self._cast(op)
            case ph.Reduce():
                return self._reduce(op)
            case ph.Contract():
                return self._contract(op)
            case ph.Histogram(valid=ph.Fragment() as valid) if self.value(valid) is False:
                return self._nothing_counted(op)
            case ph.Load(valid=ph.Fragment() as valid) if self.value(valid) is False:
                return self._nothing_read(op)
        return None

    def _pointwise(self, op: ph.Pointwise) -> ph.Fragment:
        operands = tuple(self.get(f) for f in op.operands)
        found = self._alias(op, operands)
        if found is not None:
            return found
        return self.b.pointwise(
            op.fn,
            *operands,
            dtype=op.result.dtype,
            name=op.result.name,
            approximate=op.approximate,
            flush_to_zero=op.flush_to_zero,
        )

    def _alias(self, op: ph.Pointwise, f: tuple[ph.Fragment, ...]) -> ph.Fragment | None:
        """The operand or constant that the operation comes to."""
        v = [self.b.known.value(x) for x in f]
        match op.fn:
            case "and" | "or" if op.result.dtype.name == "bool":
                neutral = op.fn == "and"
                for k in (0, 1):
                    if v[k] is not None:
                        return f[1 - k] if v[k] is neutral else f[k]
            case "select":
                if v[0] is not None:
                    return f[1] if v[0] else f[2]
                if f[1] == f[2] or same(v[1], v[2]):
                    return f[1]
            case "add":
                for k in (0, 1):
                    if self._nothing(v[k], f[1 - k]):
                        return f[1 - k]
            case "mul":
                return self._product(f, v)
            case "maximum" | "minimum" | "sub" | "gt":
                return self._beside_extreme(op, f, v)
        return None

    def _beside_extreme(
        self, op: ph.Pointwise, f: tuple[ph.Fragment, ...], v: list[Value | None]
    ) -> ph.Fragment | None:
        """What the operation comes to where an operand is the least or greatest value there is."""
        if op.fn == "sub":
            return f[0] if self.finite and v[0] == -math.inf else None
        if op.fn == "gt":
            return self.b.constant(False, op.result.dtype) if _extreme(v[0], f[0], least=True) else None
        for k in (0, 1):
            if _extreme(v[k], f[k], least=op.fn == "maximum"):
                return f[1 - k]
            if self.finite and _extreme(v[k], f[k], least=op.fn == "minimum"):
                return f[k]
        return None

    def _nothing(self, value: Value | None, other: ph.Fragment) -> bool:
        """Whether adding ``value`` to ``other`` changes nothing."""
        if value != 0:
            return False
        return not isinstance(value, float) or math.copysign(1.0, value) < 0 or other.id in self.sums

    def _product(self, f: tuple[ph.Fragment, ...], v: list[Value | None]) -> ph.Fragment | None:
        for k in (0, 1):
            if v[k] == 1:
                return f[1 - k]
            if v[k] == 0 and (self.finite or f[k].dtype.is_integer):
                return self.b.constant(0.0 if f[k].dtype.is_float else 0, f[k].dtype)
        return None

    def _cast(self, op: ph.Cast) -> ph.Fragment | None:
        value = self.value(op.value)
        target = op.result.dtype
        # Wider claims about rounding are not needed here.
        if isinstance(value, float) and target.is_float and (value in (0.0, 1.0) or math.isinf(value)):
            return self.b.constant(value, target) if "e4m3" not in target.name else None
        if isinstance(value, bool | int) and (target.is_integer or target.is_float) and value in (0, 1):
            return self.b.constant(float(value) if target.is_float else int(value), target)
        return None

    def _reduce(self, op: ph.Reduce) -> ph.Fragment | None:
        """A reduction of one constant, where the number of lanes does not matter."""
        if len(op.results) != 1:
            return None
        value = self.value(op.operands[0])
        if value is None:
            return None
        if op.kind is None:
            return self.get(op.identity[0]) if same(value, self.value(op.identity[0])) else None
        alone = op.kind in ("max", "min", "any", "all") or same(value, _IDENTITY.get((op.kind, type(value))))
        return self.b.constant(value, op.result.dtype) if alone else None

    def _contract(self, op: ph.Contract) -> ph.Fragment | None:
        """A contraction with zeros on one side."""
        sides = (self.value(op.lhs), self.value(op.rhs))
        if 0 not in sides:
            return None
        if not (self.finite or op.result.dtype.is_integer or sides[0] == sides[1]):
            return None
        if op.accumulator is None:
            return self.b.constant(0.0 if op.result.dtype.is_float else 0, op.result.dtype)
        return self.get(op.accumulator)

    def _nothing_counted(self, op: ph.Histogram) -> ph.Fragment:
        """A histogram of nothing."""
        return self.b.constant(0, op.result.dtype) if op.accumulator is None else self.get(op.accumulator)

    def _nothing_read(self, op: ph.Load) -> ph.Fragment:
        """A read of nothing is its fill."""
        if op.fill is not None:
            return self.get(op.fill)
        zero: Value = False if op.result.dtype.name == "bool" else 0.0 if op.result.dtype.is_float else 0
        return self.b.constant(zero, op.result.dtype)

    # -- copies --------------------------------------------------------------------------------------------------

    def _copy(self, op: ph.Op) -> None:
        if isinstance(op, EFFECTS):
            self.effects += 1
        changed: dict[str, Any] = {}
        for field in fields(op):
            value = getattr(op, field.name)
            if isinstance(value, ph.Region):
                changed[field.name] = self._region(value, alone=isinstance(op, ph.Reduce | ph.Scan))
            elif field.name not in ("id", "results", "origin", "span"):
                changed[field.name] = self._mapped(value)
        match op:
            case ph.Load() | ph.Store() | ph.Atomic():
                changed["valid"] = self._validity(op)
            case ph.Histogram(valid=ph.Fragment() as valid) if self.value(valid) is True:
                changed["valid"] = None
        if isinstance(op, ph.Loop) and self._settled(op, changed["body"]):
            for result, init in zip(op.results, op.inits, strict=True):
                self.names[result.id] = self.get(init)
            return
        if self.still and isinstance(op, _REPEATED) and len(op.results) == 1:
            same = self.b.add(type(op), op.result.dtype, op.result.dims, name=op.result.name, **changed)
            self.names[op.result.id] = same
            return
        results = tuple(self.b.renewed(r) for r in op.results)
        copied = replace(op, id=self.b.fresh(), results=results, **changed)
        if self.still and isinstance(op, ph.Loop) and not _acts(copied.body):  # type: ignore[attr-defined]
            results = self.b.share(copied)
        else:
            self.b.append(copied)
        self.names.update(zip((r.id for r in op.results), results, strict=True))

    def _settled(self, op: ph.Loop, body: ph.Region) -> bool:
        """Whether the loop's copy gives back what it began with and does nothing else."""
        return bool(op.results) and body.yields == body.args[1:] and not _acts(body)

    def _mapped(self, value: Any) -> Any:
        if isinstance(value, ph.Fragment):
            return self.get(value)
        if isinstance(value, tuple):
            return tuple(self._mapped(v) for v in value)
        if isinstance(value, ph.Narrowed):
            return replace(value, bound=self.get(value.bound), tests=self._mapped(value.tests))
        return value

    def _region(self, region: ph.Region, *, alone: bool) -> ph.Region:
        """A nested region with arguments of its own; combines see nothing from outside, constants included."""
        args = tuple(self.b.renewed(a) for a in region.args)
        self.names.update(zip((a.id for a in region.args), args, strict=True))
        with self.b.region(alone=alone) as ops:
            self.ops(region.ops)
            yields = tuple(self.get(y) for y in region.yields)
        return ph.Region(args=args, ops=tuple(ops), yields=yields)

    def _validity(self, op: ph.Load | ph.Store | ph.Atomic) -> ph.Fragment | None:
        """The test of an access, without the repetition that nothing needs, or none where it always holds."""
        if op.valid is None:
            return None
        valid = self._tested(op.valid) if self._guarded(op) else self.get(op.valid)
        if self.b.known.value(valid) is True:
            return None
        plain = self.b.known.plain(valid)
        covered = {d for c in op.coordinates for d in c.dims}
        covered |= set(() if isinstance(op, ph.Load) else op.dims)
        return plain if {*valid.dims} <= covered | {*plain.dims} else valid

    def _guarded(self, op: ph.Load | ph.Store | ph.Atomic) -> bool:
        """Whether a coordinate that moves with the counter is in bounds because the validity says so."""
        return self.counter is not None and guarded(self.b, self.counter, op)

    def _tested(self, test: ph.Fragment) -> ph.Fragment:
        """A predicate of the original without the assumptions."""
        op = self.b.known.definition.get(test.id)
        if not self.b.known.reaches(test, self.assumed) or not isinstance(op, ph.Pointwise | ph.Broadcast):
            return self.get(test)
        if isinstance(op, ph.Broadcast):
            return self.b.broadcast(self._tested(op.value), op.result.dims)
        operands = [self._tested(f) for f in op.operands]
        return self.b.pointwise(op.fn, *operands, dtype=op.result.dtype)


def guarded(b: Builder, counter: ph.Fragment, op: ph.Load | ph.Store | ph.Atomic) -> bool:
    """Whether a coordinate of the access moves with a loop's index and its validity says that it is in bounds."""
    moving = {counter.id}
    return any(
        str(proof) in ("guard", "predicate") and b.known.reaches(c, moving)
        for c, proof in zip(op.coordinates, op.proofs, strict=True)
    )


_IDENTITY: Final[dict[tuple[str, type], Value]] = {
    ("sum", float): 0.0, ("sum", int): 0, ("prod", float): 1.0, ("prod", int): 1,
}  # fmt: skip


def _extreme(value: Value | None, fragment: ph.Fragment, *, least: bool) -> bool:
    """Whether the value is the least (greatest) of its dtype, so that a maximum (minimum) ignores it."""
    if value is None:
        return False
    if fragment.dtype.is_float:
        return value == (-math.inf if least else math.inf)
    return value == (fragment.dtype.minimum if least else fragment.dtype.maximum)


def _acts(region: ph.Region) -> bool:
    return any(isinstance(op, (*EFFECTS, ph.While)) for op in walk(region))
