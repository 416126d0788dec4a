"""What a name or expression of the author stands for while a kernel is lowered.

A front-end value is either run-time data (:class:`Tensor`), something that becomes run-time data when it is used
as such (:class:`Literal`, :class:`ExtentRef`, :class:`Domain`, :class:`ViewRef`, :class:`BufferRef`), an immutable
product of those (:class:`Tuple`, :class:`Record`), or an object of the compile-time world.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from intent.diagnostics import IntentError
from intent.kir import Buffer, DomainID, Resource, Value, View
from intent.types import DType, Extent, Span

if TYPE_CHECKING:
    from intent.frontend.relations import Access


class FrontValue:
    """Base of every front-end value."""

    __slots__ = ()

    def describe(self) -> str:
        """The kind of value in the author's words, for errors."""
        return type(self).__name__.lower()


CarryKey = tuple[tuple[Span, ...], Span, str, int]
"""A literal carried by a loop: the call sites that led to the loop, the loop, the name and the component."""


class WeakLiteral:
    """A literal that has become run-time data before its dtype is known: what its context expects first.

    Such are literals carried by a loop, and operations on literals alone. ``carry`` is the identity of the carry whose
    dtype only its uses after the loop decide.
    """

    def __init__(self, carry: CarryKey | None = None) -> None:
        self.expected: DType | None = None
        self.carry = carry

    def expect(self, dtype: DType) -> None:
        """Note what the context expects; the first one counts."""
        self.expected = self.expected or dtype


@dataclass(frozen=True, kw_only=True, eq=False)
class Tensor(FrontValue):
    """Run-time data: an SSA value; shape ``()`` is a scalar.

    ``extent``: the value of an integer scalar as a symbolic polynomial, when it is known. ``ranges``: for a
    fixed-width integer, the intermediate polynomials with the dtype they were computed in; the polynomial is the
    value only where none of them wraps. ``weak``: the literals whose dtype is still open that this value comes from;
    it has the dtype of a literal without context and takes another where one is expected. ``again``: it comes from
    literals alone, and this makes it with the dtype given. ``region``: these are all its members, from ``I.members``,
    and a loop may run over them.
    """

    value: Value
    extent: Extent | None = None
    ranges: tuple[tuple[Extent, DType], ...] = ()
    weak: tuple[WeakLiteral, ...] = ()
    again: Callable[[DType], Tensor] | None = None
    region: Domain | RaggedGroup | None = None

    @property
    def dtype(self) -> DType:
        return self.value.dtype

    @property
    def shape(self) -> tuple[Extent, ...]:
        return self.value.shape

    @property
    def rank(self) -> int:
        return len(self.value.shape)

    def describe(self) -> str:
        return type_text(self.dtype, self.shape)


@dataclass(frozen=True, kw_only=True, eq=False)
class Leaf(FrontValue):
    """Only a type: a component of a region's argument before it exists. ``weak`` as in :class:`Tensor`."""

    dtype: DType
    shape: tuple[Extent, ...] = ()
    weak: tuple[WeakLiteral, ...] = ()

    def describe(self) -> str:
        return type_text(self.dtype, self.shape)


@dataclass(frozen=True, kw_only=True, eq=False)
class Literal(FrontValue):
    """A Python number or bool without a dtype; it takes the one its context expects (else bool, i64, f64)."""

    value: bool | int | float

    def describe(self) -> str:
        return f"the literal {self.value!r}"


@dataclass(frozen=True, kw_only=True, eq=False)
class ExtentRef(FrontValue):
    """A symbolic index scalar: an extent, or arithmetic on extents; becomes an ``ExtentValue`` on use."""

    extent: Extent

    def describe(self) -> str:
        return f"the extent {self.extent} (index)"


@dataclass(frozen=True, kw_only=True, eq=False)
class Domain(FrontValue):
    """A domain or subregion ``[begin, end)`` with ``step`` (spec: logical-program 1). Used as data, its indices.

    ``begin``, ``end`` and ``step`` are index scalars (Literal, ExtentRef or Tensor), beside them their symbolic
    values; ``extent`` counts the members. Made by ``Builder.domain`` and ``Builder.subregion``. ``parallel`` and
    ``enumerated`` mark what a ``for`` runs over: ``I.parallel(...)``, ``I.enumerate(...)``.
    """

    id: DomainID
    begin: FrontValue
    end: FrontValue
    step: FrontValue
    begin_extent: Extent
    end_extent: Extent
    step_extent: Extent
    extent: Extent
    parent: Domain | None = None
    parallel: bool = False
    enumerated: bool = False

    def describe(self) -> str:
        kind = "subregion" if self.parent else "domain"
        return f"the {kind} [{self.begin_extent}, {self.end_extent})"


@dataclass(frozen=True, kw_only=True, eq=False)
class ViewRef(FrontValue):
    """An external view; used as a value, all of it is read."""

    view: View

    @property
    def resource(self) -> Resource:
        return self.view

    def describe(self) -> str:
        return f"the view {self.view.name}: {type_text(self.view.dtype, self.view.shape)}"


@dataclass(frozen=True, kw_only=True, eq=False)
class BufferRef(FrontValue):
    """A kernel-local buffer; used as a value, all of it is read."""

    buffer: Buffer

    @property
    def resource(self) -> Resource:
        return self.buffer

    def describe(self) -> str:
        return f"the buffer {self.buffer.name}: {type_text(self.buffer.dtype, self.buffer.shape)}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Address(FrontValue):
    """``view[i]`` where an address is meant, not a read (language decision 2)."""

    resource: Resource
    access: Access

    def describe(self) -> str:
        return f"an address in {self.resource.name}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Tuple(FrontValue):
    """An immutable product by position; ``x.shape`` is one of :class:`ExtentRef`."""

    items: tuple[FrontValue, ...]

    def describe(self) -> str:
        return f"({', '.join(i.describe() for i in self.items)}{',' if len(self.items) == 1 else ''})"


@dataclass(frozen=True, kw_only=True, eq=False)
class Record(FrontValue):
    """An immutable product by name, from ``I.record``."""

    names: tuple[str, ...]
    items: tuple[FrontValue, ...]

    def get(self, name: str) -> FrontValue | None:
        return self.items[self.names.index(name)] if name in self.names else None

    def describe(self) -> str:
        return (
            "{" + ", ".join(f"{n}: {i.describe()}" for n, i in zip(self.names, self.items, strict=True)) + "}"
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class DTypeRef(FrontValue):
    """A dtype as a value."""

    dtype: DType

    def describe(self) -> str:
        return f"the dtype {self.dtype}"


@dataclass(frozen=True, kw_only=True, eq=False)
class PyConst(FrontValue):
    """A compile-time Python object that is no number: an enum member, a string, a format, a namespace."""

    value: Any

    def describe(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, kw_only=True, eq=False)
class Function(FrontValue):
    """A helper (``@intent.fn``); ``definition`` is a ``language`` FnDefinition."""

    definition: Any

    def describe(self) -> str:
        return f"the helper '{getattr(self.definition, 'name', self.definition)}'"


@dataclass(frozen=True, kw_only=True, eq=False)
class IntrinsicRef(FrontValue):
    """An intrinsic of the language; ``intrinsic`` is a ``language`` Intrinsic (``name``, ``bind``)."""

    intrinsic: Any

    def describe(self) -> str:
        return f"the intrinsic I.{self.intrinsic.name}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Ragged(FrontValue):
    """``I.ragged``: member source, offsets and optional member mapping of an outer domain (spec: logical-program 8)."""

    outer: Domain
    members: Domain
    offsets: FrontValue
    indices: FrontValue | None = None

    def describe(self) -> str:
        return "ragged groups"


@dataclass(frozen=True, kw_only=True, eq=False)
class RaggedGroup(FrontValue):
    """One group of :class:`Ragged`: the subregion of positions and the member mapping, if there is one."""

    positions: Domain
    indices: FrontValue | None = None

    def describe(self) -> str:
        return "one group of a ragged relation"


class Unset(FrontValue):
    """The result of a helper before any return has run."""

    def describe(self) -> str:
        return "no value"


class NoneValue(FrontValue):
    """``None``: a new axis in a subscript, an argument left out."""

    def describe(self) -> str:
        return "None"


class EllipsisValue(FrontValue):
    """``...`` in a subscript."""

    def describe(self) -> str:
        return "..."


@dataclass(frozen=True, kw_only=True, eq=False)
class Slice(FrontValue):
    """``begin:end:step`` in a subscript; a missing part is None."""

    begin: FrontValue | None = None
    end: FrontValue | None = None
    step: FrontValue | None = None

    def describe(self) -> str:
        return "a slice"


@dataclass(frozen=True, kw_only=True, eq=False)
class Undefined(FrontValue):
    """A name that some path does not define (or defines with another type); ``error`` makes the error of a use."""

    name: str
    error: Callable[[Span], IntentError] = field(repr=False)

    def describe(self) -> str:
        return "undefined"


UNSET = Unset()
NONE = NoneValue()
ELLIPSIS = EllipsisValue()
FULL = Slice()


def type_text(dtype: DType, shape: tuple[Extent, ...]) -> str:
    """``f32`` or ``f32[M, N]``."""
    return f"{dtype}[{', '.join(map(str, shape))}]" if shape else f"{dtype}"


def leaves(value: FrontValue) -> Iterator[FrontValue]:
    """The components of a product, left to right; anything else is its own only component."""
    if isinstance(value, Tuple | Record):
        for item in value.items:
            yield from leaves(item)
    else:
        yield value


def map_leaves(value: FrontValue, fn: Callable[[FrontValue], FrontValue]) -> FrontValue:
    """The same product with ``fn`` applied to every component."""
    if isinstance(value, Tuple | Record):
        return replace(value, items=tuple(map_leaves(item, fn) for item in value.items))
    return fn(value)


def rebuild(like: FrontValue, parts: Iterator[FrontValue]) -> FrontValue:
    """A product of the structure of ``like`` from components taken from ``parts``."""
    return map_leaves(like, lambda _: next(parts))


def arranged(value: FrontValue, like: FrontValue) -> FrontValue:
    """``value`` with the fields of its records in the order of ``like``: a record's fields are known by their names."""
    if isinstance(value, Tuple) and isinstance(like, Tuple) and len(value.items) == len(like.items):
        items = tuple(map(arranged, value.items, like.items))
    elif isinstance(value, Record) and isinstance(like, Record) and {*value.names} == {*like.names}:
        fields = dict(zip(value.names, value.items, strict=True))
        items = tuple(arranged(fields[n], i) for n, i in zip(like.names, like.items, strict=True))
        if value.names != like.names:
            value = replace(value, names=like.names)
    else:
        return value
    same = all(a is b for a, b in zip(items, value.items, strict=True))
    return value if same else replace(value, items=items)


def same_structure(a: FrontValue, b: FrontValue) -> bool:
    """Whether two values are products of equal structure (names included), whatever their components' types."""
    if isinstance(a, Tuple) and isinstance(b, Tuple):
        return len(a.items) == len(b.items) and all(map(same_structure, a.items, b.items))
    if isinstance(a, Record) and isinstance(b, Record):
        return a.names == b.names and all(map(same_structure, a.items, b.items))
    return not isinstance(a, Tuple | Record) and not isinstance(b, Tuple | Record)
