"""Statements: assignments, expressions and assertions; control stands in files of its own."""

from __future__ import annotations

import ast

from intent.diagnostics import NotConstexpr, UnsupportedSyntax
from intent.diagnostics.frontend_syntax import AssertionFailed
from intent.frontend.branches import lower_if
from intent.frontend.expressions import binary
from intent.frontend.loops import lower_leavable, lower_loop
from intent.frontend.lowering import Lowering, Statement
from intent.frontend.normalise import Loop
from intent.frontend.targets import bind_target, destination, store
from intent.frontend.unrolled import Bind, lower_bind
from intent.frontend.values import DTypeRef, Literal


def _expression(lowering: Lowering, stmt: ast.stmt) -> None:
    assert isinstance(stmt, ast.Expr)
    if not isinstance(stmt.value, ast.Constant):
        lowering.expression(stmt.value)


def _assign(lowering: Lowering, stmt: ast.stmt) -> None:
    assert isinstance(stmt, ast.Assign)
    hint = stmt.targets[0]
    lowering.builder.hint = hint.id if isinstance(hint, ast.Name) else ""
    value = lowering.expression(stmt.value)
    lowering.builder.hint = ""
    for target in stmt.targets:
        bind_target(lowering, target, value)


def _annotated(lowering: Lowering, stmt: ast.stmt) -> None:
    """``name: I.f32 = value``: a literal takes the dtype, anything else must have it."""
    assert isinstance(stmt, ast.AnnAssign)
    if stmt.value is None:
        raise UnsupportedSyntax(
            "a declaration without a value", fix="assign a value", span=lowering.span(stmt)
        )
    value, annotation = lowering.expression(stmt.value), lowering.expression(stmt.annotation)
    if isinstance(annotation, DTypeRef):
        value = lowering.builder.typed(value, annotation.dtype, ast.unparse(stmt.target))
    bind_target(lowering, stmt.target, value)


def _augmented(lowering: Lowering, stmt: ast.stmt) -> None:
    assert isinstance(stmt, ast.AugAssign)
    builder = lowering.builder
    if isinstance(stmt.target, ast.Name):
        old = lowering.scope.lookup(stmt.target.id, builder.span)
        new = lowering.expression(stmt.value)
        bind_target(lowering, stmt.target, binary(lowering, stmt.op, old, new))
        return
    if not isinstance(stmt.target, ast.Subscript):
        bind_target(lowering, stmt.target, lowering.expression(stmt.value))
        return
    resource, access = destination(lowering, stmt.target)
    element = builder.load(resource, access)
    store(lowering, resource, access, binary(lowering, stmt.op, element, lowering.expression(stmt.value)))


def _assert(lowering: Lowering, stmt: ast.stmt) -> None:
    """``assert`` on constants: checked when the kernel is specialised."""
    assert isinstance(stmt, ast.Assert)
    value = lowering.expression(stmt.test)
    if not isinstance(value, Literal):
        raise NotConstexpr("the condition of 'assert'", found=value.describe(), span=lowering.span(stmt.test))
    if not value.value:
        said = stmt.msg.value if isinstance(stmt.msg, ast.Constant) else None
        raise AssertionFailed(
            ast.unparse(stmt.test), said=None if said is None else str(said), span=lowering.span(stmt)
        )


def _pass(lowering: Lowering, stmt: ast.stmt) -> None:
    del lowering, stmt


STATEMENTS: dict[type[ast.stmt], Statement] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Assert: _assert,
    ast.Pass: _pass,
    ast.If: lower_if,
    ast.For: lower_loop,
    ast.While: lower_loop,
    Loop: lower_leavable,
    Bind: lower_bind,
}
