"""Ordered prefixes along one dim, bit by bit of the lane number: the later half takes the total of the earlier one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from intent.physical import Scan
from intent_provider_cupy.casts import cast
from intent_provider_cupy.emit import convert
from intent_provider_cupy.emit.combining import Combine, Component, combine_of
from intent_provider_cupy.emit.layout import LANE_BITS, Table
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

    def _declare(self, hint: str, component: Component) -> Variable:
        name = self.body.context.namer.fresh(hint)
        variable = self.body.loops.variable(name, component.type, self.looped)
        self.body.loops.declare(variable, self.table)
        return variable

    def run(self) -> None:
        """All bits of the dim, lowest first."""
        self._begin()
        register = 0
        bits = self.table.bits(self.op.dim)
        k = 0
        while k < len(bits):
            bit = bits[k]
            if bit is None:
                self._registers(register)
                register += 1
            elif bit < LANE_BITS:
                self._lanes(bit)
            else:
                run = [bit]
                while k + 1 < len(bits) and (following := bits[k + 1]) is not None and following >= LANE_BITS:
                    run.append(following)
                    k += 1
                self._warps(run)
            k += 1

    def _begin(self) -> None:
        texts = [self.body.text(typed(c.value)) for c in self.combine.components]
        with self._each():
            for p, t, text in zip(self._names(self.prefixes), self._names(self.totals), texts, strict=True):
                self.body.writer.statement(f"{p} = {t} = {text};", self.op.span)

    def _names(self, variables: Sequence[Variable]) -> list[str]:
        return [self.body.loops.render(mention(v.id)) for v in variables]

    def _each(self) -> AbstractContextManager[None]:
        return each(self.body, self.looped, self.table, scope=True)

    def _registers(self, index: int) -> None:
        """Pairs of registers whose numbers differ in one bit."""
        counter = self.body.context.counter(self.op.dim)
        step = 1 << index
        prefixes, totals = self._names(self.prefixes), self._names(self.totals)

        def at(names: Sequence[str], place: str) -> list[str]:
            return [n.replace(f"[{counter}]", f"[{place}]") for n in names]

        lower, upper = counter, f"{counter} + {step}"
        early, late = (upper, lower) if self.op.reverse else (lower, upper)
        with self._each():
            self.body.writer.line(f"if ({counter} & {step}) continue;")
            write = self.combine.write
            self.body.writer.line(write(at(totals, early), at(prefixes, late), at(prefixes, late)))
            self.body.writer.line(write(at(totals, early), at(totals, late), at(totals, early)))
            for name in totals:
                (target,), (source,) = at([name], late), at([name], early)
                self.body.writer.line(f"{target} = {source};")

    def _lanes(self, bit: int) -> None:
        """Pairs of lanes of a warp whose numbers differ in one bit."""
        lines = self.body.writer.line
        later = f"(thread & {1 << bit}) {'==' if self.op.reverse else '!='} 0"
        prefixes, totals = self._names(self.prefixes), self._names(self.totals)
        with self._each():
            others = [f"other_{k}" for k in range(len(totals))]
            for name, other, component in zip(totals, others, self.combine.components, strict=True):
                lines(f"const {component.type} {other} = it_shuffle_xor({name}, {1 << bit});")
            lines(f"if ({later}) {{")
            with self.body.writer.block("} else {"):
                lines(self.combine.write(others, prefixes, prefixes))
                lines(self.combine.write(others, totals, totals))
            with self.body.writer.block():
                lines(self.combine.write(totals, others, totals))

    def _warps(self, bits: Sequence[int]) -> None:
        """All warps along the dim at once, through shared memory."""
        body, table = self.body, self.table
        # Slots: everything that tells threads and registers apart, warps along the dim innermost.
        count = 1 << len(bits)
        own = sum(1 << b for b in bits)
        rest = [b for b in range(table.thread_bits) if not own >> b & 1 and table.mask(self.dims) >> b & 1]
        registers = 1
        row: list[str] = []
        for d in reversed(self.looped):
            row.append(
                f"{body.context.counter(d)} * {registers}" if registers > 1 else body.context.counter(d)
            )
            registers *= table.registers(d)
        slot = " + ".join([*row, *(f"(thread >> {b} & 1) * {registers << i}" for i, b in enumerate(rest))])
        slots = registers << len(rest)
        mine = " | ".join(
            f"(thread >> {b} & 1) << {i}" if i else f"(thread >> {b} & 1)" for i, b in enumerate(bits)
        )
        self._exchange(slot or "0", slots, count, f"({mine})", table.spare(self.dims))

    def _exchange(self, slot: str, slots: int, count: int, mine: str, spare: int) -> None:
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
        condition = f"if ((thread & {spare}) == 0) " if spare else ""
        prefixes, totals = self._names(self.prefixes), self._names(self.totals)
        with self._each():
            for piece, total in zip(pieces, totals, strict=True):
                lines(f"{condition}it_store({piece}, ({slot}) * {count} + {warp}, {total});")
        body.barrier()
        first, step = (count - 1, -1) if self.op.reverse else (0, 1)
        with self._each():
            parts = [f"part_{k}" for k in range(len(pieces))]
            before = [f"before_{k}" for k in range(len(pieces))]
            for piece, total, b, component in zip(
                pieces, totals, before, self.combine.components, strict=True
            ):
                lines(f"{total} = it_load({piece}, ({slot}) * {count} + {first});")
                lines(f"{component.type} {b} = {total};")
            lines(f"for (int w = 1; w < {count}; ++w) {{")
            with body.writer.block():
                lines(f"const int from = {f'{count - 1} - w' if step < 0 else 'w'};")
                for piece, part, component in zip(pieces, parts, self.combine.components, strict=True):
                    lines(f"const {component.type} {part} = it_load({piece}, ({slot}) * {count} + from);")
                rank = f"{count - 1} - {warp}" if step < 0 else warp
                lines(self.combine.write(totals, parts, totals))
                lines(f"if (w < {rank}) {{")
                with body.writer.block():
                    for b, total in zip(before, totals, strict=True):
                        lines(f"{b} = {total};")
            lines(f"if ({rank} > 0) {self.combine.write(before, prefixes, prefixes)}")
        body.context.scratch.dirty = True


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
