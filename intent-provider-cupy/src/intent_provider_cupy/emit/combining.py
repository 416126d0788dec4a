"""How two tuples of components become one: the builtin kinds and the author's combine regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from intent.physical import Fragment, Reduce, Region, Scan
from intent.provider.emission import Width
from intent.types import DType
from intent.types.dtypes import F32
from intent.types.span import UNKNOWN
from intent_provider_cupy.casts import cast
from intent_provider_cupy.emit.layout import Table
from intent_provider_cupy.emit.literals import c_type, type_of, typed
from intent_provider_cupy.emit.value import Prec, Value

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body

_SYMBOLS = {"sum": "+", "prod": "*"}
_WRAPPED = {"sum": "it_add", "prod": "it_mul", "max": "it_max", "min": "it_min"}


@dataclass(frozen=True, kw_only=True)
class Component:
    """One component while it is combined: ``dtype`` may be wider than the operand's."""

    value: Value
    type: str
    dtype: DType
    narrow: DType
    width: Width


@dataclass(frozen=True, kw_only=True)
class Combine:
    """Writes ``outs = lhs combined with rhs``; ``symmetric``: the order of the sides never shows in the result."""

    kind: str | None
    components: tuple[Component, ...]
    function: str = ""
    captures: tuple[str, ...] = ()

    @property
    def symmetric(self) -> bool:
        return self.kind is not None

    def write(self, lhs: Sequence[str], rhs: Sequence[str], outs: Sequence[str]) -> str:
        """One line of statements."""
        if self.function:
            return f"{self.function}({', '.join([*lhs, *rhs, *self.captures, *outs])});"
        if self.kind in ("argmax", "argmin"):
            name = f"it_before_{self.kind[3:]}"
            test = f"{name}({rhs[0]}, {rhs[1]}, {lhs[0]}, {lhs[1]})"
            return f"if ({test}) {outs[0]} = {rhs[0]}, {outs[1]} = {rhs[1]};"
        return f"{outs[0]} = {self.expression(lhs[0], rhs[0])};"

    def expression(self, a: str, b: str) -> str:
        """A builtin kind of one component as an expression of two names."""
        (component,) = self.components
        if self.kind in ("any", "all"):
            return f"{a} {'|' if self.kind == 'any' else '&'} {b}"  # no short cut around a shuffle
        plain = component.dtype.is_float or component.type in ("unsigned", "unsigned long long")
        if plain and self.kind in _SYMBOLS:
            return f"{a} {_SYMBOLS[self.kind]} {b}"
        name = _WRAPPED[self.kind or ""]
        return f"{name}({a}, {b})" if component.dtype.is_float else f"{name}<{component.type}>({a}, {b})"


def combine_of(body: Body, op: Reduce | Scan, table: Table) -> Combine:
    """The combine of an operation; the author's region becomes a function object in front of it."""
    values = [body.use(o, table) for o in op.operands]
    components = tuple(_component(op, v, o) for v, o in zip(values, op.operands, strict=True))
    if op.combine is None:
        return Combine(kind=op.kind, components=components)
    captured = [(c, body.use(c, table)) for c in op.captures]
    body.flush_keeping([v for _, v in captured])
    texts = tuple(body.text(typed(v)) for _, v in captured)
    name = body.context.namer.fresh("combine")
    _function(body, op.combine, name, components, [c for c, _ in captured], table)
    return Combine(kind=None, components=components, function=name, captures=texts)


def _component(op: Reduce | Scan, value: Value, fragment: Fragment) -> Component:
    """Narrow floats are combined as f32 and rounded once; indices that make new values need all 64 bits."""
    narrow = value.dtype
    width = value.width
    if op.kind is not None and narrow.is_float and narrow.bits < 32:
        value = cast(value, F32)
    elif fragment.dtype.kind == "index" and op.kind not in ("max", "min", "argmax", "argmin"):
        width = Width.LONG
    return Component(
        value=value, type=c_type(value.dtype, width), dtype=value.dtype, narrow=narrow, width=width
    )


def _function(
    body: Body,
    region: Region,
    name: str,
    components: Sequence[Component],
    captures: Sequence[Fragment],
    table: Table,
) -> None:
    count = len(region.yields)
    fresh = body.context.namer.fresh
    parameters, outs = [], []
    for k, argument in enumerate(region.args):
        component = components[k % count] if k < 2 * count else None
        hint = argument.name or ("a" if k < count else "b" if k < 2 * count else "held")
        text = fresh(hint)
        width = component.width if component is not None else body.context.bounds.width(argument)
        if component is None:
            source = captures[k - 2 * count]
            width = body.use(source, table).width
        value = Value(text=text, prec=Prec.ATOM, dtype=argument.dtype, width=width)
        if argument.dtype.kind == "index":
            body.context.bounds.force(argument, width)
        body.put(argument, value, body.placing.main)
        parameters.append(f"{type_of(value)} {text}")
    for component in components:
        text = fresh("out")
        outs.append(text)
        parameters.append(f"{component.type}& {text}")
    body.context.bounds.region(region)
    with body.block(
        f"auto {name} = [&]({', '.join(parameters)})", region.ops[0].span if region.ops else UNKNOWN, "};"
    ):
        body.region(region)
        body.flush_keeping([body.use(f, body.placing.main) for f in region.yields])
        for f, out in zip(region.yields, outs, strict=True):
            text = body.text(typed(body.use(f, body.placing.main)))
            body.writer.line(f"{out} = {text};")
