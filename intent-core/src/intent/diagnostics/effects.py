"""Errors about reads, writes, purity and atomics."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Unpack

from intent.diagnostics.base import IntentError, Where

__all__ = [
    "CollidingWrites",
    "ConflictingAccess",
    "ImmutableValue",
    "ImpureHelper",
    "InvalidOrder",
    "NonInjectiveAssignment",
    "ReadBeforeWrite",
    "SliceExtentObserved",
    "WriteToReadOnly",
]


class WriteToReadOnly(IntentError):
    """A write to an In view."""

    code = "INT060"

    def __init__(self, parameter: str, **where: Unpack[Where]) -> None:
        super().__init__(
            f"'{parameter}' is an I.In view and cannot be written",
            fix=f"declare '{parameter}' as I.InOut, or write to an I.Out parameter",
            **where,
        )


class ReadBeforeWrite(IntentError):
    """A read of an Out element that precedes every write of it."""

    code = "INT061"

    def __init__(self, parameter: str, *, mode: str = "I.Out view", **where: Unpack[Where]) -> None:
        fix = f"declare '{parameter}' as I.InOut" if mode == "I.Out view" else f"write '{parameter}' first"
        super().__init__(f"'{parameter}' is an {mode} and is read before it is written", fix=fix, **where)


class NonInjectiveAssignment(IntentError):
    """An assignment through an index tensor whose destinations are not proven distinct."""

    code = "INT062"

    def __init__(
        self,
        target: str,
        *,
        index: str | None = None,
        witness: str | None = None,
        promised: bool = False,
        **where: Unpack[Where],
    ) -> None:
        fix = f"write I.scatter_unique({target}, index=..., value=...) if the destinations are distinct"
        if promised:
            fix = "combine what meets with I.scatter_reduce, or give every element a place of its own"
        elif witness is not None:
            fix = f"use I.scatter_reduce, or I.scatter_unique({target}, ...) if no call is like that"
        seen = {"the index": index, "one collision": witness}
        super().__init__(
            f"two elements {'are' if promised else 'may be'} assigned to one place of '{target}'",
            seen={name: value for name, value in seen.items() if value is not None},
            fix=fix,
            **where,
        )


class ImpureHelper(IntentError):
    """A helper given to a structured operation reads memory, writes, uses atomics or random numbers."""

    code = "INT063"

    def __init__(self, helper: str, *, role: str, effect: str, **where: Unpack[Where]) -> None:
        super().__init__(
            f"helper '{helper}' must be pure because it is used as {role}",
            seen={"the effect": effect},
            fix="read before the operation and pass the value as an operand (operands=, combine_operands=)",
            **where,
        )


class CollidingWrites(IntentError):
    """Several points provably write one element without atomics or a reduction."""

    code = "INT064"

    def __init__(self, target: str, *, witness: str, **where: Unpack[Where]) -> None:
        super().__init__(
            f"several points write the same element of '{target}'",
            seen={"one collision": witness},
            fix="use I.atomic.add, I.scatter_reduce or I.reduce, or loop without I.parallel",
            **where,
        )


class ImmutableValue(IntentError):
    """An assignment to elements of a tensor value; only views and buffers have storage."""

    code = "INT065"

    def __init__(self, name: str, *, kind: str, **where: Unpack[Where]) -> None:
        super().__init__(
            f"'{name}' is an immutable value and its elements cannot be assigned",
            seen={name: kind},
            fix=f"bind a new value, for example {name} = I.select(condition, new, {name}), or use I.buffer",
            **where,
        )


class SliceExtentObserved(IntentError):
    """A summarizer or emitter makes its slice's extent or position a value (spec: logical-program 5)."""

    code = "INT066"

    def __init__(self, helper: str, *, use: str, **where: Unpack[Where]) -> None:
        super().__init__(
            f"helper '{helper}' observes how the source was cut into slices",
            seen={"the use": use},
            fix="pass I.indices(axis) as a component of source= to get absolute coordinates",
            **where,
        )


class InvalidOrder(IntentError):
    """A memory order that the atomic operation does not have (spec: logical-program 10)."""

    code = "INT067"

    def __init__(self, operation: str, order: object, allowed: Iterable[str], **where: Unpack[Where]) -> None:
        allowed = tuple(allowed)
        # Orders that other languages add are stronger than what is wanted here: the strongest keeps their promise.
        known = order in ("relaxed", "acquire", "release", "acq_rel")
        close = [] if known else difflib.get_close_matches(str(order), allowed, n=1, cutoff=0.6)
        super().__init__(
            f"I.atomic.{operation} has no order {order!r}",
            seen={"its orders": ", ".join(allowed)},
            fix=f'write order="{close[0] if close else allowed[-1]}"'
            + ("" if close else ", the strongest that it has"),
            **where,
        )


class ConflictingAccess(IntentError):
    """Points of a parallel loop provably read and write one element without an order between them."""

    code = "INT068"

    def __init__(self, resource: str, *, witness: str, **where: Unpack[Where]) -> None:
        super().__init__(
            f"points of I.parallel read and write the same element of '{resource}'",
            seen={"one conflict": witness},
            fix="use atomics, keep each point to its own elements, or loop without I.parallel",
            **where,
        )
