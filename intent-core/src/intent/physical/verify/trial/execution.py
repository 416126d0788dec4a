"""What operations of a program do on the inputs of a trial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from intent.physical import ops as ph
from intent.physical.fragment import Buffer, Dim, Fragment
from intent.physical.verify.trial.accesses import apply_atomic
from intent.physical.verify.trial.logical import MOST_PASSES, NOTHING
from intent.physical.verify.trial.machine import Machine, Trap, handles, place
from intent.physical.verify.trial.ring import Array, fingerprint, storage
from intent.physical.verify.trial.structured import folded, prefixes, product, reduced, running
from intent.physical.walk import walk

__all__: Final[list[str]] = []

Made = tuple[Array, ...]
_ROUNDS: Final = 20_000


@handles(ph.Constant)
def _constant(m: Machine, op: ph.Constant) -> Made:
    return (m.scalar(m.ring.constant(op.value, op.result.dtype)),)


@handles(ph.LaunchValue)
def _launch(m: Machine, op: ph.LaunchValue) -> Made:
    return (m.scalar(np.asarray(m.extent(op.extent), np.int64)),)


@handles(ph.Argument)
def _argument(m: Machine, op: ph.Argument) -> Made:
    return (m.scalar(m.inputs.argument(op.parameter, op.result.dtype)),)


@handles(ph.Lane)
def _lane(m: Machine, op: ph.Lane) -> Made:
    shape = [1] * m.rank
    shape[m.axes[op.dim]] = m.sizes[op.dim]
    return (np.arange(m.sizes[op.dim], dtype=np.int64).reshape(shape),)


@handles(ph.Pointwise)
def _pointwise(m: Machine, op: ph.Pointwise) -> Made:
    values = m.values
    return (m.ring.pointwise(op.fn, op.operands[-1].dtype, tuple([values[v.id] for v in op.operands])),)


@handles(ph.Cast)
def _cast(m: Machine, op: ph.Cast) -> Made:
    return (m.ring.cast(m[op.value], op.value.dtype, op.result.dtype),)


@handles(ph.Bitcast)
def _bitcast(m: Machine, op: ph.Bitcast) -> Made:
    return (m.ring.bitcast(m[op.value], op.value.dtype, op.result.dtype),)


@handles(ph.Broadcast)
def _broadcast(m: Machine, op: ph.Broadcast) -> Made:
    return (m[op.value],)


@handles(ph.Rename)
def _rename(m: Machine, op: ph.Rename) -> Made:
    return (np.swapaxes(m[op.value], m.axes[op.source], m.axes[op.target]),)


# -- memory ----------------------------------------------------------------------------------------------------------


def _elements(m: Machine, op: ph.Load | ph.Store | ph.Atomic, valid: Array) -> tuple[Array, Array, int]:
    """Per lane the element's number in its storage, and in the logical resource; how many an instance owns.

    Raises Trap where an active lane is outside.
    """
    resource = op.source if isinstance(op, ph.Load) else op.target
    shape = m.shape_of(resource)
    number = np.zeros([1] * m.rank, np.int64)
    inside = valid
    logical = number
    known = None if isinstance(op, ph.Load) else m.targets.of(op)
    lanes = 0 if known is None else resource.rank - known.rank
    for k, (coordinate, extent) in enumerate(zip(op.coordinates, shape, strict=True)):
        at = m[coordinate]
        inside = inside & (at >= 0) & (at < extent)
        number = number * extent + at
        if k >= lanes:
            logical = logical * extent + at
    if bool(np.any(valid & ~inside)):
        raise Trap("access-inside", f"'{resource.name}' is accessed outside of its extents {shape}", op)
    _, own = m.contents(resource)
    if own:
        number = number + m.shaped(np.arange(m.instances, dtype=np.int64)) * own
    return number, logical, own


def _valid(m: Machine, op: ph.Load | ph.Store | ph.Atomic) -> Array:
    return m.active if op.valid is None else m.active & m[op.valid]


@handles(ph.Load)
def _load(m: Machine, op: ph.Load) -> Made:
    valid = _valid(m, op)
    number, _, own = _elements(m, op, valid)
    flat, _ = m.contents(op.source)
    fill = m.scalar(m.ring.constant(0, op.result.dtype)) if op.fill is None else m[op.fill]
    if place(op.source) in m.shared:
        _note(m, op, "read", number, valid, own, op.result.dims)
    if m.trace is not None and op.origin is not None:
        _remember(m, op, number, valid)
    if bool(np.all(valid)):
        return (flat[number],)
    if flat.size == 0:  # a buffer of N - 1 elements where N is 1
        flat = np.zeros(1, flat.dtype)
    return (np.where(valid, flat[np.where(valid, number, 0)], fill),)


def _remember(m: Machine, op: ph.Load, number: Array, valid: Array) -> None:
    """Which elements a read took, and which it would have taken without its mask."""
    shape = np.broadcast_shapes(number.shape, valid.shape)
    size = m.contents(op.source)[0].size
    everywhere = np.broadcast_to(number, shape).ravel()
    m.events.reads[op.origin or 0].append(everywhere[np.broadcast_to(valid, shape).ravel()])
    m.events.unmasked[op.origin or 0].append(everywhere[(everywhere >= 0) & (everywhere < size)])


def _note(
    m: Machine, op: ph.Load | ph.Store | ph.Atomic, kind: str, number: Array, valid: Array, own: int,
    dims: Sequence[Dim],
) -> None:  # fmt: skip
    """Remember who touched what; elements of an instance's own need no look."""
    resource = op.source if isinstance(op, ph.Load) else op.target
    if own or (isinstance(resource, Buffer) and resource.role):
        # What instances leave for the last one of them: the rule split-reduction says who may touch it.
        return
    taken = m.full(valid, dims, everyone=True)
    # Instances that share a reduction are one: the last to arrive comes after all that the others did.
    who = m.shaped(m.first + np.arange(m.instances, dtype=np.int64) // m.parts)
    elements = np.broadcast_to(number, taken.shape)[taken]
    found = m.sharing.note(
        place(resource),
        kind,
        m.contents(resource)[0].size,
        elements,
        np.broadcast_to(who, taken.shape)[taken],
    )
    if found is not None:
        ordered = "read" in (found.now, found.before) and op.origin not in m.targets.collisions
        text = f"a {found.now} of '{resource.name}' meets a {found.before} of the same element by another instance"
        raise Trap("ordered-instances" if ordered else "conflicts-resolved", text, op)


def _lanes(m: Machine, arrays: Sequence[Array], dims: Sequence[Dim], valid: Array) -> tuple[Array, ...]:
    """The active lanes of an effect over ``dims``, flat, of each array."""
    taken = m.full(valid, dims, everyone=True)
    return tuple(np.broadcast_to(x, taken.shape)[taken] for x in arrays)


@handles(ph.Store)
def _store(m: Machine, op: ph.Store) -> Made:
    valid = _valid(m, op)
    number, logical, own = _elements(m, op, valid)
    if place(op.target) in m.shared:
        _note(m, op, "write", number, valid, own, op.dims)
    elements, seen, values = _lanes(m, (number, logical, m[op.value]), op.dims, valid)
    m.contents(op.target)[0][elements] = values
    _record(m, op, seen, (values,))
    return ()


def _record(m: Machine, op: ph.Store | ph.Atomic, elements: Array, values: tuple[Array, ...]) -> None:
    """Remember what a write of the kernel did; of a collision only where, since it may add in any order."""
    if op.origin is not None and m.targets.of(op) is not None:
        m.events.writes[op.origin].add(elements, () if op.origin in m.targets.collisions else values)


@handles(ph.Atomic)
def _atomic(m: Machine, op: ph.Atomic) -> Made:
    valid = _valid(m, op)
    number, logical, own = _elements(m, op, valid)
    if place(op.target) in m.shared:
        _note(m, op, "atomic", number, valid, own, op.dims)
    operands = tuple(m[v] for v in op.operands)
    elements, seen, *given = _lanes(m, (number, logical, *operands), op.dims, valid)
    if op.origin in m.targets.exchanged:
        return _exchange(m, op, valid, elements, seen, given)
    if isinstance(op.target, Buffer) and op.target.role == "arrival":
        return _arrivals(m, op, valid, elements)
    apply_atomic(m.ring, m.contents(op.target)[0], op.kind, elements, tuple(given), op.target.dtype)
    _record(m, op, seen, tuple(given))
    return tuple(
        np.where(
            valid,
            m.ring.opaque((logical, *operands), fingerprint(f"found {op.origin} {k}"), result.dtype),
            np.zeros((), storage(result.dtype)),
        )
        for k, result in enumerate(op.results)
    )


def _arrivals(m: Machine, op: ph.Atomic, valid: Array, elements: Array) -> Made:
    """Count instances in, in the order of their ordinals: how many were there before each of them."""
    flat, _ = m.contents(op.target)
    found = np.empty(elements.shape, flat.dtype)
    for k, at in enumerate(elements):
        found[k] = flat[at]
        flat[at] += 1
    taken = m.full(valid, op.dims, everyone=True)
    spread = np.zeros(taken.shape, found.dtype)
    spread[taken] = found
    return (spread,)


def _exchange(
    m: Machine, op: ph.Atomic, valid: Array, elements: Array, seen: Array, given: Sequence[Array]
) -> Made:
    """Compare and swap, lane by lane: in a loop around it somebody wins every time."""
    flat, _ = m.contents(op.target)
    expected, wanted = given
    old, won = np.empty_like(expected), np.zeros(elements.shape, np.bool_)
    for k, at in enumerate(elements):
        old[k] = flat[at]
        won[k] = old[k] == expected[k]
        if won[k]:
            flat[at] = wanted[k]
    _record(m, op, seen[won], ())
    taken = m.full(valid, op.dims, everyone=True)
    results = []
    for lanes in (old, won):
        spread = np.zeros(taken.shape, lanes.dtype)
        spread[taken] = lanes
        results.append(spread)
    return tuple(results[: len(op.results)])


@handles(ph.BufferAlloc)
def _allocate(m: Machine, op: ph.BufferAlloc) -> Made:
    buffer = op.buffer
    own = int(np.prod(m.shape_of(buffer), dtype=np.int64))
    count = own if buffer.scope == "invocation" else own * m.instances
    fresh = np.full(count, 0 if buffer.role == "arrival" else NOTHING).astype(storage(buffer.dtype))
    known = m.buffers.get(buffer.id)
    if known is not None and not m.everyone:
        kept = np.repeat(m.active.reshape(-1), own) if count != own else np.ones(own, np.bool_)
        fresh = np.where(kept, fresh, known)
    m.buffers[buffer.id] = fresh
    return ()


@handles(ph.Fence)
def _fence(m: Machine, op: ph.Fence) -> Made:
    return ()


# -- structured operations -----------------------------------------------------------------------------------------


def _axes(m: Machine, dims: Sequence[Dim]) -> tuple[int, ...]:
    return tuple(m.axes[d] for d in dims)


@handles(ph.Reduce)
def _reduce(m: Machine, op: ph.Reduce) -> Made:
    operands = tuple(m.full(m[v], op.dims) for v in op.operands)
    axes = _axes(m, op.dims)
    if op.kind in ("argmax", "argmin"):
        return _extreme(op.kind, operands, axes)
    if op.kind is not None:
        return (reduced(m.ring, op.kind, op.operands[0].dtype, operands[0], axes),)
    assert op.combine is not None
    combine = op.combine
    rows = [_rows(x, axes) for x in np.broadcast_arrays(*operands)]
    captures = [m[v] for v in op.captures]
    return folded(rows, lambda a, b: m.region(combine, (*a, *b, *captures)))


def _rows(x: Array, axes: tuple[int, ...]) -> Array:
    """The lanes of ``axes`` in row-major order in front; the axes themselves stay, with length 1."""
    moved = np.moveaxis(x, axes, range(len(axes)))
    count = int(np.prod(moved.shape[: len(axes)], dtype=np.int64))
    kept = tuple(1 if k in axes else n for k, n in enumerate(x.shape))
    return moved.reshape((count, *kept))


def _extreme(kind: str, operands: tuple[Array, ...], axes: tuple[int, ...]) -> Made:
    values, positions = (_rows(x, axes) for x in np.broadcast_arrays(*operands))
    best = np.max(values, axis=0) if kind == "argmax" else np.min(values, axis=0)
    last = np.iinfo(np.int64).max
    return best, np.min(np.where(values == best, positions, last), axis=0)


@handles(ph.Scan)
def _scan(m: Machine, op: ph.Scan) -> Made:
    axis = m.axes[op.dim]
    operands = [m.full(m[v], (op.dim,)) for v in op.operands]
    if op.reverse:
        operands = [np.flip(x, axis) for x in operands]
    if op.kind is not None:
        done: Sequence[Array] = [running(m.ring, op.kind, op.operands[0].dtype, operands[0], axis)]
    else:
        done = _prefixes(m, op, operands, axis)
    return tuple(np.flip(x, axis) if op.reverse else x for x in done)


def _prefixes(m: Machine, op: ph.Scan, operands: list[Array], axis: int) -> list[Array]:
    assert op.combine is not None
    combine = op.combine
    captures = [m[v] for v in op.captures]
    rows = [_rows(x, (axis,)) for x in np.broadcast_arrays(*operands)]
    done = prefixes(rows, lambda a, b: m.region(combine, (*a, *b, *captures)))
    return [np.squeeze(np.moveaxis(x, 0, axis + 1), axis=axis) for x in done]


@handles(ph.Contract)
def _contract(m: Machine, op: ph.Contract) -> Made:
    lhs, rhs = (m.ring.cast(m[v], v.dtype, op.result.dtype) for v in (op.lhs, op.rhs))
    lhs, rhs = m.full(lhs, op.dims), m.full(rhs, op.dims)
    summed = _axes(m, op.dims)
    others = [k for k in range(m.rank) if k not in summed]
    rows = [k for k in others if rhs.shape[k] == 1]
    columns = [k for k in others if lhs.shape[k] == 1 and k not in rows]
    batch = [k for k in others if k not in rows and k not in columns]
    shape = np.broadcast_shapes(tuple(lhs.shape[k] for k in batch), tuple(rhs.shape[k] for k in batch))
    a = np.transpose(lhs, [*batch, *rows, *columns, *summed])
    b = np.transpose(rhs, [*batch, *rows, *summed, *columns])
    count = _count(lhs, summed)
    left = a.reshape((*(lhs.shape[k] for k in batch), _count(lhs, rows), count))
    right = b.reshape((*(rhs.shape[k] for k in batch), count, _count(rhs, columns)))
    flat = product(m.ring, left, right, op.result.dtype)
    made = flat.reshape(
        (*shape, *(lhs.shape[k] for k in rows), *(rhs.shape[k] for k in columns), *[1] * len(summed))
    )
    order = np.argsort([*batch, *rows, *columns, *summed], kind="stable")
    result = np.transpose(made, order)
    if op.accumulator is None:
        return (result,)
    if op.result.dtype.is_float:
        return (m.ring.add(m[op.accumulator], result),)
    return (np.asarray(m[op.accumulator] + result),)


@handles(ph.Histogram)
def _histogram(m: Machine, op: ph.Histogram) -> Made:
    values = m.full(m[op.values], op.dims).astype(np.int64)
    shape = [1] * m.rank
    shape[m.axes[op.bins]] = m.sizes[op.bins]
    met = values == np.arange(m.sizes[op.bins], dtype=np.int64).reshape(shape)
    if op.valid is not None:
        met = met & m[op.valid]
    counts = np.sum(met, axis=_axes(m, op.dims), keepdims=True).astype(storage(op.result.dtype))
    return (counts if op.accumulator is None else np.asarray(m[op.accumulator] + counts),)


def _count(x: Array, axes: Sequence[int]) -> int:
    return int(np.prod([x.shape[k] for k in axes], dtype=np.int64))


# -- control -----------------------------------------------------------------------------------------------------------


@handles(ph.Loop)
def _loop(m: Machine, op: ph.Loop) -> Made:
    begin, end, step = (m[v] for v in (op.begin, op.end, op.step))
    if not np.all(step >= 1):
        raise Trap("member-traversal", "the step of a loop is not positive", op)
    carries = tuple(m[v] for v in op.inits)
    index = begin
    for _ in range(_ROUNDS):
        with m.only(index < end) as some:
            if not some:
                break
            new = m.region(op.body, (index, *carries))
            carries = tuple(m.merged(n, o) for n, o in zip(new, carries, strict=True))
        index = index + step
    else:
        raise Trap("member-traversal", f"a loop is not done after {_ROUNDS} passes", op)
    return carries


@handles(ph.If)
def _if(m: Machine, op: ph.If) -> Made:
    condition = m[op.condition]
    found: list[Made | None] = []
    for region, test in ((op.then, condition), (op.orelse, ~condition)):
        with m.only(test) as some:
            found.append(m.region(region, ()) if some else None)
    then, orelse = found
    if then is None or orelse is None:
        only = then if then is not None else orelse
        return only if only is not None else tuple(_nothing(m, r) for r in op.results)
    return tuple(np.where(condition, a, b) for a, b in zip(then, orelse, strict=True))


def _nothing(m: Machine, value: Fragment) -> Array:
    return m.scalar(np.zeros((), storage(value.dtype)))


@handles(ph.While)
def _while(m: Machine, op: ph.While) -> Made:
    carries = tuple(m[v] for v in op.inits)
    exchanging = any(isinstance(o, ph.Atomic) and o.origin in m.targets.exchanged for o in walk(op.body))
    for _ in range(_ROUNDS if exchanging else MOST_PASSES):
        (more,) = m.region(op.condition, carries)
        with m.only(more) as some:
            if not some:
                break
            new = m.region(op.body, carries)
            carries = tuple(m.merged(n, o) for n, o in zip(new, carries, strict=True))
    return carries
