"""Errors about dtypes, ranks, shapes and kinds of values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Unpack

from intent.diagnostics.base import IntentError, Where
from intent.diagnostics.words import dtype_word, shape_text

__all__ = [
    "ConditionNotScalar",
    "IndexOutOfRange",
    "InvalidAxis",
    "InvalidPermutation",
    "LiteralNotRepresentable",
    "MixedDTypes",
    "NotConstexpr",
    "ReshapeCount",
    "SchemaMismatch",
    "ShapeMismatch",
    "WrongDType",
    "WrongKind",
    "WrongRank",
]


class MixedDTypes(IntentError):
    """The operands of one operation have different dtypes; nothing is converted implicitly."""

    code = "INT030"

    def __init__(self, operation: str, operands: Mapping[str, object], **where: Unpack[Where]) -> None:
        (_, first), (last_name, _) = next(iter(operands.items())), list(operands.items())[-1]
        super().__init__(
            f"the operands of '{operation}' have different dtypes",
            seen=operands,
            fix=f"cast one side, for example I.cast({last_name}, I.{dtype_word(first)})",
            **where,
        )


class WrongDType(IntentError):
    """An operation does not accept this dtype."""

    code = "INT031"

    def __init__(
        self, operation: str, *, expected: str, found: Mapping[str, object], fix: str | None = None,
        **where: Unpack[Where],
    ) -> None:  # fmt: skip
        super().__init__(
            f"'{operation}' needs {expected}",
            seen=found,
            fix=fix or f"cast the operand to {expected} with I.cast",
            **where,
        )


class WrongRank(IntentError):
    """A value or a subscript has the wrong number of axes."""

    code = "INT032"

    def __init__(
        self, what: str, *, expected: str | int, found: int, value: str = "its rank", fix: str | None = None,
        **where: Unpack[Where],
    ) -> None:  # fmt: skip
        wanted = f"rank {expected}" if isinstance(expected, int) else expected
        super().__init__(
            f"{what} needs {wanted}",
            seen={value: found},
            fix=fix or "index or I.reshape the value to the rank that is needed",
            **where,
        )


class ShapeMismatch(IntentError):
    """Shapes that must agree cannot (spec: logical-program 2)."""

    code = "INT033"

    def __init__(
        self, operation: str, shapes: Mapping[str, Iterable[object]], *, fix: str | None = None,
        **where: Unpack[Where],
    ) -> None:  # fmt: skip
        super().__init__(
            f"the shapes in '{operation}' do not agree",
            seen={name: shape_text(shape) for name, shape in shapes.items()},
            fix=fix or "shapes align from the last axis; insert an axis with x[:, None] or I.reshape",
            **where,
        )


class ReshapeCount(IntentError):
    """A reshape that changes the number of elements, or whose -1 has no unique value."""

    code = "INT034"

    def __init__(
        self,
        source: Iterable[object],
        target: Iterable[object],
        *,
        reason: str | None = None,
        **where: Unpack[Where],
    ) -> None:
        super().__init__(
            reason or "I.reshape must keep the number of elements",
            seen={"the value's shape": shape_text(source), "the shape asked for": shape_text(target)},
            fix="give a shape with as many elements; one extent may be -1 when it has a unique value",
            **where,
        )


class LiteralNotRepresentable(IntentError):
    """A literal has no exact value of the dtype that its context gives it."""

    code = "INT035"

    def __init__(
        self, value: object, dtype: object, *, given_by: str | None = None, **where: Unpack[Where]
    ) -> None:
        super().__init__(
            f"the literal {value!r} is not representable as {dtype}",
            seen={"its dtype": f"{dtype}, taken from {given_by}"} if given_by else {},
            fix=f"write a literal that fits, or cast the other operand to a dtype that holds {value!r}",
            **where,
        )


class InvalidAxis(IntentError):
    """An axis that the value does not have, or an axis named twice."""

    code = "INT036"

    def __init__(
        self, operation: str, axis: object, *, rank: int, repeated: bool = False, **where: Unpack[Where]
    ) -> None:
        problem = f"names axis {axis} twice" if repeated else f"has no axis {axis}"
        subject = f"'{operation}'" if repeated else f"the operand of '{operation}'"
        super().__init__(
            f"{subject} {problem}",
            seen={"its rank": rank},
            fix="name each axis once" if repeated else f"use an axis from {-rank} to {rank - 1}" if rank else
            "a value of rank zero has no axes; remove the operation",
            **where,
        )  # fmt: skip


class InvalidPermutation(IntentError):
    """``I.transpose`` with something that is not a permutation of the axes."""

    code = "INT037"

    def __init__(self, permutation: Iterable[object], *, rank: int, **where: Unpack[Where]) -> None:
        example = tuple(reversed(range(rank)))
        super().__init__(
            "I.transpose needs every axis exactly once",
            seen={"the permutation": shape_text(permutation), "the value's rank": rank},
            fix=f"write a permutation such as perm={shape_text(example)}",
            **where,
        )


class WrongKind(IntentError):
    """A value of one kind stands where another is needed: a domain for a tensor, a buffer for a value."""

    code = "INT038"

    def __init__(
        self,
        operation: str,
        *,
        expected: str,
        found: str,
        argument: str = "the value",
        fix: str | None = None,
        **where: Unpack[Where],
    ) -> None:
        super().__init__(
            f"'{operation}' needs {expected}",
            seen={argument: found},
            fix=fix or f"pass {expected}",
            **where,
        )


class SchemaMismatch(IntentError):
    """A helper's result does not have the components, dtypes or shapes that the operation needs."""

    code = "INT040"

    def __init__(
        self, what: str, *, expected: object, found: object, fix: str | None = None, **where: Unpack[Where]
    ) -> None:
        super().__init__(
            f"{what} has the wrong type",
            seen={"the type needed": expected, "the type found": found},
            fix=fix or f"make it {expected}",
            **where,
        )


class NotConstexpr(IntentError):
    """A run-time value stands where the language needs one known at compile time."""

    code = "INT041"

    def __init__(self, what: str, *, found: str, **where: Unpack[Where]) -> None:
        super().__init__(
            f"{what} must be known when the kernel is compiled",
            seen={"the value": found},
            fix="write a literal, a module-level constant or an I.Constexpr parameter",
            **where,
        )


class IndexOutOfRange(IntentError):
    """A constant subscript outside a constant extent."""

    code = "INT042"

    def __init__(
        self, value: str, index: object, *, axis: int, extent: object, **where: Unpack[Where]
    ) -> None:
        super().__init__(
            f"index {index} is outside axis {axis} of '{value}'",
            seen={f"extent of axis {axis}": extent},
            fix=f"use an index below {extent}; a constant negative index counts from the end",
            **where,
        )


class ConditionNotScalar(IntentError):
    """A tensor, or a value that is not bool, is used as the condition of if, while, and, or."""

    code = "INT043"

    def __init__(self, construct: str, *, found: str, **where: Unpack[Where]) -> None:
        super().__init__(
            f"the condition of '{construct}' must be one bool",
            seen={"the condition": found},
            fix="choose elementwise with I.select(condition, a, b), or reduce with I.reduce.any"
            if "[" in found
            else "compare it, for example with != 0",
            **where,
        )
