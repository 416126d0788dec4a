"""Where everything of a scene stands, in the units of its SVG.

Resources that are read stand left of the programs, those that are written right, buffers below. One scale serves all
axes of a scene, so that equal extents look equally long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Final, Literal

from intent.explain.report import Scene, Segment, Span, Tensor

__all__ = ["Box", "Cell", "Glyph", "Layout", "lay_out"]

Side = Literal["left", "right", "below"]

_SHORTEST, _LONGEST = 16.0, 190.0
_BAR = 16.0
_MARGINS: Final = {"left": (40.0, 16.0), "right": (40.0, 16.0), "below": (12.0, 42.0)}
"""Room above and under a resource; its name stands above, of buffers under it."""
_BESIDE: Final = 26.0
_LETTER: Final = 8.4
"""Width of a letter of its name."""
_MAP: Final = 46.0
"""Room for a map of layers, and the least width for one."""
_LEAST_MAP: Final = 96.0
_ROOM: Final = 440.0
"""Resources of one side are wrapped to rows of this width."""
_FLOW: Final = 110.0
"""Width of the flows on each side of the programs."""
_TOP: Final = 30.0


@dataclass(frozen=True, kw_only=True)
class Box:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float

    def moved(self, x: float, y: float) -> Box:
        return replace(self, x=self.x + x, y=self.y + y)

    @property
    def middle(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y + self.height / 2


@dataclass(frozen=True, kw_only=True)
class Glyph:
    """A resource: its last two axes as a rectangle, one axis as a bar, a scalar as a dot.

    ``layers`` is a small map of the axes in front of these.
    """

    tensor: Tensor
    box: Box
    side: Side
    layers: Box | None

    def part(self, spans: Sequence[Span]) -> Box | None:
        """The rectangle of coordinates along each axis; None when they are empty."""
        if any(s.high < s.low for s in spans):
            return None
        return _part(self.box, spans[-2:], self.tensor.shape[-2:])

    def layer(self, spans: Sequence[Span]) -> Box | None:
        """The part of the map of layers."""
        if self.layers is None or any(s.high < s.low for s in spans):
            return None
        return _part(self.layers, spans[:-2][-2:], self.tensor.shape[:-2][-2:])


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One program; ``shade`` is its place in the order of the launch, from 0 to 1."""

    box: Box
    program: int
    shade: float


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Everything of one scene. ``grid`` is around all cells."""

    width: float
    height: float
    glyphs: dict[str, Glyph]
    cells: tuple[Cell, ...]
    grid: Box


def _part(box: Box, spans: Sequence[Span], shape: Sequence[int]) -> Box:
    """The part of a box that stands for up to two axes, rows then columns."""
    rows = spans[-2] if len(spans) > 1 else None
    columns = spans[-1] if spans else None
    y, height = _range(rows, shape[-2] if len(shape) > 1 else 1, box.y, box.height)
    x, width = _range(columns, shape[-1] if shape else 1, box.x, box.width)
    return Box(x=x, y=y, width=width, height=height)


def _range(span: Span | None, extent: int, start: float, length: float) -> tuple[float, float]:
    """Position and length of a span, never thinner than two units."""
    if span is None or extent <= 0:
        return start, length
    low = start + length * span.low / extent
    size = max(2.0, length * (span.high - span.low + 1) / extent)
    return min(low, start + length - size), size


@dataclass(frozen=True, kw_only=True)
class _Block:
    """The resources of one side in rows, beginning at the origin."""

    glyphs: tuple[Glyph, ...]
    width: float
    height: float

    def moved(self, x: float, y: float) -> dict[str, Glyph]:
        return {
            g.tensor.name: replace(
                g, box=g.box.moved(x, y), layers=None if g.layers is None else g.layers.moved(x, y)
            )
            for g in self.glyphs
        }


def lay_out(scene: Scene, segment: Segment) -> Layout:
    """The layout of a scene."""
    written = {a.resource for a in segment.accesses if a.verb != "read"}
    sides: dict[Side, list[Tensor]] = {"left": [], "right": [], "below": []}
    for tensor in scene.tensors:
        sides["below" if tensor.kind == "buffer" else "right" if tensor.name in written else "left"].append(
            tensor
        )
    longest = max((n for t in scene.tensors for n in t.shape[-2:]), default=1)
    left, right, below = (_block(sides[side], side, longest) for side in ("left", "right", "below"))
    tall = max(left.height, right.height, 110.0)
    cells, grid = _grid(scene, tall)
    middle = max(grid.width + 2 * _FLOW, below.width)
    start = left.width + (middle - grid.width) / 2
    top = max(0.0, (tall - grid.height - _TOP) / 2) + _TOP
    tall = max(tall, top + grid.height + 24)
    glyphs = left.moved(0.0, (tall - left.height) / 2)
    glyphs |= right.moved(left.width + middle, (tall - right.height) / 2)
    glyphs |= below.moved(left.width + (middle - below.width) / 2, top + grid.height + 30)
    return Layout(
        width=left.width + middle + right.width,
        height=max(tall, top + grid.height + below.height + 40 if below.glyphs else tall),
        glyphs=glyphs,
        cells=tuple(replace(c, box=c.box.moved(start, top)) for c in cells),
        grid=replace(grid, x=start, y=top),
    )


def _size(tensor: Tensor, longest: int) -> tuple[float, float]:
    def length(extent: int) -> float:
        share = sqrt(max(extent, 1) / max(longest, 1))
        return _SHORTEST + (_LONGEST - _SHORTEST) * share

    if not tensor.shape:
        return _BAR, _BAR
    if len(tensor.shape) == 1:
        return length(tensor.shape[0]), _BAR
    return length(tensor.shape[-1]), length(tensor.shape[-2])


def _block(tensors: Sequence[Tensor], side: Side, longest: int) -> _Block:
    rows: list[list[tuple[Tensor, float, float, float]]] = []
    room = 0.0
    for tensor in tensors:
        width, height = _size(tensor, longest)
        slot = max(
            width + 2 * _BESIDE, _LETTER * (len(tensor.name) + 6), _LEAST_MAP if tensor.shape[:-2] else 0.0
        )
        if not rows or room < slot:
            rows.append([])
            room = _ROOM
        rows[-1].append((tensor, width, height, slot))
        room -= slot
    wide = max((sum(slot for *_, slot in row) for row in rows), default=0.0)
    glyphs = []
    y = 0.0
    above, under = _MARGINS[side]
    for row in rows:
        left_over = wide - sum(slot for *_, slot in row)
        x = left_over * {"left": 1.0, "right": 0.0, "below": 0.5}[side]
        tall = max(height for _, _, height, _ in row)
        for tensor, width, height, slot in row:
            box = Box(x=x + (slot - width) / 2, y=y + above + (tall - height) / 2, width=width, height=height)
            glyphs.append(Glyph(tensor=tensor, box=box, side=side, layers=_layers(tensor, box)))
            x += slot
        y += tall + above + under + (_MAP if any(len(t.shape) > 2 for t, *_ in row) else 0.0)
    return _Block(glyphs=tuple(glyphs), width=wide, height=y)


def _layers(tensor: Tensor, box: Box) -> Box | None:
    """A bar under the resource, of two axes a small rectangle."""
    front = tensor.shape[:-2]
    if not front:
        return None
    height = 8.0 if len(front) == 1 else min(24.0, 6.0 * max(1, front[-2]))
    width = max(box.width, 60.0)
    return Box(x=box.x + (box.width - width) / 2, y=box.y + box.height + 22, width=width, height=height)


def _grid(scene: Scene, height: float) -> tuple[list[Cell], Box]:
    """The programs at the origin: along one axis a column, along two a matrix of the last two."""
    shown = [sample.blocks[-2:] for sample in scene.samples]
    rows = sorted({b[0] for b in shown if b}) or [0]
    columns = sorted({b[1] for b in shown if len(b) > 1}) or [0]
    room = max(130.0, min(320.0, height - 70))
    tall = max(7.0, min(30.0, room / len(rows)))
    wide = min(30.0, 250.0 / len(columns)) if len(columns) > 1 else 54.0
    total = 1
    for count in scene.programs:
        total *= count
    cells = []
    for sample, blocks in zip(scene.samples, shown, strict=True):
        row = rows.index(blocks[0]) if blocks else 0
        column = columns.index(blocks[1]) if len(blocks) > 1 else 0
        box = Box(x=wide * column, y=tall * row, width=wide, height=tall)
        cells.append(Cell(box=box, program=sample.program, shade=sample.program / max(1, total - 1)))
    return cells, Box(x=0, y=0, width=wide * len(columns), height=tall * len(rows))
