"""The segments of a program one below the other, selected by the program's id (spec: kir-to-gpu-program 4.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from intent.physical import Program, Region
from intent.provider.emission.bounds import Bounds, Interval
from intent.provider.emission.names import Namer
from intent.provider.emission.python.value import Prec, Value
from intent.provider.emission.python.writer import Writer
from intent.provider.emission.width import Width
from intent.types import Extent
from intent.types.extent import const

__all__ = ["write_segments"]


def write_segments(
    writer: Writer,
    program: Program,
    pid: Value,
    *,
    spelled: str,
    namer: Namer,
    bounds: Bounds,
    extent: Callable[[Extent], Value],
    body: Callable[[Region, Writer, Value], None],
) -> None:
    """One segment runs as it is; several are told apart by ``pid``, which the target gives as ``spelled``.

    Where ``spelled`` is empty, the lines around these have given ``pid`` its value.

    ``extent`` writes an extent; ``body`` writes a segment's region for the value of its local id.
    """
    segments = [s for s in program.segments if s.length.const != 0]
    for segment in segments:
        local = segment.body.args[0]
        bounds.bind(local, Interval(const(0), segment.length - 1))
        # The id itself is emitted as an INDEX, whatever its bounds.
        bounds.force(local, Width.INDEX)
        bounds.region(segment.body)
    several = len(segments) > 1
    parts: list[list[str]] = []
    for segment in segments:
        inner, local_id = Writer(writer.depth + several), pid
        if several and segment.offset.const != 0:
            local_id = replace(pid, text=namer.fresh(pid.text))
            inner.line(f"{local_id.text} = {pid.text} - {extent(segment.offset).at(Prec.PRODUCT)}")
        start = len(inner.lines)
        body(segment.body, inner, local_id)
        if len(inner.lines) == start:
            inner.line("pass")
        parts.append(inner.lines)
    # Of several, all but the first ask for it.
    if spelled and any(pid.text in line for lines in parts for line in lines):
        writer.line(f"{pid.text} = {spelled}")
    for i, (segment, lines) in enumerate(zip(segments, parts, strict=True)):
        if several:
            end = segment.offset + segment.length
            last = i == len(segments) - 1
            test = "else" if last else f"{'elif' if i else 'if'} {pid.text} < {extent(end).at(Prec.BITOR)}"
            writer.line(f"{test}:")
        writer.lines.extend(lines)
