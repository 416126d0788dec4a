"""Calls: intrinsics, helpers, and the few Python builtins that have a meaning in kernels."""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from intent import language
from intent.diagnostics import IntentError, NotSupportedYet, UnsupportedSyntax, WrongKind
from intent.frontend.blame import argument_at_fault
from intent.frontend.intrinsics import LOWERINGS, Call
from intent.frontend.lowering import Lowering
from intent.frontend.subscripts import lower_address
from intent.frontend.values import (
    Domain,
    DTypeRef,
    ExtentRef,
    FrontValue,
    Function,
    IntrinsicRef,
    Literal,
    NoneValue,
    PyConst,
    Slice,
    Tuple,
)
from intent.language import KernelDefinition
from intent.types import Span

_ADDRESS_KEYWORDS = ("address", "target", "view")


def lower_call(lowering: Lowering, node: ast.expr) -> FrontValue:
    """The value of a call; NONE for statements."""
    assert isinstance(node, ast.Call)
    callee = lowering.expression(node.func)
    span = lowering.builder.span
    try:
        return _called(lowering, callee, node, span)
    except IntentError as error:
        if error.span == span:
            at_fault = argument_at_fault(error, node, _parameters(callee), lowering.text)
            error.span = span if at_fault is None else lowering.span(at_fault)
        raise


def _parameters(callee: FrontValue) -> Sequence[str]:
    """The names that a callee's positional arguments are for, as far as it has any."""
    if isinstance(callee, IntrinsicRef):
        return list(callee.intrinsic.signature.parameters)
    return list(callee.definition.python_signature.parameters) if isinstance(callee, Function) else []


def _called(lowering: Lowering, callee: FrontValue, node: ast.Call, span: Span) -> FrontValue:
    if isinstance(callee, IntrinsicRef):
        return _intrinsic(lowering, callee, node)
    args, kwargs = _arguments(lowering, node)
    if isinstance(callee, Function):
        return lowering.inline(callee, args, kwargs, span)
    if isinstance(callee, PyConst):
        return _builtin(lowering, callee.value, args, kwargs, node)
    raise WrongKind(
        "a call",
        expected="a helper or an intrinsic",
        found=callee.describe(),
        argument=ast.unparse(node.func),
        span=span,
    )


def _arguments(lowering: Lowering, node: ast.Call) -> tuple[list[FrontValue], dict[str, FrontValue]]:
    """Arguments in the author's order, each lowered once."""
    args: list[FrontValue] = []
    for item in node.args:
        if isinstance(item, ast.Starred):
            inner = lowering.expression(item.value)
            if not isinstance(inner, Tuple):
                raise lowering.unsupported(item)
            args.extend(inner.items)
        else:
            args.append(lowering.expression(item))
    kwargs: dict[str, FrontValue] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise UnsupportedSyntax("'**' in a call", fix="write the keywords out", span=lowering.span(node))
        kwargs[keyword.arg] = lowering.expression(keyword.value)
    return args, kwargs


def _intrinsic(lowering: Lowering, callee: IntrinsicRef, node: ast.Call) -> FrontValue:
    intrinsic, builder = callee.intrinsic, lowering.builder
    span = builder.span
    address = None
    if intrinsic.name.startswith("atomic."):
        node, address = _take_address(lowering, node)
    args, kwargs = _arguments(lowering, node)
    if address is not None:
        args.insert(0, address)
    bound = intrinsic.bind(args, kwargs, span=span)
    lower = LOWERINGS.get(intrinsic.name)
    if lower is None:
        raise NotSupportedYet(f"I.{intrinsic.name}", span=span)
    through = next((p for p in ("operands", "combine_operands") if p in bound), None)
    call = Call(
        builder=builder,
        name=intrinsic.name,
        arguments=bound,
        inline=lambda function, arguments: lowering.inline(function, arguments, None, span, through),
    )
    return lower(call)


def _take_address(lowering: Lowering, node: ast.Call) -> tuple[ast.Call, FrontValue | None]:
    """The call without its address argument ``view[i]``, and the address (language decision 2)."""
    first = node.args[0] if node.args else None
    if isinstance(first, ast.Subscript) and (address := lower_address(lowering, first)):
        rest = ast.Call(func=node.func, args=node.args[1:], keywords=node.keywords)
        return ast.copy_location(rest, node), address
    for keyword in node.keywords:
        if keyword.arg in _ADDRESS_KEYWORDS and isinstance(keyword.value, ast.Subscript):
            address = lower_address(lowering, keyword.value)
            if address:
                others = [k for k in node.keywords if k is not keyword]
                return ast.copy_location(
                    ast.Call(func=node.func, args=node.args, keywords=others), node
                ), address
    return node, None


def _builtin(
    lowering: Lowering,
    value: object,
    args: Sequence[FrontValue],
    kwargs: Mapping[str, FrontValue],
    node: ast.Call,
) -> FrontValue:
    builder, name = lowering.builder, ast.unparse(node.func)
    if value is builtins.range and not kwargs and 1 <= len(args) <= 3:
        begin, end = (Literal(value=0), args[0]) if len(args) == 1 else (args[0], args[1])
        return builder.domain(begin, end, args[2] if len(args) == 3 else None)
    if value is builtins.slice and not kwargs and 1 <= len(args) <= 3:
        parts = (None, args[0], None) if len(args) == 1 else (*args, None)[:3]
        first, last, stride = (None if isinstance(p, NoneValue) else p for p in parts)
        return Slice(begin=first, end=last, step=stride)
    if value is builtins.len and len(args) == 1 and isinstance(args[0], Tuple):
        return Literal(value=len(args[0].items))
    if value is builtins.enumerate and len(args) == 1:
        if isinstance(args[0], Domain):
            return replace(args[0], enumerated=True)
        if isinstance(args[0], Tuple):
            pairs = (Tuple(items=(Literal(value=k), item)) for k, item in enumerate(args[0].items))
            return Tuple(items=tuple(pairs))
    tuples = bool(args) and all(isinstance(a, Tuple) for a in args) and set(kwargs) <= {"strict"}
    if value in (builtins.zip, builtins.reversed) and tuples:
        return _tuples(value is builtins.zip, [a for a in args if isinstance(a, Tuple)])
    if value is language.dtype and len(args) == 1 and isinstance(args[0], PyConst):
        return _named_dtype(args[0].value, builder.span)
    if value is builtins.float and len(args) == 1 and isinstance(args[0], PyConst):
        return _fold(lowering, value, [args[0].value], name)  # float("inf")
    if args and all(isinstance(a, Literal) for a in args) and not kwargs and _foldable(value):
        return _fold(lowering, value, [a.value for a in args if isinstance(a, Literal)], name)
    if (
        value in (builtins.min, builtins.max)
        and len(args) == 2
        and all(isinstance(a, ExtentRef | Literal) for a in args)
    ):
        symbolic = builder.symbolic("minimum" if value is builtins.min else "maximum", *args)
        if symbolic is not None:
            return symbolic
    if isinstance(value, KernelDefinition):
        raise UnsupportedSyntax(
            f"a launch of kernel '{value.name}'", fix="launch kernels from the host", span=builder.span
        )
    fix = _INSTEAD.get(name, "call a helper decorated with @intent.fn or an operation of intent.language")
    raise UnsupportedSyntax(f"a call of '{name}'", fix=fix, span=builder.span)


_INSTEAD = {
    "min": "write I.minimum(a, b)",
    "max": "write I.maximum(a, b)",
    "abs": "write I.abs(value)",
    "int": "write I.cast(value, I.i32)",
    "float": "write I.cast(value, I.f32)",
    "bool": "write I.cast(value, I.bool)",
    "print": "kernels do not print; write to an I.Out view",
    "sum": "write I.reduce.sum(value, axis=...)",
    "sorted": "count for each element the smaller ones, which is its place",
    "isinstance": "branch on an I.Constexpr parameter",
    "hasattr": "branch on an I.Constexpr parameter",
    "reversed": "go through ordinals forward: i = n - 1 - ordinal",
    "pow": "write a ** b or I.pow(a, b)",
    "round": "write I.round(value)",
    "zip": "loop over a domain and index both",
    "enumerate": "write I.enumerate(region)",
}


def _named_dtype(name: object, span: Span) -> DTypeRef:
    """``I.dtype("f16")`` inside a kernel, where the name may be a constexpr. Raises UnknownDType."""
    try:
        return DTypeRef(dtype=language.dtype(name))
    except IntentError as error:
        raise error.at(span)  # noqa: B904 -- the same error, now with a place


def _tuples(zipped: bool, parts: Sequence[Tuple]) -> Tuple:
    """``zip`` and ``reversed`` of tuples, as loops over tuples use them."""
    if zipped:
        return Tuple(
            items=tuple(Tuple(items=items) for items in zip(*(p.items for p in parts), strict=False))
        )
    return Tuple(items=tuple(reversed(parts[0].items)))


def _foldable(value: object) -> bool:
    plain = (builtins.min, builtins.max, builtins.abs, builtins.int, builtins.float, builtins.bool)
    return value in plain or getattr(value, "__module__", None) == math.__name__


def _fold(lowering: Lowering, function: object, args: Sequence[object], name: str) -> FrontValue:
    try:
        value = function(*args)  # type: ignore[operator]
    except (ArithmeticError, ValueError, TypeError) as error:
        raise WrongKind(
            name,
            expected="constants it accepts",
            found=str(error),
            argument="the arguments",
            span=lowering.builder.span,
        ) from None
    return Literal(value=value)
