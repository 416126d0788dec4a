"""Unordered parallel loops (spec: logical-program 3)."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial

from intent.diagnostics import CarryInParallel
from intent.frontend.conflicts import refuse_conflicts
from intent.frontend.liveness import assigned
from intent.frontend.loop_bodies import leave_loop, member_of, point_of, region_of, runner
from intent.frontend.lowering import Lowering
from intent.frontend.targets import bind_target
from intent.frontend.values import FrontValue, Tensor, Tuple, Undefined
from intent.kir import For, Value
from intent.types import Span
from intent.types.dtypes import INDEX


def lower_parallel(lowering: Lowering, stmt: ast.For, regions: Sequence[FrontValue]) -> None:
    """An unordered forall; a tuple of domains is a nest of them."""
    builder, written = lowering.builder, assigned(stmt.body)
    outer = lowering.scope.names
    flow = _body_reads(stmt)
    for name in written:
        if name in flow and name in outer and not isinstance(outer[name], Undefined):
            raise CarryInParallel(name, span=lowering.span(written[name]))
    bounds: list[tuple[Value, Value, Value]] = []
    points: list[Tensor] = []
    for source, name in zip(regions, _names(stmt.target, len(regions)), strict=True):
        region = region_of(source)
        begin, end, step = (builder.index(f).value for f in (region.begin, region.end, region.step))
        bounds.append((begin, end, step))
        builder.open(looped=True, parallel=True)
        points.append(point_of(lowering, stmt, region, builder.argument(INDEX, name=name)))

    def bind() -> None:
        found = [member_of(lowering, s, p) for s, p in zip(regions, points, strict=True)]
        bind_target(lowering, stmt.target, found[0] if len(found) == 1 else Tuple(items=tuple(found)))

    runner(lowering, stmt, bind)({})
    for source, (begin, end, step) in zip(reversed(regions), reversed(bounds), strict=True):
        body, region = builder.close(), region_of(source)
        builder.emit(For, begin=begin, end=end, step=step, body=body, parallel=True, domain=region.id)
        loop = builder.frames[-1].ops[-1]
        assert isinstance(loop, For)
        refuse_conflicts(builder, loop, region.extent)
    leave_loop(lowering, stmt, written, {})
    for name in written:
        if name in outer and name in stmt.live_after:  # type: ignore[attr-defined]
            blame = lowering.span(written[name])
            lowering.scope.names[name] = Undefined(name=name, error=partial(_carried_out, name, blame))


def _names(target: ast.expr, count: int) -> list[str]:
    """The author's name of each loop of a nest; one loop is named after its target elsewhere."""
    parts = target.elts if isinstance(target, ast.Tuple) and len(target.elts) == count > 1 else []
    return [p.id if isinstance(p, ast.Name) else "" for p in parts] or [""] * count


def _body_reads(stmt: ast.For) -> frozenset[str]:
    """Names that a step reads before it assigns them."""
    reads: frozenset[str] = stmt.live_body  # type: ignore[attr-defined]
    return reads


def _carried_out(name: str, blame: Span, use: Span) -> CarryInParallel:
    return CarryInParallel(name, span=blame, notes=[f"it is read at line {use.line}"])
