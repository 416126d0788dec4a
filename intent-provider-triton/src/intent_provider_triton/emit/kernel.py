"""A physical program as one Triton kernel in a readable file."""

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
from intent_provider_triton import prelude
from intent_provider_triton.emit.body import Body, Context
from intent_provider_triton.emit.extents import ExtentWriter
from intent_provider_triton.emit.signature import Parameter, Signature, SignatureBuilder

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
        pid = Value(text=self._namer.fresh("pid"), prec=Prec.ATOM, dtype=INDEX, width=Width.INDEX)
        self._context.program_id = pid
        write_segments(
            body, self._program, pid, spelled="tl.program_id(0).to(INDEX)", namer=self._namer, bounds=self._bounds,
            extent=self._context.extents.write, body=self._segment,
        )  # fmt: skip
        if not body.lines:
            body.line("pass")
        parameters = self._builder.parameters(self._program.params)
        text = "\n".join(body.lines)
        uses_index = re.search(r"\bINDEX\b", text) is not None
        names = [p.emitted for p in parameters] + (["INDEX: tl.constexpr"] if uses_index else [])
        parts = [HEADER]
        parts += ["", *(prelude.FUNCTIONS[n].strip("\n") + "\n\n" for n in prelude.closure(self._prelude))]
        parts += [c + "\n\n" for c in self._combines]
        parts += [f"@triton.jit\n{definition(self.entry, names)}\n{text}\n"]
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
        head = definition(name, [*acc, *held, *element, *again])
        self._combines.append("\n".join(["@triton.jit", head, *writer.lines]))
        return name


def emit(program: Program) -> Emitted:
    """The program as Triton text. Deterministic. Raises CapabilityError for what Triton cannot say."""
    return KernelEmitter(program).emit()


__all__ = ["Emitted", "emit"]
