"""The picture of one segment: resources, programs between them, and what the chosen program touches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from intent.explain.page.geometry import Box, Cell, Glyph, Layout, lay_out
from intent.explain.page.markup import Html, join, tag
from intent.explain.report import Access, Buffer, Parameter, Report, Sample, Scene, Segment

__all__ = ["Drawn", "draw"]

Numbers = list[float] | None

_WIDE: Final = 860.0
"""A picture wider than this does not share its row."""


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """The SVG of a scene, what the script needs to show another program, and the caption of the chosen one."""

    svg: Html
    data: dict[str, object]
    caption: str
    wide: bool


@dataclass(frozen=True, kw_only=True)
class _Shown:
    """A footprint that is drawn: its index in each sample, its access and its glyph."""

    index: int
    access: Access
    glyph: Glyph
    known: bool


def draw(report: Report, scene: Scene, segment: Segment) -> Drawn:
    """Draw a scene with one of its programs chosen."""
    layout = lay_out(scene, segment)
    shown = list(_shown(scene, segment, layout))
    chosen = _chosen(scene)
    samples = [_boxes(sample, shown) for sample in scene.samples]
    parts = _flows(shown, samples[chosen], layout, chosen) if samples else []
    parts += [_glyph(report, glyph) for glyph in layout.glyphs.values()]
    if samples:
        digits = max(len(str(cell.program)) for cell in layout.cells)
        parts += [_cell(cell, n, n == chosen, digits) for n, cell in enumerate(layout.cells)]
        parts += _footprints(shown, samples[chosen])
    parts += _axis_labels(scene, segment, layout)
    svg = tag(
        "svg",
        join(parts),
        class_="scene",
        viewBox=f"0 0 {layout.width:.0f} {layout.height:.0f}",
        style=f"max-width:{1.3 * layout.width:.0f}px",
        role="group",
        aria_label=f"programs of group {scene.group} and the elements that one of them touches",
        data_scene=scene.group,
    )
    captions = [_caption(sample, segment, scene, shown) for sample in scene.samples]
    data: dict[str, object] = {
        "chosen": chosen,
        "samples": samples,
        "captions": captions,
        "sides": [s.glyph.side for s in shown],
        "edges": [_edge(s.glyph) for s in shown],
        "grid": _numbers(layout.grid),
        "verbs": [s.access.verb for s in shown],
    }
    caption = captions[chosen] if captions else "no program"
    return Drawn(svg=svg, data=data, caption=caption, wide=layout.width > _WIDE)


def _chosen(scene: Scene) -> int:
    """A program in the middle shows more than one in a corner."""
    middle = []
    for blocks in zip(*(sample.blocks for sample in scene.samples), strict=True):
        shown = sorted(set(blocks))
        middle.append(shown[len(shown) // 2 if len(shown) > 2 else 0])
    return next((n for n, sample in enumerate(scene.samples) if sample.blocks == tuple(middle)), 0)


def _shown(scene: Scene, segment: Segment, layout: Layout) -> Iterator[_Shown]:
    """Accesses of one kind and resource with the same boxes everywhere are drawn once."""
    accesses = {a.id: a for a in segment.accesses}
    seen: set[object] = set()
    for k, footprint in enumerate(scene.samples[0].footprints if scene.samples else ()):
        access = accesses[footprint.access]
        boxes = tuple(
            (s.footprints[k].swept, s.footprints[k].first, s.footprints[k].last) for s in scene.samples
        )
        key = (access.resource, access.verb, boxes)
        if key not in seen:
            seen.add(key)
            known = all(span.known for sample in scene.samples for span in sample.footprints[k].swept)
            yield _Shown(index=k, access=access, glyph=layout.glyphs[access.resource], known=known)


def _boxes(sample: Sample, shown: list[_Shown]) -> list[list[Numbers]]:
    found = []
    for s in shown:
        footprint = sample.footprints[s.index]
        boxes = [
            _numbers(s.glyph.part(spans)) for spans in (footprint.swept, footprint.first, footprint.last)
        ]
        found.append([*boxes, _numbers(s.glyph.layer(footprint.swept))])
    return found


def _numbers(box: Box | None) -> Numbers:
    return None if box is None else [round(v, 1) for v in (box.x, box.y, box.width, box.height)]


# -- parts -------------------------------------------------------------------------------------------------------


def _rectangle(box: Box, **attributes: str | float | None) -> Html:
    return tag("rect", x=box.x, y=box.y, width=box.width, height=box.height, **attributes)


def _glyph(report: Report, glyph: Glyph) -> Html:
    box, shape = glyph.box, _symbols(report, glyph.tensor.name)
    middle = box.x + box.width / 2
    under = glyph.side == "below"
    name = tag(
        "text",
        _name(report, glyph),
        x=middle,
        y=box.y + box.height + 18 if under else box.y - 20,
        class_="name",
    )
    labels = [name]
    if shape:
        y = box.y + box.height + 33 if under else box.y - 6
        labels.append(tag("text", shape[-1], x=middle, y=y, class_="extent"))
    if len(shape) > 1:
        labels.append(
            tag("text", shape[-2], x=box.x - 6, y=box.y + box.height / 2 + 3, class_="extent before")
        )
    bodies = [_rectangle(box, class_=f"tensor {glyph.tensor.kind}", rx=2)]
    if glyph.layers is not None:
        front = " × ".join(shape[:-2])
        middle = glyph.layers.x + glyph.layers.width / 2
        labels.append(tag("text", front, x=middle, y=glyph.layers.y - 6, class_="extent"))
        bodies.append(_rectangle(glyph.layers, class_="tensor layers", rx=2))
    return tag("g", join(bodies), join(labels), class_="glyph", data_resource=glyph.tensor.name)


def _name(report: Report, glyph: Glyph) -> str:
    found = _declared(report, glyph.tensor.name)
    return glyph.tensor.name if found is None else f"{glyph.tensor.name} {found.dtype}"


def _declared(report: Report, name: str) -> Parameter | Buffer | None:
    known: tuple[Parameter | Buffer, ...] = (*report.parameters, *report.buffers)
    return next((p for p in known if p.name == name), None)


def _symbols(report: Report, name: str) -> list[str]:
    found = _declared(report, name)
    texts = [] if found is None else [e.text for e in found.shape]
    return [text if len(text) <= 14 else f"{text[:13]}…" for text in texts]


def _cell(cell: Cell, index: int, chosen: bool, digits: int) -> Html:
    """A program; its id is written where the longest id of the scene has room."""
    box = cell.box
    parts = [_rectangle(box, rx=2, style=f"--shade:{cell.shade:.2f}")]
    if box.height >= 14 and box.width >= 7 * digits + 3:
        x, y = box.middle
        parts.append(tag("text", cell.program, x=x, y=y + 4))
    label = f"program {cell.program}"
    name = "cell chosen" if chosen else "cell"
    return tag("g", join(parts), class_=name, data_n=index, tabindex=0, role="button", aria_label=label)


def _footprints(shown: list[_Shown], boxes: list[list[Numbers]]) -> list[Html]:
    parts = []
    read = {s.access.resource for s in shown if s.access.verb == "read"}
    for n, s in enumerate(shown):
        swept, first, _, layer = boxes[n]
        place = s.access.place
        known = "" if s.known else " vague"
        if s.access.verb != "read" and s.access.resource in read:
            known += " both"
        key = None if place is None else str(place.key)
        parts += [
            _tile(swept, f"swept {s.access.verb}{known}", n, key),
            _tile(first, f"tile {s.access.verb}{known}", n, key),
        ]
        if s.glyph.layers is not None:
            parts.append(_tile(layer, f"layer {s.access.verb}{known}", n, key))
    return parts


def _tile(numbers: Numbers, name: str, index: int, key: str | None) -> Html:
    x, y, width, height = numbers or (0.0, 0.0, 0.0, 0.0)
    return tag("rect", x=x, y=y, width=width, height=height, class_=name, data_f=index, data_k=key)


def _flows(shown: list[_Shown], boxes: list[list[Numbers]], layout: Layout, chosen: int) -> list[Html]:
    parts = []
    cell = layout.cells[chosen].box
    for n, s in enumerate(shown):
        tile = boxes[n][1]
        if tile is not None:
            key = None if s.access.place is None else str(s.access.place.key)
            parts.append(
                tag(
                    "path",
                    d=_flow(s.glyph, tile, cell, layout.grid),
                    class_=f"flow {s.access.verb}",
                    data_f=n,
                    data_k=key,
                )
            )
    return parts


def _flow(glyph: Glyph, tile: list[float], cell: Box, grid: Box) -> str:
    """The curve from a resource, at the height of a tile, to the edge of the programs at the height of one of them.

    The script draws the same one.
    """
    x, y, width, height = tile
    if glyph.side == "below":
        x1, y1, x2, y2 = x + width / 2, glyph.box.y, cell.x + cell.width / 2, grid.y + grid.height
        bend = (y1 - y2) / 2
        return f"M{x1:.1f} {y1:.1f}C{x1:.1f} {y1 - bend:.1f} {x2:.1f} {y2 + bend:.1f} {x2:.1f} {y2:.1f}"
    left = glyph.side == "left"
    x1, y1 = (glyph.box.x + glyph.box.width if left else glyph.box.x), y + height / 2
    x2, y2 = (grid.x if left else grid.x + grid.width), cell.y + cell.height / 2
    bend = (x2 - x1) / 2
    return f"M{x1:.1f} {y1:.1f}C{x1 + bend:.1f} {y1:.1f} {x2 - bend:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"


def _edge(glyph: Glyph) -> float:
    """Where flows leave a resource: the x of its side, or the y of its top."""
    box = glyph.box
    return {"left": box.x + box.width, "right": box.x, "below": box.y}[glyph.side]


def _axis_labels(scene: Scene, segment: Segment, layout: Layout) -> list[Html]:
    grid, axes = layout.grid, segment.axes
    middle = grid.x + grid.width / 2
    if not axes:
        return [tag("text", "one program", x=middle, y=grid.y - 8, class_="extent")]
    labels = []
    last = axes[-2:]
    rows = last[0]
    labels.append(
        tag("text", f"{rows.label} ↓", x=grid.x - 8, y=grid.y - 8, class_="extent before")
        if len(last) > 1
        else tag("text", f"{rows.label} ↓", x=middle, y=grid.y - 8, class_="extent")
    )
    if len(last) > 1:
        labels.append(tag("text", f"{last[1].label} →", x=middle, y=grid.y - 8, class_="extent"))
    total = 1
    for count in scene.programs:
        total *= count
    if len(scene.samples) < total:
        text = f"{len(scene.samples)} of {total} programs"
        labels.append(tag("text", text, x=middle, y=grid.y + grid.height + 16, class_="extent"))
    return labels


def _caption(sample: Sample, segment: Segment, scene: Scene, shown: list[_Shown]) -> str:
    """``program 5: axis_N 320..383``."""
    where = []
    for axis, block in zip(segment.axes, sample.blocks, strict=True):
        low = block * axis.block
        high = low + axis.block - 1
        where.append(f"{axis.label} = {low}" if low == high else f"{axis.label} {low} to {high}")
    return f"program {sample.program}" + (f": {', '.join(where)}" if where else "")
