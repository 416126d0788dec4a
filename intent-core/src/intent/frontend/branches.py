"""``if`` with SSA merges (spec: logical-program 4)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeGuard

from intent.diagnostics import BranchTypesDiffer, IntentError, NameMayBeUndefined, ReturnTypesDiffer
from intent.frontend.emission import Frame
from intent.frontend.foreseen import sides_of
from intent.frontend.leaves import default_dtype
from intent.frontend.lowering import Lowering
from intent.frontend.normalise import RESULT
from intent.frontend.values import (
    BufferRef,
    Domain,
    ExtentRef,
    FrontValue,
    Literal,
    NoneValue,
    Tensor,
    Undefined,
    Unset,
    ViewRef,
    WeakLiteral,
    arranged,
    leaves,
    rebuild,
    same_structure,
)
from intent.kir import If, Value
from intent.types import DType, Extent, Span

_ANONYMOUS = ("if", "and", "or")
_DATA = (Tensor, Literal, ExtentRef, Domain, ViewRef, BufferRef)


@dataclass(frozen=True, kw_only=True)
class Branches:
    """Two suspended regions of one If, and what they give."""

    condition: Tensor
    then: Frame
    orelse: Frame


@dataclass(frozen=True, kw_only=True)
class _Joined:
    """One component that both branches give with one type."""

    then: Value
    orelse: Value
    weak: tuple[WeakLiteral, ...] = ()
    name: str = ""


def lower_if(lowering: Lowering, stmt: ast.stmt) -> None:
    """A branch that constants decide is lowered alone; a run-time one becomes an If."""
    assert isinstance(stmt, ast.If)
    condition = lowering.test(stmt.test, "if")
    if isinstance(condition, bool):
        lowering.block(stmt.body if condition else stmt.orelse)
        return
    scope, before = lowering.scope, lowering.scope.names
    span = lowering.span(stmt)
    sides: list[tuple[Frame, dict[str, FrontValue]]] = []
    for body, when in zip((stmt.body, stmt.orelse), sides_of(lowering.builder, condition), strict=True):
        scope.names = dict(before)
        lowering.builder.open(conditional=True, when=when)
        lowering.block(body)
        sides.append((lowering.builder.suspend(), scope.names))
    (then, then_names), (orelse, else_names) = sides
    lowering.builder.span = span
    branches = Branches(condition=condition, then=then, orelse=orelse)
    changed = [n for n in {**then_names, **else_names} if then_names.get(n) is not else_names.get(n)]
    live: frozenset[str] = stmt.live_after  # type: ignore[attr-defined]
    scope.names = {n: v for n, v in then_names.items() if n not in changed}
    wanted = [n for n in changed if n in live]
    scope.names.update(_merge(lowering, branches, wanted, then_names, else_names, span))


def choose(
    lowering: Lowering,
    condition: Tensor,
    then: Callable[[], FrontValue],
    orelse: Callable[[], FrontValue],
    *,
    name: str,
) -> FrontValue:
    """The value of one of two computations, only one of which runs."""
    builder, span = lowering.builder, lowering.builder.span
    values: list[FrontValue] = []
    frames: list[Frame] = []
    for side, when in zip((then, orelse), sides_of(builder, condition), strict=True):
        builder.open(conditional=True, when=when)
        values.append(side())
        frames.append(builder.suspend())
    branches = Branches(condition=condition, then=frames[0], orelse=frames[1])
    found = _merge(lowering, branches, [name], {name: values[0]}, {name: values[1]}, span)[name]
    if isinstance(found, Undefined):
        raise found.error(span)
    return found


def _merge(
    lowering: Lowering,
    branches: Branches,
    names: Sequence[str],
    then: dict[str, FrontValue],
    orelse: dict[str, FrontValue],
    span: Span,
) -> dict[str, FrontValue]:
    """Close the regions and emit the If; the value of each name after it."""
    joined: list[_Joined] = []
    merged: dict[str, FrontValue | tuple[FrontValue, list[FrontValue | _Joined]]] = {}
    for name in names:
        merged[name] = _merge_name(lowering, branches, name, then.get(name), orelse.get(name), span, joined)
    builder = lowering.builder
    builder.resume(branches.then)
    then_region = builder.close([j.then for j in joined])
    builder.resume(branches.orelse)
    else_region = builder.close([j.orelse for j in joined])
    results = builder.emit(
        If,
        *((j.then.dtype, j.then.shape) for j in joined),
        condition=branches.condition.value,
        then=then_region,
        orelse=else_region,
    )
    values = {id(j): _result(lowering, j, r) for j, r in zip(joined, results, strict=True)}
    out: dict[str, FrontValue] = {}
    for name, found in merged.items():
        if isinstance(found, tuple):
            like, parts = found
            out[name] = rebuild(like, iter([values[id(p)] if isinstance(p, _Joined) else p for p in parts]))
        else:
            out[name] = found
    return out


def _result(lowering: Lowering, joined: _Joined, value: Value) -> Tensor:
    if joined.name.isidentifier() and joined.name not in _ANONYMOUS:
        lowering.builder.name(value, joined.name)
    tensor = lowering.builder.loaded(value)
    return Tensor(value=value, extent=tensor.extent, weak=joined.weak)


def _merge_name(
    lowering: Lowering,
    branches: Branches,
    name: str,
    then: FrontValue | None,
    orelse: FrontValue | None,
    span: Span,
    joined: list[_Joined],
) -> FrontValue | tuple[FrontValue, list[FrontValue | _Joined]]:
    """One name: a value that needs no merge, or the structure and its components."""
    if name == RESULT and (_no_result(then) or _no_result(orelse)):
        return _half_result(lowering, branches, then, orelse, joined)
    for side in (then, orelse):
        if isinstance(side, Undefined):
            return side
    if then is None or orelse is None:
        where = f"in one branch of the if at line {span.line}"
        return Undefined(name=name, error=partial(_half_defined, name, where))
    parts = _components(lowering, branches, name, then, orelse)
    if parts is None:
        if name == RESULT:
            span = lowering.place_of(orelse) or span
        error = _differ(lowering, name, then.describe(), orelse.describe(), span)
        return Undefined(name=name, error=partial(_known_error, error))
    joined.extend(p for p in parts if isinstance(p, _Joined))
    return then, parts


def _half_defined(name: str, where: str, use: Span) -> IntentError:
    return NameMayBeUndefined(name, assigned=where, span=use)


def _known_error(error: IntentError, _use: Span) -> IntentError:
    return error


def _half_result(
    lowering: Lowering,
    branches: Branches,
    then: FrontValue | None,
    orelse: FrontValue | None,
    joined: list[_Joined],
) -> FrontValue | tuple[FrontValue, list[FrontValue | _Joined]]:
    """A helper's result where only one side has returned: the other side's value is never looked at."""
    returned = orelse if _no_result(then) else then
    if returned is None or isinstance(returned, Unset | Undefined | NoneValue):
        return Unset() if returned is None else returned
    parts: list[FrontValue | _Joined] = []
    for leaf in leaves(returned):
        own, other = (
            (branches.orelse, branches.then) if returned is orelse else (branches.then, branches.orelse)
        )
        value = _realise(lowering, own, leaf, None).value
        zero = _zero(lowering, other, value.dtype, value.shape)
        pair = (zero, value) if returned is orelse else (value, zero)
        parts.append(_Joined(then=pair[0], orelse=pair[1], name=RESULT))
    joined.extend(p for p in parts if isinstance(p, _Joined))
    return returned, parts


def _no_result(value: FrontValue | None) -> bool:
    return value is None or isinstance(value, Unset)


def _zero(lowering: Lowering, frame: Frame, dtype: DType, shape: tuple[Extent, ...]) -> Value:
    """Something of a type, for a place that is never read."""
    builder = lowering.builder
    builder.resume(frame)
    zero = builder.constant(False if dtype.kind == "bool" else 0, dtype)
    value = builder.full(shape, zero).value
    builder.suspend()
    return value


def _differ(lowering: Lowering, name: str, then: str, orelse: str, span: Span) -> IntentError:
    if name == RESULT:
        helper = lowering.stack[-1].name if lowering.stack else "this helper"
        return ReturnTypesDiffer(helper, first=then, other=orelse, span=span)
    return BranchTypesDiffer(
        "the value" if name in _ANONYMOUS else name, then=then, otherwise=orelse, span=span
    )


def _components(
    lowering: Lowering, branches: Branches, name: str, then: FrontValue, orelse: FrontValue
) -> list[FrontValue | _Joined] | None:
    """Component by component: the common value, or a pair to join; None when the types differ."""
    orelse = arranged(orelse, then)
    if not same_structure(then, orelse):
        return None
    parts: list[FrontValue | _Joined] = []
    for a, b in zip(leaves(then), leaves(orelse), strict=True):
        if a is b or _same_constant(a, b):
            parts.append(a)
            continue
        if _number(a) and _number(b):
            parts.append(lowering.builder.pointwise("select", branches.condition, a, b, what="if"))
            continue
        if not isinstance(a, _DATA) or not isinstance(b, _DATA):
            return None
        dtype = _common(lowering, a, b)
        if dtype is None:
            return None
        first, second = (
            _realise(lowering, branches.then, a, dtype),
            _realise(lowering, branches.orelse, b, dtype),
        )
        if first.dtype is not second.dtype or first.shape != second.shape:
            return None
        if first.value.id == second.value.id:
            parts.append(first)
            continue
        weak = (*first.weak, *second.weak) if first.weak or second.weak else ()
        parts.append(_Joined(then=first.value, orelse=second.value, weak=weak, name=name))
    return parts


def _number(value: FrontValue) -> TypeGuard[Literal]:
    """A literal whose dtype the context may still give; a bool has only one."""
    return isinstance(value, Literal) and not isinstance(value.value, bool)


def _same_constant(a: FrontValue, b: FrontValue) -> bool:
    if isinstance(a, Literal) and isinstance(b, Literal):
        return repr(a.value) == repr(b.value)
    if isinstance(a, ExtentRef) and isinstance(b, ExtentRef):
        return a.extent is b.extent
    if isinstance(a, ViewRef | BufferRef) and isinstance(b, ViewRef | BufferRef):
        return a.resource is b.resource
    return isinstance(a, Tensor) and isinstance(b, Tensor) and a.value.id == b.value.id


def _common(lowering: Lowering, a: FrontValue, b: FrontValue) -> DType | None:
    """The dtype both sides can have: literals and open values adopt the other's."""
    builder = lowering.builder
    strong = [
        builder.dtype_of(v)
        for v in (a, b)
        if not isinstance(v, Literal) and not (isinstance(v, Tensor) and v.weak)
    ]
    if strong:
        return strong[0]
    weak = [default_dtype(v.value) if isinstance(v, Literal) else builder.dtype_of(v) for v in (a, b)]
    found = [d for d in weak if d is not None]
    return max(found, key=lambda d: (d.is_float, d.is_integer, d.bits), default=None)


def _realise(lowering: Lowering, frame: Frame, value: FrontValue, dtype: DType | None) -> Tensor:
    """A component as data inside its branch."""
    builder = lowering.builder
    builder.resume(frame)
    try:
        if isinstance(value, Tensor) and value.weak and dtype is not None and value.dtype is dtype:
            return value
        return builder.materialize(value, dtype)
    finally:
        builder.suspend()
