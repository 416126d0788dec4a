"""Reductions, scans, contractions, folds and scatters, in numpy and in source order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from intent_testkit.fuzz.eager.memory import Invalid, View, tensor
from intent_testkit.fuzz.eager.values import leaves, like, product, whole

_WIDE = {"int8": np.int32, "int16": np.int32, "uint8": np.uint32, "uint16": np.uint32, "float16": np.float32,
         "bfloat16": np.float32}  # fmt: skip


def _widened(value: Any, acc_dtype: Any) -> Any:
    return np.dtype(acc_dtype or _WIDE.get(value.dtype.name, value.dtype))


def _axes(axis: Any, rank: int) -> tuple[int, ...]:
    given = axis if isinstance(axis, tuple) else (axis,)
    return tuple(a % rank for a in given)


def _identity(name: str, dtype: np.dtype[Any]) -> Any:
    if name in {"sum", "prod"}:
        return dtype.type(name == "prod")
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return dtype.type(limits.min if name == "max" else limits.max)
    return dtype.type(-np.inf if name == "max" else np.inf)


def _builtin(name: str) -> Callable[..., Any]:
    function = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[name]

    def run(value: Any, axis: Any, acc_dtype: Any = None) -> Any:
        value = np.asarray(whole(value))
        dtype = _widened(value, acc_dtype) if name in {"sum", "prod"} else np.dtype(acc_dtype or value.dtype)
        value = value.astype(dtype)
        found = value
        for a in sorted(_axes(axis, value.ndim), reverse=True):
            found = _along(function, found, a, _identity(name, dtype))
        return tensor(found)

    return run


def _along(function: Any, value: Any, axis: int, identity: Any) -> Any:
    items = np.moveaxis(value, axis, 0)
    found = np.full(items.shape[1:], identity, value.dtype)
    for item in items:
        found = function(found, item)
    return found


def _arg(largest: bool) -> Callable[..., Any]:
    def run(value: Any, axis: int) -> Any:
        value = np.asarray(whole(value))
        if value.shape[axis] == 0:
            raise Invalid("arg_reduce over an empty axis")
        at = np.argmax(value, axis) if largest else np.argmin(value, axis)
        best = np.take_along_axis(value, np.expand_dims(at, axis), axis).squeeze(axis)
        return tensor(best), tensor(at.astype(np.int64))

    return run


class _Reduce:
    sum, prod = staticmethod(_builtin("sum")), staticmethod(_builtin("prod"))
    max, min = staticmethod(_builtin("max")), staticmethod(_builtin("min"))

    @staticmethod
    def any(value: Any, axis: Any) -> Any:
        """``I.reduce.any``."""
        return tensor(np.any(whole(value), axis=axis))

    @staticmethod
    def all(value: Any, axis: Any) -> Any:
        """``I.reduce.all``."""
        return tensor(np.all(whole(value), axis=axis))

    def __call__(self, value: Any, axis: Any, identity: Any, combine: Any, combine_operands: Any = ()) -> Any:
        """The author's reduction, left to right."""
        parts = [np.asarray(whole(p)) for p in leaves(value)]
        axes = _axes(axis, parts[0].ndim)
        rest = [k for k in range(parts[0].ndim) if k not in axes]
        moved = [p.transpose([*axes, *rest]) for p in parts]
        count = product([parts[0].shape[a] for a in axes])
        flat = [m.reshape(count, *m.shape[len(axes) :]) for m in moved]
        start = [
            np.broadcast_to(np.asarray(i, p.dtype), f.shape[1:])
            for i, p, f in zip(leaves(identity), parts, flat, strict=True)
        ]
        found = like(value, [tensor(s) for s in start])
        for k in range(count):
            found = combine(found, like(value, [tensor(f[k]) for f in flat]), *combine_operands)
        return like(value, [tensor(p) for p in leaves(found)])


def scan(
    value: Any,
    axis: int,
    identity: Any,
    combine: Any,
    inclusive: bool = True,
    reverse: bool = False,
    combine_operands: Any = (),
) -> Any:
    """``I.scan``, element after element."""
    parts = [np.moveaxis(np.asarray(whole(p)), axis, 0) for p in leaves(value)]
    if reverse:
        parts = [p[::-1] for p in parts]
    start = [
        np.broadcast_to(np.asarray(i, p.dtype), p.shape[1:])
        for i, p in zip(leaves(identity), parts, strict=True)
    ]
    state = like(value, [tensor(s) for s in start])
    outputs = [np.empty_like(p) for p in parts]
    for k in range(parts[0].shape[0]):
        if not inclusive:
            _put(outputs, k, state)
        state = combine(state, like(value, [tensor(p[k]) for p in parts]), *combine_operands)
        if inclusive:
            _put(outputs, k, state)
    if reverse:
        outputs = [o[::-1] for o in outputs]
    return like(value, [tensor(np.moveaxis(o, 0, axis)) for o in outputs])


def _put(outputs: list[Any], k: int, state: Any) -> None:
    for output, leaf in zip(outputs, leaves(state), strict=True):
        output[k] = leaf


def _cumulative(name: str) -> Callable[..., Any]:
    function = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[name]

    def run(value: Any, axis: int, inclusive: bool = True, reverse: bool = False) -> Any:
        value = np.asarray(whole(value))
        dtype = _widened(value, None) if name in {"sum", "prod"} else value.dtype
        return scan(value.astype(dtype), axis, _identity(name, dtype), function, inclusive, reverse)

    return run


def contract(lhs: Any, rhs: Any, reduce: Any = ((1, 0),), batch: Any = (), acc_dtype: Any = None) -> Any:
    """``I.contract``: free and batch axes of lhs in order, then the free axes of rhs."""
    lhs, rhs = np.asarray(whole(lhs)), np.asarray(whole(rhs))
    dtype = _widened(lhs, acc_dtype)
    left = list("abcdefgh"[: lhs.ndim])
    right = list("ijklmnop"[: rhs.ndim])
    for pair in (*reduce, *batch):
        right[pair[1]] = left[pair[0]]
    summed = {left[p[0]] for p in reduce}
    kept = {left[p[0]] for p in batch}
    result = [c for c in left if c not in summed] + [c for c in right if c not in summed and c not in kept]
    spec = f"{''.join(left)},{''.join(right)}->{''.join(result)}"
    return tensor(np.einsum(spec, lhs.astype(dtype), rhs.astype(dtype)))


def matmul(lhs: Any, rhs: Any, transpose_lhs: bool = False, transpose_rhs: bool = False) -> Any:
    """``I.matmul`` with leading axes broadcast."""
    lhs, rhs = np.asarray(whole(lhs)), np.asarray(whole(rhs))
    dtype = _widened(lhs, None)
    a = np.swapaxes(lhs, -1, -2) if transpose_lhs else lhs
    b = np.swapaxes(rhs, -1, -2) if transpose_rhs else rhs
    return tensor(np.einsum("...mk,...kn->...mn", a.astype(dtype), b.astype(dtype)))


def region_fold(
    source: Any, axis: int, summarize: Any, combine: Any, identity: Any, operands: Sequence[Any] = ()
) -> Any:
    """``I.region_fold`` of one slice: the whole axis."""
    source = like(source, [whole(leaf) for leaf in leaves(source)])
    if not leaves(source)[0].shape[axis]:
        return identity
    return combine(identity, summarize(source, *operands))


def region_scan(
    source: Any,
    axis: int,
    summarize: Any,
    combine: Any,
    identity: Any,
    initial_state: Any,
    apply: Any,
    emit: Any,
    operands: Sequence[Any] = (),
) -> Any:
    """``I.region_scan`` of one slice: the whole axis."""
    source = like(source, [whole(leaf) for leaf in leaves(source)])
    outputs = emit(source, initial_state, *operands)
    total = region_fold(source, axis, summarize, combine, identity, operands)
    return outputs, apply(total, initial_state)


def histogram(values: Any, bins: int, valid: Any = True, count_dtype: Any = np.int32) -> Any:
    """``I.histogram``; counts wrap."""
    values = np.asarray(whole(values))
    active = values[np.broadcast_to(valid, values.shape)].astype(np.int64)
    if active.size and not (active.min() >= 0 and active.max() < bins):
        raise Invalid("a value outside the bins")
    return tensor(np.bincount(active, minlength=bins).astype(count_dtype))


def _lanes(target: Any, index: Any, valid: Any, *others: Any) -> tuple[tuple[Any, ...], Any, list[Any]]:
    listed = index if isinstance(index, tuple) else (index,)
    arrays = np.broadcast_arrays(*listed, valid, *others)
    where, active, rest = arrays[: len(listed)], arrays[len(listed)], list(arrays[len(listed) + 1 :])
    for axis, at in enumerate(where):
        chosen = at[active]
        if chosen.size and not (chosen.min() >= 0 and chosen.max() < target.shape[axis]):
            raise Invalid("an active index out of range")
    return tuple(where), active, rest


def gather(source: Any, index: Any, valid: Any = True, fill: Any = 0) -> Any:
    """``I.gather``: inactive lanes give ``fill``."""
    data = np.asarray(whole(source))
    where, active, (filled,) = _lanes(data, index, valid, np.asarray(fill, data.dtype))
    found = np.array(filled, data.dtype)
    found[active] = data[tuple(w[active] for w in where)]
    return tensor(found)


def scatter_unique(target: View, index: Any, value: Any, valid: Any = True) -> None:
    """``I.scatter_unique``: active destinations must differ."""
    where, active, (value,) = _lanes(target, index, valid, whole(value))
    places = list(zip(*(w[active].tolist() for w in where), strict=True))
    if len(set(places)) != len(places):
        raise Invalid("colliding unique stores")
    target[tuple(w[active] for w in where)] = value[active]


def scatter_reduce(target: View, index: Any, value: Any, combine: Any, valid: Any = True) -> None:
    """``I.scatter_reduce``, lane after lane."""
    where, active, (value,) = _lanes(target, index, valid, whole(value))
    for place in np.argwhere(active):
        at = tuple(place)
        element = np.asarray(value)[at]
        target.update(tuple(int(w[at]) for w in where), partial(_combined, combine, element))


def _combined(combine: Callable[[Any, Any], Any], element: Any, old: Any) -> Any:
    return combine(old, element)


def _atomic(update: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def run(target: View, index: Any, value: Any, order: str = "relaxed") -> Any:
        return target.update(index, lambda old: update(old, value))

    return run


NAMES: dict[str, Any] = {
    "arg_reduce": SimpleNamespace(max=_arg(True), min=_arg(False)),
    "atomic": SimpleNamespace(add=_atomic(np.add), max=_atomic(np.maximum), min=_atomic(np.minimum)),
    "contract": contract,
    "cummax": _cumulative("max"),
    "cummin": _cumulative("min"),
    "cumprod": _cumulative("prod"),
    "cumsum": _cumulative("sum"),
    "dot": lambda a, b: contract(a, b, ((0, 0),)),
    "gather": gather,
    "histogram": histogram,
    "matmul": matmul,
    "matvec": lambda a, b: contract(a, b, ((1, 0),)),
    "outer": lambda a, b: tensor(np.multiply.outer(np.asarray(a), np.asarray(b))),
    "reduce": _Reduce(),
    "region_fold": region_fold,
    "region_scan": region_scan,
    "scan": scan,
    "scatter_reduce": scatter_reduce,
    "scatter_unique": scatter_unique,
    "vecmat": lambda a, b: contract(a, b, ((0, 0),)),
}
