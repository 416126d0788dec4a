"""A physical program as one cuTile kernel in a readable file."""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from intent.physical import Program, Region, ScalarParam
from intent.provider.emission import Bounds, Namer, Usage, Width
from intent.provider.emission.python import Prec, Value, Writer, definition, write_segments
from intent.types.dtypes import INDEX
from intent.types.extent import const
from intent_provider_cutile import prelude
from intent_provider_cutile.emit.ahead import moved_ahead
from intent_provider_cutile.emit.body import Body, Context
from intent_provider_cutile.emit.boxes import Boxes
from intent_provider_cutile.emit.contract import lonely
from intent_provider_cutile.emit.extents import ExtentWriter
from intent_provider_cutile.emit.latency import latencies
from intent_provider_cutile.emit.signature import Parameter, Signature, SignatureBuilder
from intent_provider_cutile.emit.turns import blocks_each
from intent_provider_cutile.spelling import PROVIDER

HEADER = "import cuda.tile as ct\n"
NARROW = "INDEX, Index = ct.int32, int"
"""Index values of a launch whose indices and offsets all fit 32 bits."""
WIDE = "INDEX, Index = ct.int64, ct.ScalarInt64"
"""Index values of any other launch: the text with this line in place of ``NARROW``."""


RESERVED: Final = frozenset(
    {*keyword.kwlist, *prelude.FUNCTIONS, "ct", "cuda", "INDEX", "Index", "INF", "NAN", "range"}
)
"""Names that the text itself uses."""
_BLOCK: Final = "ct.astype(ct.bid(0), INDEX)"
KNOBS = frozenset({"num_ctas", "occupancy", "num_worker_warps", "opt_level"})
"""Settings of a plan that stand in the decorator; ``latency`` stands with the loads, ``persistent`` is a loop."""


@dataclass(frozen=True, kw_only=True)
class Emitted:
    """The text, the kernel's name in it, and what its arguments are.

    ``each``: blocks on a multiprocessor that take instances in turn, 0 where each instance is a block.
    """

    text: str
    entry: str
    signature: Signature
    each: int = 0


class KernelEmitter:
    """Emits one program."""

    def __init__(self, program: Program, *, tiles: bool) -> None:
        self._program = program
        self._prelude: dict[str, str] = {}
        self._combines: list[str] = []
        self._namer = Namer(RESERVED)
        self.entry = self._namer.fresh(program.name)
        self._builder = SignatureBuilder(self._namer, Parameter)
        self._scalars = {p.name: p for p in program.params if isinstance(p, ScalarParam)}
        self._builder.reserve(program)
        self._bounds = Bounds(signs_at_launch=False)
        extents = ExtentWriter(PROVIDER, self._builder.extent, self._scalar, self._bounds.require)
        ahead = moved_ahead(program)
        self._context = Context(
            namer=self._namer, signature=self._builder, bounds=self._bounds, order=program.dims,
            scalars=self._scalars, need=self._need, extents=extents, combine=self._combine,
            boxes=Boxes(program, ahead, wanted=tiles), latencies=latencies(program, dict(program.knobs).get("latency")),
            ahead=ahead, lonely=lonely(program),
        )  # fmt: skip

    def emit(self) -> Emitted:
        """The complete file."""
        each = blocks_each(self._program)
        body = Writer(2 if each else 1)
        if self._context.boxes.runs:
            # tileiras 13.4 dies of bulk copies from slices that sums across lanes find; by 64 bits it makes none.
            self._bounds.require(const(1 << 31))
        pid = Value(text=self._namer.fresh("pid"), prec=Prec.ATOM, dtype=INDEX, width=Width.INDEX)
        self._context.program_id = pid
        write_segments(
            body, self._program, pid, spelled="" if each else _BLOCK, namer=self._namer, bounds=self._bounds,
            extent=self._context.extents.write, body=self._segment,
        )  # fmt: skip
        if not body.lines:
            body.line("pass")
        turns = self._turns(pid) if each else []
        parameters = self._builder.parameters(self._program.params)
        start = Writer(1)
        for name, text in self._context.tiled.values():
            start.line(f"{name} = {text}")
        used = "\n".join(line for line in body.lines if not line.lstrip().startswith("#"))
        for parameter in parameters:
            array = parameter.kind in ("view", "buffer")
            if parameter.prologue and (not array or re.search(rf"\b{parameter.emitted}\b", used)):
                start.line(parameter.prologue)
        text = "\n".join([*start.lines, *turns, *body.lines])
        functions = [prelude.FUNCTIONS[n].strip("\n") for n in prelude.closure(self._prelude)]
        kernel = f"{self._decorator()}\n{definition(self.entry, [p.annotated for p in parameters])}\n{text}"
        parts = [*functions, *self._combines, kernel]
        whole = "\n\n\n".join([self._header(parts), *parts]) + "\n"
        signature = Signature(
            parameters=parameters, facts=self._bounds.launch_facts(), tiled=tuple(self._context.tiled)
        )
        return Emitted(text=whole, entry=self.entry, signature=signature, each=each)

    def _turns(self, pid: Value) -> list[str]:
        """The head of the loop in which a block takes instances: its own number first, then every so many further."""
        length = self._program.length
        # The number behind the last one, too, has to fit the index type; there are no more blocks than instances.
        self._bounds.require(length + length)
        end, step = self._namer.fresh("instances"), "ct.astype(ct.num_blocks(0), INDEX)"
        return [
            f"    {end} = {self._context.extents.write(length).text}",
            f"    for {pid.text} in range({_BLOCK}, {end}, {step}):",
        ]

    def _header(self, parts: Sequence[str]) -> str:
        """Imports and the constants that the parts use."""
        words = set(re.findall(r"[A-Za-z_]\w*", "\n".join(parts)))
        lines = [HEADER.rstrip()]
        constants = [
            *(["", NARROW] if words & {"INDEX", "Index"} else []),
            *(['INF = float("inf")'] if "INF" in words else []),
            *(['NAN = float("nan")'] if "NAN" in words else []),
        ]
        if constants and constants[0]:
            lines.append("")
        return "\n".join([*lines, *constants])

    def _decorator(self) -> str:
        """``@ct.kernel`` with settings for the compiler: the plan's, else what the body asks for."""
        plan = {name: value for name, value in self._program.knobs if name in KNOBS}
        chosen = [f"{name}={value}" for name, value in sorted((self._context.settings | plan).items())]
        return f"@ct.kernel({', '.join(chosen)})" if chosen else "@ct.kernel"

    def _segment(self, region: Region, writer: Writer, base: Value) -> None:
        body = Body(self._context, writer, Usage(region, self._context.boxes.operands))
        body.values[region.args[0].id] = base
        body.region(region)

    def _scalar(self, name: str) -> Value:
        param = self._scalars[name]
        width = Width.INDEX if param.dtype.kind == "index" else Width.LONG
        return Value(text=self._builder.scalar(param), prec=Prec.ATOM, dtype=param.dtype, width=width)

    def _need(self, name: str) -> str:
        self._prelude.setdefault(name, name)
        return name

    def _combine(self, hint: str, region: Region, widths: Sequence[Width], *, placed: bool) -> str:
        """The combine region of a generic reduce or scan as a function of scalars.

        Components are the accumulated values, then the captures. ``placed`` adds a last component: the place of a
        value in the order, -1 for the padding that stands in for an identity. The function then needs no identity,
        and the compiler may hand over its operands in either order, which nothing documents.
        """
        name = self._namer.fresh(f"{self.entry}_{hint}")
        count = len(region.yields)
        first, second = self._sides(region, count)
        writer = Writer(1)
        body = Body(self._context, writer, Usage(region))
        for i, argument in enumerate(region.args):
            side = first if i < count else second
            place = i if i < count else i - count
            body.values[argument.id] = Value(
                text=side[place], prec=Prec.ATOM, dtype=argument.dtype, width=widths[place]
            )
            if argument.dtype.kind == "index":
                self._bounds.force(argument, widths[place])
        parameters = [*first, *second]
        if placed:
            at, at_too, swap = (self._namer.fresh(n) for n in ("at", "at_too", "swap"))
            parameters = [*first, at, *second, at_too]
            writer.line(f"{swap} = {at_too} < {at}")
            for a, b in zip(first[:count], second[:count], strict=True):
                writer.line(f"{a}, {b} = ct.where({swap}, {b}, {a}), ct.where({swap}, {a}, {b})")
            for a, b in zip(first[count:], second[count:], strict=True):
                writer.line(f"{b} = ct.where({swap}, {a}, {b})")
        self._bounds.region(region)
        body.region(region)
        results = [body.shaped(body.use(f), (), w).text for f, w in zip(region.yields, widths, strict=False)]
        if placed:
            both = f"({at} >= 0) & ({at_too} >= 0)"
            results = [f"ct.where({both}, {r}, {b})" for r, b in zip(results, second, strict=False)]
            results += [*second[count:], f"ct.maximum({at}, {at_too})"]
        writer.line(f"return {', '.join(results)}")
        self._combines.append("\n".join([definition(name, parameters), *writer.lines]))
        return name

    def _sides(self, region: Region, count: int) -> tuple[list[str], list[str]]:
        """Parameter names of the two operands: the region's own, captures behind them."""
        fresh = self._namer.fresh
        first = [fresh(a.name or "acc") for a in region.args[:count]]
        second = [fresh(a.name or "x") for a in region.args[count : 2 * count]]
        held = [fresh(a.name or "held") for a in region.args[2 * count :]]
        return [*first, *held], [*second, *(fresh(f"{h}_too") for h in held)]


def emit(program: Program, *, tiles: bool = True) -> Emitted:
    """The program as cuTile text. Deterministic. Raises CapabilityError for what cuTile cannot say."""
    return KernelEmitter(program, tiles=tiles).emit()


__all__ = ["Emitted", "emit"]
