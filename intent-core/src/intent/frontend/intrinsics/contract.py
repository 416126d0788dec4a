"""Contractions and the named products that are contractions (spec: logical-program 6)."""

from __future__ import annotations

from typing import Final

from intent.diagnostics import InvalidAxis, ShapeMismatch, WrongDType, WrongRank
from intent.frontend.intrinsics.call import Call, Lower
from intent.frontend.intrinsics.reduce import accumulator
from intent.frontend.intrinsics.shapes import transposed
from intent.frontend.values import FrontValue, Tensor
from intent.kir import Contract
from intent.types import DType, Extent
from intent.types.dtypes import BOOL

__all__ = ["LOWERINGS", "checked_pairs", "contraction_dtype"]

Pairs = tuple[tuple[int, int], ...]


def contraction_dtype(call: Call, dtype: DType) -> DType:
    """The accumulator: ``acc_dtype``, else the operands' dtype, widened as for a sum. Raises WrongDType."""
    acc = call.dtype("acc_dtype") or accumulator(dtype)
    if BOOL in (dtype, acc) or dtype.is_float != acc.is_float:
        kind = "a number" if dtype is BOOL else f"a {'float' if dtype.is_float else 'integer'} accumulator"
        raise WrongDType(
            call.what, expected=kind, found={"the operands": dtype, "acc_dtype": acc}, span=call.builder.span
        )
    return acc


def checked_pairs(call: Call, lhs: Tensor, rhs: Tensor, pairs: Pairs, taken: Pairs = ()) -> Pairs:
    """Pairs with non-negative axes, none named twice, of equal extents. Raises InvalidAxis, ShapeMismatch."""
    normal: list[tuple[int, int]] = []
    for a, b in pairs:
        pair = (call.normal_axis(a, lhs.rank), call.normal_axis(b, rhs.rank))
        for side, given in enumerate((a, b)):
            if any(pair[side] == other[side] for other in (*normal, *taken)):
                rank = (lhs, rhs)[side].rank
                raise InvalidAxis(call.what, given, rank=rank, repeated=True, span=call.builder.span)
        left, right = lhs.shape[pair[0]], rhs.shape[pair[1]]
        if left.const is not None and right.const is not None and left is not right:
            shapes = dict(zip(_names(call), (lhs.shape, rhs.shape), strict=True))
            fix = f"axes {pair[0]} and {pair[1]} are paired and need one extent"
            raise ShapeMismatch(call.what, shapes, fix=fix, span=call.builder.span)
        call.builder.equal_extents(left, right, f"paired axes of {call.what}", what=call.what)
        normal.append(pair)
    return tuple(normal)


def _names(call: Call) -> list[str]:
    """The two operands in the author's words."""
    operands = ("lhs", "rhs", "matrix", "vector", "compressed", "dense")
    texts = [call.text(parameter) for parameter in call.arguments if parameter in operands]
    return texts if len(set(texts)) == 2 else ["the left operand", "the right operand"]


def _contract(call: Call) -> FrontValue:
    lhs, rhs = _operands(call, "lhs", "rhs")
    reduce = checked_pairs(call, lhs, rhs, call.pairs("reduce"))
    if not reduce:
        raise call.wrong_kind("reduce", "at least one pair of axes")
    batch = checked_pairs(call, lhs, rhs, call.pairs("batch"), reduce)
    return _emit(call, lhs, rhs, reduce, batch)


def _operands(call: Call, lhs: str, rhs: str) -> tuple[Tensor, Tensor]:
    a, b = call.builder.unify(call.front(lhs), call.front(rhs), what=call.what)
    return a, b


def _emit(call: Call, lhs: Tensor, rhs: Tensor, reduce: Pairs, batch: Pairs) -> Tensor:
    """The contraction; a sum of no extent is zero in the accumulator's dtype."""
    acc = contraction_dtype(call, lhs.dtype)
    summed, taken = {a for a, _ in reduce}, {b for _, b in (*reduce, *batch)}
    shape = (
        *(extent for axis, extent in enumerate(lhs.shape) if axis not in summed),
        *(extent for axis, extent in enumerate(rhs.shape) if axis not in taken),
    )
    value = call.builder.emit_one(
        Contract, acc, shape, lhs=lhs.value, rhs=rhs.value, reduce=reduce, batch=batch
    )
    return call.builder.loaded(value)


def _dot(call: Call) -> FrontValue:
    lhs, rhs = _operands(call, "lhs", "rhs")
    _need_rank(call, "lhs", lhs, 1)
    _need_rank(call, "rhs", rhs, 1)
    return _emit(call, lhs, rhs, checked_pairs(call, lhs, rhs, ((0, 0),)), ())


def _matvec(call: Call) -> FrontValue:
    matrix, vector = _operands(call, "matrix", "vector")
    return _product(call, matrix, vector, lhs_core=2, rhs_core=1, flip_lhs=call.flag("transpose"))


def _vecmat(call: Call) -> FrontValue:
    vector, matrix = _operands(call, "vector", "matrix")
    return _product(call, vector, matrix, lhs_core=1, rhs_core=2, flip_rhs=call.flag("transpose"))


def _matmul(call: Call) -> FrontValue:
    lhs, rhs = _operands(call, "lhs", "rhs")
    flips = {"flip_lhs": call.flag("transpose_lhs"), "flip_rhs": call.flag("transpose_rhs")}
    return _product(call, lhs, rhs, lhs_core=2, rhs_core=2, **flips)


def _product(
    call: Call,
    lhs: Tensor,
    rhs: Tensor,
    *,
    lhs_core: int,
    rhs_core: int,
    flip_lhs: bool = False,
    flip_rhs: bool = False,
) -> FrontValue:
    """Matrix and vector products: leading axes broadcast from the right and are batch axes.

    The result has the joint leading axes, then the row and column axes that remain. A leading axis that only
    one side has stays free on that side, so nothing is copied for it.
    """
    names = list(call.arguments)
    for name, tensor, core in zip(names, (lhs, rhs), (lhs_core, rhs_core), strict=False):
        _need_rank(call, name, tensor, core, at_least=True)
    lead_l, lead_r = lhs.shape[: lhs.rank - lhs_core], rhs.shape[: rhs.rank - rhs_core]
    joint = call.builder.broadcast_shapes([lead_l, lead_r], call.what)
    shared = min(len(lead_l), len(lead_r))
    lhs = _spread_lead(call, lhs, joint[len(joint) - len(lead_l) :])
    rhs = _spread_lead(call, rhs, joint[len(joint) - len(lead_r) :])
    batch = tuple((len(lead_l) - shared + k, len(lead_r) - shared + k) for k in range(shared))
    summed_l = lhs.rank - (2 if flip_lhs and lhs_core == 2 else 1)
    summed_r = rhs.rank - (2 if rhs_core == 2 and not flip_rhs else 1)
    reduce = checked_pairs(call, lhs, rhs, ((summed_l, summed_r),))
    result = _emit(call, lhs, rhs, reduce, batch)
    extra = len(lead_r) - shared
    if not extra:
        return result
    # Result axes are (shared batch, rows of lhs, extra leading axes of rhs, columns); extra ones come first.
    head = shared + lhs_core - 1
    order = (*range(head, head + extra), *range(head), *range(head + extra, result.rank))
    return transposed(call.builder, result, order)


def _spread_lead(call: Call, tensor: Tensor, lead: tuple[Extent, ...]) -> Tensor:
    shape = (*lead, *tensor.shape[len(lead) :])
    if shape == tensor.shape:
        return tensor
    return call.builder.spread(tensor, tuple(range(tensor.rank)), shape)


def _outer(call: Call) -> FrontValue:
    """An ordinary product of broadcast vectors: no accumulator, the dtype is kept."""
    lhs, rhs = _operands(call, "lhs", "rhs")
    _need_rank(call, "lhs", lhs, 1)
    _need_rank(call, "rhs", rhs, 1)
    shape = (lhs.shape[0], rhs.shape[0])
    return call.builder.pointwise(
        "mul", call.builder.spread(lhs, (0,), shape), call.builder.spread(rhs, (1,), shape), what=call.what
    )


def _need_rank(call: Call, name: str, tensor: Tensor, rank: int, *, at_least: bool = False) -> None:
    if tensor.rank < rank or (tensor.rank > rank and not at_least):
        expected = f"rank {rank} or more" if at_least else rank
        text = call.text(name)
        raise WrongRank(
            f"{name}= of {call.what}", expected=expected, found=tensor.rank, value=f"the rank of {text}",
            span=call.builder.span,
        )  # fmt: skip


LOWERINGS: Final[dict[str, Lower]] = {
    "contract": _contract,
    "dot": _dot,
    "matvec": _matvec,
    "vecmat": _vecmat,
    "matmul": _matmul,
    "outer": _outer,
}
