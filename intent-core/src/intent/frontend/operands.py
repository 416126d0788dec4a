"""Operands of pointwise operations: one dtype, one shape, explicit broadcasts (spec: logical-program 2)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace

from intent.diagnostics import (
    LiteralNotRepresentable,
    MixedDTypes,
    ShapeMismatch,
    WrongDType,
)
from intent.frontend.leaves import Leaves, default_dtype, representable
from intent.frontend.values import ExtentRef, FrontValue, Literal, Tensor, WeakLiteral
from intent.kir import Cast, Pointwise, Value
from intent.kir.pointwise import FUNCTIONS
from intent.types import DType, Extent
from intent.types.dtypes import BOOL, F32, INDEX
from intent.types.extent import broadcast as broadcast_extent
from intent.types.extent import const, dyn, floordiv, maximum, minimum

_CLASSES: dict[str, tuple[str, Callable[[DType], bool]]] = {
    "number": ("a number", lambda d: d.kind != "bool"),
    "float": ("a float", lambda d: d.is_float),
    "integer": ("an integer", lambda d: d.is_integer),
    "bool": ("a bool", lambda d: d.kind == "bool"),
    "bool_or_integer": ("an integer or bool", lambda d: not d.is_float),
    "any": ("any dtype", lambda _: True),
}

_INSTEAD = {
    "/": "write // for the quotient of integers, or cast both to a float with I.cast",
    "//": "write I.floor(a / b) for floats",
    "%": "write a - I.floor(a / b) * b for floats",
}
"""What to write for operands of another kind; a cast, if nothing else is said."""


class Operands(Leaves):
    """Typing and shaping of operands, and the pointwise operations themselves."""

    text_of: Callable[[FrontValue, str], str] = staticmethod(lambda _, default: default)
    """The author's text of a value, for errors; the lowering replaces it."""
    text_of_value: Callable[[Value], str | None] = staticmethod(lambda _: None)
    """The same of a value of the logical IR, where it has any."""

    # -- dtypes

    def materialize(
        self, front: FrontValue, dtype: DType | None = None, what: str = "this operation"
    ) -> Tensor:
        """``front`` as run-time data. A literal takes ``dtype`` (default bool, i64, f64); nothing else is converted."""
        if isinstance(front, Literal):
            return self.constant(front.value, dtype or default_dtype(front.value))
        tensor = self.data(front, what)
        return self.adopt(tensor, dtype) if tensor.weak and dtype is not None else tensor

    def adopt(self, tensor: Tensor, dtype: DType) -> Tensor:
        """A weak tensor with the dtype that its context expects. Raises WrongDType, LiteralNotRepresentable."""
        for literal in tensor.weak:
            literal.expect(dtype)
            if literal.carry is not None and tensor.dtype is not dtype:
                self.expected.setdefault(literal.carry, dtype)
        if tensor.dtype is dtype:
            return Tensor(value=tensor.value, extent=tensor.extent)
        if tensor.again is not None:
            return tensor.again(dtype)
        if tensor.dtype.is_float > dtype.is_float or (tensor.dtype.kind == "bool") != (dtype.kind == "bool"):
            expected = "a value of the other operand's dtype"
            raise WrongDType(
                "this operation", expected=f"{dtype}: {expected}", found={"it": tensor.dtype}, span=self.span
            )
        return Tensor(value=self.emit_one(Cast, dtype, tensor.shape, value=tensor.value))

    def typed(self, front: FrontValue, dtype: DType, what: str) -> Tensor:
        """``front`` as data of exactly ``dtype``: a literal takes it, anything else must have it (WrongDType)."""
        tensor = self.materialize(front, dtype, what)
        if tensor.dtype is not dtype:
            found = {self.text_of(front, "it"): tensor.dtype}
            raise WrongDType(what, expected=f"{dtype}", found=found, span=self.span)
        return tensor

    def unify(self, *fronts: FrontValue, what: str) -> tuple[Tensor, ...]:
        """The operands as data of one dtype; literals adopt it. Raises MixedDTypes, LiteralNotRepresentable."""
        tensors = [None if isinstance(f, Literal) else self.data(f, what) for f in fronts]
        strong = [(f, t) for f, t in zip(fronts, tensors, strict=True) if t is not None and not t.weak]
        if strong:
            dtype = strong[0][1].dtype
            if any(t.dtype is not dtype for _, t in strong):
                seen = {self.text_of(f, f"operand {i + 1}"): t.dtype for i, (f, t) in enumerate(strong)}
                raise MixedDTypes(what, seen, span=self.span)
        else:
            kinds = [t.dtype if t else default_dtype(f.value) for f, t in zip(fronts, tensors, strict=True)]  # type: ignore[attr-defined]
            dtype = max(kinds, key=lambda d: (d.is_float, d.is_integer, d.bits))
        return tuple(
            self._literal(f, dtype, strong, what)
            if t is None
            else self.adopt(t, dtype)
            if t.weak and strong
            else self.relabel(t, dtype)
            if t.weak
            else t
            for f, t in zip(fronts, tensors, strict=True)
        )

    def _open(self, result: Tensor, fn: str, fronts: Sequence[FrontValue], what: str) -> Tensor:
        """``result`` as it is, or with its dtype still open if it comes from literals alone."""
        values = fronts[1:] if fn == "select" else fronts
        if not all(_has_no_dtype(f) for f in values):
            return result

        def again(dtype: DType) -> Tensor:
            typed = (self.materialize(f, dtype, what) for f in values)
            return self.pointwise(fn, *fronts[: len(fronts) - len(values)], *typed, what=what)

        return replace(result, weak=result.weak or (WeakLiteral(),), again=again)

    def relabel(self, tensor: Tensor, dtype: DType) -> Tensor:
        """A weak tensor beside weak ones: the wider default, still open."""
        if tensor.dtype is dtype:
            return tensor
        return Tensor(value=self.emit_one(Cast, dtype, tensor.shape, value=tensor.value), weak=tensor.weak)

    def _literal(
        self, front: FrontValue, dtype: DType, strong: Sequence[tuple[FrontValue, Tensor]], what: str
    ) -> Tensor:
        assert isinstance(front, Literal)
        if not representable(front.value, dtype):
            given = self.text_of(strong[0][0], "the other operand") if strong else what
            raise LiteralNotRepresentable(front.value, dtype, given_by=given, span=self.span)
        return self.constant(front.value, dtype)

    # -- shapes

    def broadcast_shapes(self, shapes: Sequence[tuple[Extent, ...]], what: str) -> tuple[Extent, ...]:
        """The joint shape under trailing alignment; unequal extents become launch conditions (language decision 5)."""
        rank = max(map(len, shapes), default=0)
        joint: list[Extent] = [const(1)] * rank
        for shape in shapes:
            for k, extent in enumerate(shape, start=rank - len(shape)):
                joint[k] = self._joint_extent(joint[k], extent, shapes, what)
        return tuple(joint)

    def _joint_extent(self, a: Extent, b: Extent, shapes: Sequence[tuple[Extent, ...]], what: str) -> Extent:
        if a is b or a.const == 1 or b.const == 1:
            return broadcast_extent(a, b)
        if a.const is not None and b.const is not None:
            seen = {f"operand {i + 1}": s for i, s in enumerate(shapes)}
            raise ShapeMismatch(what, seen, span=self.span)
        self.condition("equal_or_one", a, b, f"broadcasting in '{what}'")
        return broadcast_extent(a, b)

    def broadcast_to(self, tensor: Tensor, shape: tuple[Extent, ...]) -> Tensor:
        """``tensor`` repeated along leading and size-one axes (trailing alignment); shapes are already checked."""
        if tensor.shape == shape:
            return tensor
        axes = tuple(range(len(shape) - tensor.rank, len(shape)))
        return self.spread(tensor, axes, shape)

    def broadcast(self, *tensors: Tensor, what: str) -> tuple[Tensor, ...]:
        """The tensors with one joint shape."""
        first = tensors[0].shape
        if all(t.shape == first for t in tensors):
            return tensors
        shape = self.broadcast_shapes([t.shape for t in tensors], what)
        return tuple(self.broadcast_to(t, shape) for t in tensors)

    def full(self, shape: tuple[Extent, ...], fill: Tensor) -> Tensor:
        """A tensor of ``shape`` with one value everywhere."""
        return fill if not shape else self.spread(fill, (), shape)

    def equal_extents(self, a: Extent, b: Extent, reason: str, *, what: str | None = None) -> None:
        """Demand that two extents are equal: by identity, else as a launch condition. ShapeMismatch if they cannot."""
        if a is b:
            return
        if a.const is not None and b.const is not None:
            raise ShapeMismatch(what or reason, {"one side": (a,), "the other": (b,)}, span=self.span)
        self.condition("equal", a, b, reason)

    # -- pointwise

    def pointwise(
        self,
        fn: str,
        *fronts: FrontValue,
        what: str | None = None,
        approximate: bool = False,
        flush_to_zero: bool = False,
    ) -> Tensor:
        """``fn`` (a key of ``kir.pointwise.FUNCTIONS``) on unified, broadcast operands.

        ``select`` takes (condition, a, b). Raises MixedDTypes, WrongDType, ShapeMismatch, LiteralNotRepresentable.
        """
        what = what or fn
        rule = FUNCTIONS[fn]
        if rule.rule == "select":
            condition = self.typed(fronts[0], BOOL, what)
            operands = (condition, *self.unify(*fronts[1:], what=what))
        else:
            operands = self.unify(*fronts, what=what)
        checked = operands[1:] if rule.rule == "select" else operands
        expected, accepts = _CLASSES[rule.operands]
        if not all(accepts(t.dtype) for t in checked):
            found = {
                self.text_of(f, f"operand {i + 1}"): t.dtype
                for i, (f, t) in enumerate(zip(fronts, operands, strict=True))
            }
            raise WrongDType(what, expected=expected, found=found, fix=_INSTEAD.get(what), span=self.span)
        weak = () if rule.rule == "bool" else tuple(w for t in checked for w in t.weak)
        operands = self.broadcast(*operands, what=what)
        narrow, dtype = checked[0].dtype, BOOL if rule.rule == "bool" else checked[0].dtype
        wide = computed_in(fn, narrow)
        if wide is not narrow:
            operands = tuple(
                Tensor(value=self.emit_one(Cast, wide, t.shape, value=t.value)) for t in operands
            )
        result = self.emit_one(
            Pointwise,
            dtype if dtype is BOOL else wide,
            operands[0].shape,
            fn=fn,
            operands=self.values(operands),
            approximate=approximate,
            flush_to_zero=flush_to_zero,
        )
        if result.dtype is not dtype:
            result = self.emit_one(Cast, dtype, result.shape, value=result)
        tensor = Tensor(value=result, weak=weak)
        if dtype.is_integer and not result.shape:
            tensor = self._with_extent(fn, tensor, operands)
        return tensor if rule.rule == "bool" else self._open(tensor, fn, fronts, what)

    def _with_extent(self, fn: str, result: Tensor, operands: tuple[Tensor, ...]) -> Tensor:
        """Keep the symbolic value of an integer scalar; otherwise an index scalar stands for itself."""
        extents = [t.extent for t in operands]
        value = self.fold(fn, *[e for e in extents if e is not None]) if None not in extents else None
        if result.dtype is INDEX:
            return Tensor(value=result.value, extent=value if value is not None else dyn(result.value.id))
        if value is None or not value.launch_visible:
            return result
        ranges = (*(r for t in operands for r in t.ranges), (value, result.dtype))
        return Tensor(value=result.value, extent=value, ranges=ranges, weak=result.weak)

    def fold(self, fn: str, *extents: Extent) -> Extent | None:
        """``fn`` on symbolic integers, or None when it has no exact polynomial form."""
        if (simple := _POLYNOMIAL.get(fn)) is not None and len(extents) == 2:
            return simple(*extents)
        if fn == "neg":
            return -extents[0]
        if fn in ("floordiv", "mod") and self.nonnegative(extents[1]) and extents[1].const != 0:
            return floordiv(*extents) if fn == "floordiv" else extents[0] % extents[1]
        return None

    def symbolic(self, fn: str, *fronts: FrontValue) -> ExtentRef | None:
        """``fn`` on extents and int literals without emitting anything, or None when it is not symbolic."""
        if not any(isinstance(f, ExtentRef) for f in fronts):
            return None
        extents: list[Extent] = []
        for front in fronts:
            if isinstance(front, ExtentRef):
                extents.append(front.extent)
            elif isinstance(front, Literal) and type(front.value) is int:
                extents.append(const(front.value))
            else:
                return None
        folded = self.fold(fn, *extents)
        return None if folded is None else ExtentRef(extent=folded)


def _has_no_dtype(front: FrontValue) -> bool:
    """Whether a value is a number, or made of numbers, whose dtype its context may give."""
    if isinstance(front, Literal):
        return not isinstance(front.value, bool)
    return isinstance(front, Tensor) and front.again is not None


_ELEMENTARY = frozenset(
    "exp exp2 log log2 log1p lgamma sin asin cos erf erfc i0 rsqrt sqrt sigmoid tanh pow fma".split()  # noqa: SIM905
)


def computed_in(fn: str, dtype: DType) -> DType:
    """The dtype that ``fn`` is computed in; the result is rounded once (language, Numbers).

    Elementary functions of f16 and bf16 are computed in f32, and so is everything on the 8-bit floats, which have no
    arithmetic of their own. A select moves elements and computes nothing.
    """
    narrow = dtype.is_float and dtype.bits < 32 and (fn in _ELEMENTARY or dtype.bits == 8)
    return F32 if narrow and fn != "select" else dtype


_POLYNOMIAL: dict[str, Callable[[Extent, Extent], Extent]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "maximum": maximum,
    "minimum": minimum,
}
