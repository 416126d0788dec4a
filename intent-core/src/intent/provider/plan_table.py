"""What a provider's compiler likes: tile shapes, limits and settings, as data that planning reads.

Planning decides from the kernel what an instance owns; how large its blocks are and what the compiler is told come
from here, so that planning names no provider and no setting. Tuples of choices are searched from the front: the first
that fits is taken, the last one where none does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

Knobs = tuple[tuple[str, int], ...]
"""Settings of a provider (:meth:`intent.provider.Provider.knobs`) as a plan has them: pairs in order of names."""


def settings(**values: int) -> Knobs:
    """Settings by name."""
    return tuple(sorted(values.items()))


@dataclass(frozen=True, kw_only=True)
class MatrixTile:
    """One step of a product of 8- or 16-bit matrices: ``rows`` x ``columns`` results over ``summed`` elements.

    For operands of at least ``bits`` bits and products with at least ``least`` rows and columns that have at least
    ``tiles`` such tiles. ``whole``: the longest axis that is summed at once. ``counted``: with or without rows of which
    only data says how many there are (None: either); reads of those are masked and begin anywhere. ``plain``: only for
    products of whole tiles, whose operands are blocks of arrays as they lie. ``at_once``: on how many such tiles the
    device works at once where it takes them in turn (0: it does not); of the tiles that fit and are so, the one is
    taken whose last turn leaves the least of it idle.
    """

    rows: int = 128
    columns: int = 128
    summed: int = 64
    whole: int = 128
    bits: int = 8
    least: int = 0
    tiles: int = 0
    counted: bool | None = None
    plain: bool = False
    at_once: int = 0
    knobs: Knobs = ()

    def count(self, shape: tuple[int, int, int]) -> int:
        """How many tiles results of ``shape`` (batch, rows, columns) have."""
        batch, rows, columns = shape
        return batch * -(-rows // self.rows) * -(-columns // self.columns)

    def time(self, shape: tuple[int, int, int]) -> int:
        """Turns of the device times results of a tile."""
        return -(-self.count(shape) // self.at_once) * self.rows * self.columns

    def fits(self, shape: tuple[int, int, int], bits: int, *, counted: bool, plain: int) -> bool:
        """Whether the tile is for results of ``shape`` from operands of ``bits`` bits.

        ``counted`` and ``plain`` as :meth:`PlanTable.matrix_tile` takes them.
        """
        _, rows, columns = shape
        if self.plain and (not plain or rows % self.rows or columns % self.columns or plain % self.summed):
            return False
        wanted = bits >= self.bits and min(rows, columns) >= self.least and self.counted in (None, counted)
        return wanted and self.count(shape) >= self.tiles


@dataclass(frozen=True, kw_only=True)
class ChainTile:
    """One step of two products of which the second sums the first one's results (attention).

    An instance owns ``rows`` and walks the other axis in blocks of ``walked``. For heads of at most ``head`` elements,
    at least ``least`` rows and at most ``most`` (a few heads of one new token); ``masked``: with or without a
    comparison between rows and walked axis (None: either). A mask splits the walk into blocks with and without it: with
    more rows than ``walked``, more blocks meet the mask.
    """

    rows: int = 128
    walked: int = 64
    head: int | None = None
    least: int = 0
    most: int | None = None
    masked: bool | None = None
    knobs: Knobs = ()


@dataclass(frozen=True, kw_only=True)
class Sized:
    """Settings for instances that have at most ``lanes`` elements at once."""

    lanes: int
    knobs: Knobs


@dataclass(frozen=True, kw_only=True)
class Walk:
    """How a row that is not held at once is walked: in blocks of ``block``, with these settings.

    For rows of at most ``row`` elements (None: any); ``written``: with or without results of as many elements (None:
    either); ``scanned``: with or without a scan along it. Where they are read again for those, several rows of all
    instances should fit the cache. ``online``: a
    normalisation takes one pass with running results where the author permits it; two passes are cheaper while the
    second one finds the row in the cache.
    """

    block: int = 8192
    row: int | None = None
    written: bool | None = None
    scanned: bool | None = None
    knobs: Knobs | None = None
    online: bool = True


@dataclass(frozen=True, kw_only=True)
class PlanTable:
    """Tiles and settings by what a group of a kernel does; the defaults are for a target without settings.

    ``warps``: the setting that says how many warps an instance has, empty without one, and ``warp_counts`` its values,
    ascending. ``matrix``, ``chains``: where operands have at most 16 bits and the target multiplies them; ``exact``:
    the tile of wider ones, and the settings of products that are spelled out; ``large``: of those of 32 bits that have
    at least ``tiles`` such tiles (None: the same). ``split``: the tile of f32 products that
    are made of bf16 parts (None: the target does not make them so), and ``splits`` whether they are. ``rows``: of row
    programs by their size, and of those that are walked where ``walks`` has none; ``columns``, ``pointwise`` and
    ``transposed``: of the others.

    ``ragged``: lanes of an instance whose points have numbers of members, or lengths of loops, of their own.
    ``resident``: lanes up to which a row is held at once, ``masked``: the same for rows that do not fill their lanes
    (None: as many); ``walks``: how a longer one is walked; ``counting``: how the values of a histogram are,
    ``planes``: of one that is counted in bit planes.
    ``sharing``: instances among which long reductions are shared out where there are a quarter as many at most;
    ``shared_peel``: whether their loops have full blocks apart from masked ones;
    ``counting_parts``: the same for histograms, of which each leaves all its bins to the last one.
    ``states``: instances among which f32 matrices that instances hold, such as states of a scan, are shared out at
    least, and ``state_knobs`` their settings where they are made of bf16 parts (None: the tile's).
    ``state_slice``: longest slice of a scan of states whose products are multiply-adds.
    ``pages``: rows of a page from which plans guard how long pages are (0: never).
    ``short_rows``: elements that short rows have together. ``pointwise_bytes``: of the widest array in a pointwise
    instance. ``square``: rows and columns of an instance that transposes, ``narrow_square``: of elements of at most
    two bytes.
    """

    warps: str = ""
    warp_counts: tuple[int, ...] = (1,)
    matrix: tuple[MatrixTile, ...] = (MatrixTile(),)
    chains: tuple[ChainTile, ...] = (ChainTile(rows=64, masked=True), ChainTile())
    exact: MatrixTile = MatrixTile(rows=64, columns=64, summed=32, whole=32)
    large: MatrixTile | None = None
    split: MatrixTile | None = None
    splits: bool = False
    rows: tuple[Sized, ...] = (Sized(lanes=0, knobs=()),)
    ragged: Sized = Sized(lanes=128, knobs=())
    columns: Knobs = ()
    pointwise: Knobs = ()
    transposed: Knobs = ()
    resident: int = 32768
    masked: int | None = None
    walks: tuple[Walk, ...] = (Walk(),)
    counting: Walk = Walk(block=4096)
    planes: Walk = Walk(block=128)
    sharing: int = 1056
    counting_parts: int = 528
    shared_peel: bool = True
    pages: int = 0
    states: int = 128
    state_slice: int = 16
    state_knobs: Knobs | None = None
    short_rows: int = 2048
    pointwise_bytes: int = 4096
    square: int = 64
    narrow_square: int = 64

    def matrix_tile(
        self,
        shape: tuple[int, int, int],
        bits: int = 16,
        products: int = 1,
        *,
        counted: bool = False,
        plain: int = 0,
    ) -> MatrixTile:
        """The tile for results of ``shape`` (batch, rows, columns) from operands of ``bits`` bits.

        ``products``: how many such results an instance may hold. ``counted``: whether data counts their rows.
        ``plain``: how many elements are summed where the operands are blocks of arrays as they lie, else 0. Where no
        tile is for that, it is the last one.
        """
        usual = [t for t in self.matrix if t.counted in (None, counted) and not t.plain]
        largest = max((t.rows * t.columns for t in usual), default=0)
        fitting = [
            t
            for t in self.matrix
            if t.fits(shape, bits, counted=counted, plain=plain)
            and (products == 1 or t.rows * t.columns * products <= largest)
        ]
        if not fitting:
            return self.matrix[-1]
        in_turn = [t for t in fitting if t.at_once]
        return min(in_turn, key=lambda t: t.time(shape)) if fitting[0].at_once else fitting[0]

    def chain_tile(self, head: int, rows: int, *, masked: bool) -> ChainTile:
        """The tile for a chain with ``rows`` rows and heads of ``head`` elements."""
        for tile in self.chains:
            fits = rows >= tile.least and (tile.most is None or rows <= tile.most)
            fits &= tile.head is None or head <= tile.head
            if fits and tile.masked in (None, masked):
                return tile
        return self.chains[-1]

    def splitting(self) -> PlanTable:
        """The table where f32 products may be made of bf16 parts; the same one where the target does not do that."""
        return self if self.split is None else replace(self, exact=self.split, large=None, splits=True)

    def exact_tile(self, shape: tuple[int, int, int], bits: int, products: int = 1) -> MatrixTile:
        """The tile for results of ``shape`` (batch, rows, columns) from operands of more than 16 bits."""
        large = self.large
        if large is None or bits != 32 or products > 1:
            return self.exact
        batch, rows, columns = shape
        tiles = batch * -(-rows // large.rows) * -(-columns // large.columns)
        return large if tiles >= large.tiles and min(rows, columns) >= large.least else self.exact

    def holds(self, row: int) -> bool:
        """Whether rows of ``row`` elements are held at once."""
        full = row & (row - 1) == 0
        return row <= (self.resident if full or self.masked is None else self.masked)

    def row_knobs(self, lanes: int) -> Knobs:
        """The settings of a row program with ``lanes`` elements at once."""
        return next((step.knobs for step in self.rows if lanes <= step.lanes), self.rows[-1].knobs)

    def walk(self, row: int, *, written: bool, scanned: bool = False) -> Walk:
        """How rows of ``row`` elements are walked, settings included."""
        for found in self.walks:
            fits = found.row is None or row <= found.row
            if fits and found.written in (None, written) and found.scanned in (None, scanned):
                break
        else:
            found = self.walks[-1]
        return found if found.knobs is not None else replace(found, knobs=self.row_knobs(found.block))

    def warps_of(self, knobs: Knobs) -> int:
        """How many warps an instance has with these settings (the fewest where they do not say)."""
        return dict(knobs).get(self.warps, self.warp_counts[0])

    def with_warps(self, knobs: Knobs, wanted: int) -> Knobs:
        """The settings with at least ``wanted`` warps, or as many as there can be."""
        if not self.warps or self.warps_of(knobs) >= wanted:
            return knobs
        count = next((n for n in self.warp_counts if n >= wanted), self.warp_counts[-1])
        return settings(**{**dict(knobs), self.warps: count})
