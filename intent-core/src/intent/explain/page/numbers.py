"""The head of the page, what moves, and how long each stage took."""

from __future__ import annotations

from intent.explain.counted import amount, bytes_of, requested
from intent.explain.page.markup import Html, join, tag
from intent.explain.report import Moved, Parameter, Quantity, Report

__all__ = ["head", "stages", "work"]


def head(report: Report) -> Html:
    """Name, interface and the four numbers that matter most."""
    about = [f"{report.provider} {report.provider_version}"]
    about += [f"{e.name} = {e.value}" for e in report.extents]
    about += [f"{d.name} = {d.text}" for d in report.constexprs]
    return tag(
        "header",
        tag(
            "div",
            tag("h1", report.kernel),
            tag("button", "◐", id="theme", type="button", title="light or dark", aria_label="light or dark"),
            class_="title",
        ),
        tag("p", join([tag("span", text) for text in about]), class_="about"),
        tag("p", join([_parameter(p) for p in report.parameters]), class_="interface"),
        tag("div", join(_tiles(report)), class_="tiles"),
        class_="head",
    )


def _parameter(parameter: Parameter) -> Html:
    shape = f"[{', '.join(e.text for e in parameter.shape)}]" if parameter.kind == "view" else ""
    notes = [n for n in (parameter.mode, "noalias" if parameter.noalias else None, _alias(parameter)) if n]
    kind = parameter.mode or "scalar"
    return tag(
        "span",
        tag("i", class_=f"port {kind}"),
        tag("code", f"{parameter.name}: {parameter.dtype}{shape}"),
        tag("small", ", ".join(notes) or "scalar"),
        class_="parameter",
    )


def _alias(parameter: Parameter) -> str | None:
    return None if parameter.alias is None else f"alias {parameter.alias}"


def _tiles(report: Report) -> list[Html]:
    total = sum(stage.milliseconds for stage in report.stages)
    groups = len(report.segments)
    work = report.work
    one = report.length.value == 1
    tiles = [
        _tile(
            _short(report.length),
            "program in the launch" if one else "programs in one launch",
            f"{groups} segment{'s' if groups > 1 else ''}",
        ),
        _tile(bytes_of(work.once), "have to move", _requested(report)),
    ]
    count, once = work.operations, work.once.value
    ratio = f"{_rounded(count.value / once)} per byte that has to move" if count.value and once else ""
    if work.unknown:
        ratio = "and what data decides"
    shown = count.text if count.value is None else amount(count.value)
    tiles.append(_tile(shown, "arithmetic operations", ratio))
    tiles.append(_tile(f"{total:.0f} ms", "to compile", f"{len(report.stages)} stages"))
    return tiles


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _requested(report: Report) -> str:
    text = requested(report.work.requested)
    return f"{text}, and what data decides" if report.work.unknown else text


def _short(quantity: Quantity) -> str:
    return quantity.text if quantity.value is None else f"{quantity.value:,}"


def _tile(value: str, what: str, more: str) -> Html:
    size = (
        "big"
        if value[0].isdigit() and "*" not in value
        else "symbolic short"
        if len(value) <= 16
        else "symbolic"
    )
    return tag("div", tag("b", value, class_=size), tag("span", what), tag("small", more), class_="tile")


def work(report: Report) -> Html:
    """A bar per view: what has to move inside of what is requested."""
    moved = report.work.moved
    most = max((max(m.requested.value or 0, m.once.value or 0) for m in moved), default=0)
    rows = [_moved(m, most) for m in moved]
    unknown = report.work.unknown
    note = (
        tag("p", f"Only data decides, so not counted: {', '.join(unknown)}.", class_="note")
        if unknown
        else None
    )
    counts = [
        tag("li", tag("b", amount(q.value) if q.value is not None else q.text), f" {name}")
        for name, q in (
            ("pointwise", report.work.pointwise),
            ("in reductions and scans", report.work.reductions),
            ("in contractions", report.work.contractions),
        )
        if q.text != "0"
    ]
    operations = join([tag("h3", "Operations"), tag("ul", join(counts), class_="plain")]) if counts else None
    return tag(
        "article",
        tag("h2", "Bytes"),
        tag("p", "Solid: every touched element once. Pale: as the accesses ask for them.", class_="note"),
        tag("div", join(rows), class_="bars"),
        operations,
        note,
        class_="card",
        id="work",
    )


def _moved(moved: Moved, most: int) -> Html:
    label = tag("code", moved.view)
    if moved.once.value is None or not most:
        text = f"{bytes_of(moved.once)} once, {requested(moved.requested)}"
        return tag("div", label, tag("span", text, class_="told"), class_=f"bar {moved.verb}")
    asked = moved.requested.value
    wide = 100 * (moved.once.value if asked is None else asked) / most
    solid = 100 * moved.once.value / most
    text = bytes_of(moved.once)
    if asked is None:
        text += f", {requested(moved.requested)}"
    elif asked != moved.once.value:
        text += f" of {bytes_of(moved.requested)}"
    return tag(
        "div",
        label,
        tag(
            "span",
            tag("i", style=f"width:{min(wide, 100.0):.2f}%", class_="pale"),
            tag("i", style=f"width:{min(solid, 100.0):.2f}%", class_="solid"),
            class_="track",
        ),
        tag("small", text),
        class_=f"bar {moved.verb}",
    )


def stages(report: Report) -> Html:
    """One bar of all stages."""
    total = sum(s.milliseconds for s in report.stages) or 1.0
    parts = [
        tag(
            "i",
            style=f"flex-grow:{max(s.milliseconds / total, 0.004):.4f}",
            class_=f"stage s{n % 8}",
            title=s.name,
        )
        for n, s in enumerate(report.stages)
    ]
    names = [
        tag("li", tag("i", class_=f"swatch stage s{n % 8}"), s.name, tag("b", f" {s.milliseconds:.1f} ms"))
        for n, s in enumerate(report.stages)
    ]
    return tag(
        "article",
        tag("h2", "Time"),
        tag("div", join(parts), class_="time"),
        tag("ul", join(names), class_="plain row"),
        class_="card",
        id="time",
    )
