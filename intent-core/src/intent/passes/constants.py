"""Which fragments are one constant on all lanes, and pointwise arithmetic on constants."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

import numpy as np

from intent import physical as ph
from intent.physical.walk import operands_of
from intent.types import DType

Value = bool | int | float


class Known:
    """Definitions of a program's values, asked for constants."""

    def __init__(self) -> None:
        self.definition: dict[int, ph.Op] = {}

    def define(self, op: ph.Op) -> None:
        """Remember what defines the operation's results."""
        for result in op.results:
            self.definition[result.id] = op

    def value(self, fragment: ph.Fragment) -> Value | None:
        """The constant that the fragment is on all lanes, or None."""
        op = self.definition.get(fragment.id)
        while isinstance(op, ph.Broadcast | ph.Rename):
            op = self.definition.get(op.value.id)
        if not isinstance(op, ph.Constant):
            return None
        return float(op.value) if fragment.dtype.is_float else op.value

    def reaches(self, fragment: ph.Fragment, targets: Collection[int]) -> bool:
        """Whether the value is one of ``targets`` or is computed from one, as far as definitions are pure."""
        pending, seen = [fragment], set()
        while pending:
            value = pending.pop()
            if value.id in targets:
                return True
            if value.id not in seen:
                seen.add(value.id)
                op = self.definition.get(value.id)
                pending += operands_of(op) if op is not None else ()
        return False

    def plain(self, fragment: ph.Fragment) -> ph.Fragment:
        """The fragment without the broadcasts that made it."""
        op = self.definition.get(fragment.id)
        while isinstance(op, ph.Broadcast):
            fragment = op.value
            op = self.definition.get(fragment.id)
        return fragment


def same(a: Value | None, b: Value | None) -> bool:
    """Whether two constants are the same value: zeros by sign, NaN equal to itself."""
    if a is None:
        return False
    if isinstance(a, float) and isinstance(b, float):
        if math.isnan(a):
            return math.isnan(b)
        return a == b and math.copysign(1.0, a) == math.copysign(1.0, b)
    return type(a) is type(b) and a == b


_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip


def fold(fn: str, values: Sequence[Value], dtype: DType) -> Value | None:
    """``fn`` of constants of ``dtype``, where its result is exact or rounds in one known way; else None."""
    if fn == "select":
        return values[1] if values[0] else values[2]
    if fn in _COMPARE:
        return bool(_COMPARE[fn](values[0], values[1]))
    if dtype.name == "bool":
        return _logic(fn, [bool(v) for v in values])
    if dtype.is_integer:
        return _integer(fn, [int(v) for v in values], dtype)
    if dtype.name in ("f32", "f64"):
        return _floating(fn, [float(v) for v in values], dtype)
    return None


def _logic(fn: str, v: list[bool]) -> bool | None:
    match fn:
        case "and":
            return v[0] and v[1]
        case "or":
            return v[0] or v[1]
        case "xor" | "ne":
            return v[0] != v[1]
        case "not" | "invert":
            return not v[0]
    return None


def _integer(fn: str, v: list[int], dtype: DType) -> int | None:
    match fn:
        case "add":
            found = v[0] + v[1]
        case "sub":
            found = v[0] - v[1]
        case "mul":
            found = v[0] * v[1]
        case "neg":
            found = -v[0]
        case "maximum":
            found = max(v)
        case "minimum":
            found = min(v)
        case "floordiv" if v[1] != 0:
            found = v[0] // v[1]
        case "mod" if v[1] != 0:
            found = v[0] % v[1]
        case _:
            return None
    return found if dtype.minimum <= found <= dtype.maximum else None


def _floating(fn: str, v: list[float], dtype: DType) -> float | None:
    """Additions and products round once; of exp and exp2 only the exact values are taken."""
    a = [np.asarray(x, dtype.numpy) for x in v]
    with np.errstate(all="ignore"):
        match fn:
            case "add":
                return float(a[0] + a[1])
            case "sub":
                return float(a[0] - a[1])
            case "mul":
                return float(a[0] * a[1])
            case "neg":
                return -v[0]
            case "maximum":
                return float(np.maximum(a[0], a[1]))
            case "minimum":
                return float(np.minimum(a[0], a[1]))
            case "exp" | "exp2":
                return {-math.inf: 0.0, 0.0: 1.0, math.inf: math.inf}.get(v[0])
    return None
