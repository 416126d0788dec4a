"""Microscaled and structured sparse contractions (spec: logical-program 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from intent.diagnostics import SchemaMismatch, ShapeMismatch, WrongDType, WrongRank
from intent.frontend.builder import Builder
from intent.frontend.intrinsics.call import Call, Lower
from intent.frontend.intrinsics.contract import checked_pairs, contraction_dtype
from intent.frontend.intrinsics.groups import contract_scaled_groups
from intent.frontend.intrinsics.shapes import conform
from intent.frontend.values import DTypeRef, FrontValue, Function, PyConst, Record, Tensor, Tuple, leaves
from intent.kir import Bitcast, ScaledContract, SparseContract
from intent.language.formats import ScaledFormat
from intent.types import DType, Extent
from intent.types.dtypes import F8E4M3FN, F32
from intent.types.extent import const

__all__ = ["LOWERINGS", "SparseFormat"]


@dataclass(frozen=True, kw_only=True)
class SparseFormat:
    """``kept`` of every ``group`` elements along ``axis`` are stored; ``extent`` is that before it."""

    name: str
    kept: int
    group: int
    axis: int
    extent: Extent | None

    def __repr__(self) -> str:
        return f"I.sparse.{self.name}(...)"


def _scaled_contract(call: Call) -> FrontValue:
    if call.pairs("reduce") != ((1, 0), (2, 1)) or call.integers("batch"):
        raise call.wrong_kind("reduce", "reduce=((1, 0), (2, 1)) and batch=()")
    return _scaled(call, call.integer("lhs_group_size"), call.integer("rhs_group_size"))


def _scaled_matmul(call: Call) -> FrontValue:
    size = call.integer("group_size")
    return _scaled(call, size, size)


def _scaled(call: Call, lhs_group: int, rhs_group: int) -> FrontValue:
    """lhs[M,G,C] with scales [M,G] times rhs[G,C,N] with scales [N,G]: [M,N]."""
    if lhs_group != rhs_group or lhs_group < 1:
        found = f"{lhs_group} and {rhs_group}"
        raise call.wrong_kind("lhs_group_size", "one positive group size for both sides", found=found)
    lhs, rhs = _ranked(call, "lhs", 3), _ranked(call, "rhs", 3)
    lhs_scale, rhs_scale = _ranked(call, "lhs_scale", 2), _ranked(call, "rhs_scale", 2)
    lhs_format, rhs_format = _format(call, "lhs_format", lhs, "lhs"), _format(call, "rhs_format", rhs, "rhs")
    plain = _plain_scales(lhs_scale, rhs_scale, lhs_format, rhs_format)
    for name, scale in (("lhs_scale", lhs_scale), ("rhs_scale", rhs_scale)):
        if scale.dtype.name != "u8" and not plain:
            expected = "u8 (I.e8m0 exponents), or f32 on both sides of I.e4m3"
            raise WrongDType(f"{name}= of {call.what}", expected=expected, found={call.text(name): scale.dtype},
                             span=call.builder.span)  # fmt: skip
    (m, groups, c_lhs), (_, c_rhs, n) = lhs.shape, rhs.shape
    _inner(call, "lhs", c_lhs, lhs_group, lhs_format)
    _inner(call, "rhs", c_rhs, rhs_group, rhs_format)
    lhs_scale = conform(call.builder, lhs_scale, (m, groups), f"lhs_scale= of {call.what}")
    rhs_scale = conform(call.builder, rhs_scale, (n, groups), f"rhs_scale= of {call.what}")
    rhs = conform(call.builder, rhs, (groups, c_rhs, n), f"rhs= of {call.what}")
    acc = call.some_dtype("acc_dtype")
    if not acc.is_float:
        raise WrongDType(
            call.what, expected="a float accumulator", found={"acc_dtype": acc}, span=call.builder.span
        )
    if plain:
        return _scaled_by_group(call, lhs, lhs_scale, rhs, rhs_scale, acc)
    value = call.builder.emit_one(
        ScaledContract, acc, (m, n), lhs=lhs.value, lhs_scale=lhs_scale.value, rhs=rhs.value,
        rhs_scale=rhs_scale.value, lhs_format=lhs_format.name, rhs_format=rhs_format.name,
        lhs_group=lhs_group, rhs_group=rhs_group,
    )  # fmt: skip
    return Tensor(value=value)


def _plain_scales(
    lhs_scale: Tensor, rhs_scale: Tensor, lhs_format: ScaledFormat, rhs_format: ScaledFormat
) -> bool:
    """Whether the scales are ordinary f32 numbers of ordinary 8-bit floats: no microscaling format is involved."""
    return lhs_scale.dtype is rhs_scale.dtype is F32 and lhs_format.bits == rhs_format.bits == 8


def _scaled_by_group(
    call: Call, lhs: Tensor, lhs_scale: Tensor, rhs: Tensor, rhs_scale: Tensor, acc: DType
) -> FrontValue:
    """f32 scales: one product for each group, times both scales of the group, added in order."""
    items = [_as_float8(call.builder, t) for t in (lhs, rhs)]
    scales = [call.builder.cast(t, acc) for t in (lhs_scale, rhs_scale)]
    arguments = [items[0], scales[0], items[1], scales[1], DTypeRef(dtype=acc)]
    return call.inline(Function(definition=contract_scaled_groups), arguments)


def _as_float8(builder: Builder, tensor: Tensor) -> Tensor:
    if tensor.dtype is F8E4M3FN:
        return tensor
    return Tensor(value=builder.emit_one(Bitcast, F8E4M3FN, tensor.shape, value=tensor.value))


def _ranked(call: Call, parameter: str, rank: int) -> Tensor:
    tensor = call.data(parameter)
    if tensor.rank != rank:
        raise WrongRank(
            f"{parameter}= of {call.what}",
            expected=rank,
            found=tensor.rank,
            value=f"the rank of {call.text(parameter)}",
            span=call.builder.span,
        )
    return tensor


def _format(call: Call, parameter: str, tensor: Tensor, operand: str) -> ScaledFormat:
    found: ScaledFormat = call.constant(parameter, ScaledFormat, "I.e2m1 or I.e4m3")
    if found.role != "element":
        raise call.wrong_kind(parameter, "an element format, I.e2m1 or I.e4m3")
    if tensor.dtype.name != found.carrier and not (found.bits == 8 and tensor.dtype.name == "u8"):
        raise WrongDType(
            f"{operand}= of {call.what} in the format {found!r}", expected=found.carrier,
            found={call.text(operand): tensor.dtype}, span=call.builder.span,
        )  # fmt: skip
    return found


def _inner(call: Call, operand: str, extent: Extent, group: int, layout: ScaledFormat) -> None:
    """The inner axis holds exactly one group."""
    if group % layout.per_carrier:
        raise call.wrong_kind(
            f"{operand}_format", f"a group size divisible by {layout.per_carrier}", found=str(group)
        )
    wanted = const(group // layout.per_carrier)
    call.builder.equal_extents(
        extent, wanted, f"one group in the inner axis of {operand}= of {call.what}", what=call.what
    )


def _sparse_format(call: Call) -> FrontValue:
    name = call.name.removeprefix("sparse.")
    kept, group = (1, 2) if name == "one_of_two" else (2, 4)
    axis = call.integer("compression_axis")
    extent = call.extent("logical_extent", call.front("logical_extent"))
    return PyConst(value=SparseFormat(name=name, kept=kept, group=group, axis=axis, extent=extent))


def _sparse_contract(call: Call) -> FrontValue:
    layout: SparseFormat = call.constant(
        "format", SparseFormat, "I.sparse.one_of_two(...) or I.sparse.two_of_four(...)"
    )
    return _sparse(call, layout, call.pairs("reduce"), call.pairs("batch"))


def _sparse_matmul(call: Call) -> FrontValue:
    layout: SparseFormat = call.constant(
        "format", SparseFormat, "I.sparse.one_of_two(...) or I.sparse.two_of_four(...)"
    )
    return _sparse(call, layout, ((1, 0),), ())


def _sparse_2to4(call: Call) -> FrontValue:
    layout = SparseFormat(name="two_of_four", kept=2, group=4, axis=1, extent=None)
    return _sparse(call, layout, ((1, 0),), ())


def _sparse(
    call: Call, layout: SparseFormat, reduce: tuple[tuple[int, int], ...], batch: tuple[tuple[int, int], ...]
) -> FrontValue:
    """A contraction whose lhs is stored compressed along one of the summed axes."""
    builder = call.builder
    compressed, dense = builder.unify(call.front("compressed"), call.front("dense"), what=call.what)
    axis = call.normal_axis(layout.axis, compressed.rank)
    normal = tuple((call.normal_axis(a, compressed.rank), call.normal_axis(b, dense.rank)) for a, b in reduce)
    partner = [b for a, b in normal if a == axis]
    if not partner:
        raise call.wrong_kind("reduce", "the compression axis among the summed axes", found=f"{reduce}")
    others = checked_pairs(
        call, compressed, dense, tuple(p for p in normal if p[0] != axis), ((axis, partner[0]),)
    )
    batch = checked_pairs(call, compressed, dense, batch, normal)
    logical = dense.shape[partner[0]]
    if layout.extent is not None:
        builder.equal_extents(logical, layout.extent, f"logical_extent of {layout!r}", what=call.what)
    stored = compressed.shape[axis]
    _same_count(call, stored * layout.group, logical * layout.kept)
    metadata = _metadata(call, layout, compressed, axis)
    acc = contraction_dtype(call, compressed.dtype)
    pairs = tuple(p if p[0] == axis else next(o for o in others if o[0] == p[0]) for p in normal)
    summed, taken = {a for a, _ in pairs}, {b for _, b in (*pairs, *batch)}
    shape = (
        *(e for k, e in enumerate(compressed.shape) if k not in summed),
        *(e for k, e in enumerate(dense.shape) if k not in taken),
    )
    value = builder.emit_one(
        SparseContract, acc, shape, compressed=compressed.value, metadata=builder.values(metadata),
        dense=dense.value, format=layout.name, reduce=pairs, batch=batch,
    )  # fmt: skip
    return builder.loaded(value)


def _same_count(call: Call, stored: Extent, logical: Extent) -> None:
    """``kept`` of every ``group`` logical elements are stored, which also makes the axis divisible."""
    if stored.const is not None and logical.const is not None and stored is not logical:
        raise ShapeMismatch(
            call.what, {"stored elements": (stored,), "kept elements": (logical,)}, span=call.builder.span
        )
    call.builder.equal_extents(stored, logical, f"the compressed axis of {call.what}", what=call.what)


def _metadata(call: Call, layout: SparseFormat, compressed: Tensor, axis: int) -> tuple[Tensor, ...]:
    """Logical positions: a tensor for one of two, a record (first, second) for two of four; one per group."""
    builder, front = call.builder, call.front("metadata")
    parts = list(leaves(front))
    fits = len(parts) == layout.kept and not (layout.kept == 1 and isinstance(front, Tuple))
    if not fits or (isinstance(front, Record) and layout.kept == 2 and front.names != ("first", "second")):
        wanted = "positions" if layout.kept == 1 else "I.record(first=..., second=...)"
        raise SchemaMismatch(
            f"metadata= of {call.what}", expected=wanted, found=front.describe(), span=builder.span
        )
    tensors: list[Tensor] = []
    for part in parts:
        tensor = builder.index(builder.data(part, call.what), f"metadata= of {call.what}")
        if tensor.rank != compressed.rank:
            raise WrongRank(
                f"metadata= of {call.what}", expected=compressed.rank, found=tensor.rank, span=builder.span
            )
        for k, (found, stored) in enumerate(zip(tensor.shape, compressed.shape, strict=True)):
            if k == axis:
                _same_count(call, found * layout.kept, stored)
            else:
                builder.equal_extents(found, stored, f"metadata of {call.what}", what=call.what)
        tensors.append(tensor)
    return tuple(tensors)


LOWERINGS: Final[dict[str, Lower]] = {
    "scaled_contract": _scaled_contract,
    "scaled_matmul": _scaled_matmul,
    "sparse.one_of_two": _sparse_format,
    "sparse.two_of_four": _sparse_format,
    "sparse_contract": _sparse_contract,
    "sparse_matmul": _sparse_matmul,
    "sparse_contract_2to4": _sparse_2to4,
}
