"""Structured operations of the logical side: reductions, scans, contractions, counts and random bits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np

from intent import kir
from intent.physical.verify.trial.logical import Logical, Unclean, Undecided, handles
from intent.physical.verify.trial.ring import MINUS_INFINITY, PLUS_INFINITY, Array, Ring, storage
from intent.types import DType

__all__ = ["folded", "prefixes", "product", "reduced", "running"]

Parts = tuple[Array, ...]
Pairs = tuple[tuple[int, int], ...]


def reduced(ring: Ring, kind: str, dtype: DType, x: Array, axes: tuple[int, ...]) -> Array:
    """A builtin reduction that keeps its axes with extent 1."""
    if kind == "sum":
        total = np.sum(x, axis=axes, keepdims=True, dtype=x.dtype)
        if dtype.is_float and ring.infinite:
            for end in (PLUS_INFINITY, MINUS_INFINITY):
                total = np.where(np.any(x == end, axis=axes, keepdims=True), end, total)
        return np.asarray(total)
    if kind == "prod":
        return np.asarray(np.prod(x, axis=axes, keepdims=True, dtype=x.dtype))
    if kind in ("any", "all"):
        return np.asarray((np.any if kind == "any" else np.all)(x, axis=axes, keepdims=True))
    start: Any = None
    if x.size == 0:
        info = np.iinfo(storage(dtype)) if dtype.kind != "bool" else None
        start = (kind == "min") if info is None else (info.min if kind == "max" else info.max)
    extreme = np.max if kind == "max" else np.min
    if start is not None:
        return np.asarray(extreme(x, axis=axes, keepdims=True, initial=start))
    return np.asarray(extreme(x, axis=axes, keepdims=True))


Combine = Callable[[Parts, Parts], Parts]
LAWS: Final = "the author's laws hold for numbers, but not in the ring"
"""Why a trial stays undecided where the order of combines makes a difference."""


def folded(rows: Sequence[Array], combine: Combine, *, in_order: bool = False) -> Parts:
    """All of axis 0 combined: neighbours first and then their results, or one after the other."""
    if in_order:
        total: Parts = tuple(x[0] for x in rows)
        for k in range(1, rows[0].shape[0]):
            total = combine(total, tuple(x[k] for x in rows))
        return total
    while (count := rows[0].shape[0]) > 1:
        even, odd = tuple(x[0 : count - 1 : 2] for x in rows), tuple(x[1::2] for x in rows)
        pairs = [np.broadcast_to(y, e.shape) for y, e in zip(combine(even, odd), even, strict=True)]
        if count % 2:
            pairs = [np.concatenate([y, x[-1:]]) for y, x in zip(pairs, rows, strict=True)]
        rows = pairs
    return tuple(x[0] for x in rows)


def prefixes(rows: Sequence[Array], combine: Combine, *, in_order: bool = False) -> Parts:
    """Every prefix of axis 0: from twice as long ones in every step, or one after the other."""
    done = [np.array(x) for x in rows]
    count = done[0].shape[0]
    if in_order:
        for k in range(1, count):
            made = combine(tuple(x[k - 1] for x in done), tuple(x[k] for x in done))
            for x, y in zip(done, made, strict=True):
                x[k] = y
        return tuple(done)
    distance = 1
    while distance < count:
        made = combine(tuple(x[:-distance] for x in done), tuple(x[distance:] for x in done))
        for x, y in zip(done, made, strict=True):
            x[distance:] = np.array(y)
        distance *= 2
    return tuple(done)


def require_laws(
    rows: Sequence[Array], identity: Sequence[Array], combine: Combine, *, commutes: bool
) -> None:
    """Raise Undecided where the author's laws do not hold for these values, so that orders give other results.

    A combine may have laws on the author's values alone, such as one that saturates, on numbers that are not negative.
    """
    count = rows[0].shape[0]
    whole = tuple(rows)
    empty = tuple(np.broadcast_to(i, x.shape) for i, x in zip(identity, rows, strict=True))
    equal = [(combine(empty, whole), whole), (combine(whole, empty), whole)]
    if count > 1 and commutes:
        one, two = _cut(rows, 0, count - 1), _cut(rows, 1, count)
        equal.append((combine(one, two), combine(two, one)))
    if count > 2:
        one, two, three = (_cut(rows, k, count - 2 + k) for k in range(3))
        equal.append((combine(combine(one, two), three), combine(one, combine(two, three))))
    if not all_equal(equal):
        raise Undecided(LAWS)


def all_equal(pairs: Iterable[tuple[Parts, Parts]]) -> bool:
    """Whether both sides of every pair have the same components."""
    return all(bool(np.all(x == y)) for a, b in pairs for x, y in zip(a, b, strict=True))


def _cut(rows: Sequence[Array], begin: int, end: int) -> Parts:
    return tuple(x[begin:end] for x in rows)


def running(ring: Ring, kind: str, dtype: DType, x: Array, axis: int) -> Array:
    """A builtin inclusive prefix."""
    if kind == "sum" and dtype.is_float and ring.infinite:
        result = np.array(x)
        for k in range(1, x.shape[axis]):
            here, before = (_at(axis, j, x.ndim) for j in (k, k - 1))
            result[here] = ring.add(result[before], x[here])
        return result
    function: Any = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[kind]
    return np.asarray(function.accumulate(x, axis=axis, dtype=x.dtype))


def _at(axis: int, k: int, rank: int) -> tuple[Any, ...]:
    return tuple(slice(k, k + 1) if j == axis else slice(None) for j in range(rank))


def product(ring: Ring, a: Array, b: Array, dtype: DType) -> Array:
    """``a[..., i, k] * b[..., k, j]`` summed over k, in ``dtype``."""
    if dtype.is_float and ring.infinite and _endless(a, b):
        return reduced(ring, "sum", dtype, ring.mul(a[..., :, :, None], b[..., None, :, :]), (-2,))[..., 0, :]
    return np.asarray(np.matmul(a, b))


def _endless(*arrays: Array) -> bool:
    return any(bool(np.any((x == MINUS_INFINITY) | (x == PLUS_INFINITY))) for x in arrays)


@handles(kir.Reduce)
def _reduce(m: Logical, op: kir.Reduce) -> None:
    operands = [m[v] for v in op.operands]
    if op.kind in ("argmax", "argmin"):
        _extreme(m, op, operands[0])
        return
    if op.kind is not None:
        result = reduced(m.ring, op.kind, op.operands[0].dtype, operands[0], tuple(op.axes))
        m[op.result] = np.squeeze(result, axis=tuple(op.axes))
        return
    assert op.combine is not None
    axes = sorted(op.axes)
    rows = [np.moveaxis(x, axes, range(len(axes))) for x in operands]
    rows = [x.reshape((-1, *x.shape[len(axes) :])) for x in rows]
    captures = [m[v] for v in op.captures]
    shape = rows[0].shape[1:]
    apply, empty = _applied(m, op.combine, captures), tuple(m[v] for v in op.identity)
    if m.in_order:
        require_laws(rows, empty, apply, commutes=True)
        rows = _begun(m, op, rows)
    total = folded(rows, apply, in_order=m.in_order) if rows[0].shape[0] else empty
    for value, array in zip(op.results, total, strict=True):
        m[value] = np.broadcast_to(array, shape)


def _applied(m: Logical, combine: kir.Region, captures: Sequence[Array]) -> Combine:
    return lambda a, b: m.region(combine, (*a, *b, *captures))


def _begun(m: Logical, op: kir.Reduce | kir.Scan, rows: list[Array]) -> list[Array]:
    """The rows, with the identity in front of them."""
    first = (np.broadcast_to(m[v], x.shape[1:])[None] for v, x in zip(op.identity, rows, strict=True))
    return [np.concatenate([i, x]) for i, x in zip(first, rows, strict=True)]


def _extreme(m: Logical, op: kir.Reduce, x: Array) -> None:
    axes = sorted(op.axes)
    rows = np.moveaxis(x, axes, range(len(axes)))
    rows = rows.reshape((-1, *rows.shape[len(axes) :]))
    if rows.shape[0] == 0:
        raise Unclean("an extreme position of nothing")
    place = np.argmax(rows, axis=0) if op.kind == "argmax" else np.argmin(rows, axis=0)
    m[op.results[0]] = np.take_along_axis(rows, place[None], axis=0)[0]
    m[op.results[1]] = place


@handles(kir.Scan)
def _scan(m: Logical, op: kir.Scan) -> None:
    axis = op.axis
    operands = [np.flip(m[v], axis) if op.reverse else m[v] for v in op.operands]
    if op.kind is not None:
        x = operands[0]
        done = [running(m.ring, op.kind, op.operands[0].dtype, x, axis)] if x.size else [x]
    else:
        done = _prefixes(m, op, operands)
    if not op.inclusive:
        done = [_shifted(m, op, k, x) for k, x in enumerate(done)]
    for value, array in zip(op.results, done, strict=True):
        m[value] = np.flip(array, axis) if op.reverse else array


def _prefixes(m: Logical, op: kir.Scan, operands: list[Array]) -> list[Array]:
    assert op.combine is not None
    apply = _applied(m, op.combine, [m[v] for v in op.captures])
    rows = [np.moveaxis(x, op.axis, 0) for x in operands]
    if m.in_order:
        require_laws(rows, [m[v] for v in op.identity], apply, commutes=False)
        rows = _begun(m, op, rows)
    done = prefixes(rows, apply, in_order=m.in_order)
    return [np.moveaxis(x[1:] if m.in_order else x, 0, op.axis) for x in done]


def _shifted(m: Logical, op: kir.Scan, k: int, x: Array) -> Array:
    """One place later, beginning with the identity."""
    if x.shape[op.axis] == 0:
        return x
    first = _identity(m, op, k)
    head = np.broadcast_to(first, tuple(1 if j == op.axis else n for j, n in enumerate(x.shape)))
    kept = x[tuple(slice(0, -1) if j == op.axis else slice(None) for j in range(x.ndim))]
    return np.asarray(np.concatenate([head, kept], axis=op.axis), x.dtype)


def _identity(m: Logical, op: kir.Scan, k: int) -> Array:
    if op.kind is None:
        given = m[op.identity[k]]
        return given if given.ndim == 0 else np.expand_dims(given, op.axis)
    dtype = op.operands[0].dtype
    if op.kind in ("sum", "prod"):
        return m.ring.constant(0 if op.kind == "sum" else 1, dtype)
    if dtype.is_float:
        return m.ring.constant(float("-inf") if op.kind == "max" else float("inf"), dtype)
    return m.ring.constant(dtype.minimum if op.kind == "max" else dtype.maximum, dtype)


@handles(kir.Contract)
def _contract(m: Logical, op: kir.Contract) -> None:
    lhs, rhs = (m.ring.cast(m[v], v.dtype, op.result.dtype) for v in (op.lhs, op.rhs))
    m[op.result] = _contraction(m, lhs, rhs, op.result.dtype, op.reduce, op.batch)


def _contraction(m: Logical, lhs: Array, rhs: Array, dtype: DType, reduce: Pairs, batch: Pairs) -> Array:
    """Result axes: free and batch axes of the left side in its order, then free axes of the right side."""
    left_sum, right_sum = [a for a, _ in reduce], [b for _, b in reduce]
    left_batch, right_batch = [a for a, _ in batch], [b for _, b in batch]
    left_free = [k for k in range(lhs.ndim) if k not in (*left_sum, *left_batch)]
    right_free = [k for k in range(rhs.ndim) if k not in (*right_sum, *right_batch)]
    a = np.transpose(lhs, [*left_batch, *left_free, *left_sum])
    b = np.transpose(rhs, [*right_batch, *right_sum, *right_free])
    sizes = [lhs.shape[k] for k in (*left_batch, *left_free)] + [rhs.shape[k] for k in right_free]
    outer, inner = [lhs.shape[k] for k in left_batch], [lhs.shape[k] for k in left_sum]
    count = int(np.prod(inner, dtype=np.int64))
    if inner != [rhs.shape[k] for k in right_sum]:
        raise Unclean("extents that a contraction pairs differ")
    rows = int(np.prod([lhs.shape[k] for k in left_free], dtype=np.int64))
    columns = int(np.prod([rhs.shape[k] for k in right_free], dtype=np.int64))
    flat = product(m.ring, a.reshape((*outer, rows, count)), b.reshape((*outer, count, columns)), dtype)
    made = flat.reshape(sizes)
    order = np.argsort([*left_batch, *left_free], kind="stable")
    return np.transpose(made, [*map(int, order), *range(len(order), made.ndim)])


_STORED: Final = {"one_of_two": (1, 2), "two_of_four": (2, 4)}


@handles(kir.SparseContract)
def _sparse(m: Logical, op: kir.SparseContract) -> None:
    if len(op.reduce) != 1:
        raise Undecided("a sparse contraction over several axes")
    ((axis, dense_axis),) = op.reduce
    kept, group = _STORED[op.format]
    lhs, dense = (m.ring.cast(m[v], v.dtype, op.result.dtype) for v in (op.compressed, op.dense))
    stored, columns = np.moveaxis(lhs, axis, -1), dense.shape[dense_axis]
    full = np.zeros((*stored.shape[:-1], columns), stored.dtype)
    for j in range(stored.shape[-1]):
        position = np.moveaxis(m[op.metadata[j % kept]], axis, -1)[..., j // kept] + j // kept * group
        if np.any((position < 0) | (position >= columns)):
            raise Unclean("a stored element's position is outside")
        here = np.take_along_axis(full, position[..., None], axis=-1) + stored[..., j : j + 1]
        np.put_along_axis(full, position[..., None], here, axis=-1)
    m[op.result] = _contraction(m, np.moveaxis(full, -1, axis), dense, op.result.dtype, op.reduce, op.batch)


@handles(kir.ScaledContract)
def _scaled(m: Logical, op: kir.ScaledContract) -> None:
    m[op.result] = np.zeros(m.size(op.result.shape), np.int64)  # unknown: see ``unknown``


@handles(kir.Histogram)
def _histogram(m: Logical, op: kir.Histogram) -> None:
    values = m[op.values].astype(np.int64)
    valid = np.ones((), np.bool_) if op.valid is None else m[op.valid]
    (bins,) = m.size(op.result.shape)
    active = values[np.broadcast_to(valid, values.shape)]
    if np.any((active < 0) | (active >= bins)):
        raise Unclean("a histogram's value is in no bin")
    m[op.result] = np.bincount(active, minlength=bins).astype(storage(op.result.dtype))


@handles(kir.RandomBits)
def _random(m: Logical, op: kir.RandomBits) -> None:
    """Philox4x32-10: four 32-bit words of a block, mixed in ten rounds with a key that walks."""
    counter = m[op.counter]
    block = _unsigned(np.asarray(counter // 4))
    key = _unsigned(m[op.seed])
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    words = [block & low, block >> half, np.zeros_like(block), np.zeros_like(block)]
    keys = [key & low, key >> half]
    for _ in range(10):
        first, second = words[0] * np.uint64(0xD2511F53), words[2] * np.uint64(0xCD9E8D57)
        words = [
            (second >> half) ^ words[1] ^ keys[0], second & low, (first >> half) ^ words[3] ^ keys[1], first & low,
        ]  # fmt: skip
        keys = [(keys[0] + np.uint64(0x9E3779B9)) & low, (keys[1] + np.uint64(0xBB67AE85)) & low]
    which = np.asarray(counter % 4).astype(np.int64)
    m[op.result] = np.choose(which, words).astype(np.uint32)


def _unsigned(x: Array) -> Array:
    wide = np.asarray(x)
    return wide.astype(np.uint64) if wide.dtype.kind == "u" else wide.astype(np.int64).view(np.uint64)
