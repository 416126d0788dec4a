"""Creating operations: fresh ids, the stack of open regions, hash-consing, and undoing a trial."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from intent.diagnostics import ImpureHelper, SliceExtentObserved
from intent.frontend.values import CarryKey
from intent.kir import (
    AssumeInBounds,
    Assumption,
    Atomic,
    BranchTest,
    Buffer,
    BufferAlloc,
    Condition,
    DomainID,
    DomainInfo,
    Load,
    Op,
    OpID,
    RandomBits,
    Region,
    RegionID,
    Resource,
    ScatterReduce,
    Store,
    Value,
    ValueID,
)
from intent.types import DType, Extent, Span
from intent.types.extent import Dyn, const, dyn
from intent.types.span import UNKNOWN

_EFFECTS: dict[type[Op], str] = {
    Load: "a read of memory",
    Store: "a write",
    ScatterReduce: "a scatter",
    BufferAlloc: "a buffer",
    AssumeInBounds: "a promise about memory",
    Atomic: "an atomic",
    RandomBits: "random numbers",
}


@dataclass(frozen=True, kw_only=True)
class Purity:
    """Why a region must be pure: the helper's name, its role, and ``through``, the keyword for run-time captures."""

    helper: str
    role: str
    through: str = "operands"


@dataclass(kw_only=True)
class Frame:
    """One open region.

    ``base``: depth of the outermost frame it can see. ``conditional``: it may not run although its kernel does (a
    branch or a while). ``parallel``: it is inside a parallel loop. ``looped``: it may run again. ``promises``: the
    (coordinate value, resource, axis) that ``assume_in_bounds`` covers from here on. ``when``: what the branches
    around it ask of launch-visible numbers; ``unknown``: another branch or a while is around it.
    """

    base: int
    pure: Purity | None = None
    conditional: bool = False
    parallel: bool = False
    looped: bool = False
    when: tuple[BranchTest, ...] = ()
    unknown: bool = False
    args: tuple[Value, ...] = ()
    ops: list[Op] = field(default_factory=list)
    cons: dict[Any, Any] = field(default_factory=dict)
    promises: set[tuple[int, str, int]] = field(default_factory=set)


Mark = tuple[Any, ...]


class Emitter:
    """Emits operations into the innermost open region, or further out where an operation's operands allow it."""

    def __init__(self) -> None:
        self.span: Span = UNKNOWN
        self.frames: list[Frame] = []
        self.conditions: list[Condition] = []
        self.assumptions: list[Assumption] = []
        self.domains: list[DomainInfo] = []
        self.bounds: dict[int, tuple[Extent | None, Extent | None]] = {}
        self.opaque: set[Dyn] = set()
        self.defs: dict[int, Op] = {}
        self.parameters: dict[int, str] = {}
        """Names of the runtime scalars by their values."""
        self.written: set[str] = set()
        self.trial = 0
        self.races = False
        self.later: dict[CarryKey, DType] = {}
        """What uses after a loop expect of a carry that the loop leaves open."""
        self.expected: dict[CarryKey, DType] = {}
        """The same, met in this lowering: the kernel is to be lowered again."""
        self.hint = ""
        self._buffers: set[str] = set()
        self._home: dict[int, int] = {}
        self._next = {"value": 0, "op": 0, "region": 0, "domain": 0, "buffer": 0}

    # -- identities

    def _fresh(self, kind: str) -> int:
        number = self._next[kind]
        self._next[kind] = number + 1
        return number

    def value(self, dtype: DType, shape: tuple[Extent, ...] = (), name: str = "") -> Value:
        """A fresh SSA value that belongs to the innermost frame."""
        return self._value(dtype, shape, name, len(self.frames) - 1)

    def _value(self, dtype: DType, shape: tuple[Extent, ...], name: str, depth: int) -> Value:
        value = Value(id=ValueID(self._fresh("value")), dtype=dtype, shape=shape, name=name)
        self._home[value.id] = depth
        return value

    def name(self, value: Value, name: str) -> None:
        """Give a value the author's name if it has none. The kernel is not frozen before it is complete."""
        if not value.name:
            object.__setattr__(value, "name", name)

    def domain_id(
        self, name: str = "", parent: DomainID | None = None, extent: Extent | None = None
    ) -> DomainID:
        """A fresh domain identity (spec: logical-program 1)."""
        identity = DomainID(self._fresh("domain"))
        self.domains.append(DomainInfo(id=identity, name=name, parent=parent, extent=extent))
        return identity

    def bounded(self, domain: DomainID, begin: Extent, end: Extent, span: Span | None = None) -> None:
        """Note the bounds of a domain that only device data can check (language decision 18)."""
        for place, info in enumerate(self.domains):
            if info.id == domain:
                self.domains[place] = replace(info, begin=begin, end=end, span=span or info.span)

    def bounds_of(self, domain: DomainID) -> tuple[Extent, ...]:
        """The noted bounds of a domain and of its parent; nothing where no check waits for data."""
        known = {info.id: info for info in self.domains}
        info = known.get(domain)
        chain = [] if info is None else [info, *([known[info.parent]] if info.parent in known else [])]
        return tuple(e for i in chain for e in (i.begin, i.end) if e is not None)

    def buffer(self, name: str, dtype: DType, shape: tuple[Extent, ...]) -> Buffer:
        """A fresh logical buffer; emit a ``BufferAlloc`` for it."""
        number = self._fresh("buffer")
        name = name or self.hint or f"buffer{number}"
        if name in self._buffers:
            name = f"{name}_{number}"
        self._buffers.add(name)
        return Buffer(id=number, name=name, dtype=dtype, shape=shape, span=self.span)

    def fresh_extent(self, *, opaque: bool = False) -> Extent:
        """An extent that equals no other, for the slice axis of a region operation.

        ``opaque``: it may form shapes but never become a value (language decision 17).
        """
        number = self._fresh("value")
        self.bounds[number] = (const(0), None)
        extent = dyn(number)
        if opaque:
            self.opaque.update(a for a in extent.atoms() if isinstance(a, Dyn))
        return extent

    # -- regions

    @property
    def base(self) -> int:
        """Depth of the outermost frame that the innermost one can see."""
        return self.frames[-1].base

    @property
    def purity(self) -> Purity | None:
        """Why the innermost frame must be pure, or None."""
        return self.frames[-1].pure if self.frames else None

    @property
    def conditional(self) -> bool:
        """Whether what is emitted now may not run although the kernel does."""
        return self.frames[-1].conditional

    @property
    def unforeseen(self) -> bool:
        """Whether the arguments of a launch do not tell if what is emitted now runs."""
        return self.frames[-1].unknown

    @property
    def parallel(self) -> bool:
        """Whether what is emitted now is inside a parallel loop."""
        return self.frames[-1].parallel

    def open(
        self,
        *,
        isolated: bool = False,
        pure: Purity | None = None,
        conditional: bool = False,
        parallel: bool = False,
        looped: bool = False,
        when: BranchTest | None = None,
    ) -> Frame:
        """Begin a nested region; give it arguments with :meth:`argument` and end it with :meth:`close`.

        ``isolated``: it sees nothing of the regions around it. ``when``: what decides at launch if a conditional
        region runs. The other flags are those of :class:`Frame`; the region inherits them from the one around it.
        """
        outer = self.frames[-1] if self.frames else Frame(base=0)
        frame = Frame(
            base=len(self.frames) if isolated else outer.base,
            pure=pure or outer.pure,
            conditional=conditional or outer.conditional,
            parallel=parallel or outer.parallel,
            looped=looped or outer.looped,
            when=outer.when if when is None else (*outer.when, when),
            unknown=outer.unknown or (conditional and when is None),
        )
        self.frames.append(frame)
        return frame

    def suspend(self) -> Frame:
        """Leave the innermost region without ending it; :meth:`resume` goes on with it at the same depth."""
        return self.frames.pop()

    def resume(self, frame: Frame) -> None:
        """Go on with a suspended region."""
        self.frames.append(frame)

    def argument(self, dtype: DType, shape: tuple[Extent, ...] = (), name: str = "") -> Value:
        """A further argument of the innermost region."""
        value = self.value(dtype, shape, name)
        self.frames[-1].args += (value,)
        return value

    def close(self, yields: Sequence[Value] = ()) -> Region:
        """End the innermost region."""
        frame = self.frames.pop()
        return Region(
            id=RegionID(self._fresh("region")), args=frame.args, ops=tuple(frame.ops), yields=tuple(yields)
        )

    # -- operations

    def emit(
        self,
        cls: type[Op],
        *types: tuple[DType, tuple[Extent, ...]],
        depth: int | None = None,
        name: str = "",
        **fields: Any,
    ) -> tuple[Value, ...]:
        """Append one operation with results of the given types and return the results.

        ``depth``: the frame to append to (see :meth:`depth_of`); by default the innermost.
        Raises ImpureHelper for an effect inside a region that must be pure.
        """
        if (purity := self.purity) and (effect := _EFFECTS.get(cls)):
            raise ImpureHelper(purity.helper, role=purity.role, effect=effect, span=self.span)
        depth = len(self.frames) - 1 if depth is None else depth
        results = tuple(self._value(dtype, shape, name, depth) for dtype, shape in types)
        op = cls(id=OpID(self._fresh("op")), results=results, span=self.span, **fields)
        self.frames[depth].ops.append(op)
        for result in results:
            self.defs[result.id] = op
        if isinstance(op, Store | ScatterReduce | Atomic):
            self.written.add(op.target.name)
        elif isinstance(op, BufferAlloc) and op.init is not None:
            self.written.add(op.buffer.name)
        return results

    def emit_one(
        self,
        cls: type[Op],
        dtype: DType,
        shape: tuple[Extent, ...] = (),
        *,
        depth: int | None = None,
        **fields: Any,
    ) -> Value:
        """:meth:`emit` for an operation with one result."""
        (result,) = self.emit(cls, (dtype, shape), depth=depth, **fields)
        return result

    def consed(
        self, key: Any, depth: int, cls: type[Op], dtype: DType, shape: tuple[Extent, ...] = (), **fields: Any
    ) -> Value:
        """The result of a pure operation that is emitted at most once in the frame at ``depth``."""
        table = self.frames[depth].cons
        found: Value | None = table.get(key)
        if found is None:
            found = table[key] = self.emit_one(cls, dtype, shape, depth=depth, **fields)
        return found

    def known(self, key: Any) -> Any:
        """What a visible frame holds under ``key``: an equal pure value already made here or further out."""
        for frame in reversed(self.frames[self.base :]):
            if key in frame.cons:
                return frame.cons[key]
        return None

    def depth_of(self, values: Iterable[Value] = (), extents: Iterable[Extent] = ()) -> int:
        """Depth of the outermost visible frame where the values and the extents' Dyn atoms are defined."""
        depth = self.base
        for value in values:
            depth = max(depth, self._home.get(value.id, depth))
        for extent in extents:
            for atom in extent.atoms():
                if isinstance(atom, Dyn):
                    depth = max(depth, self._home.get(atom.value, depth))
        return min(depth, len(self.frames) - 1)

    # -- facts of the kernel

    def condition(self, kind: Any, lhs: Extent, rhs: Extent, reason: str) -> None:
        """Record a launch condition once; conditions on device data are left to guards (language decision 5).

        Raises SliceExtentObserved for the extent of a slice, which equals only itself (language decision 17).
        """
        if any(atom in self.opaque for extent in (lhs, rhs) for atom in extent.atoms()):
            helper = self.purity.helper if self.purity else "summarize"
            use = f"{reason}: the extent {lhs} against {rhs}"
            raise SliceExtentObserved(helper, use=use, span=self.span)
        if not (lhs.launch_visible and rhs.launch_visible):
            return
        when = self.frames[-1].when if self.frames else ()
        found = Condition(kind=kind, lhs=lhs, rhs=rhs, reason=reason, when=when, span=self.span)
        if not any(
            (c.kind, c.lhs, c.rhs) == (kind, lhs, rhs) and set(c.when) <= set(when) for c in self.conditions
        ):
            self.conditions.append(found)

    def promise(self, index: Value, resource: Resource, axis: int) -> None:
        """Note that coordinate ``index`` is promised to be within ``axis`` of ``resource`` from here on."""
        self.frames[-1].promises.add((index.id, resource.name, axis))

    def promised(self, index: Value, resource: Resource, axis: int) -> bool:
        """Whether a promise of the author covers this coordinate here."""
        key = (index.id, resource.name, axis)
        return any(key in frame.promises for frame in self.frames[self.base :])

    def assume(self, kind: Any, detail: str) -> None:
        """Record a promise of the author (language decision 4)."""
        self.assumptions.append(Assumption(kind=kind, detail=detail, span=self.span))

    # -- trials

    def mark(self) -> Mark:
        """A point to :meth:`undo` to."""
        frames = [(len(f.ops), dict(f.cons)) for f in self.frames]
        counts = len(self.conditions), len(self.assumptions), len(self.domains)
        return frames, dict(self._next), *counts, set(self.written), set(self._buffers)

    def undo(self, mark: Mark) -> None:
        """Forget everything emitted since ``mark``; regions opened since are dropped.

        Value ids are not used again: facts are kept by value id, and none may fall on a later value.
        """
        frames, counters, conditions, assumptions, domains, written, buffers = mark
        self.written, self._buffers = set(written), set(buffers)
        del self.frames[len(frames) :]
        for frame, (ops, cons) in zip(self.frames, frames, strict=True):
            del frame.ops[ops:]
            frame.cons = dict(cons)
        self._next = {**counters, "value": self._next["value"]}
        del self.conditions[conditions:], self.assumptions[assumptions:], self.domains[domains:]

    def since(self, mark: Mark) -> Sequence[Op]:
        """What was emitted into the innermost region since ``mark``."""
        return self.frames[-1].ops[mark[0][len(self.frames) - 1][0] :]

    @contextmanager
    def at(self, span: Span) -> Iterator[None]:
        """Attribute what is emitted inside to ``span``."""
        saved, self.span = self.span, span
        try:
            yield
        finally:
            self.span = saved
