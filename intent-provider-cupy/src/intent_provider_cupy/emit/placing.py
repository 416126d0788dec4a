"""In which table every operation of a segment runs, and in which tables its results are wanted.

Most of a segment shares one table. What only loads the operand of a contraction, and what is done to it there (with
factors of fewer dims, say), has a table of its own, made for memory: the operand goes through shared memory anyway.
Coordinates and predicates, which cost nothing, are computed again in every table that wants them; any other value is
brought there through shared memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import combinations

from intent.physical import (
    Atomic,
    Bitcast,
    Broadcast,
    Cast,
    Constant,
    Contract,
    Dim,
    Fragment,
    Lane,
    Load,
    Loop,
    Op,
    Pointwise,
    Reduce,
    Region,
    Scan,
    Segment,
    Store,
    View,
)
from intent.physical.fragment import Resource
from intent.physical.walk import operands_of, regions_of, walk
from intent_provider_cupy.emit import addresses
from intent_provider_cupy.emit.facts import added_together, size_of, users_of
from intent_provider_cupy.emit.layout import Bits, Exchange, Table, TableBuilder, Want, bit_count, exchanged
from intent_provider_cupy.emit.products import Product, product_of

ACCESS_BYTES = 16
"""Widest access of one thread."""
TURNED_LEAST = 512
"""Fewest lanes of a store that are worth a way through shared memory."""
_REPEATABLE = (Pointwise, Cast, Bitcast, Broadcast)


class Placing:
    """The tables of one segment."""

    def __init__(self, segment: Segment, threads: int, widest: int = ACCESS_BYTES) -> None:
        self._widest = widest
        self.operations = list(walk(segment.body))
        self.defined = {r.id: op for op in self.operations for r in op.results}
        """The operation that a value comes from."""
        self.loop_of = {op.body.args[0].id: op for op in self.operations if isinstance(op, Loop)}
        """The counted loop whose index a value is."""
        self._users = users_of(segment.body)
        self._cheap: dict[int, bool] = {}
        bits = bit_count(threads)
        self.widened: dict[int, tuple[int, Exchange]] = {}
        """Stores that may run in another table after an exchange of registers: its index, and the exchange."""
        fixed, main = self._main_table(segment.body, bits)
        self.tables = [main]
        for k, ops in enumerate(self._slices, start=1):
            wants = [w for op in ops for w in self._wants_of(op)]
            self.tables.append(TableBuilder(index=k, thread_bits=bits).build(wants))
        self._turned_stores(segment.body, bits)
        self._widened_stores(segment.body)
        self.movable = self._movable(fixed)
        """Dims, by the index of a table, whose neighbouring lanes may be moved apart; see ``Table.runs``."""

    def _main_table(self, body: Region, bits: int) -> tuple[set[Dim], Table]:
        """The dims that products place, and the table of everything that has no other.

        Products place their dims one after the other. Where two of them want the same threads for dims that one
        fragment has both of, the later one does with other places: tensor cores need theirs, so it does without them.
        """
        walked = {d for op in self.operations for d in _walked(op)}
        without: set[int] = set()
        while True:
            places: dict[Dim, Bits] = {}
            placed_by: dict[Dim, int] = {}
            self.products: dict[int, Product] = {}
            """How each contraction is computed, by its id."""
            for op in self.operations:
                if isinstance(op, Contract):
                    given = None if op.id in without else places
                    self.products[op.id] = product_of(op, given, bits, walked)
                    placed_by.update((d, op.id) for d in places if d not in placed_by)
            fixed = set(places)
            self._table: dict[int, int] = {}
            self._slices = self._operand_slices()
            self.addresses = addresses.read(self.operations, set(self._table), self.cheap)
            """By its id, what is read and computed in every table of the operands whose addresses need it."""
            self._shared_tables(bits)
            self._wanted: defaultdict[int, set[int]] = defaultdict(set)
            self._demand(body)
            wants = list(self._wants(body, 0))
            needed = {d for p in self.products.values() if p.kind == "tensor" for d in p.op.result.dims}
            met = _apart(places, wants, needed)
            if not met:
                return fixed, TableBuilder(index=0, thread_bits=bits, places=places).build(wants)
            without.add(max(placed_by[d] for d in met))

    @property
    def main(self) -> Table:
        """The table of everything that has no other."""
        return self.tables[0]

    def home(self, fragment: Fragment) -> Table:
        """The table in which the fragment is computed."""
        op = self.defined.get(fragment.id)
        return self.main if op is None else self.table_of(op)

    def table_of(self, op: Op) -> Table:
        """The table in which the operation runs (first)."""
        return self.tables_of(op)[0]

    def tables_of(self, op: Op) -> tuple[Table, ...]:
        """The tables in which the operation runs; several only if it costs nothing."""
        return tuple(self.tables[k] for k in self._indices(op))

    def users(self, fragment: Fragment) -> set[int]:
        """The operations that read a value; -1 stands for a region that yields it."""
        return self._users[fragment.id]

    def wanted(self, fragment: Fragment) -> tuple[Table, ...]:
        """The tables, besides those it is computed in, to which the fragment is brought through shared memory."""
        if not fragment.dims:
            return ()
        op = self.defined.get(fragment.id)
        have = self._indices(op) if op is not None else (0,)
        return tuple(self.tables[k] for k in sorted(self._wanted[fragment.id]) if k not in have)

    def _indices(self, op: Op) -> tuple[int, ...]:
        if op.id in self._table:
            return (self._table[op.id],)
        if len(op.results) != 1 or not op.result.dims:
            return (0,)
        if op.id in self.addresses or self.cheap(op.result) or self._joins(op.result):
            return tuple(sorted(self._wanted[op.result.id])) or (0,)
        return (0,)

    def cheap(self, fragment: Fragment) -> bool:
        """Whether a value is made of lane numbers and uniform values alone, by arithmetic on indices."""
        if fragment.id not in self._cheap:
            op = self.defined.get(fragment.id)
            fine = isinstance(op, Lane | Constant) or (
                isinstance(op, _REPEATABLE)
                and op.result.dtype.kind in ("index", "int", "uint", "bool")
                and all(not o.dims or self.cheap(o) for o in operands_of(op))
            )
            self._cheap[fragment.id] = fine
        return self._cheap[fragment.id]

    def _joins(self, fragment: Fragment) -> bool:
        """Whether a predicate or index is made of others with fewer lanes, which are cheaper to bring elsewhere.

        Where two products read what depends on data (pages), the table of all may not even have room for it: dims of
        different products share bits of the thread number.
        """
        op = self.defined.get(fragment.id)
        return (
            isinstance(op, _REPEATABLE)
            and op.result.dtype.kind in ("index", "int", "uint", "bool")
            and all(
                self.cheap(o) or set(o.dims) < set(fragment.dims) or self._joins(o)
                for o in operands_of(op)
                if o.dims
            )
        )

    # ------------------------------------------------------------------------------------------ operands' own tables

    def _operand_slices(self) -> list[list[Op]]:
        """Operations that only make one operand of a contraction and read it from memory; each gets a table."""
        found: list[list[Op]] = []
        # Several products may read one operand: each brings it to shared memory from where it was loaded.
        readers = {product.op.id for product in self.products.values() if product.kind != "products"}
        for product in self.products.values():
            if product.kind == "products":
                continue
            for side in (product.op.lhs, product.op.rhs):
                ops = self._slice(side, readers)
                if ops and any(isinstance(op, Load) for op in ops):
                    found.append(ops)
                    self._table.update((op.id, len(found)) for op in ops)
        return found

    def _shared_tables(self, bits: int) -> None:
        """Operands that lie alike share a table if their addresses are read: those are then read once for both."""
        if not self.addresses:
            return
        merged: dict[tuple[object, ...], list[Op]] = {}
        for k, ops in enumerate(self._slices):
            needed = [
                o
                for op in ops
                if isinstance(op, Load)
                for o in addresses.behind(addresses.where(op), self.defined)
            ]
            read = any(op.id in self.addresses for op in needed)
            wants = [w for op in ops for w in self._wants_of(op)]
            table = TableBuilder(index=0, thread_bits=bits).build(wants)
            merged.setdefault((tuple(sorted(table.places.items())), -1 if read else k), []).extend(ops)
        self._slices = list(merged.values())
        for k, ops in enumerate(self._slices, start=1):
            self._table.update((op.id, k) for op in ops)

    def _slice(self, value: Fragment, users: set[int]) -> list[Op]:
        op = self.defined.get(value.id)
        if op is None or not value.dims or op.id in self._table or self.cheap(value):
            return []
        if not isinstance(op, (Load, *_REPEATABLE)) or not self._users[value.id] <= users:
            return []
        if isinstance(op, Load):
            return [op]
        found: list[Op] = [op]
        for operand in operands_of(op):
            if operand.dims and not self.cheap(operand):
                inner = self._slice(operand, {op.id})
                if not inner and not set(operand.dims) < set(value.dims):
                    return []  # what has fewer dims is brought there
                found += inner
        return found

    def _movable(self, fixed: set[Dim]) -> dict[int, tuple[Dim, ...]]:
        """Where only the set of lanes of a thread matters, not their order: no scan, no tensor core, no operand."""
        fixed = fixed | {op.dim for op in self.operations if isinstance(op, Scan)}
        operands = {self.table_of(op).index for op in self.operations if isinstance(op, Load)} - {0}
        return {
            table.index: tuple(d for d in table.places if d not in fixed and table.movable(d) > 1)
            for table in self.tables
            if table.index not in operands
        }

    def name_runs(self, names: Mapping[int, Mapping[Dim, str]]) -> None:
        """Let constants of these names say how the movable dims lie."""
        self.tables = [replace(t, runs=dict(names.get(t.index, {}))) for t in self.tables]

    def _turned_stores(self, body: Region, bits: int) -> None:
        """Stores along whose memory the main table has no neighbours get a table that does."""
        for op in self.operations:
            if isinstance(op, Store) and self._against(op):
                index = len(self.tables)
                self._table[op.id] = index
                self.tables.append(
                    TableBuilder(index=index, thread_bits=bits).build(list(self._wants_of(op)))
                )
        if any(self._table.get(op.id) for op in self.operations if isinstance(op, Store)):
            self._wanted = defaultdict(set)
            self._demand(body)

    def _widened_stores(self, body: Region) -> None:
        """Tables for stores of whole fragments whose neighbours lie in turn in neighbouring threads."""
        for op in self.operations:
            first = self.running(op.coordinates[-1]) if isinstance(op, Store) and op.coordinates else None
            if (
                not isinstance(op, Store)
                or first is None
                or op.id in self._table
                or not self._whole(op, first)
            ):
                continue
            vector = bit_count(max(1, self._widest // op.target.dtype.bytes))
            found = exchanged(first, self.main.bits(first), vector)
            if found is not None:
                index = len(self.tables)
                places = {**self.main.places, first: found[0]}
                self.tables.append(replace(self.main, index=index, places=places))
                self.widened[op.id] = (index, found[1])
        if self.widened:
            self._wanted = defaultdict(set)
            self._demand(body)

    def _whole(self, op: Store, first: Dim) -> bool:
        """Whether a store writes all lanes of its value, many, to places that cost nothing to compute elsewhere."""
        plain = all(not c.dims or self.cheap(c) for c in (*op.coordinates, *([op.valid] if op.valid else [])))
        whole = isinstance(op.target, View) and set(op.value.dims) == set(op.dims) and first in op.dims
        return plain and whole and size_of(op.dims) >= TURNED_LEAST

    def _against(self, op: Store) -> bool:
        """Whether a store of a whole fragment runs across the main table's neighbouring lanes."""
        first = self.running(op.coordinates[-1]) if op.coordinates else None
        if first is None or first not in op.dims or self.main.bits(first)[:1] in ((), (None,), (0,)):
            return False
        fast = any(self.main.bits(d)[:1] in ((None,), (0,)) for d in op.dims)
        return fast and self._whole(op, first)

    def _demand(self, region: Region) -> None:
        """Note backwards in which tables values are read."""
        for fragment in region.yields:
            self._wanted[fragment.id].add(0)
        for op in reversed(region.ops):
            for inner in regions_of(op):
                self._demand(inner)
            if isinstance(op, Contract) and self.products[op.id].kind != "products":
                operands = [op.accumulator] if op.accumulator is not None else []
                for side in (op.lhs, op.rhs):  # read where they are made
                    if self.cheap(side) and not self._wanted[side.id]:
                        self._wanted[side.id].add(0)
            else:
                operands = list(operands_of(op))
            for k in self._indices(op):
                for operand in operands:
                    self._wanted[operand.id].add(k)
            if isinstance(op, Store) and op.id in self.widened:
                for operand in (*op.coordinates, *([op.valid] if op.valid is not None else [])):
                    self._wanted[operand.id].add(self.widened[op.id][0])

    # ------------------------------------------------------------------------------------------------------- wants

    def _wants(self, region: Region, table: int) -> Iterator[Want]:
        for argument in region.args:
            yield Want(dims=argument.dims, weight=size_of(argument.dims))
        for op in region.ops:
            if table in self._indices(op):
                yield from self._wants_of(op)
            for inner in regions_of(op):
                yield from self._wants(inner, table)
            for result in op.results:
                if table in self._wanted[result.id]:
                    yield Want(dims=result.dims, weight=size_of(result.dims))

    def _wants_of(self, op: Op) -> Iterator[Want]:
        for result in op.results:
            yield Want(dims=result.dims, weight=size_of(result.dims))
        if isinstance(op, Load):
            yield self._access(op, op.source, op.result.dims)
        elif isinstance(op, Store | Atomic):
            yield self._access(op, op.target, op.dims)
        elif isinstance(op, Contract) and self.products[op.id].kind == "products":
            both = tuple(dict.fromkeys((*op.lhs.dims, *op.rhs.dims)))
            yield Want(dims=both, weight=size_of(both))

    def _access(self, op: Load | Store | Atomic, resource: Resource, dims: tuple[Dim, ...]) -> Want:
        bytes_ = resource.dtype.bytes
        first = self.running(op.coordinates[-1]) if op.coordinates else None
        vector = bit_count(max(1, self._widest // bytes_))
        if first not in dims:
            first = None
        weight = 2 * size_of(dims) * bytes_
        apart = isinstance(op, Atomic) and not added_together(op)
        return Want(dims=dims, weight=weight, first=first, vector=vector if first else 0, apart=apart)

    def running(self, coordinate: Fragment) -> Dim | None:
        """The dim along which a coordinate counts up by one, if it is a uniform value plus lane numbers."""
        op = self.defined.get(coordinate.id)
        if isinstance(op, Lane):
            return op.dim
        if isinstance(op, Pointwise) and op.fn == "add":
            varying = [o for o in op.operands if o.dims]
            return self.running(varying[0]) if len(varying) == 1 else None
        return None

    def walking(self, coordinate: Fragment, index: Fragment) -> Dim | None:
        """The dim of a coordinate that is a loop's index plus lane numbers, which may be less something uniform."""
        op = self.defined.get(coordinate.id)
        dim = self.running(coordinate)
        if dim is None or not isinstance(op, Pointwise):
            return None
        return dim if any(self._mentions(o, index) for o in op.operands if not o.dims) else None

    def _mentions(self, value: Fragment, index: Fragment) -> bool:
        """Whether a uniform value is the index, or a sum with it."""
        op = self.defined.get(value.id)
        if isinstance(op, Pointwise) and op.fn in ("add", "sub"):
            return self._mentions(op.operands[0], index) or (
                op.fn == "add" and self._mentions(op.operands[1], index)
            )
        return value.id == index.id


def _apart(places: dict[Dim, Bits], wants: list[Want], needed: AbstractSet[Dim]) -> tuple[Dim, ...]:
    """Take back places that two dims of one fragment share bits of; two that tensor cores need are the answer."""
    for want in wants:
        for a, b in combinations([d for d in want.dims if d in places], 2):
            if {*places.get(a, ())} & {*places.get(b, ())} - {None}:
                spare = next((d for d in (b, a) if d not in needed), None)
                if spare is None:
                    return a, b
                del places[spare]
    return ()


def _walked(op: Op) -> tuple[Dim, ...]:
    """The dims that an operation combines or sums."""
    if isinstance(op, Contract | Reduce):
        return tuple(op.dims)
    return (op.dim,) if isinstance(op, Scan) else ()
