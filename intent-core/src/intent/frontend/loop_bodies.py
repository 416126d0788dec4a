"""What all loops share: running the body, which names are carried, the point and what is known of it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import partial

from intent.diagnostics import NameMayBeUndefined
from intent.frontend.carries import Body
from intent.frontend.lowering import Lowering
from intent.frontend.targets import bind_target
from intent.frontend.values import Domain, FrontValue, RaggedGroup, Tensor, Tuple, Undefined
from intent.kir import Value
from intent.types import Span
from intent.types.extent import dyn


def runner(lowering: Lowering, stmt: ast.For | ast.While, before: Callable[[], None]) -> Body:
    """Runs the body once with names bound; ``before`` binds the loop's variable."""
    outer = lowering.scope.names

    def run(bound: Mapping[str, FrontValue]) -> Mapping[str, FrontValue]:
        lowering.scope.names = {**outer, **bound}
        try:
            before()
            lowering.block(stmt.body)
            lowering.builder.span = lowering.span(stmt)
            return lowering.scope.names
        finally:
            lowering.scope.names = outer

    return run


def carried(lowering: Lowering, stmt: ast.For | ast.While, written: Mapping[str, ast.stmt]) -> list[str]:
    """Names assigned in the loop that a later step, or what follows, reads, and that exist before it."""
    names, head = lowering.scope.names, live_head(stmt)
    bound = (
        {n.id for n in ast.walk(stmt.target) if isinstance(n, ast.Name)}
        if isinstance(stmt, ast.For)
        else set()
    )
    return [
        n
        for n in written
        if n in head and n in names and n not in bound and not isinstance(names[n], Undefined)
    ]


def live_head(stmt: ast.For | ast.While) -> frozenset[str]:
    """Names that a later step, or what follows the loop, reads."""
    head: frozenset[str] = stmt.live_head  # type: ignore[union-attr]
    return head


def leave_loop(
    lowering: Lowering,
    stmt: ast.For | ast.While,
    written: Mapping[str, ast.stmt],
    after: Mapping[str, FrontValue],
) -> None:
    """Names after the loop: carried ones have their last value, others may not be defined."""
    names = dict(lowering.scope.names)
    line = lowering.span(stmt).line
    bound = (
        [n.id for n in ast.walk(stmt.target) if isinstance(n, ast.Name)] if isinstance(stmt, ast.For) else []
    )
    for name in [*written, *bound]:
        if name not in after:
            where = f"inside the loop at line {line}"
            names[name] = Undefined(name=name, error=partial(_undefined, name, where))
    names.update(after)
    lowering.scope.names = names


def _undefined(name: str, where: str, use: Span) -> NameMayBeUndefined:
    return NameMayBeUndefined(name, assigned=where, span=use)


def region_of(source: FrontValue) -> Domain:
    """The region of source coordinates that a loop runs over."""
    region = source.positions if isinstance(source, RaggedGroup) else source
    assert isinstance(region, Domain)
    return region


def point_of(lowering: Lowering, stmt: ast.For, region: Domain, value: Value) -> Tensor:
    """The loop's variable with what is known of its range."""
    names = [n.id for n in ast.walk(stmt.target) if isinstance(n, ast.Name)]
    lowering.builder.name(value, names[-1] if names else "")
    lowering.builder.bounds[value.id] = (region.begin_extent, region.end_extent)
    return Tensor(value=value, extent=dyn(value.id))


def bind_point(lowering: Lowering, stmt: ast.For, source: FrontValue, point: Tensor) -> None:
    """Bind the target of a loop over one region."""
    bind_target(lowering, stmt.target, member_of(lowering, source, point))


def member_of(lowering: Lowering, source: FrontValue, point: Tensor) -> FrontValue:
    """What a loop's variable is at a point: the coordinate, the mapped member, or (ordinal, coordinate or member)."""
    builder, region = lowering.builder, region_of(source)
    value: FrontValue = point
    if isinstance(source, RaggedGroup) and source.indices is not None:
        value = builder.index(builder.subscript(source.indices, (point,), "indices"))
    if region.enumerated:
        ordinal: FrontValue = point
        if region.begin_extent.const != 0:
            ordinal = builder.pointwise("sub", point, region.begin)
        if region.step_extent.const != 1:
            ordinal = builder.pointwise("floordiv", ordinal, region.step)
        value = Tuple(items=(ordinal, value))
    return value
