"""A physical program as one CUDA C++ kernel in a readable file."""

from __future__ import annotations

import re

from intent.diagnostics import CapabilityError
from intent.physical import Program, ScalarParam, Segment
from intent.provider.emission import Bounds, Interval, Usage, Width
from intent.types.extent import const
from intent_provider_cupy import prelude
from intent_provider_cupy.emit.body import Body
from intent_provider_cupy.emit.context import Context
from intent_provider_cupy.emit.extents import ExtentWriter
from intent_provider_cupy.emit.facts import threads_for
from intent_provider_cupy.emit.interface import (
    Emitted,
    Parameter,
    Signature,
    default_layout,
    layout_block,
    parameter_list,
)
from intent_provider_cupy.emit.names import namer
from intent_provider_cupy.emit.placing import ACCESS_BYTES, Placing
from intent_provider_cupy.emit.products import few_rows
from intent_provider_cupy.emit.scratch import Scratch
from intent_provider_cupy.emit.signature import SignatureBuilder
from intent_provider_cupy.emit.value import Prec, Value
from intent_provider_cupy.emit.writer import STEP, Writer
from intent_provider_cupy.spelling import PROVIDER

MOST_SHARED = 227 * 1024
"""Most bytes of shared memory that a block of any target can have."""
SHARED = 228 * 1024
"""Bytes of shared memory of a multiprocessor, of which each block takes 1024 for itself."""
REGISTERS = 1 << 16
"""Registers of a multiprocessor."""
FEW_REGISTERS = 128
"""Registers of a thread that suffice for products of few rows."""
TILES_LIMITS = (200 * 1024, 160 * 1024, 96 * 1024, 48 * 1024)
"""Most bytes of all tiles at one time, the first that leaves room for what is exchanged."""


class KernelEmitter:
    """Emits one program, with at most ``tiles`` bytes of tiles that are copied ahead, or of rows that are kept."""

    def __init__(self, program: Program, tiles: int) -> None:
        self._program = program
        self._namer = namer()
        self.entry = self._namer.fresh(program.name)
        self._builder = SignatureBuilder(self._namer, Parameter)
        self._scalars = {p.name: p for p in program.params if isinstance(p, ScalarParam)}
        self._builder.reserve(program)
        self._bounds = Bounds()
        knobs = dict(program.knobs)
        extents = ExtentWriter(self._builder.extent, self._scalar, self._bounds.require)
        self._context = Context(
            namer=self._namer, signature=self._builder, bounds=self._bounds, scalars=self._scalars, extents=extents,
            scratch=Scratch(), threads=threads_for(program.segments, knobs),
            stages=knobs.get("num_stages", 1), widest=knobs.get("vector_bytes", ACCESS_BYTES),
            most_tiles=tiles, kept=min(knobs.get("kept_kilobytes", 0) << 10, tiles),
        )  # fmt: skip

    def emit(self) -> Emitted:
        """The complete file."""
        body = Writer(1)
        self._dispatch(body)
        scratch = self._context.scratch
        signature = Signature(
            parameters=self._builder.parameters(self._program.params),
            threads=self._context.threads,
            shared_bytes=scratch.total,
            facts=self._bounds.launch_facts(),
            signs=self._bounds.launch_signs(),
        )
        layout = default_layout(signature)
        head: list[str] = []
        lines = body.lines
        if _mentions(lines, "staged"):
            head.append(f"{STEP}constexpr int staged = {scratch.staged_at};")
        if _mentions(lines, "scratch"):
            head.append(f"{STEP}constexpr int scratch = {scratch.passing_at};")
        if _mentions(lines, "thread"):
            head.append(f"{STEP}const int thread = threadIdx.x;")
        kernel = "\n".join(
            [*self._definition(signature, parameter_list(signature, layout)), *head, *lines, "}"]
        )
        parts = [f"// {self.entry}, made by Intent", *layout_block(signature, layout), ""]
        text = "\n".join(parts) + "\n" + prelude.needed(kernel) + "\n" + kernel + "\n"
        return Emitted(text=text, entry=self.entry, signature=signature)

    def _definition(self, signature: Signature, parameters: list[str]) -> list[str]:
        # A warp's tiles want registers more than a second block; ptxas weighs them otherwise unless it is told.
        bounds = f"{signature.threads}"
        if self._context.tensor_cores:
            bounds += f", {_blocks(signature) if self._context.few_rows else 1}"
        head = f'extern "C" __global__ void __launch_bounds__({bounds}) {self.entry}('
        flat = f"{head}{', '.join(parameters)}) {{"
        if len(flat) <= 110:
            return [flat]
        return [head, *(f"{STEP * 2}{p}," for p in parameters[:-1]), f"{STEP * 2}{parameters[-1]}) {{"]

    def _dispatch(self, writer: Writer) -> None:
        """One segment runs as it is; several are selected by the program id (spec: kir-to-gpu-program 4.4)."""
        segments = [s for s in self._program.segments if s.length.const != 0]
        if not segments:
            return
        hint = "program"
        program = self._context.program_id = self._namer.fresh(hint)
        for segment in segments:
            local = segment.body.args[0]
            self._bounds.bind(local, Interval(const(0), segment.length - 1))
            # The id itself is emitted as Index, whatever its bounds.
            self._bounds.force(local, Width.INDEX)
            self._bounds.region(segment.body)
        bodies = []
        for segment in segments:
            inner = Writer(1 if len(segments) == 1 else 2)
            base = program
            if len(segments) > 1 and segment.offset.const != 0:
                base = self._namer.fresh(hint)
                offset = self._context.extents.write(segment.offset)
                inner.line(f"const Index {base} = {program} - {offset.at(Prec.PRODUCT)};")
            self._segment(segment, inner, base)
            bodies.append((segment, inner))
        if len(segments) > 1 or any(_mentions(inner.lines, program) for _, inner in bodies):
            writer.line(f"const Index {program} = blockIdx.x;")
        for i, (segment, inner) in enumerate(bodies):
            if len(segments) == 1:
                writer.lines.extend(inner.lines)
                continue
            end = segment.offset + segment.length
            writer.line(self._selector(i, len(segments), program, self._context.extents.write(end)))
            writer.lines.extend(inner.lines)
        if len(segments) > 1:
            writer.line("}")

    def _selector(self, i: int, count: int, program: str, end: Value) -> str:
        if i == count - 1:
            return "} else {"
        return f"{'} else ' if i else ''}if ({program} < {end.at(Prec.SHIFT)}) {{"

    def _segment(self, segment: Segment, writer: Writer, base: str) -> None:
        placing = Placing(segment, self._context.threads, self._context.widest)
        tensor = [p for p in placing.products.values() if p.kind == "tensor"]
        self._context.tensor_cores |= bool(tensor)
        self._context.few_rows &= all(few_rows(p, placing.table_of(p.op)) for p in tensor)
        body = Body(self._context, writer, Usage(segment.body), placing)
        start = len(writer.lines)
        self._context.scratch.begin()
        local = Value(text=base, prec=Prec.ATOM, dtype=segment.body.args[0].dtype, width=Width.INDEX)
        body.put(segment.body.args[0], local, placing.main)
        body.region(segment.body)
        body.flush()
        depth = STEP if writer.depth == 1 else STEP * 2
        writer.lines[start:start] = [f"{depth}{line}" for line in body.prologue()]

    def _scalar(self, name: str) -> Value:
        param = self._scalars[name]
        width = Width.INDEX if param.dtype.kind == "index" else Width.LONG
        return Value(text=self._builder.scalar(param), prec=Prec.ATOM, dtype=param.dtype, width=width)


def _blocks(signature: Signature) -> int:
    """Blocks of a multiprocessor that shared memory has room for, if a thread has no more than ``FEW_REGISTERS``."""
    return max(
        1, min(SHARED // (signature.shared_bytes + 1024), REGISTERS // (signature.threads * FEW_REGISTERS))
    )


def _mentions(lines: list[str], name: str) -> bool:
    """Whether the code, comments aside, uses a name."""
    word = re.compile(rf"\b{name}\b")
    return any(word.search(line) for line in lines if not line.lstrip().startswith("//"))


def emit(program: Program, shared: int = MOST_SHARED) -> Emitted:
    """The program as CUDA C++ text for blocks of at most ``shared`` bytes of shared memory, if it can do with them.

    Deterministic. Raises CapabilityError for what cannot be said.
    """
    for tiles in TILES_LIMITS:
        emitted = KernelEmitter(program, tiles).emit()
        if emitted.signature.shared_bytes <= shared:
            return emitted
    if emitted.signature.shared_bytes > MOST_SHARED:
        raise CapabilityError(
            PROVIDER, capability="fragments that exchange this much",
            needed=f"{emitted.signature.shared_bytes} bytes of shared memory",
            offered=[f"{MOST_SHARED} bytes"],
        )  # fmt: skip
    return emitted


__all__ = ["Emitted", "emit"]
