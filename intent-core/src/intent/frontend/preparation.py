"""Preparing a function body: drop branches that constants decide, normalise exits, annotate liveness."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from intent.diagnostics import IntentError
from intent.frontend.liveness import annotate, assigned
from intent.frontend.normalise import RESULT, Normaliser
from intent.frontend.values import DTypeRef, FrontValue, IntrinsicRef, Literal, NoneValue, PyConst
from intent.language.definitions import Definition

if TYPE_CHECKING:
    from intent.frontend.lowering import Lowering

_STATIC = (Literal, PyConst, DTypeRef, NoneValue, IntrinsicRef)
_STATIC_NODES = (
    ast.Name,
    ast.Constant,
    ast.Attribute,
    ast.Compare,
    ast.BoolOp,
    ast.UnaryOp,
    ast.BinOp,
    ast.Load,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
    ast.Tuple,
)


class Preparation:
    """Prepared bodies, one per definition and per outcome of its constant conditions."""

    def __init__(self, lowering: Lowering) -> None:
        self._lowering = lowering
        self._prepared: dict[tuple[int, tuple[bool | None, ...]], list[ast.stmt]] = {}

    def body(self, definition: Definition[...], names: Mapping[str, FrontValue]) -> list[ast.stmt]:
        """The statements to lower; the lowering's scope is already that of the definition."""
        tree = definition.source.tree
        changing = frozenset(assigned(tree.body))
        outcomes: list[bool | None] = []
        pruned = self._prune(tree.body, names, changing, outcomes)
        key = id(definition), tuple(outcomes)
        found = self._prepared.get(key)
        if found is None:
            found = self._prepared[key] = Normaliser().function(pruned)
            annotate(found, frozenset((RESULT,)))
        return found

    def _prune(
        self,
        body: Sequence[ast.stmt],
        names: Mapping[str, FrontValue],
        changing: frozenset[str],
        outcomes: list[bool | None],
    ) -> list[ast.stmt]:
        """The statements without branches that constants rule out; nodes are copied where they change."""
        out: list[ast.stmt] = []
        for stmt in body:
            if isinstance(stmt, ast.If):
                decided = self._decide(stmt.test, names, changing)
                outcomes.append(decided)
                if decided is not None:
                    out.extend(self._prune(stmt.body if decided else stmt.orelse, names, changing, outcomes))
                    continue
                then = self._prune(stmt.body, names, changing, outcomes)
                orelse = self._prune(stmt.orelse, names, changing, outcomes)
                out.append(ast.copy_location(ast.If(test=stmt.test, body=then, orelse=orelse), stmt))
            elif isinstance(stmt, ast.For):
                inner = self._prune(stmt.body, names, changing, outcomes)
                loop = ast.For(target=stmt.target, iter=stmt.iter, body=inner, orelse=stmt.orelse)
                out.append(ast.copy_location(loop, stmt))
            elif isinstance(stmt, ast.While):
                inner = self._prune(stmt.body, names, changing, outcomes)
                out.append(ast.copy_location(ast.While(test=stmt.test, body=inner, orelse=stmt.orelse), stmt))
            else:
                out.append(stmt)
        return out

    def _decide(
        self, test: ast.expr, names: Mapping[str, FrontValue], changing: frozenset[str]
    ) -> bool | None:
        """The truth of a condition made of constants only, else None."""
        for node in ast.walk(test):
            if not isinstance(node, _STATIC_NODES):
                return None
            if isinstance(node, ast.Name) and (node.id in changing or not self._static(node.id, names)):
                return None
        try:
            value = self._lowering.expression(test)
        except IntentError:
            return None
        return bool(value.value) if isinstance(value, Literal) else None

    def _static(self, name: str, names: Mapping[str, FrontValue]) -> bool:
        return isinstance(names[name], _STATIC) if name in names else True
