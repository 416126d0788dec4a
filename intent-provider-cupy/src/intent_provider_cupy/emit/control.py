"""Loops and branches: their conditions and bounds are the same in every thread of the block; carries are variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from intent.physical import Fragment, If, Loop, Region, While
from intent.types import Span
from intent_provider_cupy.emit import flight, histogram, pipeline, resident
from intent_provider_cupy.emit.literals import c_type, typed
from intent_provider_cupy.emit.loops import Variable
from intent_provider_cupy.emit.pipeline import Pipeline
from intent_provider_cupy.emit.value import Prec, Value, mention

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body


def loop(body: Body, op: Loop) -> None:
    """``for (i = begin; i < end; i += step)``; operands of contractions may be copied ahead."""
    main = body.placing.main
    begin, end, step = (body.use(f, main) for f in (op.begin, op.end, op.step))
    resident.keep(body, op)
    counted = histogram.begin(body, op)
    held = [k for k in range(len(op.results)) if k not in counted]
    results, inits, yields = ([group[k] for k in held] for group in (op.results, op.inits, op.body.yields))
    arguments = [op.body.args[k + 1] for k in held]
    carries = dict(zip(held, _carries(body, results, arguments, inits, op.span), strict=True))
    ahead = pipeline.pipeline_of(body, op)
    iv = op.body.args[0]
    name = body.context.namer.fresh(iv.name or "i")
    width = body.context.bounds.width(iv)
    advance = f"++{name}" if step.text == "1" else f"{name} += {step.text}"
    head = f"for ({c_type(iv.dtype, width)} {name} = {begin.text}; {name} < {end.at(Prec.SHIFT)}; {advance})"
    with _again(body, (op.body,)), body.context.scratch.stage():
        if ahead is not None:
            _begin(body, ahead, op)
            pipeline.fill_first(body, ahead, op, begin, end, step)
            for carry in ahead.flying.values():
                flight.begin(body, carries[carry])
        with body.block(head, op.span), _flying(body, ahead):
            if ahead is not None:
                pipeline.advance(body, ahead, op, name, end, step)
            body.put(iv, Value(text=name, prec=Prec.ATOM, dtype=iv.dtype, width=width), main)
            body.depth += 1
            body.region(op.body)
            body.depth -= 1
            _assign(body, yields, arguments, [*carries.values()], op.span)
            if ahead is not None:
                pipeline.turn(body, ahead)
        for carry in ahead.flying.values() if ahead is not None else ():
            flight.end(body, carries[carry])
    histogram.end(body, op, counted)


@contextmanager
def _flying(body: Body, ahead: Pipeline | None) -> Iterator[None]:
    """Around the passes of a loop."""
    before, body.flying = body.flying, ahead.flying if ahead is not None else {}
    yield
    body.flying = before


def _begin(body: Body, ahead: Pipeline, op: Loop) -> None:
    """Note what the passes find in shared memory."""
    pipeline.declare(body, ahead)
    body.hidden |= ahead.hidden
    for s in ahead.staged:
        body.staged[s.load.result.id] = (s.tile, f"{ahead.slot} * {s.tile.elements} + ")
    ends, steps = body.context.bounds.interval(op.end), body.context.bounds.interval(op.step)
    if ends is not None and steps is not None:
        body.context.bounds.require(ends.high + steps.high * ahead.stages)


def while_loop(body: Body, op: While) -> None:
    """``for (;;)`` that leaves where the condition, computed at the top, is false."""
    carries = _carries(body, op.results, op.body.args, op.inits, op.span)
    for argument, variable in zip(op.condition.args, carries, strict=True):
        _stand(body, argument, variable)
    with _again(body, (op.condition, op.body)), body.block("for (;;)", op.span):
        body.depth += 1
        body.region(op.condition)
        condition = body.use(op.condition.yields[0], body.placing.main)
        body.statement(f"if (!{condition.at(Prec.UNARY)}) break;", op.span)
        body.region(op.body)
        body.depth -= 1
        _assign(body, op.body.yields, op.body.args, carries, op.span)
    body.hazards.enter((op.condition,))  # it is asked once more than the body runs


def branch(body: Body, op: If) -> None:
    """``if``/``else``; both sides assign the results."""
    condition = body.use(op.condition, body.placing.main)
    live = [i for i, r in enumerate(op.results) if body.usage.count[r.id]]
    made = {}
    for i in live:
        result = op.results[i]
        variable, value = body.declared(result, "t", body.home(result))
        made[i] = variable
        body.put(result, value, body.home(result))
    body.flush()
    before, dirty = body.hazards.snapshot(), body.context.scratch.dirty
    with body.block(f"if ({condition.text})", op.span, end=""):
        _side(body, op, op.then, made)
    if body.writer.lines[-1] == "":
        body.writer.lines.pop()
    after, dirtied = body.hazards.snapshot(), body.context.scratch.dirty
    body.hazards.restore(before)
    body.context.scratch.dirty = dirty
    if made or any(body.usage.live(o) for o in op.orelse.ops):
        body.writer.line("} else {")
        with body.writer.block():
            _side(body, op, op.orelse, made)
    else:
        body.writer.line("}")
    body.hazards.merge(after)
    body.context.scratch.dirty |= dirtied


def _side(body: Body, op: If, region: Region, made: dict[int, Variable]) -> None:
    body.region(region)
    for i, variable in made.items():
        home = body.home(op.results[i])
        text = typed(body.use(region.yields[i], home)).text
        body.loops.act(f"{mention(variable.id)} = {text};", home, variable.dims, op.span)
    body.flush()


@contextmanager
def _again(body: Body, regions: Sequence[Region]) -> Iterator[None]:
    """Around a loop: what a pass does may come before what the next one does, and there may be none."""
    body.flush()
    before = body.hazards.snapshot()
    body.hazards.enter(regions)
    body.context.scratch.dirty = True
    yield
    body.context.scratch.dirty = True
    body.hazards.merge(before)


def _carries(
    body: Body, results: Sequence[Fragment], args: Sequence[Fragment], inits: Sequence[Fragment], span: Span
) -> list[Variable]:
    """Declare the carries with their initial values; they stand for the arguments and, afterwards, the results."""
    made = []
    for result, argument, init in zip(results, args, inits, strict=True):
        home = body.home(argument)
        variable, _ = body.declared(argument, result.name or "carry", home)
        text = typed(body.use(init, home)).text
        body.loops.act(f"{mention(variable.id)} = {text};", home, variable.dims, span)
        made.append(variable)
        body.carries.add(variable.id)
    for result, argument, variable in zip(results, args, made, strict=True):
        _stand(body, argument, variable)
        _stand(body, result, variable)
    return made


def _stand(body: Body, fragment: Fragment, variable: Variable) -> None:
    """Let the variable stand for a fragment."""
    value = Value(
        text=mention(variable.id), prec=Prec.ATOM, dtype=fragment.dtype, dims=fragment.dims,
        width=body.context.bounds.width(fragment), refs=frozenset({variable.id}),
    )  # fmt: skip
    body.put(fragment, value, body.home(fragment))


def _assign(
    body: Body, yields: Sequence[Fragment], args: Sequence[Fragment], carries: Sequence[Variable], span: Span
) -> None:
    """The carries' next values, all from their old ones."""
    values = [body.use(f, body.home(a)) for f, a in zip(yields, args, strict=True)]
    own = {v.id for v in carries}
    for k, (value, variable, argument) in enumerate(zip(values, carries, args, strict=True)):
        if value.refs & (own - {variable.id}):  # reads another carry, which may be assigned first
            values[k] = body.named(value, f"next_{argument.name or 'carry'}", span, body.home(argument))
    body.flush_keeping(values)
    for value, variable, argument in zip(values, carries, args, strict=True):
        text = typed(value).text
        if text != mention(variable.id):
            body.loops.act(f"{mention(variable.id)} = {text};", body.home(argument), variable.dims, span)
    body.flush()
