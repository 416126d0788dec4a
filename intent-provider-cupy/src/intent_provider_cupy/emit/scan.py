"""Ordered prefixes along one dim, bit by bit of the lane number: the later half takes the total of the earlier one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from intent.physical import Scan
from intent_provider_cupy.casts import cast
from intent_provider_cupy.emit import convert
from intent_provider_cupy.emit.combining import Combine, Component, combine_of
from intent_provider_cupy.emit.layout import LANE_BITS, Table, numbered
from intent_provider_cupy.emit.literals import typed
from intent_provider_cupy.emit.loops import Variable
from intent_provider_cupy.emit.reduce import each
from intent_provider_cupy.emit.value import Prec, Value, mention

if TYPE_CHECKING:
    from intent_provider_cupy.emit.body import Body


class _Scan:
    """State of one scan: for each lane its prefix so far, and the total of the block of lanes that it covers."""

    def __init__(self, body: Body, op: Scan) -> None:
        self.body = body
        self.op = op
        self.table: Table = body.placing.table_of(op)
        self.combine: Combine = combine_of(body, op, self.table)
        body.flush_keeping([c.value for c in self.combine.components])
        self.dims = op.results[0].dims
        self.looped = self.table.looped(self.dims)
        pairs = list(zip(op.results, self.combine.components, strict=True))
        self.prefixes = [self._declare(r.name or "prefix", c) for r, c in pairs]
        self.totals = [self._declare("total", c) for _, c in pairs]
        self.joined = 0
        """Register bits that are done: the total of a block of registers stands at its first one."""
        self.alike = 0
        """Lane bits that are done: lanes that differ in these alone have the same total."""

    def _declare(self, hint: str, component: Component) -> Variable:
        name = self.body.context.namer.fresh(hint)
        variable = self.body.loops.variable(name, component.type, self.looped)
        self.body.loops.declare(variable, self.table)
        return variable

    def run(self) -> None:
        """All bits of the dim, lowest first."""
        self._begin()
        bits = self.table.bits(self.op.dim)
        k = 0
        while k < len(bits):
            bit = bits[k]
            if bit is None:
                self._registers()
                self.joined += 1
            elif bit < LANE_BITS:
                self._lanes(bit)
                self.alike |= 1 << bit
            else:
                run = [bit]
                while k + 1 < len(bits) and (following := bits[k + 1]) is not None and following >= LANE_BITS:
                    run.append(following)
                    k += 1
                self._warps(run)
            k += 1

    def _begin(self) -> None:
        texts = [self.body.text(typed(c.value)) for c in self.combine.components]
        with each(self.body, self.looped, self.table, scope=True):
            for p, t, text in zip(self._names(self.prefixes), self._names(self.totals), texts, strict=True):
                self.body.writer.statement(f"{p} = {t} = {text};", self.op.span)

    def _names(self, variables: Sequence[Variable]) -> list[str]:
        return [self.body.loops.render(mention(v.id)) for v in variables]

    @contextmanager
    def _blocks(self, size: int) -> Iterator[None]:
        """For each block of ``size`` registers along the dim; the register counter stands at its first."""
        body, dim = self.body, self.op.dim
        if dim not in self.looped:
            with each(body, self.looped, self.table, scope=True):
                yield
            return
        counter, block = body.context.counter(dim), body.context.vector_counter(dim)
        heads = [
            f"it_each({block}, {self.table.registers(d) // size})"
            if d == dim
            else f"it_each({body.context.counter(d)}, {self.table.registers(d)})"
            for d in self.looped
        ]
        body.writer.line(f"{' '.join(heads)} {{")
        with body.writer.block():
            body.writer.line(
                f"const int {counter} = {block} * {size};" if size > 1 else f"const int {counter} = {block};"
            )
            yield

    def _extend(self, totals: Sequence[str], shift: int) -> None:
        """Put totals of earlier lanes before the prefixes of a block that begins ``shift`` registers on."""
        size = 1 << self.joined
        element = self.body.context.element_counter(self.op.dim)
        prefixes = self._names(self.prefixes)
        if size > 1 or shift:
            move = f"{shift} + " if shift else ""
            prefixes = self._at(prefixes, f"{move}{element}" if size > 1 else str(shift))
        head = f"it_each({element}, {size}) " if size > 1 else ""
        self.body.writer.line(f"{head}{self.combine.write(totals, prefixes, prefixes)}")

    def _at(self, names: Sequence[str], shift: str) -> list[str]:
        counter = self.body.context.counter(self.op.dim)
        return [n.replace(f"[{counter}]", f"[{counter} + {shift}]") for n in names]

    def _registers(self) -> None:
        """Two neighbouring blocks of registers become one."""
        step = 1 << self.joined
        with self._blocks(2 * step):
            lower = self._names(self.totals)
            upper = self._at(lower, str(step))
            early, late = (upper, lower) if self.op.reverse else (lower, upper)
            self._extend(early, 0 if self.op.reverse else step)
            self.body.writer.line(self.combine.write(early, late, lower))

    def _lanes(self, bit: int) -> None:
        """Pairs of lanes of a warp whose numbers differ in one bit."""
        lines = self.body.writer.line
        later = f"(thread & {1 << bit}) {'==' if self.op.reverse else '!='} 0"
        with self._blocks(1 << self.joined):
            totals = self._names(self.totals)
            others = [f"other_{k}" for k in range(len(totals))]
            for name, other, component in zip(totals, others, self.combine.components, strict=True):
                lines(f"const {component.type} {other} = it_shuffle_xor({name}, {1 << bit});")
            lines(f"if ({later}) {{")
            with self.body.writer.block("} else {"):
                self._extend(others, 0)
                lines(self.combine.write(others, totals, totals))
            with self.body.writer.block():
                lines(self.combine.write(totals, others, totals))

    def _warps(self, bits: Sequence[int]) -> None:
        """All warps along the dim at once, through shared memory."""
        body, table = self.body, self.table
        # Slots: everything that tells threads and blocks of registers apart, warps along the dim innermost.
        count = 1 << len(bits)
        own = sum(1 << b for b in bits)
        apart = table.mask(self.dims) & ~own & ~self.alike
        rest = [b for b in range(table.thread_bits) if apart >> b & 1]
        blocks = 1
        row: list[str] = []
        for d in reversed(self.looped):
            along = d == self.op.dim
            name = body.context.vector_counter(d) if along else body.context.counter(d)
            row.append(f"{name} * {blocks}" if blocks > 1 else name)
            blocks *= table.registers(d) >> (self.joined if along else 0)
        slot = [*row, *(f"(thread >> {b} & 1) * {blocks << i}" for i, b in enumerate(rest))]
        mine = numbered(bits, "thread", table.thread_bits)
        self._exchange(" + ".join(slot) or "0", blocks << len(rest), count, mine)

    def _exchange(self, slot: str, slots: int, count: int, mine: str) -> None:
        body, lines = self.body, self.body.writer.line
        convert.begin_exchange(body)
        offset, pieces = 0, []
        for component in self.combine.components:
            name = body.context.namer.fresh("partial")
            type_ = component.type
            lines(f"{type_}* const {name} = it_piece<{type_}>(scratch + {offset}, {slots * count});")
            offset += -(-slots * count * component.dtype.bytes // 16) * 16
            pieces.append(name)
        body.context.scratch.exchange(offset)
        warp = body.context.namer.fresh("along")
        lines(f"const int {warp} = {mine};")
        others = self.table.spare(self.dims) | self.alike
        condition = f"if ((thread & {others}) == 0) " if others else ""
        with self._blocks(1 << self.joined):
            for piece, total in zip(pieces, self._names(self.totals), strict=True):
                lines(f"{condition}it_store({piece}, ({slot}) * {count} + {warp}, {total});")
        body.barrier()
        with self._blocks(1 << self.joined):
            self._gather(pieces, slot, count, warp)
        body.context.scratch.dirty = True

    def _gather(self, pieces: Sequence[str], slot: str, count: int, warp: str) -> None:
        """Combine the totals of all warps in order, and remember what comes before this one."""
        lines = self.body.writer.line
        reverse = self.op.reverse
        totals = self._names(self.totals)
        parts = [f"part_{k}" for k in range(len(pieces))]
        before = [f"before_{k}" for k in range(len(pieces))]
        first = count - 1 if reverse else 0
        for piece, total, b, component in zip(pieces, totals, before, self.combine.components, strict=True):
            lines(f"{total} = it_load({piece}, ({slot}) * {count} + {first});")
            lines(f"{component.type} {b} = {total};")
        rank = f"{count - 1} - {warp}" if reverse else warp
        lines(f"for (int w = 1; w < {count}; ++w) {{")
        with self.body.writer.block():
            place = f"{count - 1} - w" if reverse else "w"
            for piece, part, component in zip(pieces, parts, self.combine.components, strict=True):
                lines(f"const {component.type} {part} = it_load({piece}, ({slot}) * {count} + {place});")
            lines(self.combine.write(totals, parts, totals))
            kept = ", ".join(f"{b} = {total}" for b, total in zip(before, totals, strict=True))
            lines(f"if (w < {rank}) {kept};")
        lines(f"if ({rank} > 0) {{")
        with self.body.writer.block():
            self._extend(before, 0)


def scan(body: Body, op: Scan) -> None:
    """Inclusive prefixes; from the end where ``reverse``."""
    state = _Scan(body, op)
    state.run()
    for result, component, prefix in zip(op.results, state.combine.components, state.prefixes, strict=True):
        value = Value(
            text=mention(prefix.id), prec=Prec.ATOM, dtype=component.dtype, dims=state.dims, width=component.width,
            refs=frozenset({prefix.id}),
        )  # fmt: skip
        body.define(result, cast(value, component.narrow), op.span, state.table)
