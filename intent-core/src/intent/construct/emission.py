"""Emitting physical operations into nested scopes: hash-consing and placement.

Rule of placement: an operation goes to the end of the outermost open scope that has all its operands. Scopes
form a stack while a program is built, and the operation that owns a nested scope is appended when the scope
closes, so "the end so far" of an enclosing scope dominates everything nested in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from intent import physical as ph
from intent.physical.walk import operands_of, walk
from intent.types import DType, Span
from intent.types.dtypes import BOOL, INDEX
from intent.types.span import UNKNOWN


@dataclass(eq=False)
class Scope:
    """One open region. ``isolated`` scopes (combine regions) see nothing outside and keep all they emit.

    ``least``: the enclosing scopes that something inside must not leave, beyond what operands say.
    ``counted``: the body of a counted loop.
    """

    parent: Scope | None
    isolated: bool = False
    ops: list[ph.Op] = field(default_factory=list)
    known: dict[Any, tuple[ph.Fragment, ...]] = field(default_factory=dict)
    open: bool = True
    pinned: bool = False
    least: list[Scope] = field(default_factory=list)
    counted: bool = False
    depth: int = 0

    def __post_init__(self) -> None:
        self.depth = 0 if self.parent is None else self.parent.depth + 1


class DimOrder:
    """The global order of lane dims. A new dim goes last unless it is asked to stand before another."""

    def __init__(self) -> None:
        self.dims: list[ph.Dim] = []

    def add(self, dim: ph.Dim, before: Iterable[ph.Dim] = ()) -> None:
        if dim in self.dims:
            return
        places = [self.dims.index(d) for d in before if d in self.dims]
        self.dims.insert(min(places, default=len(self.dims)), dim)

    def sort(self, dims: Iterable[ph.Dim]) -> tuple[ph.Dim, ...]:
        return tuple(sorted(set(dims), key=self.dims.index))


class Emitter:
    """Builds one segment body."""

    def __init__(self, order: DimOrder, first_id: int = 0) -> None:
        self.order = order
        self.root = Scope(None)
        self.current = self.root
        self.next_id = first_id
        self.home: dict[int, Scope] = {}
        self.definition: dict[int, ph.Op] = {}
        self.span: Span = UNKNOWN
        self.origin: int | None = None

    # -- fragments ---------------------------------------------------------------------------------------------

    def fragment(self, dtype: DType, dims: Iterable[ph.Dim], scope: Scope, name: str = "") -> ph.Fragment:
        self.next_id += 1
        made = ph.Fragment(id=self.next_id, dtype=dtype, dims=self.order.sort(dims), name=name)
        self.home[made.id] = scope
        return made

    def alive(self, fragment: ph.Fragment) -> bool:
        """Whether the fragment is visible from the current position."""
        return self.around(self.home[fragment.id])

    def around(self, scope: Scope) -> bool:
        """Whether the current position is in ``scope``: one may be open and not be around it (see :meth:`placed`)."""
        inner: Scope | None = self.current
        while inner is not None and inner.depth > scope.depth:
            inner = inner.parent
        return inner is scope

    def _floor(self) -> Scope:
        """The outermost scope that an operation without operands may go to."""
        scope = self.current
        while scope.parent is not None and not scope.isolated:
            scope = scope.parent
        return scope

    def _target(self, operands: Iterable[ph.Fragment], least: Iterable[Scope]) -> Scope:
        homes = [self._floor()]
        for operand in operands:
            homes.append(self.home[operand.id])
            assert self.around(homes[-1]), f"fragment {operand} used outside its scope"
        return max((*homes, *least), key=lambda scope: scope.depth)

    # -- operations --------------------------------------------------------------------------------------------

    def emit(
        self,
        node: type[ph.Op],
        types: tuple[tuple[DType, tuple[ph.Dim, ...]], ...],
        /,
        *,
        name: str = "",
        least: Scope | None = None,
        version: object = None,
        **payload: Any,
    ) -> tuple[ph.Fragment, ...]:
        """A pure operation (or a read), hash-consed in the scope it belongs to.

        ``least``: the operation must not leave this scope. ``version`` separates reads of changed memory.
        """
        probe = node(id=0, results=(), **payload)
        scope = self._target(operands_of(probe), () if least is None else (least,))
        key = (node, types, version, _key(payload))
        found = scope.known.get(key)
        if found is not None:
            return found
        results = tuple(self.fragment(dtype, dims, scope, name) for dtype, dims in types)
        self._append(scope, node, results, payload)
        if least is not None:
            self._keep(scope, least)
        scope.known[key] = results
        return results

    def _keep(self, scope: Scope, least: Scope) -> None:
        """Whatever regions hold an operation that must not leave ``least`` must not leave it either."""
        while scope is not least:
            scope.least.append(least)
            assert scope.parent is not None, "what must not leave a scope stands inside of it"
            scope = scope.parent

    def effect(
        self,
        node: type[ph.Op],
        types: tuple[tuple[DType, tuple[ph.Dim, ...]], ...] = (),
        /,
        *,
        name: str = "",
        **payload: Any,
    ) -> tuple[ph.Fragment, ...]:
        """An effect, at the current position; it pins every enclosing scope."""
        results = tuple(self.fragment(dtype, dims, self.current, name) for dtype, dims in types)
        self._append(self.current, node, results, payload)
        self.pin()
        return results

    def pin(self) -> None:
        """The current scope holds something that must stay where it is."""
        scope: Scope | None = self.current
        while scope is not None:
            scope.pinned = True
            scope = scope.parent

    def _append(
        self, scope: Scope, node: type[ph.Op], results: tuple[ph.Fragment, ...], payload: dict[str, Any]
    ) -> ph.Op:
        self.next_id += 1
        op = node(id=self.next_id, results=results, origin=self.origin, span=self.span, **payload)
        scope.ops.append(op)
        for r in results:
            self.definition[r.id] = op
        return op

    # -- common spellings ---------------------------------------------------------------------------------------

    def constant(self, value: bool | int | float, dtype: DType) -> ph.Fragment:
        return self.emit(ph.Constant, ((dtype, ()),), value=value, version=repr(value))[0]

    def index(self, value: int) -> ph.Fragment:
        return self.constant(value, INDEX)

    def lane(self, dim: ph.Dim) -> ph.Fragment:
        return self.emit(ph.Lane, ((INDEX, (dim,)),), dim=dim, name=dim.name)[0]

    def pointwise(
        self, fn: str, *operands: ph.Fragment, dtype: DType | None = None, name: str = ""
    ) -> ph.Fragment:
        dims = self.union(operands)
        if dtype is None:
            dtype = operands[1].dtype if fn == "select" else operands[0].dtype
        return self.emit(ph.Pointwise, ((dtype, dims),), fn=fn, operands=operands, name=name)[0]

    def compare(self, fn: str, a: ph.Fragment, b: ph.Fragment) -> ph.Fragment:
        return self.pointwise(fn, a, b, dtype=BOOL)

    def union(self, fragments: Iterable[ph.Fragment]) -> tuple[ph.Dim, ...]:
        return self.order.sort(d for f in fragments for d in f.dims)

    def broadcast(self, value: ph.Fragment, dims: Iterable[ph.Dim]) -> ph.Fragment:
        wanted = self.order.sort((*value.dims, *dims))
        if wanted == value.dims:
            return value
        return self.emit(ph.Broadcast, ((value.dtype, wanted),), value=value, name=value.name)[0]

    def conjunction(self, predicates: Iterable[ph.Fragment]) -> ph.Fragment | None:
        """The and of a set of predicates, narrow ones first; None when there are none."""
        result: ph.Fragment | None = None
        for p in sorted(set(predicates), key=lambda f: (len(f.dims), f.id)):
            result = p if result is None else self.pointwise("and", result, p)
        return result

    # -- nested scopes -------------------------------------------------------------------------------------------

    def open(self, *, isolated: bool = False) -> Scope:
        """Begin a region; the owner closes it and then places the operation that holds it."""
        self.current = Scope(self.current, isolated=isolated)
        return self.current

    def close(self, scope: Scope) -> None:
        """End a region, and any left open inside it by an abandoned attempt."""
        while scope.open:
            self.current.open = False
            assert self.current.parent is not None, "a region that is closed is around the current one"
            self.current = self.current.parent

    @contextmanager
    def placed(self, scope: Scope) -> Iterator[None]:
        """Build at the end so far of an enclosing scope; whatever an error leaves open there is closed."""
        inner, self.current = self.current, scope
        try:
            yield
        finally:
            while self.current is not scope:
                self.close(self.current)
            self.current = inner

    @contextmanager
    def nested(self, *, isolated: bool = False) -> Iterator[Scope]:
        """A region under construction, closed at the end of the block."""
        scope = self.open(isolated=isolated)
        try:
            yield scope
        finally:
            self.close(scope)

    def place(
        self,
        node: type[ph.Op],
        scopes: tuple[Scope, ...],
        types: tuple[tuple[DType, tuple[ph.Dim, ...]], ...],
        names: tuple[str, ...] = (),
        least: tuple[Scope, ...] = (),
        **payload: Any,
    ) -> tuple[ph.Fragment, ...]:
        """Append an operation with regions where its outside references live (here, if it is pinned)."""
        probe = node(id=0, results=(), **payload)
        outside = list(operands_of(probe))
        for scope in scopes:
            outside += self._outside(scope)
        for name in ("body", "then", "orelse", "condition", "combine"):
            region = payload.get(name)
            if isinstance(region, ph.Region):
                outside += [y for y in region.yields if self.home[y.id].open]
        pinned = any(s.pinned for s in scopes)
        bounds = (*least, *(s for scope in scopes for s in scope.least))
        target = self.current if pinned else self._target(outside, bounds)
        self.next_id += 1
        results = tuple(
            self.fragment(dtype, dims, target, names[k] if k < len(names) else "")
            for k, (dtype, dims) in enumerate(types)
        )
        self._append(target, node, results, payload)
        return results

    def _outside(self, scope: Scope) -> list[ph.Fragment]:
        region = ph.Region(args=(), ops=tuple(scope.ops))
        return [f for op in walk(region) for f in operands_of(op) if self.home[f.id].open]


def _key(payload: dict[str, Any]) -> Any:
    return tuple((k, _freeze(v)) for k, v in payload.items())


def _freeze(value: Any) -> Any:
    if isinstance(value, ph.Fragment):
        return ("%", value.id)
    if isinstance(value, tuple):
        return tuple(map(_freeze, value))
    if isinstance(value, ph.Region):
        return id(value)
    return value
