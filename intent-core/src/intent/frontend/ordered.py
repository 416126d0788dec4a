"""Ordered ``for`` loops over a region (spec: logical-program 4)."""

from __future__ import annotations

import ast

from intent.frontend.carries import settle
from intent.frontend.liveness import assigned
from intent.frontend.loop_bodies import bind_point, carried, leave_loop, point_of, region_of, runner
from intent.frontend.lowering import Lowering
from intent.frontend.values import FrontValue
from intent.kir import For
from intent.types.dtypes import INDEX


def lower_for(lowering: Lowering, stmt: ast.For, source: FrontValue) -> None:
    """A ``for`` that runs through: one For with its carries."""
    builder, region = lowering.builder, region_of(source)
    written = assigned(stmt.body)
    begin, end, step = (builder.index(f).value for f in (region.begin, region.end, region.step))
    run = runner(lowering, stmt, lambda: bind_point(lowering, stmt, source, point))
    point = point_of(lowering, stmt, region, builder.value(INDEX))
    carries = settle(lowering, lowering.span(stmt), carried(lowering, stmt, written), run, written)
    inits = carries.initial()
    if carries.settled:
        leave_loop(lowering, stmt, written, carries.stand_ins())
        return
    builder.open(looped=True)
    point = point_of(lowering, stmt, region, builder.argument(INDEX))
    arguments = [builder.argument(leaf.dtype, leaf.shape) for leaf in carries.types]
    yields = carries.next(run(carries.bind(iter(arguments))))
    body = builder.close(yields)
    results = builder.emit(
        For,
        *((leaf.dtype, leaf.shape) for leaf in carries.types),
        begin=begin,
        end=end,
        step=step,
        inits=inits,
        body=body,
        domain=region.id,
    )
    leave_loop(lowering, stmt, written, carries.results(iter(results)))
