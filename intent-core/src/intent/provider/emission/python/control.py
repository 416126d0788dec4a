"""Loops and branches: carries are reassigned variables, assigned in place where nothing needs the old value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from intent.physical import Fragment, If, Loop, Region, While
from intent.provider.emission.python.body import Body
from intent.provider.emission.python.value import Value
from intent.types import Span

__all__ = ["branch", "loop", "while_loop"]


def loop(body: Body[Any], op: Loop) -> None:
    """``for i in range(begin, end, step)``."""
    bounds = body.loop_bounds(op)
    names = _carries(body, op.results, op.body.args[1:], op.inits, op.span)
    iv = op.body.args[0]
    name = body.context.namer.fresh(iv.name or "i")
    body.values[iv.id] = replace(body.variable(name, iv), refs=frozenset())
    body.writer.statement(f"for {name} in range({_range(bounds)}):", op.span)
    with body.writer.block():
        _iterate(body, op.body, op.body.args[1:], names, op.span)
    _results(body, op.results, names)


def _range(bounds: Sequence[Value]) -> str:
    begin, end, step = (b.text for b in bounds)
    if step != "1":
        return f"{begin}, {end}, {step}"
    return end if begin == "0" else f"{begin}, {end}"


def while_loop(body: Body[Any], op: While) -> None:
    """``while condition``; a condition that needs statements is evaluated before the loop and at its end."""
    names = _carries(body, op.results, op.body.args, op.inits, op.span)
    for argument, name in zip(op.condition.args, names, strict=True):
        body.values[argument.id] = body.variable(name, argument)
    before = len(body.writer.lines)
    condition = _condition(body, op)
    if len(body.writer.lines) == before:
        body.writer.statement(f"while {condition}:", op.span)
        with body.writer.block():
            _iterate(body, op.body, op.body.args, names, op.span)
    else:
        running = body.context.namer.fresh("running")
        body.writer.statement(f"{running} = {condition}", op.span)
        body.writer.statement(f"while {running}:", op.span)
        with body.writer.block():
            _iterate(body, op.body, op.body.args, names, op.span)
            body.left.update({a.id: body.usage.count[a.id] for a in op.condition.args})
            body.writer.statement(f"{running} = {_condition(body, op)}", op.span)
    _results(body, op.results, names)


def _condition(body: Body[Any], op: While) -> str:
    counts = {r.id: body.usage.count[r.id] for inner in op.condition.ops for r in inner.results}
    body.left.update(counts)
    body.region(op.condition)
    return body.typed(body.use(op.condition.yields[0])).text


def branch(body: Body[Any], op: If) -> None:
    """``if``/``else``; both sides assign the results."""
    condition = body.typed(body.use(op.condition))
    live = [i for i, r in enumerate(op.results) if body.usage.count[r.id]]
    names = {i: body.bindable(op.results[i]) or _fresh(body, op.results[i]) for i in live}
    body.writer.statement(f"if {condition.text}:", op.span)
    _side(body, op, op.then, names)
    if names or any(body.usage.live(o) for o in op.orelse.ops):
        body.writer.line("else:")
        _side(body, op, op.orelse, names)
    for i, name in names.items():
        body.values[op.results[i].id] = body.variable(name, op.results[i])


def _fresh(body: Body[Any], fragment: Fragment) -> str:
    name: str = body.context.namer.fresh(fragment.name or "t")
    return name


def _side(body: Body[Any], op: If, region: Region, names: dict[int, str]) -> None:
    with body.writer.block():
        body.region(region)
        final = []
        for i, f in enumerate(region.yields):
            value = body.use(f)
            if i in names:
                final.append((names[i], body.shaped_like(value, op.results[i])))
        _assign(body, final, op.span)


def _carries(
    body: Body[Any],
    results: Sequence[Fragment],
    args: Sequence[Fragment],
    inits: Sequence[Fragment],
    span: Span,
) -> list[str]:
    """Assign the initial values to the carry variables and give their names."""
    values = [body.use(f) for f in inits]
    names: list[str] = []
    for result, argument, init, value in zip(results, args, inits, values, strict=True):
        name = body.bindable(result)
        if name is None and body.ends_here(init) and value.text not in names:
            name = value.text  # the loop goes on with the variable of the one before it
        name = name or body.context.namer.fresh(argument.name or result.name or "carry")
        names.append(name)
        text = body.shaped_like(value, argument).text
        if text != name:
            body.writer.statement(f"{name} = {text}", span)
        body.values[argument.id] = body.variable(name, argument)
    return names


def _iterate(
    body: Body[Any], region: Region, args: Sequence[Fragment], names: Sequence[str], span: Span
) -> None:
    """The body of a loop: yields are assigned where they are computed, the others together at the end."""
    here = {r.id for op in region.ops for r in op.results}
    for f, argument, name in zip(region.yields, args, names, strict=True):
        if f.id in here and f.id not in body.binding and body.usage.count[argument.id] >= 0:
            body.binding[f.id] = name
    body.region(region)
    final = []
    for f, argument, name in zip(region.yields, args, names, strict=True):
        if body.binding.get(f.id) == name:
            del body.binding[f.id]
        value = body.shaped_like(body.use(f), argument)
        if value.text != name:
            final.append((name, value))
    _assign(body, final, span)


def _assign(body: Body[Any], final: list[tuple[str, Value]], span: Span) -> None:
    """Simultaneous assignment: one tuple assignment if a new value reads another reassigned variable."""
    targets = {name for name, _ in final}
    tangled = any(value.refs & (targets - {name}) for name, value in final)
    if tangled:
        left, right = ", ".join(n for n, _ in final), ", ".join(v.text for _, v in final)
        body.writer.statement(f"{left} = {right}", span)
        return
    for name, value in final:
        if value.text.isidentifier():
            body.writer.line(f"{name} = {value.text}")  # passes a value on: no line of the author's
        else:
            body.writer.statement(f"{name} = {value.text}", span)


def _results(body: Body[Any], results: Sequence[Fragment], names: Sequence[str]) -> None:
    for result, name in zip(results, names, strict=True):
        body.values[result.id] = body.variable(name, result)
