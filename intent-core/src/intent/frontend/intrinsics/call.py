"""One call of an intrinsic: its arguments, read as what the intrinsic needs.

A lowering is a function of a :class:`Call`. Arguments are front-end values, or the plain Python defaults of
the signature where the author left them out; the readers here accept both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from intent.diagnostics import InvalidAxis, NotConstexpr, WrongKind
from intent.frontend.builder import Builder
from intent.frontend.values import (
    BufferRef,
    Domain,
    DTypeRef,
    ExtentRef,
    FrontValue,
    Function,
    IntrinsicRef,
    Literal,
    NoneValue,
    PyConst,
    RaggedGroup,
    Record,
    Tensor,
    Tuple,
    ViewRef,
)
from intent.types import DType, Extent
from intent.types.extent import const

__all__ = ["Call", "Inline", "Lower"]

Inline = Callable[[Function, Sequence[FrontValue]], FrontValue]
"""Lowers the body of a helper with these positional arguments into the builder's innermost region."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """``name`` as written after ``I.``, ``arguments`` by canonical parameter name, ``inline`` for helpers."""

    builder: Builder
    name: str
    arguments: Mapping[str, Any]
    inline: Inline

    @property
    def what(self) -> str:
        """The intrinsic in the author's words, for errors."""
        return f"I.{self.name}"

    # -- values

    def front(self, parameter: str) -> FrontValue:
        """The argument as a front-end value; a Python default is wrapped."""
        return _front(self.arguments[parameter])

    def given(self, parameter: str) -> bool:
        """Whether the argument is anything but None."""
        found = self.arguments.get(parameter)
        return found is not None and not isinstance(found, NoneValue)

    def data(self, parameter: str) -> Tensor:
        """The argument as run-time data. Raises WrongKind."""
        return self.builder.data(self.front(parameter), self.what)

    def text(self, parameter: str) -> str:
        """The author's text of an argument, for errors."""
        return self.builder.text_of(self.front(parameter), parameter)

    # -- compile-time facts

    def flag(self, parameter: str) -> bool:
        """A bool known at compile time. Raises NotConstexpr."""
        front = self.front(parameter)
        if isinstance(front, Literal) and isinstance(front.value, bool):
            return front.value
        raise self._not_static(parameter, front)

    def integer(self, parameter: str) -> int:
        """An integer known at compile time. Raises NotConstexpr."""
        return self._integer(parameter, self.front(parameter))

    def integers(self, parameter: str) -> tuple[int, ...]:
        """One integer or a tuple of integers known at compile time. Raises NotConstexpr."""
        front = self.front(parameter)
        items = front.items if isinstance(front, Tuple) else (front,)
        return tuple(self._integer(parameter, item) for item in items)

    def pairs(self, parameter: str) -> tuple[tuple[int, int], ...]:
        """A tuple of pairs of integers known at compile time. Raises NotConstexpr, WrongKind."""
        front = self.front(parameter)
        found: list[tuple[int, int]] = []
        for item in front.items if isinstance(front, Tuple) else (front,):
            if not isinstance(item, Tuple) or len(item.items) != 2:
                raise self.wrong_kind(parameter, "a tuple of pairs such as ((1, 0),)")
            lhs, rhs = item.items
            found.append((self._integer(parameter, lhs), self._integer(parameter, rhs)))
        return tuple(found)

    def axes(self, parameter: str, rank: int) -> tuple[int, ...]:
        """Distinct axes of a value of this rank, sorted; negative ones count from the last."""
        self.need_axes(parameter, rank)
        axes: list[int] = []
        for given in self.integers(parameter):
            axis = self.normal_axis(given, rank)
            if axis in axes:
                raise InvalidAxis(self.what, given, rank=rank, repeated=True, span=self.builder.span)
            axes.append(axis)
        if not axes:
            raise self.wrong_kind(parameter, "at least one axis")
        return tuple(sorted(axes))

    def need_axes(self, parameter: str, rank: int) -> None:
        """Refuse a value of rank zero, which has no axis to name. Raises InvalidAxis."""
        if not rank:
            raise InvalidAxis(self.what, self.integers(parameter)[0], rank=0, span=self.builder.span)

    def axis(self, parameter: str, rank: int) -> int:
        """Exactly one axis of a value of this rank. Raises InvalidAxis, WrongKind."""
        axes = self.axes(parameter, rank)
        if len(axes) != 1:
            raise self.wrong_kind(parameter, "one axis")
        return axes[0]

    def normal_axis(self, axis: int, rank: int) -> int:
        """A non-negative axis. Raises InvalidAxis."""
        if not -rank <= axis < rank:
            raise InvalidAxis(self.what, axis, rank=rank, span=self.builder.span)
        return axis % rank

    def dtype(self, parameter: str) -> DType | None:
        """A dtype, or None where none was given. Raises WrongKind."""
        front = self.front(parameter)
        if isinstance(front, DTypeRef):
            return front.dtype
        if isinstance(front, NoneValue):
            return None
        raise self.wrong_kind(parameter, "a dtype such as I.f32")

    def some_dtype(self, parameter: str) -> DType:
        """A dtype. Raises WrongKind."""
        dtype = self.dtype(parameter)
        if dtype is None:
            raise self.wrong_kind(parameter, "a dtype such as I.f32")
        return dtype

    def constant(self, parameter: str, kind: type[Any], expected: str) -> Any:
        """A compile-time object of a Python type: a string, a format. Raises WrongKind."""
        front = self.front(parameter)
        if isinstance(front, PyConst) and isinstance(front.value, kind):
            return front.value
        raise self.wrong_kind(parameter, expected)

    def callee(self, parameter: str) -> Function | IntrinsicRef:
        """A helper, or an intrinsic that stands for one. Raises WrongKind."""
        front = self.front(parameter)
        if isinstance(front, Function | IntrinsicRef):
            return front
        raise self.wrong_kind(parameter, "a helper decorated with @intent.fn")

    # -- shapes

    def shape(self, parameter: str) -> tuple[Extent, ...]:
        """A tuple of non-negative extents; one integer counts as a tuple of one, a domain or group as its extent."""
        front = self.front(parameter)
        items = front.items if isinstance(front, Tuple) else (front,)
        return tuple(self.extent(parameter, item) for item in items)

    def extent(self, parameter: str, front: FrontValue) -> Extent:
        """One non-negative extent; a condition where its sign is unknown. Raises WrongKind, WrongDType."""
        if isinstance(front, RaggedGroup):
            front = front.positions
        if isinstance(front, Domain):
            return front.extent
        extent = self.builder.extent_of(front, f"{parameter} of {self.what}")
        if extent.const is not None and extent.const < 0:
            raise self.wrong_kind(parameter, "extents of at least 0", found=f"the extent {extent}")
        if not self.builder.nonnegative(extent):
            self.builder.condition("at_least", extent, const(0), f"an extent in {self.what}")
        return extent

    # -- errors

    def wrong_kind(
        self, parameter: str, expected: str, *, found: str | None = None, fix: str | None = None
    ) -> WrongKind:
        """The error for an argument of another kind than expected."""
        described = found or _described(self.front(parameter))
        return WrongKind(
            self.what,
            expected=expected,
            found=described,
            argument=f"{parameter}=",
            fix=fix,
            span=self.builder.span,
        )

    def _integer(self, parameter: str, front: FrontValue) -> int:
        if isinstance(front, Literal) and type(front.value) is int:
            return front.value
        if isinstance(front, ExtentRef) and front.extent.const is not None:
            return front.extent.const
        raise self._not_static(parameter, front)

    def _not_static(self, parameter: str, front: FrontValue) -> NotConstexpr | WrongKind:
        if isinstance(front, _NEVER_STATIC):
            of_domain = "give the number of an axis of the value, not a domain"
            return WrongKind(
                self.what,
                expected=f"a constant {parameter}",
                found=front.describe(),
                argument=f"{parameter}=",
                fix=of_domain if isinstance(front, Domain) else None,
                span=self.builder.span,
            )
        return NotConstexpr(f"{parameter}= of {self.what}", found=front.describe(), span=self.builder.span)


Lower = Callable[[Call], FrontValue]
"""What an intrinsic means: emits KIR and gives the call's value (NONE for a statement)."""


_NEVER_STATIC = (Domain, ViewRef, BufferRef, Record, PyConst, Function, IntrinsicRef, NoneValue)
"""Values of another kind than a number, whether or not they are known at compile time."""


def _described(front: FrontValue) -> str:
    """A value for errors; constants as they are written."""
    if isinstance(front, Literal):
        return repr(front.value)
    if isinstance(front, Tuple) and all(isinstance(item, Literal | Tuple) for item in front.items):
        parts = ", ".join(map(_described, front.items))
        return f"({parts},)" if len(front.items) == 1 else f"({parts})"
    return front.describe()


def _front(value: Any) -> FrontValue:
    if isinstance(value, FrontValue):
        return value
    if value is None:
        return NoneValue()
    if isinstance(value, bool | int | float):
        return Literal(value=value)
    if isinstance(value, DType):
        return DTypeRef(dtype=value)
    if isinstance(value, tuple):
        return Tuple(items=tuple(map(_front, value)))
    return PyConst(value=value)
