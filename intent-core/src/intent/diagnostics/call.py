"""Errors of a call: the arguments do not fit the artifact. All are raised before anything is launched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Unpack

from intent.diagnostics.base import IntentError, Where
from intent.diagnostics.words import listing, plural, shape_text

__all__ = [
    "ArgumentDType",
    "ArgumentKind",
    "ArgumentRank",
    "DeviceMismatch",
    "ExtentMismatch",
    "GridLimit",
    "LaunchCondition",
    "OverlappingViews",
    "ReadOnlyArgument",
    "ScalarArgument",
    "StrideMismatch",
    "SubregionOutOfBounds",
    "UndeterminedOut",
    "UnknownArgument",
    "WrongArgumentCount",
    "ZeroStrideWritable",
]


class WrongArgumentCount(IntentError):
    """A call gives too few or too many runtime arguments."""

    code = "INT070"

    def __init__(self, kernel: str, *, expected: Iterable[str], given: int, **where: Unpack[Where]) -> None:
        expected = tuple(expected)
        super().__init__(
            f"'{kernel}' takes {plural(len(expected), 'argument')}, {given} given",
            seen={"its parameters": ", ".join(expected)},
            fix=f"call it as {kernel}({', '.join(expected)})",
            **where,
        )


class ArgumentDType(IntentError):
    """An array's element type is not the one the view declares."""

    code = "INT071"

    def __init__(self, parameter: str, *, expected: object, found: object, **where: Unpack[Where]) -> None:
        super().__init__(
            f"argument '{parameter}' has the wrong dtype",
            seen={"the dtype declared": expected, "the dtype found": found},
            fix=f"pass an array of {expected}",
            **where,
        )


class ArgumentRank(IntentError):
    """An array's rank is not the one the view declares."""

    code = "INT072"

    def __init__(
        self, parameter: str, *, expected: Iterable[object], found: Iterable[object], **where: Unpack[Where]
    ) -> None:
        expected = tuple(expected)
        super().__init__(
            f"argument '{parameter}' has the wrong rank",
            seen={"the shape declared": shape_text(expected), "the shape found": shape_text(found)},
            fix=f"pass an array of rank {len(expected)}",
            **where,
        )


class ExtentMismatch(IntentError):
    """An extent differs from the declared number, or one symbol meets different extents."""

    code = "INT073"

    def __init__(self, symbol: object, values: Mapping[str, int], **where: Unpack[Where]) -> None:
        super().__init__(
            f"an extent declared as {symbol} has another value"
            if isinstance(symbol, int)
            else f"'{symbol}' is one extent but the arguments give different values",
            seen=values,
            fix="pass arrays whose shapes agree with the annotations",
            **where,
        )


class StrideMismatch(IntentError):
    """A stride differs from what ``I.constraints(strides=...)`` declares."""

    code = "INT074"

    def __init__(
        self, parameter: str, *, axis: int, expected: object, found: int, **where: Unpack[Where]
    ) -> None:
        super().__init__(
            f"argument '{parameter}' has the wrong stride on axis {axis}",
            seen={"the stride declared": f"{expected} elements", "the stride found": f"{found} elements"},
            fix=f"pass an array with that layout, or remove the stride from the annotation of '{parameter}'",
            **where,
        )


class ReadOnlyArgument(IntentError):
    """A read-only array is given for a view that the kernel writes."""

    code = "INT075"

    def __init__(self, parameter: str, *, mode: str, **where: Unpack[Where]) -> None:
        super().__init__(
            f"argument '{parameter}' is read-only but the kernel writes it",
            seen={parameter: f"declared {mode}"},
            fix="pass a writable array",
            **where,
        )


class ZeroStrideWritable(IntentError):
    """A broadcast array (several elements in one place) is given for a view that the kernel writes."""

    code = "INT076"

    def __init__(
        self, parameter: str, *, shape: Iterable[object], strides: Iterable[object], **where: Unpack[Where]
    ) -> None:
        super().__init__(
            f"argument '{parameter}' is written but several of its elements share one place",
            seen={"its shape": shape_text(shape), "its strides": f"{shape_text(strides)} elements"},
            fix="pass an array without broadcast axes, for example a copy",
            **where,
        )


class DeviceMismatch(IntentError):
    """Arguments live on different devices, or not where the artifact runs."""

    code = "INT077"

    def __init__(
        self, devices: Mapping[str, object], *, needed: str | None = None, **where: Unpack[Where]
    ) -> None:
        super().__init__(
            f"the artifact runs on {needed}" if needed else "the arguments are on different devices",
            seen=devices,
            fix=f"move the arguments to {needed}" if needed else "move all arguments to one device",
            **where,
        )


class OverlappingViews(IntentError):
    """A writable view shares elements with another one that is not declared to alias it."""

    code = "INT078"

    def __init__(
        self, written: str, other: str, *, ranges: Mapping[str, object] | None = None, **where: Unpack[Where]
    ) -> None:
        super().__init__(
            f"arguments '{written}' and '{other}' overlap, and '{written}' is written",
            seen=ranges,
            fix=f'pass arrays that do not overlap, or declare I.constraints(alias="g") on '
            f"{listing((written, other))}",
            **where,
        )


class UndeterminedOut(IntentError):
    """``.run`` cannot tell the shape of an Out from the inputs."""

    code = "INT079"

    def __init__(
        self, parameter: str, *, shape: Iterable[object], unknown: Iterable[str], **where: Unpack[Where]
    ) -> None:
        super().__init__(
            f"the shape of Out '{parameter}' does not follow from the inputs",
            seen={"its shape": shape_text(shape), "the undetermined extents": ", ".join(unknown)},
            fix=f"allocate '{parameter}' yourself and call the artifact with every argument",
            **where,
        )


class SubregionOutOfBounds(IntentError):
    """A subregion that is not inside its source (spec: logical-program 1)."""

    code = "INT080"

    def __init__(
        self,
        *,
        source: tuple[object, object],
        found: tuple[object, object],
        values: Mapping[str, object] | None = None,
        **where: Unpack[Where],
    ) -> None:
        super().__init__(
            "a subregion must lie inside its source and cannot end before it begins",
            seen={
                "the source": f"[{source[0]}, {source[1]})",
                "the subregion": f"[{found[0]}, {found[1]})",
                **(values or {}),
            },
            fix="bound the ends with I.minimum and I.maximum; subregions are never clamped",
            **where,
        )


class GridLimit(IntentError):
    """The program space is larger than the target can launch."""

    code = "INT081"

    def __init__(
        self, kernel: str, *, length: int, limit: int, provider: str, **where: Unpack[Where]
    ) -> None:
        super().__init__(
            f"'{kernel}' needs {length} program instances, more than one launch of '{provider}' allows",
            seen={"the limit": limit},
            fix="call it on parts of the data",
            **where,
        )


class ArgumentKind(IntentError):
    """An argument is not an array of a known library where a view is declared."""

    code = "INT082"

    def __init__(self, parameter: str, *, expected: str, found: object, **where: Unpack[Where]) -> None:
        super().__init__(
            f"argument '{parameter}' must be {expected}",
            seen={"the argument": f"a {type(found).__name__}"},
            fix="pass a numpy, torch or CuPy array, or any object with DLPack or __cuda_array_interface__",
            **where,
        )


class ScalarArgument(IntentError):
    """A scalar argument has the wrong type or does not fit its dtype."""

    code = "INT083"

    def __init__(
        self, parameter: str, *, dtype: object, found: object, reason: str, **where: Unpack[Where]
    ) -> None:
        super().__init__(
            f"scalar argument '{parameter}' {reason}",
            seen={"the dtype declared": dtype, "the value given": f"{found!r} ({type(found).__name__})"},
            fix=f"pass a Python number that {dtype} can hold",
            **where,
        )


class LaunchCondition(IntentError):
    """A condition that the kernel's text puts on the arguments is violated by this call."""

    code = "INT084"

    def __init__(
        self, condition: str, *, values: Mapping[str, object], needed_by: str, **where: Unpack[Where]
    ) -> None:
        found = {str(name).replace("$", ""): value for name, value in values.items()}
        super().__init__(
            f"this call violates '{condition.replace('$', '')}', which {needed_by} needs",
            seen={name: value for name, value in found.items() if name != str(value)},
            fix=_satisfying(condition.replace("$", "")),
            **where,
        )


class UnknownArgument(IntentError):
    """A keyword argument of a call names no runtime parameter."""

    code = "INT085"

    def __init__(self, kernel: str, name: str, known: Iterable[str], **where: Unpack[Where]) -> None:
        known = tuple(known)
        super().__init__(
            f"'{kernel}' has no runtime parameter '{name}'",
            seen={"its parameters": ", ".join(known)},
            fix=f"pass {listing(known)}" if known else "call it without arguments",
            **where,
        )


def _satisfying(condition: str) -> str:
    """What to do about a condition of a call, in terms of the author's symbols where it compares two of them."""
    equal = re.fullmatch(r"(\w+) == (\w+)((?: or \w+ == 1)*)", condition)
    if equal is None or equal[1].isdecimal() or equal[2].isdecimal():
        return "pass arguments that satisfy the condition"
    one = ", or one of them is 1" if equal[3] else ""
    return (
        f"pass arrays whose {equal[1]} and {equal[2]} are equal{one}; "
        "if they always are, write one symbol in both shapes"
    )
