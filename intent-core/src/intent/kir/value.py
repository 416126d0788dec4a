"""Values, regions, resources and index relations of the logical IR."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NewType

from intent.kir.roles import flattened
from intent.types import DType, Extent, Span
from intent.types.span import UNKNOWN

if TYPE_CHECKING:
    from intent.kir.ops import Op

KernelID = NewType("KernelID", str)
OpID = NewType("OpID", int)
ValueID = NewType("ValueID", int)
RegionID = NewType("RegionID", int)
DomainID = NewType("DomainID", int)

Mode = Literal["in", "out", "inout"]


@dataclass(frozen=True, kw_only=True)
class Value:
    """An SSA value: a tensor of ``dtype`` and logical ``shape``; shape ``()`` is a scalar.

    ``name`` is the author's name for it, a hint for text and generated code only.
    """

    id: ValueID
    dtype: DType
    shape: tuple[Extent, ...] = ()
    name: str = field(default="", compare=False)

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def rank(self) -> int:
        return len(self.shape)


@dataclass(frozen=True, kw_only=True)
class View:
    """An external view: a parameter bound to an allocation of the caller (spec: kernel-and-host 6).

    ``strides`` holds one int, symbol name or None (run-time) per axis, in elements, or is None altogether.
    ``coincident``: the views of its alias group are the very same elements, coordinate by coordinate.
    """

    name: str
    dtype: DType
    shape: tuple[Extent, ...]
    mode: Mode
    strides: tuple[int | str | None, ...] | None = None
    alias: str | None = None
    noalias: bool = False
    coincident: bool = False
    span: Span = field(default=UNKNOWN, compare=False)

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def mutable(self) -> bool:
        """Whether a read may see a write of this kernel (through this view or one of its alias group)."""
        return self.mode != "in" or self.alias is not None


@dataclass(frozen=True, kw_only=True)
class Buffer:
    """A kernel-local logical buffer (spec: kernel-and-host 6); allocated by ``BufferAlloc``."""

    id: int
    name: str
    dtype: DType
    shape: tuple[Extent, ...]
    span: Span = field(default=UNKNOWN, compare=False)

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def mutable(self) -> bool:
        return True


Resource = View | Buffer


@dataclass(frozen=True, kw_only=True)
class ScalarParam:
    """A runtime scalar parameter; ``value`` is its SSA value, an argument of the kernel body."""

    name: str
    value: Value
    span: Span = field(default=UNKNOWN, compare=False)


@dataclass(frozen=True, kw_only=True)
class Relation:
    """A typed index relation from result axes to one source (spec: logical-program 9).

    ``coordinates[k]`` is an index-typed value that gives the coordinate on source axis k. Its own axes are
    spread over the relation's axes by ``axes[k]``: axis j of the coordinate value is axis ``axes[k][j]`` of
    the relation. A scalar coordinate has ``axes[k] == ()``. The relation's shape is that of the value read
    or written. ``x[rows, cols]``: coordinates (rows, cols), axes ((0,), (1,)).
    """

    coordinates: tuple[Value, ...]
    axes: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Region:
    """A nested body: SSA arguments, operations in program order, yielded values."""

    id: RegionID
    args: tuple[Value, ...]
    ops: tuple[Op, ...]
    yields: tuple[Value, ...] = ()

    @cached_property
    def all_ops(self) -> tuple[Op, ...]:
        """Every operation of the region and of nested regions, outer before inner; flattened once."""
        return flattened(self.ops)


@dataclass(frozen=True, kw_only=True)
class BranchTest:
    """What an ``if`` asks of launch-visible numbers: ``lhs`` compared with ``rhs``."""

    kind: Literal["eq", "ne", "lt", "ge"]
    lhs: Extent
    rhs: Extent

    def holds(self, lhs: int, rhs: int) -> bool:
        """Whether the branch is taken for these values of its sides."""
        return {"eq": lhs == rhs, "ne": lhs != rhs, "lt": lhs < rhs, "ge": lhs >= rhs}[self.kind]

    @property
    def negated(self) -> BranchTest:
        """What the other branch asks."""
        other: dict[str, Literal["eq", "ne", "lt", "ge"]] = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt"}
        return BranchTest(kind=other[self.kind], lhs=self.lhs, rhs=self.rhs)

    @property
    def text(self) -> str:
        """The test as an author reads it."""
        sign = {"eq": "==", "ne": "!=", "lt": "<", "ge": ">="}[self.kind]
        return f"{self.lhs} {sign} {self.rhs}"


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A launch condition between extents (language decision 5), checked before anything is written.

    ``kind``: ``equal`` (lhs == rhs), ``equal_or_one`` (lhs == rhs or either is 1), ``at_least`` (lhs >= rhs).
    ``reason`` says what needs it, for the error text. ``when``: the branches around what needs it, all of which a
    launch takes before the condition matters.
    """

    kind: Literal["equal", "equal_or_one", "at_least"]
    lhs: Extent
    rhs: Extent
    reason: str
    when: tuple[BranchTest, ...] = ()
    span: Span = field(default=UNKNOWN, compare=False)

    def holds(self, lhs: int, rhs: int) -> bool:
        """Whether the condition is met by these values of its sides."""
        match self.kind:
            case "equal":
                return lhs == rhs
            case "equal_or_one":
                return lhs == rhs or 1 in (lhs, rhs)
            case "at_least":
                return lhs >= rhs

    def asked(self, value: Callable[[Extent], int]) -> bool:
        """Whether a launch takes the branches around it; ``value`` gives the launch's value of an extent."""
        return all(test.holds(value(test.lhs), value(test.rhs)) for test in self.when)

    @property
    def extents(self) -> tuple[Extent, ...]:
        """Every extent that the condition and the branches around it mention."""
        return (self.lhs, self.rhs, *(e for test in self.when for e in (test.lhs, test.rhs)))

    @property
    def text(self) -> str:
        """The condition as an author reads it."""
        branches = " and ".join(test.text for test in self.when)
        return f"{self._bare} (where {branches})" if branches else self._bare

    @property
    def _bare(self) -> str:
        match self.kind:
            case "equal":
                return f"{self.lhs} == {self.rhs}"
            case "equal_or_one":
                return f"{self.lhs} == {self.rhs} or {self.lhs} == 1 or {self.rhs} == 1"
            case "at_least":
                return f"{self.lhs} >= {self.rhs}"


@dataclass(frozen=True, kw_only=True)
class Assumption:
    """A promise of the author: visible in explain(), tested by the sanitizer."""

    kind: Literal["unique", "in_bounds", "noalias"]
    detail: str
    span: Span = field(default=UNKNOWN, compare=False)


@dataclass(frozen=True, kw_only=True)
class DomainInfo:
    """Identity of a logical domain or subregion; ``parent`` is the region it was sliced from.

    ``extent`` is its number of members, where the front end knows an expression for it. ``begin`` and ``end`` stand
    where only device data decides whether a subregion lies inside its parent, on both: such a subregion is invalid
    input unless parent.begin <= begin <= end <= parent.end (language decision 18). ``span`` is the author's slice.
    """

    id: DomainID
    name: str
    parent: DomainID | None = None
    extent: Extent | None = None
    begin: Extent | None = None
    end: Extent | None = None
    span: Span = field(default=UNKNOWN, compare=False)
