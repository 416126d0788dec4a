"""Values of one region tree as text: used inline, named, or kept in variables that loops and branches reassign."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, Generic, Protocol, TypeVar

from intent.physical import Dim, Fragment, Loop, Op, Region
from intent.provider.emission.bounds import Bounds
from intent.provider.emission.names import Namer
from intent.provider.emission.python.value import Prec, Value
from intent.provider.emission.python.writer import Writer
from intent.provider.emission.usage import Usage
from intent.provider.emission.width import Width
from intent.types import Span

__all__ = ["INLINE_LIMIT", "Body", "Shared"]

INLINE_LIMIT: Final = 64
"""Longest expression, in characters, that is written inside another one."""

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


class Shared(Protocol):
    """What all regions of a kernel share, as far as names and widths go."""

    namer: Namer
    bounds: Bounds


C = TypeVar("C", bound=Shared)


class Body(ABC, Generic[C]):
    """Writes one region tree. ``values`` maps fragment ids to what stands for them in the text.

    A provider writes the operations, and says how a value gets a type, all dims of a block, or a wider index type.
    """

    def __init__(self, context: C, writer: Writer, usage: Usage) -> None:
        self.context = context
        self.writer = writer
        self.usage = usage
        self.values: dict[int, Value] = {}
        self.left = dict(usage.count)
        """How many uses of each fragment are still to come."""
        self.binding: dict[int, str] = {}
        """Variables that loops want certain fragments in."""
        self._pending: set[int] = set()
        self._variables: set[str] = set()

    # ---------------------------------------------------------------------------------------------- the target

    @abstractmethod
    def op(self, op: Op) -> None:
        """Write one operation."""

    @abstractmethod
    def typed(self, value: Value) -> Value:
        """``value`` with a dtype of its own; a literal has none."""

    @abstractmethod
    def full(self, value: Value, dims: Sequence[Dim]) -> Value:
        """``value`` as a block that really has all of ``dims``."""

    @abstractmethod
    def widen(self, value: Value, width: Width) -> Value:
        """An index value in at least the integer type ``width``."""

    def loop_bounds(self, op: Loop) -> list[Value]:
        """Begin, end and step of a loop; the loop's index has their type."""
        return [self.use(f) for f in (op.begin, op.end, op.step)]

    # ------------------------------------------------------------------------------------------------- reading

    def use(self, fragment: Fragment) -> Value:
        """The value of an operand; counts as one of its uses."""
        self.left[fragment.id] = self.left.get(fragment.id, 1) - 1
        if not self.left[fragment.id]:
            self._pending.discard(fragment.id)
        return self.values[fragment.id]

    def shaped_like(self, value: Value, fragment: Fragment) -> Value:
        """``value`` with exactly the dims and the integer type of ``fragment``."""
        return self.shaped(value, fragment.dims, self.context.bounds.width(fragment))

    def shaped(self, value: Value, dims: Sequence[Dim], width: Width) -> Value:
        """``value`` with exactly ``dims``, and at least ``width`` if it is an index value."""
        if value.dtype.kind != "index":
            return self.full(value, dims)
        if value.literal:
            return self.full(replace(value, width=max(value.width, width)), dims)
        return self.widen(self.full(value, dims), width)

    def refs(self, values: Iterable[Value]) -> frozenset[str]:
        """The reassigned variables that any of the values reads."""
        return frozenset().union(*(v.refs for v in values))

    # ------------------------------------------------------------------------------------------------- writing

    def region(self, region: Region) -> None:
        """Write the live operations of the region in order."""
        self.operations(region.ops)

    def operations(self, ops: Iterable[Op]) -> None:
        """Write those of the operations that are live, in order."""
        for op in ops:
            if self.usage.live(op):
                self.op(op)

    def define(
        self,
        fragment: Fragment,
        value: Value,
        span: Span,
        *,
        statement: bool = False,
        hint: str = "",
        leaf: bool = False,
    ) -> None:
        """Let ``value`` stand for ``fragment``: inline where it is used once nearby, else under a name.

        ``statement``: never inline. ``leaf``: a lane number, which is the plan's and no line's of the author.
        """
        if not self.usage.count[fragment.id]:
            if statement:
                self.writer.statement(value.text, span)
            return
        bound = self.bindable(fragment)
        if bound is not None:
            value = self.shaped_like(value, fragment)
            self.writer.statement(f"{bound} = {value.text}", span)
            self.values[fragment.id] = self.variable(bound, fragment)
            return
        simple = value.literal or value.text.isidentifier()
        # A value keeps the author's name, unless an earlier value has it (a masked or shifted copy does not).
        named = not leaf and self.context.namer.free(fragment.name)
        short = len(value.text) <= INLINE_LIMIT and not named
        if not statement and (simple or (short and self.usage.stays(fragment.id))):
            read = self._variables.intersection(_IDENTIFIER.findall(value.text))
            self.values[fragment.id] = replace(value, refs=value.refs | read)
            self._pending.add(fragment.id)
            return
        fallback = "mask" if fragment.dtype.kind == "bool" else "t"
        name = self.context.namer.fresh(fragment.name or hint or fallback)
        if leaf:
            self.writer.line(f"{name} = {value.text}")
        else:
            self.writer.statement(f"{name} = {value.text}", span)
        self.values[fragment.id] = replace(value, text=name, prec=Prec.ATOM, literal=False, refs=frozenset())

    def variable(self, name: str, fragment: Fragment) -> Value:
        """The reassigned variable ``name`` standing for ``fragment``."""
        self._variables.add(name)
        return Value(
            text=name, prec=Prec.ATOM, dtype=fragment.dtype, dims=fragment.dims,
            width=self.context.bounds.width(fragment), refs=frozenset({name}),
        )  # fmt: skip

    def bindable(self, fragment: Fragment) -> str | None:
        """The variable that ``fragment`` may be assigned to right here: nothing still needs its old value."""
        name = self.binding.get(fragment.id)
        if name is None or self._needed(name):
            return None
        del self.binding[fragment.id]
        return name

    def ends_here(self, fragment: Fragment) -> bool:
        """Whether the value is a reassigned variable of this region whose only use was the latest one."""
        value = self.values[fragment.id]
        own = value.text in self._variables and value.dims == fragment.dims
        return own and self.usage.stays(fragment.id) and not self._needed(value.text)

    def _needed(self, name: str) -> bool:
        """Whether something still to be written reads what the variable holds now."""
        if any(name in self.values[p].refs for p in self._pending):
            return True
        return any(v.text == name and self.left.get(k, 0) > 0 for k, v in self.values.items())
