"""Program space: the launch as one strip of program ids, and a picture for every segment."""

from __future__ import annotations

from intent.explain.page.markup import Html, join, tag
from intent.explain.page.scene import Drawn, draw
from intent.explain.report import Report, Scene, Segment

__all__ = ["space"]


def space(report: Report) -> tuple[Html, dict[str, object]]:
    """The section, and the data of its scenes for the script."""
    scenes = {scene.group: scene for scene in report.picture.scenes}
    drawn = {s.group: draw(report, scenes[s.group], s) for s in report.segments if s.group in scenes}
    cards = [
        _card(segment, scenes.get(segment.group), drawn.get(segment.group)) for segment in report.segments
    ]
    section = tag(
        "section",
        tag("h2", "Program space"),
        _note(report),
        _hatches(),
        _strip(report) if len(report.segments) > 1 else None,
        tag("div", join(cards), class_="scenes many" if len(cards) > 2 else "scenes"),
        _legend(),
        id="space",
    )
    return section, {str(group): d.data for group, d in drawn.items()}


def _note(report: Report) -> Html:
    sizes = ", ".join(f"{e.name} = {e.value}" for e in report.picture.extents)
    if not report.picture.chosen or not sizes:
        count = report.length.text if report.length.value is None else f"{report.length.value:,}"
        text = f"One launch of {count} program{'' if count == '1' else 's'}"
        return tag("p", f"{text}, drawn for {sizes}." if sizes else f"{text}.", class_="note")
    text = "No launch has given the extents yet"
    return tag("p", f"{text}: drawn for {sizes}, which are made up.", class_="note")


def _hatches() -> Html:
    """Patterns of places that only data decides, for all scenes."""
    patterns = [
        tag(
            "pattern",
            tag("line", x1=0, y1=0, x2=0, y2=7, class_=f"hatch {verb}"),
            id=f"hatch-{verb}",
            width=7,
            height=7,
            patternUnits="userSpaceOnUse",
            patternTransform="rotate(45)",
        )
        for verb in ("read", "write", "atomic")
    ]
    return tag("svg", tag("defs", join(patterns)), class_="defs", aria_hidden="true")


def _strip(report: Report) -> Html:
    """The segments side by side, in the order of program ids, wide where there are many programs."""
    counts = [(s, _programs(report, s)) for s in report.segments]
    blocks = []
    for segment, count in counts:
        grow = 1.0 if count is None else max(count, 1) ** 0.5
        length = segment.length.text if segment.length.value is None else f"{segment.length.value:,} programs"
        blocks.append(
            tag(
                "a",
                tag("b", f"group {segment.group}"),
                tag("span", length),
                tag(
                    "code",
                    f"from {segment.offset.text if segment.offset.value is None else segment.offset.value}",
                ),
                href=f"#group-{segment.group}",
                style=f"flex-grow:{grow:.2f}",
                class_="block",
            )
        )
    return tag("div", join(blocks), class_="strip")


def _programs(report: Report, segment: Segment) -> int | None:
    if segment.length.value is not None:
        return segment.length.value
    scene = next((s for s in report.picture.scenes if s.group == segment.group), None)
    if scene is None:
        return None
    total = 1
    for count in scene.programs:
        total *= count
    return total


def _card(segment: Segment, scene: Scene | None, drawn: Drawn | None) -> Html:
    axes = [
        tag(
            "span",
            f"{a.label} of {a.extent.text}" + (f" in blocks of {a.block}" if a.block > 1 else ""),
            class_="pill",
        )
        for a in segment.axes
    ]
    order = (
        [tag("span", f"walked in groups of {segment.grouped} blocks", class_="pill")]
        if segment.grouped > 1
        else []
    )
    head = tag(
        "header",
        tag("h3", f"Group {segment.group}"),
        tag("code", f"{segment.length.text} program{'' if segment.length.text == '1' else 's'}"),
        join([*axes, *order] or [tag("span", "one instance", class_="pill")]),
        tag("button", "▶ passes", class_="play", type="button", data_scene=segment.group, hidden="")
        if drawn is not None
        else None,
    )
    if drawn is None:
        body: Html = tag("p", "Its number of programs does not follow from extents alone.", class_="note")
    elif scene is not None and not scene.samples:
        body = tag("p", "No program for these extents.", class_="note")
    else:
        body = join([drawn.svg, tag("p", drawn.caption, class_="caption", data_scene=segment.group)])
    name = "card whole" if drawn is not None and drawn.wide else "card"
    return tag("article", head, body, class_=name, id=f"group-{segment.group}")


def _legend() -> Html:
    items = [
        ("read", "read"),
        ("write", "written"),
        ("atomic", "atomic"),
        ("vague", "where data decides"),
    ]
    marks = [tag("span", tag("i", class_=f"swatch {name}"), text) for name, text in items]
    shades = tag("span", tag("i", class_="swatch order"), "programs, shaded in the order of their ids")
    tiles = tag("span", tag("i", class_="swatch pass"), "solid: first pass; pale: all passes")
    return tag("p", join([*marks, tiles, shades]), class_="legend")
