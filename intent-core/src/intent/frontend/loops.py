"""``for`` and ``while`` (spec: logical-program 3, 4)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from intent.diagnostics import (
    BreakInParallel,
    CarryInParallel,
    NameMayBeUndefined,
    ReturnInParallel,
    UnsupportedSyntax,
    WrongKind,
)
from intent.frontend.carries import Body, Carries, settle
from intent.frontend.liveness import assigned
from intent.frontend.lowering import Lowering
from intent.frontend.normalise import Loop
from intent.frontend.targets import bind_target
from intent.frontend.values import (
    Domain,
    FrontValue,
    Literal,
    RaggedGroup,
    Tensor,
    Tuple,
    Undefined,
)
from intent.kir import For, Region, Value, While
from intent.types import Span
from intent.types.dtypes import INDEX
from intent.types.extent import dyn


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
            "'else' of a loop", fix="set a flag before break and test it", span=lowering.span(stmt.orelse[0])
        )
    if isinstance(stmt, ast.While):
        _lower_while(lowering, stmt, until)
        return
    source = lowering.expression(stmt.iter)
    lowering.builder.span = lowering.span(stmt)
    if isinstance(source, Tuple) and not _is_nest(source):
        _unrolled(lowering, stmt, source, until)
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
    if _region(regions[0]).parallel:
        _refuse_exits(lowering, exits)
        _lower_parallel(lowering, stmt, regions)
    elif until:
        _lower_until(lowering, stmt, source, until)
    else:
        _lower_for(lowering, stmt, source)


def _is_nest(source: Tuple) -> bool:
    """``I.parallel((rows, columns))``."""
    return bool(source.items) and all(isinstance(i, Domain) and i.parallel for i in source.items)


def _refuse_exits(lowering: Lowering, exits: list[ast.stmt]) -> None:
    for leave in exits:
        error = BreakInParallel if isinstance(leave, ast.Break) else ReturnInParallel
        raise error(span=lowering.span(leave))


# -- bodies


def _runner(lowering: Lowering, stmt: ast.For | ast.While, before: Callable[[], None]) -> Body:
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


def _carried(lowering: Lowering, stmt: ast.For | ast.While, written: Mapping[str, ast.stmt]) -> list[str]:
    """Names assigned in the loop that a later step, or what follows, reads, and that exist before it."""
    names, head = lowering.scope.names, _head(stmt)
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


def _head(stmt: ast.For | ast.While) -> frozenset[str]:
    head: frozenset[str] = stmt.live_head  # type: ignore[union-attr]
    return head


def _leave(
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


def _carried_out(name: str, blame: Span, use: Span) -> CarryInParallel:
    return CarryInParallel(name, span=blame, notes=[f"it is read at line {use.line}"])


# -- for


def _lower_for(lowering: Lowering, stmt: ast.For, source: FrontValue) -> None:
    builder, region = lowering.builder, _region(source)
    written = assigned(stmt.body)
    begin, end, step = (builder.index(f).value for f in (region.begin, region.end, region.step))
    run = _runner(lowering, stmt, lambda: _bind_point(lowering, stmt, source, point))
    point = _point(lowering, stmt, region, builder.value(INDEX))
    carries = settle(lowering, _carried(lowering, stmt, written), run, written)
    inits = carries.initial()
    builder.open(looped=True)
    point = _point(lowering, stmt, region, builder.argument(INDEX))
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
    _leave(lowering, stmt, written, carries.bind(iter(results)))


def _region(source: FrontValue) -> Domain:
    region = source.positions if isinstance(source, RaggedGroup) else source
    assert isinstance(region, Domain)
    return region


def _point(lowering: Lowering, stmt: ast.For, region: Domain, value: Value) -> Tensor:
    """The loop's variable with what is known of its range."""
    names = [n.id for n in ast.walk(stmt.target) if isinstance(n, ast.Name)]
    lowering.builder.name(value, names[-1] if names else "")
    lowering.builder.bounds[value.id] = (region.begin_extent, region.end_extent)
    return Tensor(value=value, extent=dyn(value.id))


def _bind_point(lowering: Lowering, stmt: ast.For, source: FrontValue, point: Tensor) -> None:
    """Bind the target: the coordinate, the mapped member, or (ordinal, coordinate)."""
    builder, region = lowering.builder, _region(source)
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
    bind_target(lowering, stmt.target, value)


def _lower_parallel(lowering: Lowering, stmt: ast.For, regions: Sequence[FrontValue]) -> None:
    """An unordered forall; a tuple of domains is a nest of them."""
    builder, written = lowering.builder, assigned(stmt.body)
    outer = lowering.scope.names
    flow = _body_reads(stmt)
    for name in written:
        if name in flow and name in outer and not isinstance(outer[name], Undefined):
            raise CarryInParallel(name, span=lowering.span(written[name]))
    bounds: list[tuple[Value, Value, Value]] = []
    points: list[Tensor] = []
    for source in regions:
        region = _region(source)
        begin, end, step = (builder.index(f).value for f in (region.begin, region.end, region.step))
        bounds.append((begin, end, step))
        builder.open(looped=True, parallel=True).forall = region.extent
        points.append(_point(lowering, stmt, region, builder.argument(INDEX)))

    def bind() -> None:
        if len(regions) == 1:
            _bind_point(lowering, stmt, regions[0], points[0])
        else:
            bind_target(lowering, stmt.target, Tuple(items=tuple(points)))

    _runner(lowering, stmt, bind)({})
    for source, (begin, end, step) in zip(reversed(regions), reversed(bounds), strict=True):
        body = builder.close()
        builder.emit(
            For, begin=begin, end=end, step=step, body=body, parallel=True, domain=_region(source).id
        )
    _leave(lowering, stmt, written, {})
    for name in written:
        if name in outer and name in stmt.live_after:  # type: ignore[attr-defined]
            blame = lowering.span(written[name])
            lowering.scope.names[name] = Undefined(name=name, error=partial(_carried_out, name, blame))


def _body_reads(stmt: ast.For) -> frozenset[str]:
    """Names that a step reads before it assigns them."""
    reads: frozenset[str] = stmt.live_body  # type: ignore[attr-defined]
    return reads


# -- while


def _lower_while(lowering: Lowering, stmt: ast.While, until: Sequence[str]) -> None:
    def test() -> FrontValue:
        return lowering.condition_value(_with_flags(stmt.test, until, stmt), "while")

    _general_while(lowering, stmt, test, lambda _: None, None)


def _lower_until(lowering: Lowering, stmt: ast.For, source: FrontValue, until: Sequence[str]) -> None:
    """A ``for`` that can be left: a While that carries the coordinate and the flags."""
    builder, region = lowering.builder, _region(source)
    name = f".point{id(stmt)}"

    def test() -> FrontValue:
        point = lowering.scope.names[name]
        inside = builder.pointwise("lt", point, region.end)
        flags = _any_flag(until, stmt)
        stopped = lowering.condition(lowering.expression(flags), "while")
        if isinstance(stopped, bool):
            return Literal(value=False) if stopped else inside
        return builder.pointwise("and", inside, builder.pointwise("not", stopped))

    def bind(point: Value) -> None:
        _bind_point(lowering, stmt, source, _point(lowering, stmt, region, point))

    outer = lowering.scope.names
    lowering.scope.names = {**outer, name: builder.index(region.begin)}
    _general_while(lowering, stmt, test, bind, Walk(name=name, step=region.step))
    lowering.scope.names.pop(name, None)


@dataclass(frozen=True, kw_only=True)
class Walk:
    """The coordinate that a left ``for`` carries: its hidden name and its step."""

    name: str
    step: FrontValue


def _general_while(
    lowering: Lowering,
    stmt: ast.For | ast.While,
    test: Callable[[], FrontValue],
    bind: Callable[[Value], None],
    walk: Walk | None,
) -> None:
    builder, written = lowering.builder, assigned(stmt.body)
    names = [*([walk.name] if walk else []), *_carried(lowering, stmt, written)]

    def before() -> None:
        if walk is not None:
            point = lowering.scope.names[walk.name]
            assert isinstance(point, Tensor)
            bind(point.value)

    step = _runner(lowering, stmt, before)

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

    carries = settle(lowering, names, trial, {n: written.get(n, stmt) for n in names})
    inits = carries.initial()
    condition = _region_of(lowering, carries, lambda bound: [_bool(lowering, tested(bound))])
    body = _region_of(lowering, carries, lambda bound: carries.next(run(bound)))
    types = ((leaf.dtype, leaf.shape) for leaf in carries.types)
    results = builder.emit(While, *types, inits=inits, condition=condition, body=body)
    _leave(lowering, stmt, written, carries.bind(iter(results)))


def _region_of(
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
    stopped = ast.copy_location(ast.UnaryOp(op=ast.Not(), operand=_any_flag(until, at)), at)
    return ast.copy_location(ast.BoolOp(op=ast.And(), values=[stopped, test]), at)


def _any_flag(until: Sequence[str], at: ast.stmt) -> ast.expr:
    names: list[ast.expr] = [ast.copy_location(ast.Name(id=f, ctx=ast.Load()), at) for f in until]
    return names[0] if len(names) == 1 else ast.copy_location(ast.BoolOp(op=ast.Or(), values=names), at)


# -- loops over tuples


def _unrolled(lowering: Lowering, stmt: ast.For, source: Tuple, until: Sequence[str]) -> None:
    """A tuple has different values at each position: the body is lowered once for each."""
    for item in source.items:
        bind: ast.stmt = _Bind(stmt.target, item)
        ast.copy_location(bind, stmt)
        body: list[ast.stmt] = [bind, *stmt.body]
        if until:
            negated = ast.copy_location(ast.UnaryOp(op=ast.Not(), operand=_any_flag(until, stmt)), stmt)
            guard = ast.copy_location(ast.If(test=negated, body=body, orelse=[]), stmt)
            guard.live_after = _head(stmt) | stmt.live_after  # type: ignore[attr-defined]
            body = [guard]
        lowering.block(body)


class _Bind(ast.stmt):
    """Binds a loop's target to one item of a tuple."""

    _fields = ()

    def __init__(self, target: ast.expr, value: FrontValue) -> None:
        super().__init__()
        self.target = target
        self.value = value


def lower_bind(lowering: Lowering, stmt: ast.stmt) -> None:
    """One item of an unrolled loop."""
    assert isinstance(stmt, _Bind)
    bind_target(lowering, stmt.target, stmt.value)


BIND = _Bind
