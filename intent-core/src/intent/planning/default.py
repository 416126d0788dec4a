"""The default plan: no search, a few rules about bytes, lanes and matrix units.

1. A contraction over large axes: tiles of results, the paired axis in blocks (a short one at once), programs grouped.
   Where the next contraction sums the first one's result along a walked axis (attention), tiles of their own
   (``chained``).
2. Instances own the axes along which they share no work; where there is none, one instance does it all once. A reduced
   axis that fits is resident, so that a row is read once; short rows share an instance. A longer one is walked in
   blocks.
3. Where each point walks a range of its own that data gives, short ones share an instance (``ragged``).
4. Where memory runs along an owned axis instead of the reduced one (a column sum), that axis gets the lanes.
5. The bins of a histogram are all in lanes of one instance where they fit, and the values are walked in blocks.
6. Everything else is pointwise: a few KB of the widest array an instance along the innermost axis, a square
   where different accesses find different axes contiguous.

Where instances are few, long reductions are shared out among more of them (``sharing``).
The sizes and the compiler's settings are the provider's: :class:`intent.provider.PlanTable` says which there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from intent import kir
from intent.construct import Analysis, GroupPlan, Inner, Plan, resident, serial
from intent.construct.groups import Group, GroupAxis
from intent.kir.walk import walk
from intent.physical import Guard
from intent.planning.chained import HEAD, LONGEST_HEAD, Chain, chain_of, heads_of
from intent.planning.collisions import arranged
from intent.planning.counting import IN_PLANES, bins_in_lanes, histograms_of, most_bins, values_of
from intent.planning.legal import bound_of, divisible, legal, must_be_whole, power_of_two, size_of
from intent.planning.paged import page_sizes
from intent.planning.ragged import LEAST, average, counted_axes
from intent.planning.sharing import shared_out
from intent.planning.tiles import blocks_of_arrays, narrow, native, of_matrices, tile_of
from intent.planning.touched import (
    contiguous,
    contractions,
    last_labels,
    producers,
    result_axes,
    transposes,
    walked_labels,
)
from intent.planning.widest import fitted
from intent.provider import Capabilities, ChainTile, Knobs, MatrixTile, Walk
from intent.types import Extent

COLUMN_LANES = 64
COLUMN_BLOCK = 64
RUN_TIME_BLOCK = 128
VECTOR_ROWS = 4
VECTOR_BLOCK = 4096
STATE_LEAST = 16
STATE_INSTANCES = 128


def default(analysis: Analysis, capabilities: Capabilities, extents: Mapping[str, int] | None = None) -> Plan:
    """The plan used when the author gives none, for the call's extents (typical ones when unknown)."""
    known = dict(extents) if extents else None
    return shared_out(_Planner(analysis, capabilities, known).plan(), analysis, capabilities, known)


class _Planner:
    def __init__(
        self, analysis: Analysis, capabilities: Capabilities, extents: dict[str, int] | None
    ) -> None:
        self.analysis = analysis
        self.groups = arranged(analysis, capabilities)
        self.capabilities = capabilities
        self.table = capabilities.plans
        self.extents = extents
        self.guards: set[Guard] = set()
        self.asked: list[Knobs] = []
        self.online = True
        self.planes = False
        self.whole = must_be_whole(analysis)
        self.made: dict[int, kir.Op] = {r.id: op for op in walk(analysis.kernel.body) for r in op.results}
        self.tiles = self._tiles()
        self.vectors = self._vectors()
        self.heads = heads_of(analysis)
        self.chains = self._chains()

    def plan(self) -> Plan:
        inner = {
            label: self._inner(label) for label in sorted(self.analysis.inner) if self._stays_inside(label)
        }
        groups = tuple(self._group(g, dict(inner)) for g in self.groups)
        self._know_pages()
        guards = tuple(sorted(self.guards, key=str))
        # The group with the most warps decides about the whole kernel's settings.
        chosen = max(self.asked, key=self.table.warps_of, default=())
        made = Plan(
            groups=groups,
            guards=guards,
            knobs=chosen,
            online=self.online,
            planes=self.planes,
            name="default",
        )
        return fitted(legal(made, self.analysis, self.capabilities), self.analysis, self.whole, self.table)

    def _know_pages(self) -> None:
        """Guard how long pages of rows are where the target makes use of it."""
        for e in page_sizes(self.analysis.kernel) if self.table.pages and self.extents else ():
            size = self._size(e)
            if size >= self.table.pages and size == power_of_two(size):
                self.guards.add(Guard(kind="equal", extent=e, bound=size))

    def _tiles(self) -> dict[str, MatrixTile]:
        """The smallest tile that any contraction over an axis wants, by label of the axis."""
        found: dict[str, MatrixTile] = {}
        for op in walk(self.analysis.kernel.body):
            if isinstance(op, kir.Contract) and of_matrices(op):
                wanted = self._tile(op)
                for k, _ in op.reduce:
                    label = self.analysis.classes.label((op.lhs.id, k))
                    found[label] = min(found.get(label, wanted), wanted, key=lambda t: t.rows)
        return found

    def _tile(self, op: kir.Contract) -> MatrixTile:
        free = [self._size(e) for e in op.result.shape[-2:]]
        return tile_of(op, self.capabilities, (1, min(free), max(free)))

    def _vectors(self) -> set[str]:
        """Labels of axes that only products with a vector sum over: to these they are reductions."""
        found = set()
        for op in walk(self.analysis.kernel.body):
            if isinstance(op, kir.Contract) and not of_matrices(op):
                found |= {self.analysis.classes.label((op.lhs.id, k)) for k, _ in op.reduce}
        return found - self.tiles.keys()

    def _chains(self) -> dict[str, Chain]:
        """Chains of products that the target has natively, by the label of the axis that is walked."""
        found = {}
        for group in self.groups:
            contracted, products = result_axes(self.analysis, group), contractions(self.analysis, group)
            if contracted and all(narrow(op, self.capabilities) for op in products):
                chain = chain_of(self.analysis, products, contracted[0])
                if chain is not None:
                    rows = next(a.extent for a in group.axes if a.label == contracted[0])
                    found[chain.walked] = replace(chain, rows=self._size(rows))
        return found

    def _chain_tile(self, chain: Chain) -> ChainTile:
        kept = self.heads & self.analysis.inner.keys() - self.chains.keys()
        head = max((self._inner(label).size for label in kept), default=1)
        return self.table.chain_tile(head, chain.rows, masked=chain.masked)

    def _stays_inside(self, label: str) -> bool:
        """Whether some group walks the axis inside its instances."""
        if label in self.whole or self.analysis.inner[label].roles - {"store", "point"}:
            return True
        return not all(any(a.label == label and a.owned for a in g.axes) for g in self.groups)

    def _size(self, e: Extent) -> int:
        return size_of(e, self.extents, 1024)

    def _inner(self, label: str) -> Inner:
        axis = self.analysis.inner[label]
        value = bound_of(self.analysis, label, self.extents, 1024)
        if self.extents is None and axis.extent.const is None and label in self.heads:
            value = min(value, HEAD)
        if label in self.whole:
            return self._resident(axis.extent, power_of_two(value))
        if not axis.extent.launch_visible:
            chain = self.chains.get(label)
            block = RUN_TIME_BLOCK if chain is None else self._chain_tile(chain).walked
            return serial(min(block, power_of_two(value)))
        tile = self.tiles.get(label, self.table.matrix[-1])
        whole = LONGEST_HEAD if label in self.heads and self._all_narrow() else tile.whole
        summed = "contract" in axis.roles and label not in self.vectors
        if summed and "fold" not in axis.roles and value <= whole:
            return self._resident(axis.extent, max(16, power_of_two(value)))
        if summed or "fold" in axis.roles:
            wanted = self._chain_tile(self.chains[label]).walked if label in self.chains else tile.summed
            block = min(wanted, max(16, power_of_two(value)))
            self._divide(axis.extent, block)
            return serial(block)
        shared = label in self.vectors
        if self.table.holds(value) and (value <= VECTOR_BLOCK or not shared):
            return self._resident(axis.extent, power_of_two(value))
        block = self._walk(label).block
        block = min(VECTOR_BLOCK, block) if shared else block
        self._divide(axis.extent, block)
        return serial(block)

    def _walk(self, label: str) -> Walk:
        axis = self.analysis.inner[label]
        length = bound_of(self.analysis, label, self.extents, 1024)
        return self.table.walk(length, written="store" in axis.roles, scanned="scan" in axis.roles)

    def _all_narrow(self) -> bool:
        """Whether the target multiplies the operands of all contractions natively."""
        products = [op for op in walk(self.analysis.kernel.body) if isinstance(op, kir.Contract)]
        return all(narrow(op, self.capabilities) for op in products)

    def _resident(self, e: Extent, size: int) -> Inner:
        """A full axis needs no masks: guard that it is full where this call's is."""
        if self.extents is not None and e.const is None and e.launch_visible and self._size(e) == size:
            self.guards.add(Guard(kind="equal", extent=e, bound=size))
        return resident(size)

    def _divide(self, e: Extent, block: int) -> None:
        guard = divisible(e, block, size_of(e, self.extents, block + 1))
        if guard is not None:
            self.guards.add(guard)

    # -- groups ----------------------------------------------------------------------------------------------------

    def _group(self, group: Group, inner: dict[str, Inner]) -> GroupPlan:
        contracted = result_axes(self.analysis, group)
        if contracted:
            return self._matrix_group(group, inner, contracted)
        histograms = histograms_of(producers(self.analysis, group))
        bins = bins_in_lanes(histograms, group, self.analysis, self._known, most_bins(self.capabilities))
        if bins and not group.snapshot:
            return self._counting_group(group, inner, bins, values_of(histograms, self.analysis))
        walked = walked_labels(self.analysis, group)
        owned = [a for a in group.axes if a.owned]
        products = contractions(self.analysis, group)
        if products and all(native(op, self.capabilities) for op in products):
            return self._state_group(group, inner, walked, products)
        counted = self._counted(group, walked)
        if counted:
            return self._ragged_group(group, inner, owned, counted)
        if walked or len(owned) < len(group.axes):
            return self._row_group(group, inner, owned, walked)
        return self._pointwise_group(group, inner)

    # -- matrices --------------------------------------------------------------------------------------------------

    def _matrix_group(self, group: Group, inner: dict[str, Inner], matrix: list[str]) -> GroupPlan:
        sizes = {a.label: self._size(a.extent) for a in group.axes}
        products = contractions(self.analysis, group)
        inside = self._rows_inside(group, matrix)
        columns = inside[1] if inside else sizes[matrix[1]] if len(matrix) == 2 else 1
        batch = prod(max(1, sizes[a.label]) for a in group.axes if a.owned and a.label not in matrix)
        shape = (batch, sizes[matrix[0]], columns)
        tile = min(
            (
                tile_of(
                    op,
                    self.capabilities,
                    shape,
                    len(products),
                    counted=inside is not None,
                    plain=self._plain(op),
                )
                for op in products
            ),
            key=lambda t: t.rows * t.columns,
        )
        walked = next((label for label in self.chains if label in walked_labels(self.analysis, group)), None)
        chain = self._chain_tile(self.chains[walked]) if walked is not None else None
        instance = []
        for axis in group.axes:
            if not axis.owned:
                continue
            block = 1
            if axis.label in matrix and not axis.single:
                widest = tile.columns if axis.label in matrix[1:] or inside else tile.rows
                widest = chain.rows if chain is not None else widest
                block = min(widest, max(16, power_of_two(sizes[axis.label])))
                self._divide(axis.extent, block)
            instance.append((axis.label, block))
        if inside and inner[inside[0]].mode == "serial":
            rows = tile.rows if tile.counted else min(tile.rows, inner[inside[0]].size)
            inner[inside[0]] = serial(rows)
        self.asked.append(tile.knobs if chain is None else chain.knobs)
        grouped = self._grouping(dict(instance), sizes, matrix) if len(matrix) == 2 else 1
        return GroupPlan(instance=tuple(instance), inner=tuple(inner.items()), grouped=grouped)

    def _plain(self, op: kir.Contract) -> int:
        """How many elements a product of blocks of arrays sums, 0 for other products and calls of unknown sizes."""
        if self.extents is None or not blocks_of_arrays(op, self.made):
            return 0
        return prod(self._size(op.lhs.shape[k]) for k, _ in op.reduce)

    def _rows_inside(self, group: Group, matrix: list[str]) -> tuple[str, int] | None:
        """The axis of a product's rows that only data counts, and how many of them a point has on average."""
        if len(matrix) != 1:
            return None
        points = prod(max(1, self._size(a.extent)) for a in group.axes if a.owned and a.label not in matrix)
        for op in contractions(self.analysis, group):
            label = self.analysis.classes.label((op.result.id, op.result.rank - 2))
            if label in counted_axes(self.analysis):
                return label, average(self.analysis, label, self.extents, points) or 1
        return None

    def _state_group(
        self, group: Group, inner: dict[str, Inner], walked: set[str], products: list[kir.Contract]
    ) -> GroupPlan:
        """Matrices that an instance holds, such as states of a scan, in blocks as products want them.

        An axis that no operation walks is shared out all the same: instances along it repeat some products, but then
        what a scan emits goes straight to memory, and few owners fill the device.
        """
        tile = min((self._tile(op) for op in products), key=lambda t: t.rows * t.columns)
        wide = not all(narrow(op, self.capabilities) for op in products)
        least = self.table.states if wide else STATE_INSTANCES
        split = self.table.state_knobs if wide and self.table.splits else None
        self.asked.append(tile.knobs if split is None else split)
        blocks = {a.label: 1 for a in group.axes if a.owned}
        count = prod(self._size(a.extent) for a in group.axes if a.owned)
        for axis in group.axes:
            if axis.owned or axis.single or axis.label.split(".")[0] in walked:
                continue
            size = self._size(axis.extent)
            block = min(tile.columns, max(STATE_LEAST, power_of_two(size)))
            while block > STATE_LEAST and count * -(-size // block) < least:
                block //= 2
            count *= -(-size // block)
            blocks[axis.label] = block
            self._divide(axis.extent, block)
        for label in sorted(walked & inner.keys()):
            # Where multiply-adds hold their operands in registers, longer slices are more of them.
            if inner[label].mode == "serial" and self._multiply_adds(products):
                inner[label] = serial(min(self.table.state_slice, inner[label].size))
                self._divide(self.analysis.inner[label].extent, inner[label].size)
        instance = tuple((a.label, blocks[a.label]) for a in group.axes if a.label in blocks)
        return GroupPlan(instance=instance, inner=tuple(inner.items()))

    def _multiply_adds(self, products: list[kir.Contract]) -> bool:
        """Whether the target has one of the products as multiply-adds only."""
        return not self.table.splits and not all(narrow(op, self.capabilities) for op in products)

    def _grouping(self, blocks: dict[str, int], sizes: dict[str, int], matrix: list[str]) -> int:
        """Rows of tiles walked together: few where one is short."""
        columns = -(-sizes[matrix[1]] // blocks.get(matrix[1], 1))
        return 8 if columns > 16 else 4

    # -- histograms ------------------------------------------------------------------------------------------------

    def _known(self, e: Extent) -> int | None:
        """The members of an axis, if it is a constant or an extent of the call."""
        found = size_of(e, self.extents, 0)
        return found or e.const

    def _counting_group(
        self, group: Group, inner: dict[str, Inner], bins: dict[str, Extent], values: list[str]
    ) -> GroupPlan:
        """One instance has all bins of its histograms; other owned axes are shared out one by one."""
        # Lanes are summed after every walk of the axis that has them.
        counted = bound_of(self.analysis, values[0], self.extents, 1024) if values else 1
        few = all(self._size(e) <= self.capabilities.planes for e in bins.values())
        planes = few and counted >= IN_PLANES
        self.planes |= planes
        found = self.table.planes if planes else self.table.counting
        room = found.block
        for label in values:
            e = self.analysis.inner[label].extent
            size = power_of_two(bound_of(self.analysis, label, self.extents, 1024))
            if label not in self.whole:
                fits = size <= room and e.launch_visible
                inner[label] = self._resident(e, size) if fits else serial(min(room, size))
                if not fits:
                    self._divide(e, inner[label].size)
            room = max(1, room // inner[label].size)
        for label, e in bins.items():
            inner[label] = self._resident(e, power_of_two(self._size(e)))
        owned = [a for a in group.axes if a.owned and a.label.split(".")[0] not in bins]
        self.asked.append(found.knobs if found.knobs is not None else self.table.row_knobs(found.block))
        return GroupPlan(instance=tuple((a.label, 1) for a in owned), inner=tuple(inner.items()))

    # -- rows and columns ------------------------------------------------------------------------------------------

    def _row_group(
        self, group: Group, inner: dict[str, Inner], owned: list[GroupAxis], walked: set[str]
    ) -> GroupPlan:
        along = contiguous(group)
        column = next((a for a in owned if a.label == along and not a.single), None)
        if column is not None:
            return self._column_group(group, inner, owned, walked, column)
        inside = walked | {a.label.split(".")[0] for a in group.axes if not a.owned}
        width = self._fit(group, inner, inside)
        long = [label for label in sorted(inside & inner.keys()) if inner[label].mode == "serial"]
        walk, whole = None, False
        if long and not inside & self.vectors:
            longest = max(long, key=lambda label: inner[label].size)
            walk = self._walk(longest)
            # Blocks that other rules made shorter are like short rows.
            whole = inner[longest].size >= walk.block
        spare = 1 if whole else max(1, self.table.short_rows // max(1, width))
        if inside & self.vectors:
            # Several rows share each piece of a vector, which would cost as much as a row otherwise.
            spare = max(spare, VECTOR_ROWS)
        instance = []
        for axis in owned:
            block = 1
            if axis is owned[-1] and not axis.single:
                block = min(spare, power_of_two(self._size(axis.extent)))
                self._divide(axis.extent, block)
            instance.append((axis.label, block))
        knobs = self.table.row_knobs(width * spare)
        if walk is not None:
            self.online &= walk.online
            if whole:
                assert walk.knobs is not None  # the table fills them in
                knobs = walk.knobs
        self.asked.append(knobs)
        return GroupPlan(instance=tuple(instance), inner=tuple(inner.items()))

    def _counted(self, group: Group, walked: set[str]) -> set[str]:
        """Labels of axes inside the group's instances of which only data says how many members they have."""
        label = self.analysis.classes.label
        stores = [op for unit in group.units for op, _ in unit.writes if isinstance(op, kir.Store)]
        stored = {label((op.value.id, k)) for op in stores for k in range(op.value.rank)}
        return counted_axes(self.analysis) & (walked | stored)

    def _ragged_group(
        self, group: Group, inner: dict[str, Inner], owned: list[GroupAxis], counted: set[str]
    ) -> GroupPlan:
        """Points that walk data's own ranges: several short ones share an instance, as long as the longest of them."""
        points = prod(max(1, self._size(a.extent)) for a in owned)
        inside = counted | {a.label.split(".")[0] for a in group.axes if not a.owned}
        inside |= walked_labels(self.analysis, group)
        width = self._fit(group, inner, inside)
        lanes, block, knobs = self.table.ragged.lanes, 1, self.table.row_knobs(width)
        if inside == counted and len(counted) == 1:
            (label,) = counted
            mean = average(self.analysis, label, self.extents, points)
            if mean is not None:
                inner[label] = serial(min(lanes, max(LEAST, power_of_two(mean))))
                block, knobs = lanes // inner[label].size, self.table.ragged.knobs
        instance = []
        for axis in owned:
            shared = axis is owned[-1] and not axis.single
            rows = min(block, power_of_two(self._size(axis.extent))) if shared else 1
            self._divide(axis.extent, rows)
            instance.append((axis.label, rows))
        self.asked.append(knobs)
        return GroupPlan(instance=tuple(instance), inner=tuple(inner.items()))

    def _fit(self, group: Group, inner: dict[str, Inner], inside: set[str]) -> int:
        """Keep the lanes of all axes walked together within one fragment; the contiguous axis is served first."""
        last = last_labels(self.analysis, group)
        most = max(self.table.resident, *(walk.block for walk in self.table.walks))
        width = 1
        for label in sorted(inside & inner.keys(), key=lambda x: (x not in self.whole, x not in last, x)):
            room = max(1, most // width)
            if inner[label].size > room and label not in self.whole:
                inner[label] = serial(room)
            width *= inner[label].size
        return width

    def _column_group(
        self,
        group: Group,
        inner: dict[str, Inner],
        owned: list[GroupAxis],
        walked: set[str],
        column: GroupAxis,
    ) -> GroupPlan:
        instance = []
        for axis in owned:
            block = min(COLUMN_LANES, power_of_two(self._size(axis.extent))) if axis is column else 1
            self._divide(axis.extent, block)
            instance.append((axis.label, block))
        room = COLUMN_BLOCK
        for label in sorted(walked - self.whole, key=lambda x: (-inner[x].size, x)):
            e = self.analysis.inner[label].extent
            block = min(room, inner[label].size)
            room = max(1, room // block)
            if inner[label].size > block:
                inner[label] = serial(block)
                self._divide(e, block)
        self.asked.append(self.table.columns)
        return GroupPlan(instance=tuple(instance), inner=tuple(inner.items()))

    # -- pointwise -------------------------------------------------------------------------------------------------

    def _pointwise_group(self, group: Group, inner: dict[str, Inner]) -> GroupPlan:
        instance = []
        transposed = transposes(group)
        # Coordinates and other small things beside the arrays do not make these wider.
        rank = max((v.rank for v in self.analysis.kernel.views), default=0)
        widest = max((v.dtype.bytes for v in self.analysis.kernel.views if v.rank == rank), default=4)
        side = self.table.narrow_square if widest <= 2 else self.table.square
        budget = side * side if transposed else self.table.pointwise_bytes // max(2, widest)
        uneven = any(axis.uneven for axis in group.axes)
        if uneven:
            # All wait for the longest loop, and ask one another in every pass whether it is over.
            budget = min(budget, self.table.ragged.lanes)
        for axis in reversed(group.axes):
            block = 1
            if not axis.single and budget > 1:
                block = min(side if transposed else budget, power_of_two(self._size(axis.extent)))
                budget //= block
                self._divide(axis.extent, block)
            instance.append((axis.label, block))
        knobs = self.table.transposed if transposed else self.table.pointwise
        self.asked.append(self.table.ragged.knobs if uneven else knobs)
        return GroupPlan(instance=tuple(reversed(instance)), inner=tuple(inner.items()))
