"""What intent.check finds while a kernel runs: broken rules that no compiler can see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

from intent.diagnostics.base import IntentError, Where
from intent.diagnostics.render import where as place
from intent.diagnostics.words import plural
from intent.types import Span

__all__ = [
    "BrokenLaw",
    "CheckFailed",
    "CollidingStore",
    "DataRace",
    "DivisionByZero",
    "EmptyArgReduce",
    "ExtentsDiffer",
    "FalseBoundsPromise",
    "FalseNoaliasPromise",
    "HistogramOutOfRange",
    "InvalidCast",
    "InvalidStepValue",
    "InvalidSubregion",
    "MetadataOutOfRange",
    "NoProgress",
    "OutOfBounds",
    "ShiftOutOfRange",
    "UnwrittenRead",
]


def _seen(point: str, facts: Mapping[str, object]) -> dict[str, object]:
    """The facts, and last the loops' variables where there are loops."""
    return {**facts, "the point": point} if point else dict(facts)


class OutOfBounds(IntentError):
    """An active index of a read or write lies outside what it indexes."""

    code = "INT100"

    def __init__(
        self, source: str, *, index: str, axis: int, extent: int, writes: bool, point: str = "",
        **where: Unpack[Where],
    ) -> None:  # fmt: skip
        verb = "written" if writes else "read"
        silence = "I.scatter_unique(..., valid=...)" if writes else "I.gather(..., valid=..., fill=...)"
        super().__init__(
            f"'{source}' is {verb} outside its axis {axis}",
            seen=_seen(point, {"the index": index, f"the extent of axis {axis}": extent}),
            fix=f"keep the index in range, or silence such lanes with {silence}",
            **where,
        )


class UnwrittenRead(IntentError):
    """An element of an Out view or of a buffer without init is read before it is written."""

    code = "INT101"

    def __init__(
        self, source: str, *, element: str, kind: str, point: str = "", **where: Unpack[Where]
    ) -> None:
        fix = (
            "give it init=, or write"
            if kind == "a buffer without init="
            else "declare it as I.InOut, or write"
        )
        super().__init__(
            f"an element of '{source}' is read before it is written",
            seen=_seen(point, {"the element": element, source: kind}),
            fix=f"{fix} every element before it is read",
            **where,
        )


class CollidingStore(IntentError):
    """Two lanes of one assignment or scatter_unique write the same element."""

    code = "INT102"

    def __init__(
        self, target: str, *, element: str, lanes: Sequence[str], promised: bool, point: str = "",
        **where: Unpack[Where],
    ) -> None:  # fmt: skip
        what = "promised to be distinct" if promised else "taken to be distinct"
        super().__init__(
            f"two destinations in '{target}' that are {what} are the same element",
            seen=_seen(point, {"the element": element, "the lanes": " and ".join(lanes)}),
            fix="use I.scatter_reduce with a combine, or make the destinations distinct",
            **where,
        )


class DataRace(IntentError):
    """Two points of a parallel loop access one element without an order between them, and one writes it."""

    code = "INT103"

    def __init__(
        self, resource: str, *, element: str, this: str, other: str, other_span: Span, **where: Unpack[Where]
    ) -> None:
        line = other_span.source.splitlines()[0].strip() if other_span.source.strip() else ""
        there = f"{place(other_span)}: {line}" if other_span.line else line
        super().__init__(
            f"two points of I.parallel meet in one element of '{resource}'",
            seen={"the element": element, "one access": this, "the other access": f"{other}\n{there}"},
            fix="use I.atomic or I.scatter_reduce, give each point its own elements, or loop without I.parallel",
            **where,
        )


class BrokenLaw(IntentError):
    """A combine, identity, summarize, apply or emit breaks an equation that its operation rests on."""

    code = "INT104"

    def __init__(
        self, operation: str, *, law: str, sides: Mapping[str, str], values: Mapping[str, str], point: str = "",
        **where: Unpack[Where],
    ) -> None:  # fmt: skip
        super().__init__(
            f"the helpers of {operation} break the law {law}",
            seen=_seen(point, {**sides, **values}),
            fix="correct the helper or the identity, or write an ordered loop with a carry",
            **where,
        )


class InvalidCast(IntentError):
    """A value that the target of a cast cannot represent: NaN or out of range."""

    code = "INT105"

    def __init__(
        self, value: str, *, source: object, target: object, point: str = "", **where: Unpack[Where]
    ) -> None:
        super().__init__(
            f"a cast from {source} to {target} of a value that {target} cannot hold",
            seen=_seen(point, {"the value": value}),
            fix="clamp the value first, for example with I.clamp, and replace NaN with I.select",
            **where,
        )


class ShiftOutOfRange(IntentError):
    """A shift amount is negative, or not below the number of bits."""

    code = "INT106"

    def __init__(
        self, amount: str, *, dtype: object, bits: int, point: str = "", **where: Unpack[Where]
    ) -> None:
        super().__init__(
            f"a shift of {dtype} by an amount outside 0 to {bits - 1}",
            seen=_seen(point, {"the amount": amount}),
            fix=f"keep the amount in range, for example amount & {bits - 1}",
            **where,
        )


class DivisionByZero(IntentError):
    """An integer division or remainder by zero."""

    code = "INT107"

    def __init__(
        self, dividend: str, *, operator: str = "//", point: str = "", **where: Unpack[Where]
    ) -> None:
        super().__init__(
            f"an integer is divided by zero with '{operator}'",
            seen=_seen(point, {"the dividend": dividend}),
            fix="test the divisor with if, or replace zero with I.select before dividing",
            **where,
        )


class HistogramOutOfRange(IntentError):
    """An active value of a histogram is not the number of a bin."""

    code = "INT108"

    def __init__(self, value: str, *, bins: int, point: str = "", **where: Unpack[Where]) -> None:
        super().__init__(
            f"a value of I.histogram is outside 0 to {bins - 1}"
            if bins
            else "I.histogram has values but no bins",
            seen=_seen(point, {"the value": value, "the bins": bins}),
            fix="silence such values with valid=",
            **where,
        )


class EmptyArgReduce(IntentError):
    """An arg_reduce over an axis without elements, which has no position to give."""

    code = "INT109"

    def __init__(
        self, shape: Sequence[int], *, axes: Sequence[int], point: str = "", **where: Unpack[Where]
    ) -> None:
        super().__init__(
            "I.arg_reduce over an empty axis has no result",
            seen=_seen(point, {"the shape": tuple(shape), "the reduced axes": tuple(axes)}),
            fix="test the extent with if before reducing",
            **where,
        )


class FalseBoundsPromise(IntentError):
    """An index that I.assume_in_bounds promises to be in range is not."""

    code = "INT110"

    def __init__(
        self, source: str, *, index: str, axis: int, extent: int, point: str = "", **where: Unpack[Where]
    ) -> None:
        super().__init__(
            f"the promise I.assume_in_bounds about axis {axis} of '{source}' is false",
            seen=_seen(point, {"the index": index, f"the extent of axis {axis}": extent}),
            fix="remove the promise, or silence such lanes with I.gather(..., valid=...)",
            **where,
        )


class FalseNoaliasPromise(IntentError):
    """A view that is declared noalias shares memory with another argument."""

    code = "INT111"

    def __init__(self, view: str, other: str, *, element: str, **where: Unpack[Where]) -> None:
        super().__init__(
            f"'{view}' is promised to overlap no other view, but shares memory with '{other}'",
            seen={"an element of both": element},
            fix=f"pass separate arrays, or declare alias= of one group for '{view}' and '{other}'",
            **where,
        )


class InvalidSubregion(IntentError):
    """A subregion whose bounds come from data ends before it begins, or leaves its source."""

    code = "INT112"

    def __init__(
        self, *, begin: int, end: int, source: tuple[int, int], point: str = "", **where: Unpack[Where]
    ) -> None:
        fault = "ends before it begins" if end < begin else "leaves its source"
        super().__init__(
            f"a subregion {fault}",
            seen=_seen(
                point, {"the subregion": f"[{begin}, {end})", "its source": f"[{source[0]}, {source[1]})"}
            ),
            fix="slices are never clamped: bound both ends with I.minimum and I.maximum",
            **where,
        )


class InvalidStepValue(IntentError):
    """The step of a domain comes from data and is not positive."""

    code = "INT113"

    def __init__(self, step: int, *, point: str = "", **where: Unpack[Where]) -> None:
        super().__init__(
            "the step of a domain is not positive",
            seen=_seen(point, {"the step": step}),
            fix="use a positive step, and compute descending coordinates from an ascending domain",
            **where,
        )


class ExtentsDiffer(IntentError):
    """Extents that come from data and have to be equal, or to be broadcast, are not."""

    code = "INT114"

    def __init__(
        self, operation: str, *, shapes: Mapping[str, object], point: str = "", **where: Unpack[Where]
    ) -> None:
        super().__init__(
            f"extents that {operation} needs to agree differ",
            seen=_seen(point, dict(shapes)),
            fix="derive both extents from one domain or subregion",
            **where,
        )


class MetadataOutOfRange(IntentError):
    """Metadata of a sparse contraction names a position outside its group, or one position twice."""

    code = "INT115"

    def __init__(self, positions: str, *, group: int, point: str = "", **where: Unpack[Where]) -> None:
        super().__init__(
            f"metadata of I.sparse_contract are not distinct positions in a group of {group}",
            seen=_seen(point, {"the positions": positions}),
            fix=f"store for each kept element its position, 0 to {group - 1}, in its group",
            **where,
        )


class NoProgress(IntentError):
    """A while loop comes back to a state that it was in: it cannot end, for example because it waits."""

    code = "INT117"

    def __init__(self, *, steps: int, point: str = "", **where: Unpack[Where]) -> None:
        super().__init__(
            "a while loop repeats itself and never ends",
            seen=_seen(point, {"the steps so far": steps}),
            fix="do not wait for another point of I.parallel: points need not run at the same time",
            **where,
        )


class CheckFailed(IntentError):
    """A kernel broke rules in intent.check and Report.raise_if_any was asked to raise."""

    code = "INT116"

    def __init__(self, kernel: str, report: str, *, count: int, **where: Unpack[Where]) -> None:
        super().__init__(
            f"kernel '{kernel}' breaks {plural(count, 'rule')} on these arguments",
            seen={"the report": f"below\n{report}"},
            fix="correct the first violation, then check again",
            **where,
        )
