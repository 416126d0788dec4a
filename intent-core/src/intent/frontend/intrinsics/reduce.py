"""Reductions: builtin, with the author's combine, and with positions (spec: logical-program 6)."""

from __future__ import annotations

from typing import Final

from intent.diagnostics import SchemaMismatch, SliceExtentObserved, WrongDType, WrongKind
from intent.frontend.builder import Builder
from intent.frontend.intrinsics.call import Call, Lower
from intent.frontend.intrinsics.combine import captures, combine_region, leaf_type
from intent.frontend.intrinsics.components import Components, aligned
from intent.frontend.intrinsics.neutral import COMBINES, constant_of, finite_limit, is_neutral, neutral
from intent.frontend.values import (
    FrontValue,
    IntrinsicRef,
    Leaf,
    Tensor,
    Tuple,
    arranged,
    leaves,
    rebuild,
    same_structure,
)
from intent.kir import Reduce, Value
from intent.types import DType, Extent
from intent.types.dtypes import BOOL, F32, I32, INDEX, U32

__all__ = ["LOWERINGS", "accumulator", "identities", "sources"]

_WIDER: Final = {"int": I32, "uint": U32}


def accumulator(dtype: DType) -> DType:
    """The dtype that a sum or product accumulates in (language, Structured operations)."""
    if dtype.is_float:
        return F32 if dtype.bits < 32 else dtype
    return _WIDER.get(dtype.kind, dtype) if dtype.bits < 32 else dtype


def _builtin(call: Call) -> FrontValue:
    kind = call.name.removeprefix("reduce.")
    value = call.data("value")
    if (kind in ("any", "all")) != (value.dtype is BOOL):
        expected, fix = ("bool", "compare the values first") if kind in ("any", "all") else ("a number", None)
        found = {call.text("value"): value.dtype}
        raise WrongDType(call.what, expected=expected, found=found, fix=fix, span=call.builder.span)
    axes = _axes(call, value.shape)
    wide = call.dtype("acc_dtype") if "acc_dtype" in call.arguments else None
    dtype = wide or (accumulator(value.dtype) if kind in ("sum", "prod") else value.dtype)
    _check_identity(call, kind, dtype)
    return _reduce(call.builder, kind, call.builder.cast(value, dtype), axes)


def _check_identity(call: Call, kind: str, dtype: DType) -> None:
    """A published program may repeat the builtin's identity; another one would change the meaning."""
    if call.given("identity") and not is_neutral(call.builder, call.front("identity"), kind, dtype):
        raise SchemaMismatch(
            f"identity= of {call.what}",
            expected=f"{neutral(kind, dtype)!r}",
            found=call.front("identity").describe(),
            fix="leave identity= out, or write I.reduce with a combine of your own",
            span=call.builder.span,
        )


def _check_position_identity(call: Call, kind: str, dtype: DType) -> None:
    """As for a builtin, or a pair with any position, or the lowest finite number: no result ever is the identity."""
    front = call.front("identity")
    value, position = front.items if isinstance(front, Tuple) and len(front.items) == 2 else (front, None)
    found = call.builder.dtype_of(position) if position is not None else INDEX
    lowest = finite_limit(kind, dtype)
    neutral_value = (
        is_neutral(call.builder, value, kind, dtype) or constant_of(call.builder, value, dtype) == lowest
    )
    if not call.given("identity") or (neutral_value and (found is None or found.is_integer)):
        return
    _check_identity(call, kind, dtype)
    raise SchemaMismatch(
        f"identity= of {call.what}", expected=f"{neutral(kind, dtype)!r}, alone or with a position",
        found=front.describe(), fix="leave identity= out", span=call.builder.span,
    )  # fmt: skip


def _reduce(builder: Builder, kind: str, value: Tensor, axes: tuple[int, ...]) -> Tensor:
    result = builder.emit_one(
        Reduce, value.dtype, _kept(value.shape, axes), operands=(value.value,), axes=axes, kind=kind
    )
    return builder.loaded(result)


def _axes(call: Call, shape: tuple[Extent, ...]) -> tuple[int, ...]:
    return call.axes("axis", len(shape))


def _kept(shape: tuple[Extent, ...], axes: tuple[int, ...]) -> tuple[Extent, ...]:
    return tuple(extent for axis, extent in enumerate(shape) if axis not in axes)


def _generic(call: Call) -> FrontValue:
    value, parts = sources(call)
    tensors, axes = parts.tensors, parts.axes
    callee = call.callee("combine")
    if isinstance(callee, IntrinsicRef):
        kind = builtin_combine(call, callee)
        if len(tensors) == 1 and is_neutral(call.builder, call.front("identity"), kind, tensors[0].dtype):
            return rebuild(value, iter([_reduce(call.builder, kind, tensors[0], axes)]))
    kept = _kept(tensors[0].shape, axes)
    schema = rebuild(value, iter([Leaf(dtype=t.dtype, shape=kept) for t in tensors]))
    identity = identities(call, schema)
    held = captures(call, "combine_operands", kept)
    region = combine_region(call, schema, held)
    parts.check(call, region)
    beside = held.repeated(call.builder, tensors[0].shape, axes)
    results = call.builder.emit(
        Reduce,
        *((t.dtype, kept) for t in (*tensors, *beside)),
        operands=call.builder.values((*tensors, *beside)),
        axes=axes,
        identity=(*identity, *call.builder.values(held.sliced)),
        captures=held.values,
        combine=region,
    )
    found = [call.builder.loaded(r) for r in results[: len(tensors)]]
    return rebuild(value, iter(parts.restored(call.builder, found, removed=True)))


def builtin_combine(call: Call, callee: IntrinsicRef) -> str:
    """The builtin that an intrinsic given as ``combine`` is. Raises WrongKind for other intrinsics."""
    kind = COMBINES.get(callee.intrinsic.name)
    if kind is None:
        raise call.wrong_kind("combine", "a helper, or I.add, I.maximum or I.minimum")
    return kind


def sources(call: Call) -> tuple[FrontValue, Components]:
    """``value`` with its structure, and its components aligned; ``acc_dtype`` is applied."""
    value = call.front("value")
    parts = list(leaves(value))
    identity = arranged(call.front("identity"), value)
    if not same_structure(value, identity):
        raise SchemaMismatch(
            f"identity= of {call.what}",
            expected=value.describe(),
            found=identity.describe(),
            fix="give one identity per component of the value",
            span=call.builder.span,
        )
    wanted = [call.builder.dtype_of(leaf) for leaf in leaves(identity)]
    tensors = [call.builder.materialize(p, d, call.what) for p, d in zip(parts, wanted, strict=True)]
    dtype = call.dtype("acc_dtype")
    if dtype is not None:
        if len(tensors) != 1:
            raise call.wrong_kind("acc_dtype", "casts of the components instead, for products")
        tensors = [call.builder.cast(tensors[0], dtype)]
    return value, aligned(call, tuple(tensors))


def identities(call: Call, schema: FrontValue) -> tuple[Value, ...]:
    """One element-level value or one full slice per component of ``schema`` (language decision 11)."""
    builder, identity = call.builder, arranged(call.front("identity"), schema)
    what = f"identity= of {call.what}"
    if not same_structure(identity, schema):
        raise SchemaMismatch(what, expected=schema.describe(), found=identity.describe(), span=builder.span)
    found: list[Value] = []
    for part, component in zip(leaves(identity), leaves(schema), strict=True):
        wanted = leaf_type(component)
        tensor = builder.materialize(part, wanted.dtype, what)
        if tensor.dtype is not wanted.dtype:
            raise SchemaMismatch(
                what, expected=schema.describe(), found=identity.describe(), span=builder.span
            )
        if tensor.shape:
            joint = builder.broadcast_shapes([tensor.shape, wanted.shape], what)
            if len(joint) != len(wanted.shape):
                raise SchemaMismatch(
                    what, expected=schema.describe(), found=identity.describe(), span=builder.span
                )
            tensor = builder.broadcast_to(tensor, wanted.shape)
        found.append(tensor.value)
    return tuple(found)


def _arg_reduce(call: Call) -> FrontValue:
    """Values and positions; positions count in the reduced axes, row-major."""
    builder, value = call.builder, call.data("value")
    if value.dtype is BOOL:
        raise WrongDType(
            call.what, expected="a number", found={call.text("value"): value.dtype}, span=builder.span
        )
    axes = _axes(call, value.shape)
    if any(atom in builder.opaque for axis in axes for atom in value.shape[axis].atoms()):
        helper = builder.purity.helper if builder.purity else "summarize"
        raise SliceExtentObserved(helper, use="positions counted inside the slice", span=builder.span)
    if any(value.shape[axis].const == 0 for axis in axes) and not builder.races:
        raise WrongKind(
            call.what,
            expected="an axis with elements",
            found="extent 0",
            argument="the reduced axis",
            span=builder.span,
        )
    kind = "arg" + call.name.removeprefix("arg_reduce.")
    value = builder.cast(value, call.dtype("acc_dtype") or value.dtype)
    _check_position_identity(call, kind.removeprefix("arg"), value.dtype)
    kept = _kept(value.shape, axes)
    results = builder.emit(
        Reduce, (value.dtype, kept), (INDEX, kept), operands=(value.value,), axes=axes, kind=kind
    )
    return Tuple(items=tuple(builder.loaded(r) for r in results))


LOWERINGS: Final[dict[str, Lower]] = {
    **dict.fromkeys((f"reduce.{kind}" for kind in ("sum", "prod", "max", "min", "any", "all")), _builtin),
    "reduce": _generic,
    "arg_reduce.max": _arg_reduce,
    "arg_reduce.min": _arg_reduce,
}
