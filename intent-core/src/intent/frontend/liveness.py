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
        _annotate(stmt, live)
        reads, binds = _flow(stmt)
        live = reads | (live - binds)
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


def _annotate(stmt: ast.stmt, live: Names) -> None:
    """What is live after ``stmt``, on it and on the statements inside."""
    if isinstance(stmt, Loop):
        stmt.live_after = live  # type: ignore[attr-defined]
        _annotate_loop(stmt.loop, live, frozenset(stmt.until))
    elif isinstance(stmt, ast.For | ast.While):
        _annotate_loop(stmt, live, frozenset())
    elif isinstance(stmt, ast.If):
        stmt.live_after = live  # type: ignore[attr-defined]
        annotate(stmt.body, live)
        annotate(stmt.orelse, live)


def _annotate_loop(stmt: ast.For | ast.While, live: Names, flags: Names) -> None:
    """What a step reads is live at the head, because another step may follow."""
    test = _reads(stmt.test) if isinstance(stmt, ast.While) else frozenset()
    bound = _binds(stmt.target) if isinstance(stmt, ast.For) else frozenset()
    inside = _sequence(stmt.body)[0] - bound
    stmt.live_after = live  # type: ignore[union-attr]
    stmt.live_body = inside  # type: ignore[union-attr]
    stmt.live_head = live | test | flags | inside  # type: ignore[union-attr]
    annotate(stmt.body, stmt.live_head)  # type: ignore[union-attr]


def _flow(stmt: ast.stmt) -> tuple[Names, Names]:
    """Names that ``stmt`` reads before it binds them, and names that it binds on every path; computed once."""
    found: tuple[Names, Names] | None = getattr(stmt, "flow", None)
    if found is None:
        found = stmt.flow = _flow_of(stmt)  # type: ignore[attr-defined]
    return found


def _flow_of(stmt: ast.stmt) -> tuple[Names, Names]:
    nothing: Names = frozenset()
    if isinstance(stmt, Loop):
        return _flow(stmt.loop)[0] | frozenset(stmt.until), nothing
    if isinstance(stmt, ast.For):
        return _reads(stmt.iter) | (_sequence(stmt.body)[0] - _binds(stmt.target)), nothing
    if isinstance(stmt, ast.While):
        return _reads(stmt.test) | _sequence(stmt.body)[0], nothing
    if isinstance(stmt, ast.If):
        then, otherwise = _sequence(stmt.body), _sequence(stmt.orelse)
        return _reads(stmt.test) | then[0] | otherwise[0], then[1] & otherwise[1]
    if isinstance(stmt, ast.Assign):
        return _reads(stmt.value, *stmt.targets), _binds(*stmt.targets)
    if isinstance(stmt, ast.AnnAssign):
        value = () if stmt.value is None else (stmt.value,)
        return _reads(*value, stmt.target), _binds(stmt.target) if value else nothing
    if isinstance(stmt, ast.AugAssign):
        return _binds(stmt.target) | _reads(stmt.value, stmt.target), nothing
    return _reads(stmt), nothing


def _sequence(body: Sequence[ast.stmt]) -> tuple[Names, Names]:
    """:func:`_flow` of statements one after another."""
    reads: Names = frozenset()
    binds: Names = frozenset()
    for stmt in body:
        inner_reads, inner_binds = _flow(stmt)
        reads, binds = reads | (inner_reads - binds), binds | inner_binds
    return reads, binds


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
