"""``for`` and ``while``: which kind of loop a statement is (spec: logical-program 3, 4)."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from intent.diagnostics import BreakInParallel, ReturnInParallel, UnsupportedSyntax, WrongKind
from intent.frontend.loop_bodies import region_of
from intent.frontend.lowering import Lowering
from intent.frontend.normalise import Loop
from intent.frontend.ordered import lower_for
from intent.frontend.parallel import lower_parallel
from intent.frontend.unrolled import lower_unrolled
from intent.frontend.values import Domain, RaggedGroup, Tensor, Tuple
from intent.frontend.whiles import lower_until, lower_while


def lower_loop(lowering: Lowering, stmt: ast.stmt) -> None:
    """A ``for`` or ``while`` that cannot be left early."""
    assert isinstance(stmt, ast.For | ast.While)
    _dispatch(lowering, stmt, (), [])


def lower_leavable(lowering: Lowering, stmt: ast.stmt) -> None:
    """A loop with ``break`` or ``return`` inside: it runs while none of its flags is set."""
    assert isinstance(stmt, Loop)
    _dispatch(lowering, stmt.loop, stmt.until, stmt.breaks)


def _dispatch(
    lowering: Lowering, stmt: ast.For | ast.While, until: Sequence[str], exits: list[ast.stmt]
) -> None:
    if stmt.orelse:
        raise UnsupportedSyntax(
            "'else' of a loop",
            fix="set a flag before break and test it",
            span=lowering.scope.definition.source.else_span(stmt),
        )
    if isinstance(stmt, ast.While):
        lower_while(lowering, stmt, until)
        return
    source = lowering.expression(stmt.iter)
    if isinstance(source, Tensor) and source.region is not None:
        source = source.region
    lowering.builder.span = lowering.span(stmt)
    if isinstance(source, Tuple) and not _is_nest(source):
        lower_unrolled(lowering, stmt, source, until)
        return
    regions = source.items if isinstance(source, Tuple) else (source,)
    for region in regions:
        domain = region.positions if isinstance(region, RaggedGroup) else region
        if not isinstance(domain, Domain):
            raise WrongKind(
                "for",
                expected="a domain, subregion or range",
                found=domain.describe(),
                argument=ast.unparse(stmt.iter),
                fix="write for i in I.domain(0, n), or use the whole tensor",
                span=lowering.builder.span,
            )
    if region_of(regions[0]).parallel:
        _refuse_exits(lowering, exits)
        lower_parallel(lowering, stmt, regions)
    elif until:
        lower_until(lowering, stmt, source, until)
    else:
        lower_for(lowering, stmt, source)


def _is_nest(source: Tuple) -> bool:
    """``I.parallel((rows, columns))``."""
    return bool(source.items) and all(
        isinstance(i, Domain | RaggedGroup) and region_of(i).parallel for i in source.items
    )


def _refuse_exits(lowering: Lowering, exits: list[ast.stmt]) -> None:
    for leave in exits:
        error = BreakInParallel if isinstance(leave, ast.Break) else ReturnInParallel
        raise error(span=lowering.span(leave))
