"""A physical program as one Triton kernel in a readable file."""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from intent.physical import Program, Region, ScalarParam
from intent.provider.emission import Bounds, Interval, Namer, Usage, Width
from intent.types.dtypes import INDEX
from intent.types.extent import const
from intent_provider_triton import prelude
from intent_provider_triton.emit.body import Body, Context
from intent_provider_triton.emit.extents import ExtentWriter
from intent_provider_triton.emit.signature import Parameter, Signature, SignatureBuilder
from intent_provider_triton.emit.value import Prec, Value
from intent_provider_triton.emit.writer import Writer

HEADER = "import triton\nimport triton.language as tl\n"
LIBDEVICE = "from triton.language.extra import libdevice\n"
RESERVED: Final = frozenset(
    {*keyword.kwlist, *prelude.FUNCTIONS, "tl", "triton", "libdevice", "INDEX", "range", "float"}
)
"""Names that the text itself uses."""


@dataclass(frozen=True, kw_only=True)
class Emitted:
    """The text, the kernel's name in it, and what its arguments are."""

    text: str
    entry: str
    signature: Signature


class KernelEmitter:
    """Emits one program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._prelude: dict[str, str] = {}
        self._combines: list[str] = []
        self._namer = Namer(RESERVED)
        self.entry = self._namer.fresh(program.name)
        self._builder = SignatureBuilder(self._namer, Parameter)
        self._scalars = {p.name: p for p in program.params if isinstance(p, ScalarParam)}
        self._builder.reserve(program)
        self._bounds = Bounds()
        extents = ExtentWriter(self._builder.extent, self._scalar, self._need, self._bounds.require)
        self._context = Context(
            namer=self._namer, signature=self._builder, bounds=self._bounds, order=program.dims,
            scalars=self._scalars, need=self._need, extents=extents, combine=self._combine,
        )  # fmt: skip

    def emit(self) -> Emitted:
        """The complete file."""
        body = Writer(1)
        self._dispatch(body)
        if not body.lines:
            body.line("pass")
        parameters = self._builder.parameters(self._program.params)
        text = "\n".join(body.lines)
        uses_index = re.search(r"\bINDEX\b", text) is not None
        names = [p.emitted for p in parameters] + (["INDEX: tl.constexpr"] if uses_index else [])
        parts = [HEADER]
        parts += ["", *(prelude.FUNCTIONS[n].strip("\n") + "\n\n" for n in prelude.closure(self._prelude))]
        parts += [c + "\n\n" for c in self._combines]
        parts += [f"@triton.jit\n{_definition(self.entry, names)}\n{text}\n"]
        if any("libdevice." in part for part in parts):
            parts[0] += LIBDEVICE
        whole = re.sub(r"\n{4,}", "\n\n\n", "\n".join(parts))
        signature = Signature(
            parameters=parameters,
            facts=self._bounds.launch_facts(),
            signs=self._bounds.launch_signs(),
            uses_index=uses_index,
        )
        return Emitted(text=whole, entry=self.entry, signature=signature)

    def _dispatch(self, writer: Writer) -> None:
        """One segment runs as it is; several are selected by the program id (spec: kir-to-gpu-program 4.4)."""
        segments = [s for s in self._program.segments if s.length.const != 0]
        if not segments:
            return
        hint = "pid"
        pid = self._namer.fresh(hint)
        program = Value(text=pid, prec=Prec.ATOM, dtype=INDEX, width=Width.INDEX)
        self._context.program_id = program
        for segment in segments:
            local = segment.body.args[0]
            self._bounds.bind(local, Interval(const(0), segment.length - 1))
            # The id itself is emitted as INDEX, whatever its bounds.
            self._bounds.force(local, Width.INDEX)
            self._bounds.region(segment.body)
        bodies = []
        for i, segment in enumerate(segments):
            inner = Writer(1 if len(segments) == 1 else 2)
            base = program
            if len(segments) > 1 and segment.offset.const != 0:
                name = self._namer.fresh(hint)
                offset = self._context.extents.write(segment.offset)
                inner.line(f"{name} = {pid} - {offset.at(Prec.PRODUCT)}")
                base = Value(text=name, prec=Prec.ATOM, dtype=INDEX, width=Width.INDEX)
            start = len(inner.lines)
            self._segment(segment.body, inner, base)
            if len(inner.lines) == start:
                inner.line("pass")
            bodies.append((i, segment, inner))
        used = any(pid in line for _, _, inner in bodies for line in inner.lines) or len(segments) > 1
        if used:
            writer.line(f"{pid} = tl.program_id(0).to(INDEX)")
        for i, segment, inner in bodies:
            if len(segments) > 1:
                writer.line(self._selector(i, len(segments), pid, segment.offset + segment.length))
            writer.lines.extend(inner.lines)

    def _selector(self, i: int, count: int, pid: str, end: object) -> str:
        if i == count - 1:
            return "else:"
        limit = self._context.extents.write(end)  # type: ignore[arg-type]
        return f"{'if' if i == 0 else 'elif'} {pid} < {limit.at(Prec.BITOR)}:"

    def _segment(self, region: Region, writer: Writer, base: Value) -> None:
        body = Body(self._context, writer, Usage(region))
        body.values[region.args[0].id] = base
        body.region(region)

    def _scalar(self, name: str) -> Value:
        param = self._scalars[name]
        width = Width.INDEX if param.dtype.kind == "index" else Width.LONG
        return Value(text=self._builder.scalar(param), prec=Prec.ATOM, dtype=param.dtype, width=width)

    def _need(self, name: str) -> str:
        self._prelude.setdefault(name, name)
        return name

    def _combine(self, hint: str, region: Region, widths: Sequence[Width]) -> str:
        """Emit the combine region of a generic reduce or scan as a function of scalars."""
        name = self._namer.fresh(f"{self.entry}_{hint}")
        count = len(region.yields)
        captures = len(region.args) - 2 * count
        writer = Writer(1)
        usage = Usage(region)
        body = Body(self._context, writer, usage)
        acc = [self._namer.fresh(a.name or "acc") for a in region.args[:count]]
        element = [self._namer.fresh(a.name or "x") for a in region.args[count : 2 * count]]
        held = [self._namer.fresh(a.name or "held") for a in region.args[2 * count :]]
        again = [self._namer.fresh(f"{h}_too") for h in held]
        for i, argument in enumerate(region.args):
            text = [*acc, *element, *held][i]
            width = widths[i % count] if i < 2 * count else widths[i - count]
            body.values[argument.id] = Value(text=text, prec=Prec.ATOM, dtype=argument.dtype, width=width)
            if argument.dtype.kind == "index":
                self._bounds.force(argument, width)
        self._bounds.region(region)
        body.region(region)
        results = [body.full(body.use(f), ()) for f in region.yields]
        returned = [r.text for r in results] + held
        writer.line(f"return {', '.join(returned)}")
        assert len(again) == captures
        head = _definition(name, [*acc, *held, *element, *again])
        self._combines.append("\n".join(["@triton.jit", head, *writer.lines]))
        return name


def _definition(name: str, parameters: Sequence[str]) -> str:
    flat = f"def {name}({', '.join(parameters)}):"
    if len(flat) <= 110:
        return flat
    lines, line = [f"def {name}("], "   "
    for parameter in parameters:
        if len(line) + len(parameter) + 2 > 108:
            lines.append(line)
            line = "   "
        line += f" {parameter},"
    return "\n".join([*lines, line, "):"])


def emit(program: Program) -> Emitted:
    """The program as Triton text. Deterministic. Raises CapabilityError for what Triton cannot say."""
    return KernelEmitter(program).emit()


__all__ = ["Emitted", "emit"]
