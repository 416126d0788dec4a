"""Walks a region and writes its operations as C++ statements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from intent.diagnostics import CapabilityError
from intent.physical import (
    Argument,
    Atomic,
    Bitcast,
    Broadcast,
    BufferAlloc,
    Cast,
    Constant,
    Contract,
    Dim,
    Fence,
    Fragment,
    Histogram,
    If,
    Lane,
    LaunchValue,
    Load,
    Loop,
    Op,
    Pointwise,
    Reduce,
    Region,
    Rename,
    Scan,
    Store,
    While,
)  # fmt: skip
from intent.physical.walk import operands_of, regions_of
from intent.provider.emission import Usage, Width
from intent.types import Span
from intent.types.dtypes import INDEX
from intent_provider_cupy.casts import cast
from intent_provider_cupy.emit import (
    access,
    atomics,
    buffers,
    contract,
    control,
    convert,
    histogram,
    kept,
    pointwise,
    reduce,
    scan,
    strips,
)
from intent_provider_cupy.emit.context import Context, Run
from intent_provider_cupy.emit.hazards import Hazards
from intent_provider_cupy.emit.layout import Table
from intent_provider_cupy.emit.literals import c_type, literal, type_of, typed
from intent_provider_cupy.emit.loops import Loops, Variable
from intent_provider_cupy.emit.placing import Placing
from intent_provider_cupy.emit.tile import Tile
from intent_provider_cupy.emit.value import Prec, Value, mention
from intent_provider_cupy.emit.writer import Writer
from intent_provider_cupy.spelling import PROVIDER

INLINE_LIMIT = 64
"""Longest expression, in characters, that is written inside another one."""


class Body:
    """Writes the region tree of one segment. Values are kept per fragment and table."""

    def __init__(self, context: Context, writer: Writer, usage: Usage, placing: Placing) -> None:
        self.context = context
        self.writer = writer
        self.usage = usage
        self.placing = placing
        self.values: dict[tuple[int, int], Value] = {}
        self.left = dict(usage.count)
        self.loops = Loops(writer, self._alive, context.counter)
        self.hazards = Hazards(self)
        self.preamble: list[str] = []
        self.hidden: set[int] = set()
        """Operations that are written elsewhere: what a pipeline copies ahead."""
        self.staged: dict[int, tuple[Tile, str]] = {}
        """Operands that stand in a tile: the tile, and the text ("... + ") of where among its copies, or ""."""
        self.flying: dict[int, int] = {}
        """Contractions of the loop at hand that are still under way in its next pass, with their carries' numbers."""
        self.strips: strips.Strips | None = None
        """The two products that are being written strip by strip."""
        self.behind: Callable[[], None] = lambda: None
        """What writes the second of them where there are no groups."""
        self.arrivals: dict[int, str] = {}
        """Results that groups are still at, with the statement that waits for them."""
        self.copies: dict[int, Callable[[], None]] = {}
        """What writes the copies of a pipeline, by the contraction that they may stand beside."""
        self.divisors: Mapping[int, str] = {}
        """Divisors of the operations at hand that have reciprocals, by their values."""
        self.rows: dict[int, kept.Row] = {}
        """Loads whose rows stay in shared memory between walks."""
        self.counters: dict[int, histogram.Counters] = {}
        """Where histograms count that a loop keeps from pass to pass."""
        self.carries: set[int] = set()
        """Variables of loop carries, which statements may change where nobody needs the old value."""
        self.depth = 0
        """Loops around what is being written."""
        self.buffers: dict[int, str] = {}
        """Pointers to the buffers in shared memory."""
        self.runs: dict[str, Run] = {}
        """The constants that say how many neighbouring lanes a thread holds, by name."""
        self._name_runs()
        self._bases: dict[tuple[int, Dim], str] = {}
        self._functions: dict[tuple[int, Dim], str] = {}

    def _name_runs(self) -> None:
        names: dict[int, dict[Dim, str]] = {}
        for index, dims in self.placing.movable.items():
            for dim in dims:
                name = names.setdefault(index, {})[dim] = self.context.namer.fresh(f"{dim.name}_run")
                self.runs[name] = Run(length=self.placing.tables[index].movable(dim))
        self.placing.name_runs(names)

    def prologue(self) -> list[str]:
        """What stands before the statements of the segment."""
        used = [name for name in self.runs if any(name in line for line in self.preamble)]
        return [*(self.runs[name].line(name) for name in used), *self.preamble]

    # ------------------------------------------------------------------------------------------------- reading

    def use(self, fragment: Fragment, table: Table) -> Value:
        """The value of an operand in a table."""
        return self.values[fragment.id, table.index if fragment.dims else 0]

    def home(self, fragment: Fragment) -> Table:
        """The table in which the fragment is computed."""
        return self.placing.home(fragment)

    def text(self, value: Value) -> str:
        """The text of a value now that all loops are closed."""
        return self.loops.render(value.text)

    def coordinate(self, dim: Dim, table: Table) -> Value:
        """The lane number along a dim."""
        base = self._base(dim, table)
        counter = self.context.counter(dim)
        registers = table.register_part(dim, counter)
        if " + " in registers:
            text = f"{self._function(dim, table, base)}({counter})"
            return Value(text=text, prec=Prec.ATOM, dtype=INDEX, dims=(dim,), width=Width.SMALL)
        text = " + ".join(part for part in (base, registers) if part) or "0"
        prec = Prec.SUM if " + " in text else Prec.PRODUCT if " * " in text else Prec.ATOM
        return Value(text=text, prec=prec, dtype=INDEX, dims=(dim,), width=Width.SMALL)

    def _function(self, dim: Dim, table: Table, base: str) -> str:
        """The name of the function from the register counter to the lane number."""
        key = (table.index, dim)
        if key not in self._functions:
            name = self.context.namer.fresh(f"{dim.name}_at")
            terms = [part for part in (base, table.register_part(dim, "r")) if part]
            self.preamble.append(f"const auto {name} = [=](int r) {{ return {' + '.join(terms)}; }};")
            self._functions[key] = name
        return self._functions[key]

    def _base(self, dim: Dim, table: Table) -> str:
        key = (table.index, dim)
        if key not in self._bases:
            part = table.thread_part(dim, "thread")
            if part and part != "thread":
                name = self.context.namer.fresh(f"{dim.name}_t")
                self.preamble.append(f"const int {name} = {_bare(part)};")
                part = name
            self._bases[key] = part
        return self._bases[key]

    # ------------------------------------------------------------------------------------------------- writing

    def flush(self) -> None:
        """Close all open loops."""
        self.loops.flush()

    def flush_keeping(self, values: Iterable[Value]) -> None:
        """Close all open loops; what the values read is needed afterwards."""
        self.loops.flush(frozenset().union(*(v.refs for v in values)))

    def statement(self, text: str, span: Span) -> None:
        """A statement of the whole instance, after everything before it."""
        self.loops.flush(self.loops.mentioned(text))
        self.writer.statement(self.loops.render(text), span)

    @contextmanager
    def block(self, head: str, span: Span, end: str = "}") -> Iterator[None]:
        """A block of statements behind ``head``."""
        self.statement(f"{head} {{", span)
        with self.writer.block(end):
            yield
            self.flush()

    def copies_of(self, op: Contract) -> None:
        """Write the copies that wait for this contraction, if there are any."""
        if (write := self.copies.pop(op.id, None)) is not None:
            write()

    def arrive(self, op: Op | None = None) -> None:
        """Wait for the results that an operation reads; for all before one with regions of its own, and without one."""
        read = (
            {o.id for o in operands_of(op)}
            if op is not None and not any(True for _ in regions_of(op))
            else None
        )
        for result in list(self.arrivals):
            if read is None or result in read:
                self.flush()
                self.writer.line(self.arrivals.pop(result))

    def barrier(self) -> None:
        """All threads of the block wait for one another, and see what each has written."""
        self.flush()
        self.hazards.clear()
        self.context.scratch.dirty = False
        if self.context.threads > 1:
            self.writer.line("__syncthreads();")

    def warp_barrier(self) -> None:
        """The threads of each warp wait for one another, and see what each has written."""
        self.flush()
        if self.context.threads > 1:
            self.writer.line("__syncwarp();")

    def define(
        self,
        fragment: Fragment,
        value: Value,
        span: Span,
        table: Table,
        *,
        statement: bool = False,
        hint: str = "",
    ) -> None:
        """Let ``value`` stand for ``fragment``: inline where it is used once nearby, else under a name."""
        if not self.usage.count[fragment.id]:
            return
        simple = value.literal or (value.text.isidentifier() and not value.refs)
        named = self.context.namer.free(fragment.name)
        short = len(value.text) <= INLINE_LIMIT and not named
        if not statement and (simple or (short and self.usage.stays(fragment.id))):
            self.put(fragment, value, table)
            return
        fallback = "mask" if fragment.dtype.kind == "bool" else "t"
        self.put(fragment, self.named(value, fragment.name or hint or fallback, span, table), table)

    def put(self, fragment: Fragment, value: Value, table: Table) -> None:
        """Let ``value`` stand for ``fragment`` in a table as it is."""
        self.values[fragment.id, table.index if fragment.dims else 0] = value

    def named(self, value: Value, hint: str, span: Span, table: Table) -> Value:
        """``value`` under a new name."""
        dims = table.looped(value.dims)
        variable = self.loops.variable(self.context.namer.fresh(hint), type_of(value), dims)
        self.loops.define(variable, typed(value).text, table, value.refs, span)
        return self.mentioned(variable, value)

    def mentioned(self, variable: Variable, like: Value) -> Value:
        """The variable as a value."""
        refs = frozenset({variable.id})
        return replace(like, text=mention(variable.id), prec=Prec.ATOM, literal=False, refs=refs)

    def declared(self, fragment: Fragment, hint: str, table: Table) -> tuple[Variable, Value]:
        """A variable for the whole fragment, declared here and assigned later."""
        self.flush()
        width = self.context.bounds.width(fragment)
        name = self.context.namer.fresh(fragment.name or hint)
        variable = self.loops.variable(name, c_type(fragment.dtype, width), table.looped(fragment.dims))
        self.loops.declare(variable, table)
        value = Value(text="", prec=Prec.ATOM, dtype=fragment.dtype, dims=fragment.dims, width=width)
        return variable, self.mentioned(variable, value)

    def _alive(self) -> set[int]:
        return {ref for (f, _), v in self.values.items() if self.left.get(f, 0) > 0 for ref in v.refs}

    # ---------------------------------------------------------------------------------------------- operations

    def region(self, region: Region) -> None:
        """Write the live operations of the region in order."""
        before = dict(self.staged)
        with self.context.scratch.stage():
            kept.find(self, region)
            both = strips.strips_of(self, region)
            written = strips.without(region.ops, both) if both is not None else set()
            for op in region.ops:
                if self.usage.live(op) and op.id not in self.hidden | written:
                    self.arrive(op)
                    if both is not None and op is both.first:
                        strips.write(self, both)
                    else:
                        self.op(op)
            self.arrive()
        self.staged = before

    def op(self, op: Op) -> None:
        """Write one operation in every table in which its result is wanted."""
        if isinstance(op, Constant | LaunchValue | Argument):
            self._leaf(op)
        elif isinstance(op, Lane | Pointwise | Cast | Bitcast | Broadcast | Rename):
            for table in self.placing.tables_of(op):
                self._simple(op, table)
        elif isinstance(op, BufferAlloc):
            buffers.allocate(self, op)
        elif isinstance(op, Fence):
            self.hazards.fence(op)
        elif (write := _WRITERS.get(type(op))) is not None:
            write(self, op)
        else:
            raise CapabilityError(
                PROVIDER, capability=type(op).__name__, needed=type(op).__name__, span=op.span
            )
        for result in op.results:
            convert.spread(self, result, op)
        for operand in operands_of(op):  # only now: loops closed while writing the operation must keep them
            self.left[operand.id] -= 1

    def _leaf(self, op: Constant | LaunchValue | Argument) -> None:
        """Scalars without operands."""
        if isinstance(op, Constant):
            value = literal(op.value, op.result.dtype)
        elif isinstance(op, LaunchValue):
            value = self.context.extents.write(op.extent)
        else:
            param = self.context.scalars[op.parameter]
            width = Width.INDEX if param.dtype.kind == "index" else Width.LONG
            name = self.context.signature.scalar(param)
            value = Value(text=name, prec=Prec.ATOM, dtype=param.dtype, width=width)
        self.define(op.result, value, op.span, self.placing.main)

    def _simple(self, op: Lane | Pointwise | Cast | Bitcast | Broadcast | Rename, table: Table) -> None:
        if isinstance(op, Lane):
            value = self.coordinate(op.dim, table)
            self.put(op.result, value, table)
            return
        if isinstance(op, Pointwise):
            pointwise.pointwise(self, op, table)
            return
        if isinstance(op, Rename):
            convert.rename(self, op, table)
            return
        value = self.use(op.value, table)
        if isinstance(op, Cast):
            value = cast(value, op.result.dtype)
        elif isinstance(op, Bitcast):
            text = f"it_bits<{c_type(op.result.dtype)}>({typed(value).text})"
            value = replace(value, text=text, prec=Prec.ATOM, dtype=op.result.dtype, literal=False)
        self.define(op.result, value, op.span, table)


def _bare(text: str) -> str:
    """``text`` without parentheses around the whole."""
    return text[1:-1] if text.startswith("(") and text.endswith(")") and text.count("(") == 1 else text


_WRITERS: dict[type[Op], Callable[[Body, Any], None]] = {
    Load: access.load,
    Store: access.store,
    Atomic: atomics.atomic,
    Reduce: reduce.reduce,
    Scan: scan.scan,
    Contract: contract.contract,
    Histogram: histogram.histogram,
    Loop: control.loop,
    If: control.branch,
    While: control.while_loop,
}
"""Operations that have a file of their own."""
