"""Expressions: names, attributes, arithmetic, comparisons, subscripts."""

from __future__ import annotations

import ast
import enum
import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any

from intent import language
from intent.diagnostics import (
    IntentError,
    UnknownAttribute,
    UnsupportedSyntax,
    WrongKind,
)
from intent.frontend.array_habits import refuse_method
from intent.frontend.booleans import lower_boolean, lower_choice
from intent.frontend.calls import lower_call
from intent.frontend.lowering import Expression, Lowering
from intent.frontend.modules import module_attribute
from intent.frontend.scope import wrap
from intent.frontend.subscripts import lower_subscript
from intent.frontend.values import (
    BufferRef,
    DTypeRef,
    ExtentRef,
    FrontValue,
    IntrinsicRef,
    Leaf,
    Literal,
    NoneValue,
    PyConst,
    Ragged,
    Record,
    Tensor,
    Tuple,
    ViewRef,
)
from intent.language import Namespace

_BINARY: dict[type[ast.operator], tuple[str, str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("add", "+", operator.add),
    ast.Sub: ("sub", "-", operator.sub),
    ast.Mult: ("mul", "*", operator.mul),
    ast.Div: ("div", "/", operator.truediv),
    ast.FloorDiv: ("floordiv", "//", operator.floordiv),
    ast.Mod: ("mod", "%", operator.mod),
    ast.Pow: ("pow", "**", operator.pow),
    ast.BitAnd: ("and", "&", operator.and_),
    ast.BitOr: ("or", "|", operator.or_),
    ast.BitXor: ("xor", "^", operator.xor),
    ast.LShift: ("shl", "<<", operator.lshift),
    ast.RShift: ("shr", ">>", operator.rshift),
}
_COMPARE: dict[type[ast.cmpop], tuple[str, str, Callable[[Any, Any], Any]]] = {
    ast.Eq: ("eq", "==", operator.eq),
    ast.NotEq: ("ne", "!=", operator.ne),
    ast.Lt: ("lt", "<", operator.lt),
    ast.LtE: ("le", "<=", operator.le),
    ast.Gt: ("gt", ">", operator.gt),
    ast.GtE: ("ge", ">=", operator.ge),
}


def _constant(lowering: Lowering, node: ast.expr) -> FrontValue:
    assert isinstance(node, ast.Constant)
    if isinstance(node.value, bytes | complex):
        raise UnsupportedSyntax("this literal", fix="write a number", span=lowering.span(node))
    return wrap(node.value, "a literal", lowering.builder.span)


def _name(lowering: Lowering, node: ast.expr) -> FrontValue:
    assert isinstance(node, ast.Name)
    return lowering.scope.lookup(node.id, lowering.builder.span)


def _tuple(lowering: Lowering, node: ast.expr) -> FrontValue:
    assert isinstance(node, ast.Tuple)
    items: list[FrontValue] = []
    for item in node.elts:
        if isinstance(item, ast.Starred):
            inner = lowering.expression(item.value)
            if not isinstance(inner, Tuple):
                raise lowering.unsupported(item)
            items.extend(inner.items)
        else:
            items.append(lowering.expression(item))
    return Tuple(items=tuple(items))


# -- attributes


def _attribute(lowering: Lowering, node: ast.expr) -> FrontValue:
    assert isinstance(node, ast.Attribute)
    base = lowering.expression(node.value)
    span, name = lowering.builder.span, node.attr
    if isinstance(base, PyConst | IntrinsicRef):
        return _static_attribute(lowering, base, node)
    if name == "shape" and isinstance(base, ViewRef | BufferRef | Tensor | Leaf):
        return Tuple(items=tuple(ExtentRef(extent=e) for e in lowering.builder.shape_of(base)))
    if isinstance(base, Record):
        found = base.get(name)
        if found is not None:
            return found
    if isinstance(base, Ragged) and name in ("outer", "members", "offsets"):
        value: FrontValue = getattr(base, name)
        return value
    written = ast.unparse(node.value)
    if isinstance(base, ViewRef | BufferRef | Tensor | Leaf):
        refuse_method(written, name, span, lowering.builder.dtype_of(base))
    raise UnknownAttribute(written, base.describe(), name, _attributes(base), span=span)


def _attributes(base: FrontValue) -> tuple[str, ...]:
    if isinstance(base, Record):
        return base.names
    if isinstance(base, Ragged):
        return ("outer", "members", "offsets")
    return ("shape",) if isinstance(base, ViewRef | BufferRef | Tensor) else ()


def _static_attribute(lowering: Lowering, base: PyConst | IntrinsicRef, node: ast.Attribute) -> FrontValue:
    span, name = lowering.builder.span, node.attr
    value = base.value if isinstance(base, PyConst) else base.intrinsic
    if value is language:
        return wrap(language.lookup(name, span=span), name, span)
    if isinstance(value, ModuleType):
        return module_attribute(lowering, value, node)
    if isinstance(value, enum.Enum) and name in ("name", "value"):
        return wrap(getattr(value, name), name, span)
    if isinstance(value, type) and issubclass(value, enum.Enum):
        if name in value.__members__:
            return PyConst(value=value[name])
        raise UnknownAttribute(ast.unparse(node.value), "an enum", name, tuple(value.__members__), span=span)
    if isinstance(value, Namespace) or isinstance(base, IntrinsicRef):
        try:
            return wrap(getattr(value, name), name, span)
        except IntentError as error:
            raise error.at(span)  # noqa: B904 -- the same error, now with a place
    raise UnknownAttribute(ast.unparse(node.value), base.describe(), name, span=span)


# -- arithmetic


def binary(lowering: Lowering, op: ast.operator, lhs: FrontValue, rhs: FrontValue) -> FrontValue:
    """``lhs op rhs``: folded for literals and extents, else a pointwise operation."""
    if isinstance(op, ast.MatMult):
        raise UnsupportedSyntax("'@'", fix="write I.matmul(a, b)", span=lowering.builder.span)
    fn, symbol, fold = _BINARY[type(op)]
    if isinstance(lhs, Literal) and isinstance(rhs, Literal):
        return fold_literals(lowering, symbol, fold, lhs, rhs)
    if isinstance(lhs, Tuple) and isinstance(rhs, Tuple) and fn == "add":
        return Tuple(items=lhs.items + rhs.items)
    if isinstance(rhs, Literal) and type(rhs.value) is int:
        _refuse_constant(lowering, fn, symbol, lhs, rhs.value)
    symbolic = lowering.builder.symbolic(fn, lhs, rhs)
    if symbolic is not None:
        return symbolic
    if fn == "pow" and isinstance(rhs, Literal) and not isinstance(rhs.value, bool):
        dtype = lowering.builder.dtype_of(lhs)
        whole = type(rhs.value) is int and dtype is not None and dtype.is_integer
        if rhs.value == 2 or (whole and 1 <= rhs.value <= _PRODUCTS):
            return _repeated_product(lowering, lowering.builder.data(lhs, symbol), int(rhs.value), symbol)
    return lowering.builder.pointwise(fn, lhs, rhs, what=symbol)


_PRODUCTS = 16
"""The highest constant power of an integer that is written out."""


def _repeated_product(lowering: Lowering, base: Tensor, power: int, symbol: str) -> Tensor:
    product = base
    for _ in range(power - 1):
        product = lowering.builder.pointwise("mul", product, base, what=symbol)
    return product


def _refuse_constant(lowering: Lowering, fn: str, symbol: str, lhs: FrontValue, rhs: int) -> None:
    """A constant divisor of 0, or a shift that no value of the dtype can have, is never what is meant."""
    dtype = lowering.builder.dtype_of(lhs)
    wanted = None
    if fn in ("floordiv", "mod") and rhs == 0:
        wanted = "a divisor other than 0"
    elif fn in ("shl", "shr") and dtype is not None and dtype.is_integer and not 0 <= rhs < dtype.bits:
        wanted = f"a shift from 0 to {dtype.bits - 1}"
    if wanted and not lowering.builder.races:
        raise WrongKind(
            symbol, expected=wanted, found=str(rhs), argument="the constant", span=lowering.builder.span
        )


def fold_literals(
    lowering: Lowering, symbol: str, fold: Callable[[Any, Any], Any], lhs: Literal, rhs: Literal
) -> Literal:
    """An operation on two literals, done by Python."""
    try:
        value = fold(lhs.value, rhs.value)
    except (ArithmeticError, ValueError, TypeError) as error:
        raise WrongKind(
            symbol,
            expected="operands that have a result",
            found=f"{lhs.value!r} {symbol} {rhs.value!r}: {error}",
            argument="the constant expression",
            span=lowering.builder.span,
        ) from None
    return Literal(value=value)


def _binary(lowering: Lowering, node: ast.expr) -> FrontValue:
    assert isinstance(node, ast.BinOp)
    lhs = lowering.expression(node.left)
    return binary(lowering, node.op, lhs, lowering.expression(node.right))


def _unary(lowering: Lowering, node: ast.expr) -> FrontValue:
    assert isinstance(node, ast.UnaryOp)
    operand = lowering.expression(node.operand)
    builder = lowering.builder
    if isinstance(node.op, ast.Not):
        condition = lowering.condition(operand, "not")
        return (
            Literal(value=not condition)
            if isinstance(condition, bool)
            else builder.pointwise("not", condition)
        )
    if isinstance(operand, Literal):
        folds: dict[type[ast.unaryop], Callable[[Any], Any]] = {
            ast.USub: operator.neg,
            ast.UAdd: operator.pos,
            ast.Invert: operator.invert,
        }
        if isinstance(node.op, ast.Invert) and isinstance(operand.value, bool):
            return Literal(value=not operand.value)
        return fold_literals(lowering, "-", lambda a, _: folds[type(node.op)](a), operand, operand)
    if isinstance(node.op, ast.UAdd):
        return builder.data(operand, "+")
    if isinstance(node.op, ast.USub):
        return builder.symbolic("neg", operand) or builder.pointwise("neg", operand, what="-")
    return builder.pointwise("invert", operand, what="~")


# -- comparisons


def compare(lowering: Lowering, op: ast.cmpop, lhs: FrontValue, rhs: FrontValue) -> FrontValue:
    """One comparison; compile-time objects are compared now."""
    if isinstance(op, ast.Is | ast.IsNot):
        known = (PyConst, DTypeRef, NoneValue, Literal)
        none = isinstance(lhs, NoneValue) or isinstance(rhs, NoneValue)
        if not none and not (isinstance(lhs, known) and isinstance(rhs, known)):
            raise UnsupportedSyntax(
                "'is' on a run-time value", fix="compare with ==", span=lowering.builder.span
            )
        same = _same_object(lhs, rhs)
        return Literal(value=same if isinstance(op, ast.Is) else not same)
    if isinstance(op, ast.In | ast.NotIn):
        return _member(lowering, op, lhs, rhs)
    fn, symbol, fold = _COMPARE[type(op)]
    if isinstance(lhs, Literal) and isinstance(rhs, Literal):
        return Literal(value=bool(fold(lhs.value, rhs.value)))
    statics = (PyConst, DTypeRef, NoneValue)
    if isinstance(lhs, statics) or isinstance(rhs, statics):
        if fn not in ("eq", "ne") or not (isinstance(lhs, statics) and isinstance(rhs, statics)):
            found = f"{lhs.describe()} and {rhs.describe()}"
            raise WrongKind(
                symbol,
                expected="two values",
                found=found,
                argument="the operands",
                span=lowering.builder.span,
            )
        return Literal(value=_same_object(lhs, rhs) == (fn == "eq"))
    difference = lowering.builder.symbolic("sub", lhs, rhs)
    if difference is not None and difference.extent.const is not None:
        return Literal(value=bool(fold(difference.extent.const, 0)))
    return lowering.builder.pointwise(fn, lhs, rhs, what=symbol)


def _same_object(lhs: FrontValue, rhs: FrontValue) -> bool:
    if isinstance(lhs, PyConst) and isinstance(rhs, PyConst):
        return type(lhs.value) is type(rhs.value) and bool(lhs.value == rhs.value)
    if isinstance(lhs, DTypeRef) and isinstance(rhs, DTypeRef):
        return lhs.dtype is rhs.dtype
    if isinstance(lhs, NoneValue) or isinstance(rhs, NoneValue):
        return isinstance(lhs, NoneValue) and isinstance(rhs, NoneValue)
    if isinstance(lhs, Literal) and isinstance(rhs, Literal):
        return type(lhs.value) is type(rhs.value) and lhs.value == rhs.value
    return lhs is rhs


def _member(lowering: Lowering, op: ast.cmpop, lhs: FrontValue, rhs: FrontValue) -> FrontValue:
    statics = (PyConst, DTypeRef, Literal)
    if not isinstance(rhs, Tuple) or not all(isinstance(i, statics) for i in (lhs, *rhs.items)):
        raise UnsupportedSyntax(
            "'in' on run-time values", fix="compare with == and combine with or", span=lowering.builder.span
        )
    inside = any(_same_object(lhs, item) for item in rhs.items)
    return Literal(value=inside == isinstance(op, ast.In))


def _compare(lowering: Lowering, node: ast.expr) -> FrontValue:
    assert isinstance(node, ast.Compare)
    lhs = lowering.expression(node.left)
    if len(node.ops) == 1:
        return compare(lowering, node.ops[0], lhs, lowering.expression(node.comparators[0]))
    result: FrontValue | None = None
    for op, comparator in zip(node.ops, node.comparators, strict=True):
        if isinstance(result, Literal) and not result.value:
            return result
        rhs = lowering.expression(comparator)
        part = compare(lowering, op, lhs, rhs)
        if result is None or isinstance(result, Literal):
            result = part
        elif not (isinstance(part, Literal) and part.value):
            result = lowering.builder.pointwise("and", result, part, what="a chained comparison")
        lhs = rhs
    assert result is not None
    return result


EXPRESSIONS: dict[type[ast.expr], Expression] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Tuple: _tuple,
    ast.Attribute: _attribute,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: lower_boolean,
    ast.IfExp: lower_choice,
    ast.Subscript: lower_subscript,
    ast.Call: lower_call,
}
