"""Which names are still needed: backward over normalised syntax.

Annotates loops and branches: ``live_after`` (names read later) on each ``if``, ``for``, ``while`` and ``Loop``, and
``live_head`` (names read by a later step or afterwards) and ``live_body`` (names a step reads before it assigns them)
on loops. A carry or merge is made only for names in them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from intent.frontend.normalise import Loop

Names = frozenset[str]


def annotate(body: Sequence[ast.stmt], live: Names = frozenset()) -> Names:
    """Annotate the statements; ``live`` is what is read after them. Returns what is read by them or after them."""
    for stmt in reversed(body):
        live = _statement(stmt, live)
    return live


def assigned(body: Sequence[ast.stmt]) -> dict[str, ast.stmt]:
    """Names that the statements may bind, each with the last statement that does."""
    found: dict[str, ast.stmt] = {}
    for stmt in body:
        for node in ast.walk(stmt):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found[node.id] = _owner(stmt, node)
    return found


def _owner(stmt: ast.stmt, name: ast.Name) -> ast.stmt:
    """The innermost statement that binds ``name``."""
    for node in ast.iter_child_nodes(stmt):
        if isinstance(node, ast.stmt) and any(n is name for n in ast.walk(node)):
            return _owner(node, name)
    return stmt


def _statement(stmt: ast.stmt, live: Names) -> Names:
    if isinstance(stmt, Loop):
        stmt.live_after = live  # type: ignore[attr-defined]
        head = _statement_loop(stmt.loop, live, frozenset(stmt.until))
        stmt.live_head = stmt.loop.live_head  # type: ignore[attr-defined, union-attr]
        return head | frozenset(stmt.until)
    if isinstance(stmt, ast.For | ast.While):
        return _statement_loop(stmt, live, frozenset())
    if isinstance(stmt, ast.If):
        stmt.live_after = live  # type: ignore[attr-defined]
        return annotate(stmt.body, live) | annotate(stmt.orelse, live) | _reads(stmt.test)
    if isinstance(stmt, ast.Assign):
        return (live - _binds(*stmt.targets)) | _reads(stmt.value, *stmt.targets)
    if isinstance(stmt, ast.AnnAssign):
        if stmt.value is None:
            return live
        return (live - _binds(stmt.target)) | _reads(stmt.value, stmt.target)
    if isinstance(stmt, ast.AugAssign):
        return live | _binds(stmt.target) | _reads(stmt.value, stmt.target)
    return live | _reads(stmt)


def _statement_loop(stmt: ast.For | ast.While, live: Names, flags: Names) -> Names:
    stmt.live_after = live  # type: ignore[union-attr]
    test = _reads(stmt.test) if isinstance(stmt, ast.While) else frozenset()
    bound = _binds(stmt.target) if isinstance(stmt, ast.For) else frozenset()
    head = live | test | flags
    while True:
        grown = head | (annotate(stmt.body, head) - bound)
        if grown == head:
            break
        head = grown
    stmt.live_head = head  # type: ignore[union-attr]
    # What a step reads of the names around it, whatever follows the loop.
    stmt.live_body = annotate(stmt.body, flags | test) - bound  # type: ignore[union-attr]
    annotate(stmt.body, head)
    return head | (_reads(stmt.iter) if isinstance(stmt, ast.For) else frozenset())


def _reads(*nodes: ast.AST) -> Names:
    return frozenset(
        n.id
        for node in nodes
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    )


def _binds(*targets: ast.expr) -> Names:
    return frozenset(
        n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    )
