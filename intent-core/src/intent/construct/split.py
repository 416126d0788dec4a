"""Putting the parts of a shared axis together: the last instance to arrive does it, and all that follows.

Every instance of a team reduces its part, leaves what it knows in its slice of the workspace and counts itself in, by
one atomic that releases what it left and acquires what the others did. Nobody waits. Who finds that all others have
arrived sets the count back to zero, for the next launch, combines the slices in order, and runs the rest of the group
(spec: kir-to-gpu-program 5; a reduction's combine is what permits it: 7).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Final, Literal

from intent import physical as ph
from intent.construct.cleanup import EFFECTS, remove_dead
from intent.construct.context import Context
from intent.construct.emission import Scope
from intent.construct.parts import Share, State, Values
from intent.construct.traversal import carry, close_loop, open_loop
from intent.diagnostics import PlanError
from intent.physical.walk import operands_of, regions_of, resources_of, walk
from intent.types import DType, Extent
from intent.types.dtypes import I32
from intent.types.extent import const

STATES_AT_ONCE: Final = 4096
"""Elements of partial states that the last instance reads at once."""


def meet(c: Context, share: Share, teams: Extent) -> None:
    """Make the segment's body that of one of ``share.count`` instances; ``teams``: how many teams there are.

    Raises:
        PlanError: Nothing can be shared out along the axis, or one of its reductions needs another one as a whole.
    """
    e = c.emitter
    body = list(e.root.ops)
    states = _standing(c, share, body)
    e.origin = None
    c.dirty, c.readers = set(), {}
    left = [(state, _leave(c, share, state, teams)) for state in states]
    found, arrivals = _arrive(c, share, teams, [buffer for _, buffers in left for buffer in buffers])
    last = e.compare("eq", found, e.constant(share.count - 1, I32))
    with e.nested() as scope:
        _reset(c, share, arrivals)
        for buffer in (buffer for _, buffers in left for buffer in buffers):
            e.effect(ph.Fence, target=buffer)
        merged = [_merged(c, share, state, buffers, scope) for state, buffers in left]
    tail = e.root.ops[len(body) :]
    results = [r for state in states for r in state.results]
    e.root.ops[:] = _Rest(c, body, tail, list(scope.ops), results).arranged(
        last, [v for values in merged for v in values]
    )


def _standing(c: Context, share: Share, body: list[ph.Op]) -> list[State]:
    """The states that something uses; all of them are made by operations of the body itself."""
    live = {op.id for op in walk(remove_dead(ph.Region(args=(), ops=tuple(body))))}
    own = {op.id for op in body}
    makers = [(state, c.emitter.definition[state.results[0].id]) for state in share.states]
    states = [(state, op) for state, op in makers if op.id in live]
    if not states:
        raise PlanError(f"no reduction walks {share.label} in order, so that its parts could be shared out")
    for _, op in states:
        if op.id not in own:
            raise PlanError(
                f"a reduction over {share.label} stands in a loop or a branch and cannot be shared out",
                span=op.span,
            )
    return [state for state, _ in states]


def _leave(c: Context, share: Share, state: State, teams: Extent) -> tuple[ph.Buffer, ...]:
    """Store every component of a part in the instance's own slice."""
    e = c.emitter
    buffers = []
    for value in state.results:
        lanes = tuple(const(d.size) for d in value.dims)
        shape = (teams, const(share.count), *lanes)
        buffer = _buffer(c, f"part_{value.name or share.label}", value.dtype, shape, "partial")
        at = (share.team, share.part, *(e.lane(d) for d in value.dims))
        proofs = tuple(ph.REGION for _ in at)
        e.effect(ph.Store, target=buffer, coordinates=at, value=value, dims=value.dims, proofs=proofs)
        buffers.append(buffer)
    return tuple(buffers)


def _buffer(
    c: Context, name: str, dtype: DType, shape: tuple[Extent, ...], role: Literal["partial", "arrival"]
) -> ph.Buffer:
    buffer = ph.Buffer(id=c.next_buffer(), name=name, dtype=dtype, shape=shape, scope="invocation", role=role)
    c.workspace.append(buffer)
    c.emitter.effect(ph.BufferAlloc, buffer=buffer)
    return buffer


def _arrive(
    c: Context, share: Share, teams: Extent, left: Iterable[ph.Buffer]
) -> tuple[ph.Fragment, ph.Buffer]:
    """Count this instance in; how many of its team were there before, and the counts."""
    e = c.emitter
    arrivals = _buffer(c, "arrivals", I32, (teams,), "arrival")
    for buffer in left:
        e.effect(ph.Fence, target=buffer)
    payload: dict[str, Any] = {"operands": (e.constant(1, I32),), "order": "acq_rel", "dims": ()}
    (found,) = e.effect(
        ph.Atomic,
        ((I32, ()),),
        target=arrivals,
        coordinates=(share.team,),
        kind="add",
        proofs=(ph.REGION,),
        name="arrived",
        **payload,
    )
    return found, arrivals


def _reset(c: Context, share: Share, arrivals: ph.Buffer) -> None:
    """The count as the next launch expects it."""
    e = c.emitter
    e.effect(ph.Fence, target=arrivals)
    zero = e.constant(0, I32)
    e.effect(ph.Store, target=arrivals, coordinates=(share.team,), value=zero, dims=(), proofs=(ph.REGION,))


# -- the last one ------------------------------------------------------------------------------------------------------


def _merged(c: Context, share: Share, state: State, buffers: tuple[ph.Buffer, ...], scope: Scope) -> Values:
    """All parts of a state as one: in lanes where their order does not matter, and one block after the other."""
    e = c.emitter
    block = _block(share, state)
    size = -(-share.count // block) * block
    lanes: tuple[ph.Dim, ...] = ()
    if block > 1:
        used = frozenset(d for value in state.results for d in value.dims)
        lanes = (c.lane_dim(f"{share.label}_parts", block, used),)
    wide = [e.order.sort((*value.dims, *lanes)) for value in state.results]

    def read(first: ph.Fragment) -> Values:
        part = e.pointwise("add", first, e.lane(lanes[0])) if lanes else first
        test = e.compare("lt", part, e.index(share.count)) if size > share.count else None
        values = []
        for buffer, value, start, dims in zip(buffers, state.results, state.start, wide, strict=True):
            at = (share.team, part, *(e.lane(d) for d in value.dims))
            payload: dict[str, Any] = {"source": buffer, "coordinates": at, "valid": test}
            proofs = tuple(ph.REGION for _ in at)
            types = ((value.dtype, dims),)
            (found,) = e.emit(ph.Load, types, name=value.name, least=scope, proofs=proofs, **payload)
            values.append(found if test is None else e.pointwise("select", test, found, start))
        return tuple(values)

    if block == size:
        values = read(e.index(0))
    else:
        loop = open_loop(c, e.index(0), e.index(share.count), e.index(block), f"{share.label}_parts")
        args = tuple(
            carry(c, loop, v.dtype, dims, v.name) for v, dims in zip(state.results, wide, strict=True)
        )
        values = state.combine(args, read(loop.counter))
        starts = tuple(e.broadcast(v, dims) for v, dims in zip(state.start, wide, strict=True))
        last = tuple(e.broadcast(v, dims) for v, dims in zip(values, wide, strict=True))
        values = close_loop(c, loop, starts, last)
    if lanes:
        assert state.across is not None
        values = state.across(values, lanes)
    return values


def _block(share: Share, state: State) -> int:
    """How many parts are read at once: one after the other where the order matters."""
    if state.across is None:
        return 1
    size = max(prod(d.size for d in value.dims) for value in state.results)
    block = 1
    while block < share.count and 2 * block * size <= STATES_AT_ONCE:
        block *= 2
    return block


@dataclass(frozen=True)
class _Rest:
    """Parting the body: what the parts need stays, everything else is for the last instance.

    ``body``: the operations before; ``tail``: those that leave a part and arrive; ``last``: those that merge.
    ``results``: the values of the whole, which ``body`` computes of a part so far.
    """

    c: Context
    body: list[ph.Op]
    tail: list[ph.Op]
    last: list[ph.Op]
    results: list[ph.Fragment]

    def arranged(self, condition: ph.Fragment, merged: list[ph.Fragment]) -> list[ph.Op]:
        """The operations in their new order; ``merged`` take the place of the results."""
        e = self.c.emitter
        staying = self._staying()
        first = [op for op in self.body if op.id in staying]
        rest = [op for op in self.body if op.id not in staying]
        self._check(first, rest)
        parts = {r.id: e.fragment(r.dtype, r.dims, e.root, r.name) for r in self.results}
        whole = {m.id: r for m, r in zip(merged, self.results, strict=True)}
        first = [_with_results(op, parts) for op in first]
        tail = [
            replace(op, value=parts.get(op.value.id, op.value)) if isinstance(op, ph.Store) else op
            for op in self.tail
        ]
        fences = [self._fence(resource) for resource in self._disturbed(first, rest)]
        then = ph.Region(args=(), ops=(*(_with_results(op, whole) for op in self.last), *rest))
        e.next_id += 1
        nothing = ph.Region(args=(), ops=())
        ending = ph.If(id=e.next_id, condition=condition, then=then, orelse=nothing, span=e.span)
        return [*first, *fences, *tail, ending]

    def _fence(self, resource: ph.Resource) -> ph.Op:
        self.c.emitter.next_id += 1
        return ph.Fence(id=self.c.emitter.next_id, target=resource, span=self.c.emitter.span)

    def _staying(self) -> set[int]:
        """Ids of the operations of the body that every instance performs."""
        makers = {r.id: op for op in self.body for r in op.results}
        left = [f for op in (*self.tail, *self.last) for f in _uses(op)]
        found: set[int] = set()
        while left:
            op = makers.get(left.pop().id)
            if op is not None and op.id not in found:
                found.add(op.id)
                left += _uses(op)
        return found

    def _check(self, first: list[ph.Op], rest: list[ph.Op]) -> None:
        """What every instance performs has no effect, reads nothing that the rest writes first, and needs no whole."""
        whole = {r.id for r in self.results}
        for op in first:
            if any(f.id in whole for f in _uses(op)):
                raise PlanError("a reduction needs another one over the same axis as a whole", span=op.span)
            own = {inner.buffer for inner in walk(_only(op)) if isinstance(inner, ph.BufferAlloc)}
            for inner in walk(_only(op)):
                touched = [r for r in resources_of(inner) if r not in own]
                if touched and isinstance(inner, EFFECTS):
                    raise PlanError("an effect stands before the parts of a reduction are one", span=op.span)
                if any(isinstance(r, ph.Buffer) for r in touched):
                    raise PlanError(
                        "the parts of a reduction read a buffer that one instance fills", span=op.span
                    )
        places = {op.id: n for n, op in enumerate(self.body)}
        for op in rest:
            written = {r.memory for r in _written(op)}
            for later in (x for x in first if places[x.id] > places[op.id]):
                if written & {r.memory for r in _read(later)}:
                    raise PlanError("a reduction reads what was written before it", span=later.span)

    def _disturbed(self, first: list[ph.Op], rest: list[ph.Op]) -> Iterator[ph.Resource]:
        """What every instance reads, one resource of an alias class, and the last one writes."""
        written = {r.memory for op in rest for r in _written(op)}
        seen: set[object] = set()
        for resource in (r for op in first for r in _read(op)):
            if resource.memory in written and resource.memory not in seen:
                seen.add(resource.memory)
                yield resource


def _uses(op: ph.Op) -> Iterator[ph.Fragment]:
    for inner in walk(_only(op)):
        yield from operands_of(inner)
        for region in regions_of(inner):
            yield from region.yields


def _only(op: ph.Op) -> ph.Region:
    return ph.Region(args=(), ops=(op,))


def _with_results(op: ph.Op, names: dict[int, ph.Fragment]) -> ph.Op:
    return replace(op, results=tuple(names.get(r.id, r) for r in op.results))


def _written(op: ph.Op) -> Iterator[ph.Resource]:
    return (o.target for o in walk(_only(op)) if isinstance(o, ph.Store | ph.Atomic))


def _read(op: ph.Op) -> Iterator[ph.Resource]:
    return (o.source for o in walk(_only(op)) if isinstance(o, ph.Load))
