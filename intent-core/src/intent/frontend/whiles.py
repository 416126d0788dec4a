"""``while`` loops, and ``for`` loops that can be left: they run while no flag is set."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from intent.frontend.carries import Carries, settle
from intent.frontend.liveness import assigned
from intent.frontend.loop_bodies import bind_point, carried, leave_loop, point_of, region_of, runner
from intent.frontend.lowering import Lowering
from intent.frontend.values import FrontValue, Literal, Tensor
from intent.kir import DomainID, Region, Value, While


def lower_while(lowering: Lowering, stmt: ast.While, until: Sequence[str]) -> None:
    """The author's ``while``; its condition is not evaluated once a flag of ``until`` is set."""

    def test() -> FrontValue:
        return lowering.condition_value(_with_flags(stmt.test, until, stmt), "while")

    _general_while(lowering, stmt, test, lambda _: None, None)


def lower_until(lowering: Lowering, stmt: ast.For, source: FrontValue, until: Sequence[str]) -> None:
    """A ``for`` that can be left: a While that carries the coordinate and the flags."""
    builder, region = lowering.builder, region_of(source)
    name = f".point{id(stmt)}"

    def test() -> FrontValue:
        point = lowering.scope.names[name]
        inside = builder.pointwise("lt", point, region.end)
        flags = any_flag(until, stmt)
        stopped = lowering.condition(lowering.expression(flags), "while")
        if isinstance(stopped, bool):
            return Literal(value=False) if stopped else inside
        return builder.pointwise("and", inside, builder.pointwise("not", stopped))

    def bind(point: Value) -> None:
        bind_point(lowering, stmt, source, point_of(lowering, stmt, region, point))

    outer = lowering.scope.names
    lowering.scope.names = {**outer, name: builder.index(region.begin)}
    _general_while(lowering, stmt, test, bind, Walk(name=name, step=region.step, domain=region.id))
    lowering.scope.names.pop(name, None)


@dataclass(frozen=True, kw_only=True)
class Walk:
    """The coordinate that a left ``for`` carries: its hidden name, its step and the domain it walks."""

    name: str
    step: FrontValue
    domain: DomainID


def _general_while(
    lowering: Lowering,
    stmt: ast.For | ast.While,
    test: Callable[[], FrontValue],
    bind: Callable[[Value], None],
    walk: Walk | None,
) -> None:
    builder, written = lowering.builder, assigned(stmt.body)
    names = [*([walk.name] if walk else []), *carried(lowering, stmt, written)]

    def before() -> None:
        if walk is not None:
            point = lowering.scope.names[walk.name]
            assert isinstance(point, Tensor)
            bind(point.value)

    step = runner(lowering, stmt, before)

    def run(bound: Mapping[str, FrontValue]) -> Mapping[str, FrontValue]:
        after = dict(step(bound))
        if walk is not None:
            after[walk.name] = builder.pointwise("add", after[walk.name], walk.step)
        return after

    def tested(bound: Mapping[str, FrontValue]) -> FrontValue:
        outer = lowering.scope.names
        lowering.scope.names = {**outer, **bound}
        try:
            return test()
        finally:
            lowering.scope.names = outer

    def trial(bound: Mapping[str, FrontValue]) -> Mapping[str, FrontValue]:
        tested(bound)
        return run(bound)

    carries = settle(lowering, lowering.span(stmt), names, trial, {n: written.get(n, stmt) for n in names})
    inits = carries.initial()
    if carries.settled:
        leave_loop(lowering, stmt, written, carries.stand_ins())
        return
    condition = _filled(lowering, carries, lambda bound: [_bool(lowering, tested(bound))])
    body = _filled(lowering, carries, lambda bound: carries.next(run(bound)))
    types = ((leaf.dtype, leaf.shape) for leaf in carries.types)
    # Whether a subregion lies inside its source is checked where it is walked, if only data decides it.
    domain = walk.domain if walk is not None and builder.bounds_of(walk.domain) else None
    results = builder.emit(While, *types, inits=inits, domain=domain, condition=condition, body=body)
    leave_loop(lowering, stmt, written, carries.results(iter(results)))


def _filled(
    lowering: Lowering, carries: Carries, fill: Callable[[Mapping[str, FrontValue]], Sequence[Value]]
) -> Region:
    builder = lowering.builder
    builder.open(looped=True, conditional=True)
    arguments = [builder.argument(leaf.dtype, leaf.shape) for leaf in carries.types]
    return builder.close(fill(carries.bind(iter(arguments))))


def _bool(lowering: Lowering, condition: FrontValue) -> Value:
    return lowering.builder.materialize(condition).value


def _with_flags(test: ast.expr, until: Sequence[str], at: ast.stmt) -> ast.expr:
    """``not (flags) and test``: the author's condition is not evaluated once a flag is set."""
    if not until:
        return test
    stopped = ast.copy_location(ast.UnaryOp(op=ast.Not(), operand=any_flag(until, at)), at)
    return ast.copy_location(ast.BoolOp(op=ast.And(), values=[stopped, test]), at)


def any_flag(until: Sequence[str], at: ast.stmt) -> ast.expr:
    """Whether one of the flags is set, as an expression."""
    names: list[ast.expr] = [ast.copy_location(ast.Name(id=f, ctx=ast.Load()), at) for f in until]
    return names[0] if len(names) == 1 else ast.copy_location(ast.BoolOp(op=ast.Or(), values=names), at)
