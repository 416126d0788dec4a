"""Scans: every ordered prefix along one axis (spec: logical-program 5, 6)."""

from __future__ import annotations

from typing import Final

from intent.diagnostics import WrongDType
from intent.frontend.intrinsics.call import Call, Lower
from intent.frontend.intrinsics.combine import captures, combine_region
from intent.frontend.intrinsics.neutral import is_neutral
from intent.frontend.intrinsics.reduce import accumulator, builtin_combine, identities, sources
from intent.frontend.values import FrontValue, IntrinsicRef, Leaf, Tensor, rebuild
from intent.kir import Scan
from intent.types.dtypes import BOOL

__all__ = ["LOWERINGS"]


def _cumulative(call: Call) -> FrontValue:
    kind = call.name.removeprefix("cum")
    value = call.data("value")
    if value.dtype is BOOL:
        found = {call.text("value"): value.dtype}
        raise WrongDType(call.what, expected="a number", found=found, span=call.builder.span)
    widened = accumulator(value.dtype) if kind in ("sum", "prod") else value.dtype
    return _builtin(call, kind, call.builder.cast(value, call.dtype("acc_dtype") or widened))


def _builtin(call: Call, kind: str, value: Tensor) -> FrontValue:
    result = call.builder.emit_one(
        Scan, value.dtype, value.shape, operands=(value.value,), axis=_axis(call, value), kind=kind,
        inclusive=call.flag("inclusive"), reverse=call.flag("reverse"),
    )  # fmt: skip
    return Tensor(value=result)


def _axis(call: Call, value: Tensor) -> int:
    return call.axis("axis", value.rank)


def _generic(call: Call) -> FrontValue:
    value, parts = sources(call)
    tensors = parts.tensors
    axis = _axis(call, tensors[0])
    callee = call.callee("combine")
    if isinstance(callee, IntrinsicRef):
        kind = builtin_combine(call, callee)
        if len(tensors) == 1 and is_neutral(call.builder, call.front("identity"), kind, tensors[0].dtype):
            return rebuild(value, iter([_builtin(call, kind, tensors[0])]))
    shape = tensors[0].shape
    kept = tuple(extent for k, extent in enumerate(shape) if k != axis)
    schema = rebuild(value, iter([Leaf(dtype=t.dtype, shape=kept) for t in tensors]))
    identity = identities(call, schema)
    held = captures(call, "combine_operands", kept)
    region = combine_region(call, schema, held)
    parts.check(call, region)
    beside = held.repeated(call.builder, shape, (axis,))
    results = call.builder.emit(
        Scan,
        *((t.dtype, shape) for t in (*tensors, *beside)),
        operands=call.builder.values((*tensors, *beside)),
        axis=axis,
        inclusive=call.flag("inclusive"),
        reverse=call.flag("reverse"),
        identity=(*identity, *call.builder.values(held.sliced)),
        captures=held.values,
        combine=region,
    )
    found = [Tensor(value=r) for r in results[: len(tensors)]]
    return rebuild(value, iter(parts.restored(call.builder, found, removed=False)))


LOWERINGS: Final[dict[str, Lower]] = {
    "scan": _generic,
    **dict.fromkeys(("cumsum", "cumprod", "cummax", "cummin"), _cumulative),
}
