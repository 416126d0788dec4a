"""Two products of which the second one's rows are made of the first one's results: a strip of 64 rows after the other.

Groups begin all strips of the first product, each as a commit of its own. While a thread makes the rows of one strip
ready, tensor cores have the first product of the next strip, and then the second product of the strip before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from intent.physical import (
    Bitcast,
    Broadcast,
    Cast,
    Constant,
    Contract,
    Dim,
    Lane,
    LaunchValue,
    Load,
    Op,
    Pointwise,
    Reduce,
    Region,
)
from intent.physical.walk import operands_of
from intent_provider_cupy.emit import fragments, groups
from intent_provider_cupy.emit.layout import LANE_BITS
from intent_provider_cupy.emit.loops import Strip

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body

_PURE = (Pointwise, Cast, Bitcast, Broadcast, Lane, Constant, LaunchValue)


@dataclass(frozen=True, kw_only=True)
class Strips:
    """The two products, what stands between them without rows and with rows, and how many strips there are.

    ``behind``: what follows and treats each row for itself, without what the second product gives.
    """

    first: Contract
    uniform: tuple[Op, ...]
    rows: tuple[Op, ...]
    second: Contract
    behind: tuple[Op, ...]
    dim: Dim
    count: int


def strips_of(body: Body, region: Region) -> Strips | None:
    """The strips of a loop's body; None where there are none, or where something else stands between the products."""
    if not body.depth:
        return None
    live = [op for op in region.ops if body.usage.live(op) and op.id not in body.hidden]
    products = [op for op in live if isinstance(op, Contract)]
    if len(products) != 2 or any(p.id in body.flying for p in products):
        return None
    first, second = products
    one, two = (body.placing.products[p.id] for p in products)
    table = body.placing.table_of(first)
    if not (groups.grouped(one, table) and groups.grouped(two, table)):
        return None
    dim, between = one.row_dim, live[live.index(first) + 1 : live.index(second)]
    count = table.registers(dim) // 2
    staged = all(s.id in body.staged for s in (one.rows, one.columns, two.columns))
    plain = all(_plain(body, p, dim) for p in products)
    if count < 2 or dim != two.row_dim or not staged or not plain or not fragments.held(body, two):
        return None
    if not all(_by_rows(body, op, dim) for op in between):
        return None
    behind, late = [], {second.result.id}
    for op in live[live.index(second) + 1 :]:
        if late & {o.id for o in operands_of(op)} or not _by_rows(body, op, dim) or dim not in op.result.dims:
            late |= {r.id for r in op.results}
        else:
            behind.append(op)
    return Strips(
        first=first, second=second, dim=dim, count=count, behind=tuple(behind),
        uniform=tuple(op for op in between if dim not in op.result.dims),
        rows=tuple(op for op in between if dim in op.result.dims),
    )  # fmt: skip


def _plain(body: Body, op: Contract, dim: Dim) -> bool:
    """Whether the sums are the results as they are, rows first."""
    table = body.placing.table_of(op)
    return (
        op.result.dtype.name == "f32"
        and table.looped(op.result.dims)[:1] == (dim,)
        and op.result.dims[0] == dim
    )


def _by_rows(body: Body, op: Op, dim: Dim) -> bool:
    """Whether an operation treats each row for itself, within a warp."""
    if len(op.results) != 1 or isinstance(op, Load):
        return False
    table = body.placing.table_of(op)
    if (
        table is not body.placing.main
        or len(body.placing.tables_of(op)) > 1
        or body.placing.wanted(op.result)
    ):
        return False
    if isinstance(op, Reduce):
        bits = [b for d in op.dims for b in table.bits(d) if b is not None]
        return dim not in op.dims and all(b < LANE_BITS for b in bits)
    return isinstance(op, _PURE)


def write(body: Body, strips: Strips) -> None:
    """Both products and what stands between them."""
    body.strips = strips
    body.op(strips.first)
    for op in strips.uniform:
        body.op(op)
    body.flush()
    strip = body.context.namer.fresh("strip")
    at = len(body.writer.lines)
    body.writer.line(f"it_each({strip}, {strips.count}) {{")
    with body.writer.block(), _stripped(body, Strip(dim=strips.dim, first=f"2 * {strip}", count=2, at=at)):
        sums = body.loops.render(body.use(strips.first.result, body.placing.main).text).split("[")[0]
        wait = f"it_leave_groups<{strips.count - 1}>({sums}[2 * {strip}], {sums}[2 * {strip} + 1])"
        body.writer.line(f"if constexpr (it_groups) {wait};")
        for op in strips.rows:
            body.op(op)
        body.op(strips.second)
        for op in strips.behind:
            body.op(op)
        body.flush()
    body.writer.line("if constexpr (!it_groups) {")
    with body.writer.block():
        body.behind()
    body.strips = None


@contextmanager
def _stripped(body: Body, strip: Strip) -> Iterator[None]:
    body.loops.strip = strip
    yield
    body.loops.strip = None


def without(ops: Sequence[Op], strips: Strips) -> set[int]:
    """The operations that :func:`write` writes beside the first product."""
    mine = {strips.second.id, *(op.id for op in (*strips.uniform, *strips.rows, *strips.behind))}
    return {op.id for op in ops if op.id in mine}
