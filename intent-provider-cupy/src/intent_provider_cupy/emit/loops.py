"""Statements per register, gathered so that consecutive ones over the same dims share one unrolled loop.

A variable that only statements of its own loop read is a local of the loop; any other is an array over the registers
of its dims. Which of the two is known when the loop is closed; until then texts hold mentions of variables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from intent.physical import Dim
from intent.types import Span
from intent_provider_cupy.emit.layout import Table
from intent_provider_cupy.emit.value import mention
from intent_provider_cupy.emit.writer import Writer

_MENTION = re.compile("\x01(\\d+)\x02")


@dataclass(eq=False, kw_only=True)
class Variable:
    """A name of the text. ``dims``: the dims whose register counters index it while it is an array."""

    id: int
    name: str
    type: str
    dims: tuple[Dim, ...]
    array: bool = True


@dataclass(kw_only=True)
class Strip:
    """The registers of a dim that statements are written for: ``count`` from ``first`` on.

    Arrays are declared at line ``at`` of the text, before them.
    """

    dim: Dim
    first: str
    count: int
    at: int


@dataclass(kw_only=True)
class _Line:
    text: str
    span: Span
    refs: frozenset[int]
    variable: Variable | None = None


@dataclass(kw_only=True)
class _Loop:
    table: Table | None
    dims: tuple[Dim, ...]
    lines: list[_Line] = field(default_factory=list)
    acts: bool = False

    def defines(self, refs: Iterable[int]) -> bool:
        own = {line.variable.id for line in self.lines if line.variable is not None}
        return not own.isdisjoint(refs)


class Loops:
    """Loops that are still open, in order.

    ``alive`` gives the ids of the variables that later operations may read; ``counter`` names a dim's register
    counter.
    """

    def __init__(self, writer: Writer, alive: Callable[[], set[int]], counter: Callable[[Dim], str]) -> None:
        self.writer = writer
        self._alive = alive
        self._counter = counter
        self._open: list[_Loop] = []
        self._variables: dict[int, Variable] = {}
        self.strip: Strip | None = None

    def variable(self, name: str, type_: str, dims: tuple[Dim, ...]) -> Variable:
        """A new variable; nothing is written."""
        made = Variable(id=len(self._variables), name=name, type=type_, dims=dims)
        self._variables[made.id] = made
        return made

    def define(
        self, variable: Variable, text: str, table: Table | None, refs: frozenset[int], span: Span
    ) -> None:
        """``variable = text`` for every register of its dims; it and the operands may stand in any order."""
        if self._open and self._open[-1].acts:
            self.flush(refs)
        line = _Line(text=text, span=span, refs=refs, variable=variable)
        place = None
        for loop in reversed(self._open):
            if loop.dims == variable.dims and (loop.table is table or not loop.dims):
                place = loop
            if loop.defines(refs):
                break
        if place is None:
            place = _Loop(table=table, dims=variable.dims)
            self._open.append(place)
        place.lines.append(line)

    def act(self, text: str, table: Table | None, dims: tuple[Dim, ...], span: Span) -> None:
        """A statement with an effect, after everything before it; it may join a loop of such statements."""
        if not self._open or not self._open[-1].acts:
            self.flush(self.mentioned(text))
        if not self._open or self._open[-1].dims != dims or (dims and self._open[-1].table is not table):
            self._open.append(_Loop(table=table, dims=dims, acts=True))
        self._open[-1].lines.append(_Line(text=text, span=span, refs=frozenset()))

    def flush(self, kept: Iterable[int] = ()) -> None:
        """Write all open loops. Variables that are ``kept`` are needed afterwards."""
        opened, self._open = self._open, []
        if not opened:
            return
        alive = self._alive().union(kept)
        for k, loop in enumerate(opened):
            later = alive.union(
                *(self.mentioned(line.text) for other in opened[k + 1 :] for line in other.lines)
            )
            self._write(loop, later)

    def sole(self, text: str) -> Variable | None:
        """The variable that is all that a text mentions and says."""
        found = _MENTION.fullmatch(text)
        return self._variables[int(found[1])] if found is not None else None

    def render(self, text: str) -> str:
        """``text`` with every mention replaced by the variable's name and register numbers."""
        return _MENTION.sub(lambda m: self._spelled(self._variables[int(m[1])]), text)

    def declare(self, variable: Variable, table: Table | None) -> None:
        """Declare a variable that statements assign later."""
        text = f"{variable.type} {variable.name}{self._sizes(variable, table)};"
        if self.strip is None:
            self.writer.line(text)
            return
        depth = len(self.writer.lines[self.strip.at]) - len(self.writer.lines[self.strip.at].lstrip())
        self.writer.lines.insert(self.strip.at, " " * depth + text)
        self.strip.at += 1

    def open_loops(self, dims: Iterable[Dim], table: Table) -> str:
        """The heads of the loops over the registers of the dims, without the brace."""
        return " ".join(self._head(d, table) for d in dims)

    def _head(self, dim: Dim, table: Table) -> str:
        if self.strip is not None and self.strip.dim == dim:
            return f"it_part({self._counter(dim)}, {self.strip.first}, {self.strip.count})"
        return f"it_each({self._counter(dim)}, {table.registers(dim)})"

    def mentioned(self, text: str) -> set[int]:
        """The ids of the variables that a text mentions."""
        return {int(m) for m in _MENTION.findall(text)}

    def _spelled(self, variable: Variable) -> str:
        if not variable.array:
            return variable.name
        return variable.name + "".join(f"[{self._counter(d)}]" for d in variable.dims)

    def _sizes(self, variable: Variable, table: Table | None) -> str:
        return "".join(f"[{table.registers(d)}]" for d in variable.dims) if table is not None else ""

    def _write(self, loop: _Loop, later: set[int]) -> None:
        if not loop.dims:
            for line in loop.lines:
                self._write_line(line)
            return
        assert loop.table is not None
        for line in loop.lines:
            if line.variable is not None:
                line.variable.array = line.variable.id in later
                if line.variable.array:
                    self.declare(line.variable, loop.table)
        self.writer.line(f"{self.open_loops(loop.dims, loop.table)} {{")
        with self.writer.block():
            for line in loop.lines:
                self._write_line(line)

    def _write_line(self, line: _Line) -> None:
        text = self.render(line.text)
        variable = line.variable
        if variable is None:
            self.writer.statement(text, line.span)
        elif variable.array and variable.dims:
            self.writer.statement(f"{self._spelled(variable)} = {text};", line.span)
        else:
            self.writer.statement(f"const {variable.type} {variable.name} = {text};", line.span)


__all__ = ["Loops", "Variable", "mention"]
