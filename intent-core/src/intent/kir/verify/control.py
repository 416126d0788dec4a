"""Rules of structured control: scalar conditions and bounds, carries (spec: logical-program 3, 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from intent.kir.control import For, If, While
from intent.kir.value import Value
from intent.kir.verify.rule import Facts, op_rule
from intent.types import DType, Extent
from intent.types.dtypes import BOOL, INDEX


@op_rule(For)
def for_bounds(op: For, _: Facts) -> Iterator[str]:
    """begin, end, step and the point are index scalars."""
    if any(v.dtype != INDEX or v.shape for v in (op.begin, op.end, op.step, *op.body.args[:1])):
        yield "begin, end, step and the point are index scalars"


@op_rule(For)
def for_carries(op: For, _: Facts) -> Iterator[str]:
    """The body takes the point and the carries; inits, arguments, yields and results have one schema."""
    if not op.body.args:
        yield "the body takes the point"
        return
    yield from _carried(op.inits, op.body.args[1:], op.body.yields, op.results)
    if op.parallel and op.inits:
        yield "a parallel loop carries nothing"


@op_rule(If)
def if_branches(op: If, _: Facts) -> Iterator[str]:
    """A bool scalar decides; the branches take nothing and yield the results' schema."""
    if op.condition.dtype != BOOL or op.condition.shape:
        yield "the condition is a bool scalar"
    if op.then.args or op.orelse.args:
        yield "branches take no arguments"
    if not _types(op.then.yields) == _types(op.orelse.yields) == _types(op.results):
        yield "both branches yield the results' schema"


@op_rule(While)
def while_carries(op: While, _: Facts) -> Iterator[str]:
    """Condition and body take the carries; the condition yields one bool scalar."""
    yield from _carried(op.inits, op.body.args, op.body.yields, op.results)
    if _types(op.condition.args) != _types(op.inits):
        yield "the condition takes the carries"
    if _types(op.condition.yields) != [(BOOL, ())]:
        yield "the condition yields one bool scalar"


def _carried(inits: Sequence[Value], *others: Sequence[Value]) -> Iterator[str]:
    if any(_types(values) != _types(inits) for values in others):
        yield "inits, arguments, yields and results of the carries have one schema"


def _types(values: Sequence[Value]) -> list[tuple[DType, tuple[Extent, ...]]]:
    return [(v.dtype, v.shape) for v in values]
