"""Values carried by loops: which names, of which types, and their initial and next values.

A literal before the loop has no dtype yet. It takes that of the value the body gives, or else the one that its uses in
the body expect; a trial pass over the body, undone afterwards, finds it. Where the body leaves it open, uses after the
loop decide: the kernel is then lowered again with what they expect.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from intent.diagnostics import CarryTypeChanged
from intent.frontend.leaves import default_dtype, representable
from intent.frontend.lowering import Lowering
from intent.frontend.values import (
    BufferRef,
    CarryKey,
    Domain,
    ExtentRef,
    FrontValue,
    Leaf,
    Literal,
    Tensor,
    Undefined,
    Unset,
    ViewRef,
    WeakLiteral,
    arranged,
    leaves,
    map_leaves,
    rebuild,
    same_structure,
)
from intent.kir import Value
from intent.types import Span
from intent.types.dtypes import INDEX

Body = Callable[[Mapping[str, FrontValue]], Mapping[str, FrontValue]]
"""Runs the loop's body once in the innermost region with names bound; gives the names afterwards."""


@dataclass(kw_only=True)
class Carries:
    """``schema``: per name the structure whose :class:`Leaf` components are carried; others are unchanged values.

    ``blame`` gives the place of the assignment that a wrong type is blamed on. ``open``: components that the body
    leaves open, each with the identity that uses after the loop give a dtype.
    """

    schema: dict[str, FrontValue]
    inits: dict[str, FrontValue]
    blame: Callable[[str], Span]
    lowering: Lowering
    loop: Span
    tried: bool = False
    open: dict[int, CarryKey] = field(default_factory=dict)

    @property
    def settled(self) -> bool:
        """Whether the loop stands in a trial pass itself and its types are all that is still asked of it."""
        return self.tried and self.lowering.builder.trial > 0

    def stand_ins(self) -> dict[str, FrontValue]:
        """Names after a loop whose types alone matter: a loop in a trial pass is not lowered a second time."""
        values = [self.lowering.builder.value(leaf.dtype, leaf.shape) for leaf in self.types]
        return self.results(iter(values))

    def results(self, values: Iterator[Value]) -> dict[str, FrontValue]:
        """Names bound to what the loop gives; what the body left open is open for what follows."""

        def bound(leaf: FrontValue, name: str) -> FrontValue:
            made = self._bound(leaf, values, name)
            key = self.open.get(id(leaf))
            return replace(made, weak=(WeakLiteral(key),)) if key and isinstance(made, Tensor) else made

        return {n: map_leaves(s, lambda leaf, n=n: bound(leaf, n)) for n, s in self.schema.items()}  # type: ignore[misc]

    def initial(self) -> tuple[Value, ...]:
        """The values before the first step."""
        builder = self.lowering.builder
        found: list[Value] = []
        for name, like in self.schema.items():
            init = self.inits[name]
            if isinstance(init, Unset):
                parts: Iterator[FrontValue] = iter([Literal(value=0)] * sum(1 for _ in leaves(like)))
            else:
                parts = leaves(init)
            for leaf, part in zip(leaves(like), parts, strict=True):
                if not isinstance(leaf, Leaf):
                    continue
                if isinstance(init, Unset):
                    zero = builder.constant(False if leaf.dtype.kind == "bool" else 0, leaf.dtype)
                    found.append(builder.full(leaf.shape, zero).value)
                else:
                    found.append(self._as(part, leaf).value)
        return tuple(found)

    def _as(self, part: FrontValue, leaf: Leaf) -> Tensor:
        """A component as data of the leaf's dtype; while the dtype is open, nothing is expected of a weak one."""
        if leaf.weak and isinstance(part, Tensor) and part.weak:
            return self.lowering.builder.relabel(part, leaf.dtype)
        return self.lowering.builder.materialize(part, leaf.dtype)

    def bind(self, arguments: Iterator[Value]) -> dict[str, FrontValue]:
        """Names bound to carried values: block arguments, or results of the loop."""
        bound: dict[str, FrontValue] = {}
        for n, like in self.schema.items():
            bound[n] = map_leaves(like, lambda leaf, n=n: self._bound(leaf, arguments, n))  # type: ignore[misc]
        return bound

    def _bound(self, leaf: FrontValue, arguments: Iterator[Value], name: str) -> FrontValue:
        if not isinstance(leaf, Leaf):
            return leaf
        value = next(arguments)
        if not name.startswith("."):
            self.lowering.builder.name(value, name)
        tensor = self.lowering.builder.loaded(value)
        return replace(tensor, weak=leaf.weak) if leaf.weak else tensor

    @property
    def types(self) -> list[Leaf]:
        """The types of the carried components in order."""
        return [leaf for like in self.schema.values() for leaf in leaves(like) if isinstance(leaf, Leaf)]

    def next(self, after: Mapping[str, FrontValue]) -> tuple[Value, ...]:
        """The values that one step gives. Raises CarryTypeChanged."""
        found: list[Value] = []
        for name, like in self.schema.items():
            value = after[name]
            if isinstance(value, Undefined):
                raise value.error(self.blame(name))
            if isinstance(value, Unset):
                value = map_leaves(like, lambda leaf: leaf)
            value = arranged(value, like)
            if not same_structure(like, value):
                raise self._changed(name, value)
            for leaf, part in zip(leaves(like), leaves(value), strict=True):
                if isinstance(leaf, Leaf):
                    found.append(self._next(name, leaf, part))
                elif part is not leaf and repr_of(part) != repr_of(leaf):
                    raise self._changed(name, value)
        return tuple(found)

    def _next(self, name: str, leaf: Leaf, part: FrontValue) -> Value:
        if isinstance(part, Literal) and not (representable(part.value, leaf.dtype) and not leaf.shape):
            raise self._changed(name, part)
        if not isinstance(part, Literal | Tensor | ExtentRef | Domain | ViewRef | BufferRef):
            raise self._changed(name, part)
        tensor = self._as(part, leaf)
        if tensor.dtype is not leaf.dtype or tensor.shape != leaf.shape:
            raise self._changed(name, part)
        return tensor.value

    def _changed(self, name: str, after: FrontValue) -> CarryTypeChanged:
        before = self.inits[name] if not isinstance(self.inits[name], Literal) else self.schema[name]
        return CarryTypeChanged(name, before=before.describe(), after=after.describe(), span=self.blame(name))


def repr_of(value: FrontValue) -> object:
    """What makes two compile-time values the same."""
    if isinstance(value, Literal):
        return repr(value.value)
    if isinstance(value, ExtentRef):
        return value.extent
    if isinstance(value, Tensor):
        return value.value.id
    if isinstance(value, ViewRef | BufferRef):
        return value.resource.name
    return id(value)


def settle(
    lowering: Lowering,
    loop: Span,
    names: Sequence[str],
    body: Body,
    assigned: Mapping[str, ast.stmt],
) -> Carries:
    """The carries of a loop: their types are those before it, settled by a trial pass where these are open."""
    inits = {n: lowering.scope.names[n] for n in names}
    carries = Carries(
        loop=loop,
        schema={n: map_leaves(v, _fixed) for n, v in inits.items()},
        inits=inits,
        lowering=lowering,
        blame=lambda name: lowering.span(assigned[name]),
    )
    if all(isinstance(leaf, Leaf) for like in carries.schema.values() for leaf in leaves(like)):
        return carries
    opened = {n: _opened(carries, n, v) for n, v in inits.items()}
    after = _trial(lowering, opened, body)
    carries.tried = True
    for name in names:
        carries.schema[name] = _settled(carries, name, opened[name], after[name])
    return carries


def _fixed(leaf: FrontValue) -> FrontValue:
    if isinstance(leaf, Tensor) and not leaf.weak:
        return Leaf(dtype=leaf.dtype, shape=leaf.shape)
    return leaf


def _opened(carries: Carries, name: str, init: FrontValue) -> FrontValue:
    """What a trial pass begins with: literals are open, unless uses after the loop have given them a dtype."""
    open_, builder = _open(carries.lowering), carries.lowering.builder
    parts: list[FrontValue] = []
    for k, leaf in enumerate(leaves(init)):
        dtype = builder.later.get((carries.lowering.sites, carries.loop, name, k))
        settled = isinstance(leaf, Literal) and dtype is not None
        parts.append(Tensor(value=builder.value(dtype)) if settled and dtype is not None else open_(leaf))
    return rebuild(init, iter(parts))


def _open(lowering: Lowering) -> Callable[[FrontValue], FrontValue]:
    def opened(leaf: FrontValue) -> FrontValue:
        builder = lowering.builder
        if isinstance(leaf, Literal):
            return Tensor(value=builder.value(default_dtype(leaf.value)), weak=(WeakLiteral(),))
        if isinstance(leaf, ExtentRef):
            return builder.loaded(builder.value(INDEX))
        if isinstance(leaf, Tensor):
            return Tensor(value=builder.value(leaf.dtype, leaf.shape), weak=leaf.weak)
        return leaf

    return opened


def _trial(lowering: Lowering, bound: Mapping[str, FrontValue], body: Body) -> Mapping[str, FrontValue]:
    """What the body gives for each name; nothing of the pass remains."""
    builder, mark = lowering.builder, lowering.builder.mark()
    builder.trial += 1
    builder.open(looped=True, conditional=True)
    try:
        return body(bound)
    finally:
        builder.trial -= 1
        builder.undo(mark)


def _settled(carries: Carries, name: str, opened: FrontValue, after: FrontValue) -> FrontValue:
    """The schema of one name from its value before and after a trial step."""
    init = carries.inits[name]
    if isinstance(after, Undefined):
        raise after.error(carries.blame(name))
    if isinstance(init, Unset):
        return after if isinstance(after, Unset) else map_leaves(after, lambda leaf: _type_of(carries, leaf))
    after = arranged(after, init)
    if not same_structure(init, after):
        raise CarryTypeChanged(name, before=init.describe(), after=after.describe(), span=carries.blame(name))
    parts = [
        _settled_leaf(carries, (name, k), *trio)
        for k, trio in enumerate(zip(leaves(init), leaves(opened), leaves(after), strict=True))
    ]
    return rebuild(init, iter(parts))


def _settled_leaf(
    carries: Carries, place: tuple[str, int], init: FrontValue, opened: FrontValue, after: FrontValue
) -> FrontValue:
    name, builder = place[0], carries.lowering.builder
    if isinstance(init, Tensor) and not init.weak:
        return Leaf(dtype=init.dtype, shape=init.shape)
    if (
        after is init
        or after is opened
        or (isinstance(init, Literal | ExtentRef) and repr_of(init) == repr_of(after))
    ):
        return init
    if isinstance(init, Tensor) and isinstance(after, Tensor) and after.weak:
        expected = next((w.expected for w in init.weak if w.expected), None)
        return Leaf(dtype=expected) if expected else Leaf(dtype=after.dtype, shape=init.shape, weak=init.weak)
    found = _type_of(carries, after)
    wrong = CarryTypeChanged(name, before=init.describe(), after=after.describe(), span=carries.blame(name))
    if isinstance(init, Literal):
        weak = opened.weak[0].expected if isinstance(opened, Tensor) and opened.weak else None
        still_open = isinstance(after, Literal) or (isinstance(after, Tensor) and after.weak)
        if still_open:
            key = (carries.lowering.sites, carries.loop, *place)
            both = (default_dtype(init.value), found.dtype)
            dtype = weak or builder.later.get(key)
            found = Leaf(dtype=dtype or max(both, key=lambda d: (d.is_float, d.is_integer, d.bits)))
            if dtype is None:
                carries.open[id(found)] = key
        if not representable(init.value, found.dtype) or found.shape:
            raise wrong
    return found


def _type_of(carries: Carries, value: FrontValue) -> Leaf:
    builder = carries.lowering.builder
    if isinstance(value, Literal):
        return Leaf(dtype=default_dtype(value.value))
    dtype = builder.dtype_of(value)
    if dtype is None:
        raise CarryTypeChanged("a value", before="data", after=value.describe(), span=builder.span)
    return Leaf(dtype=dtype, shape=builder.shape_of(value))
