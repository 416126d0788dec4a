"""Lines of the emitted source and the author's lines that they come from.

Providers write the author's line as a comment in front of the statements that it leads to, once per run of such
statements and block; so a statement belongs to the last such comment of its block, or of a block around it.
"""

from __future__ import annotations

from collections.abc import Mapping

from intent.explain.places import Places
from intent.explain.report import Emitted, EmittedLine
from intent.physical import Program
from intent.physical.text import print_program
from intent.physical.walk import walk
from intent.provider import Source

__all__ = ["emitted"]

_COMMENTS = ("# ", "// ")


def emitted(source: Source | None, refusal: str | None, program: Program, places: Places) -> Emitted:
    """The emitted text line by line. ``refusal`` says why there is no source."""
    if source is None:
        return Emitted(language="", lines=(), refusal=refusal)
    lines = source.text.splitlines()
    is_program = source.text == print_program(program)
    keys = _printed(lines, program, places) if is_program else _commented(lines, places.said())
    language = "program" if is_program else source.suffix.removeprefix(".")
    made = tuple(EmittedLine(text=text, lines=of) for text, of in zip(lines, keys, strict=True))
    return Emitted(language=language, lines=made, refusal=None)


def _commented(lines: list[str], said: Mapping[str, tuple[int, ...]]) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    blocks: list[tuple[int, tuple[int, ...]]] = []
    for line in lines:
        text = line.strip()
        depth = len(line) - len(line.lstrip())
        if text:
            while blocks and blocks[-1][0] > depth:
                blocks.pop()
        quoted = next((said.get(text.removeprefix(c)) for c in _COMMENTS if text.startswith(c)), None)
        if quoted is not None:
            blocks.append((depth, quoted))
        found.append(blocks[-1][1] if text and blocks else ())
    return found


def _printed(lines: list[str], program: Program, places: Places) -> list[tuple[int, ...]]:
    """The printed program: one line per operation, in order, between lines that open and close regions."""
    ops = iter([op for segment in program.segments for op in walk(segment.body)])
    found: list[tuple[int, ...]] = []
    inside = False
    for line in lines:
        text = line.strip()
        inside = inside or text.startswith("segment ")
        if not inside or text.startswith(("segment ", "^", "}", "yield ")) or not text:
            found.append(())
            continue
        place = places.place(next(ops).span)
        found.append(() if place is None else (place.key,))
    return found
