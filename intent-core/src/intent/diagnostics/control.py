"""Errors about loops, branches, carries and returns."""

from __future__ import annotations

from typing import Unpack

from intent.diagnostics.base import IntentError, Where

__all__ = [
    "BranchTypesDiffer",
    "BreakInParallel",
    "CarryInParallel",
    "CarryTypeChanged",
    "InvalidStep",
    "NameMayBeUndefined",
    "ReturnInParallel",
    "ReturnTypesDiffer",
    "ReturnsTensor",
]


class CarryTypeChanged(IntentError):
    """A variable updated in a loop changes its dtype, rank, shape or kind (spec: logical-program 4)."""

    code = "INT050"

    def __init__(self, name: str, *, before: object, after: object, **where: Unpack[Where]) -> None:
        super().__init__(
            f"'{name}' is carried through this loop and changes its type",
            seen={f"{name} before the loop": before, f"{name} after one step": after},
            fix=f"give '{name}' the type {after} before the loop, or cast it back at the end of the body",
            **where,
        )


class CarryInParallel(IntentError):
    """A parallel loop updates a variable that lives outside it (spec: logical-program 3)."""

    code = "INT051"

    def __init__(self, name: str, **where: Unpack[Where]) -> None:
        super().__init__(
            f"'{name}' is carried from one point of I.parallel to the next, and the points have no order",
            fix="accumulate with I.reduce or I.atomic.add, or loop over the domain without I.parallel",
            **where,
        )


class BreakInParallel(IntentError):
    """``break`` in a parallel loop (spec: logical-program 3)."""

    code = "INT052"

    def __init__(self, **where: Unpack[Where]) -> None:
        super().__init__(
            "'break' cannot leave I.parallel: every point runs exactly once",
            fix="use 'continue' to skip a point, or loop over the domain without I.parallel",
            **where,
        )


class ReturnInParallel(IntentError):
    """``return`` in a parallel loop (spec: logical-program 3)."""

    code = "INT053"

    def __init__(self, **where: Unpack[Where]) -> None:
        super().__init__(
            "'return' cannot leave I.parallel: every point runs exactly once",
            fix="use 'continue' to end this point only",
            **where,
        )


class NameMayBeUndefined(IntentError):
    """A name is used although some path that leads there does not assign it."""

    code = "INT054"

    def __init__(self, name: str, *, assigned: str, **where: Unpack[Where]) -> None:
        super().__init__(
            f"'{name}' may not be defined here",
            seen={f"'{name}'": f"assigned only {assigned}"},
            fix=f"assign '{name}' before, so that every path defines it",
            **where,
        )


class BranchTypesDiffer(IntentError):
    """The branches of an if give one name values of different types."""

    code = "INT055"

    def __init__(self, name: str, *, then: object, otherwise: object, **where: Unpack[Where]) -> None:
        super().__init__(
            f"the branches give '{name}' different types",
            seen={f"{name} if true": then, f"{name} if false": otherwise},
            fix="cast or reshape in one branch so that both have one type",
            **where,
        )


class InvalidStep(IntentError):
    """A domain step that is known not to be positive (spec: logical-program 1)."""

    code = "INT056"

    def __init__(self, step: object, **where: Unpack[Where]) -> None:
        super().__init__(
            "the step of a domain must be positive",
            seen={"the step": step},
            fix="go through ordinals forward and compute the coordinate: i = n - 1 - ordinal",
            **where,
        )


class ReturnTypesDiffer(IntentError):
    """The returns of one helper have different types."""

    code = "INT057"

    def __init__(self, helper: str, *, first: object, other: object, **where: Unpack[Where]) -> None:
        super().__init__(
            f"the returns of helper '{helper}' have different types",
            seen={"the first return": first, "this return": other},
            fix="return one type on every path",
            **where,
        )


class ReturnsTensor(IntentError):
    """A kernel returns a value to the host (spec: kernel-and-host 1)."""

    code = "INT058"

    def __init__(self, kernel: str, **where: Unpack[Where]) -> None:
        super().__init__(
            f"kernel '{kernel}' cannot return a value",
            fix="write the result to an I.Out parameter",
            **where,
        )
