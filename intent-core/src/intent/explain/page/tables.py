"""Accesses, plan, storage and conditions as tables."""

from __future__ import annotations

from collections.abc import Iterable

from intent.explain.counted import bytes_of, words
from intent.explain.page.markup import Html, Node, join, tag
from intent.explain.report import Access, Buffer, Choice, Condition, Place, Quantity, Report, Segment

__all__ = ["accesses", "conditions", "plan", "storage"]


def _table(heads: Iterable[str], rows: Iterable[Html], name: str = "") -> Html:
    names = {"bytes": "number", "passes": "number"}
    head = tag("thead", tag("tr", join([tag("th", text, class_=names.get(text)) for text in heads])))
    return tag("div", tag("table", head, tag("tbody", join(rows)), class_=name or None), class_="wide")


def _row(*cells: Node, place: Place | None = None) -> Html:
    return tag(
        "tr", join([cell if _is_cell(cell) else tag("td", cell) for cell in cells]), data_k=_key(place)
    )


def _is_cell(cell: Node) -> bool:
    return isinstance(cell, Html) and cell.startswith("<td")


def _key(place: Place | None) -> int | None:
    return None if place is None else place.key


def _line(place: Place | None) -> Html:
    return tag("td", "" if place is None else place.line, class_="at")


# -- accesses ------------------------------------------------------------------------------------------------------


def accesses(report: Report) -> Html:
    """Every access with its coordinates, guard and proof."""
    cards = []
    for segment in report.segments:
        names = [tag("span", tag("code", f"{d.name} = {d.text}")) for d in segment.definitions]
        title = f"Group {segment.group}" if len(report.segments) > 1 else None
        cards.append(
            tag(
                "div",
                None if title is None else tag("h3", title),
                tag("p", join(names), class_="definitions") if names else None,
                _accesses(segment),
                class_="card",
            )
        )
    return tag("section", tag("h2", "Accesses"), join(cards), id="accesses")


def _accesses(segment: Segment) -> Html:
    rows = [
        _row(
            tag("td", tag("b", access.verb, class_=f"verb {access.verb}")),
            tag(
                "td", tag("code", f"{access.resource}[{', '.join(c.expression for c in access.coordinates)}]")
            ),
            tag("td", tag("code", access.guard) if access.guard else tag("span", "always", class_="quiet")),
            tag("td", _proofs(access)),
            tag("td", _shown(access.passes), class_="number"),
            tag("td", bytes_of(access.bytes), class_="number"),
            _line(access.place),
            place=access.place,
        )
        for access in segment.accesses
    ]
    heads = ("", "element", "where", "in bounds, because each axis", "passes", "bytes", "line")
    return _table(heads, rows, "accesses")


def _shown(quantity: Quantity) -> str:
    return words(quantity) if quantity.value is None else f"{quantity.value:,}"


def _proofs(access: Access) -> Html:
    reasons = [(c.proof, c.why) for c in access.coordinates]
    if not reasons:
        return tag("span", "a scalar", class_="quiet")
    shown = [reasons[0]] if len(set(reasons)) == 1 else reasons
    badges = [tag("span", tag("b", proof), why, class_=f"proof {proof}") for proof, why in shown]
    detail = tag("span", access.detail, class_="quiet") if access.detail else None
    return join([*badges, detail])


# -- plan ----------------------------------------------------------------------------------------------------------


def plan(report: Report) -> Html:
    """What the plan does with each axis, and the values it computes more than once."""
    rows = []
    for segment in report.segments:
        choices = [c for c in report.plan if c.group == segment.group]
        pills = [_choice(c) for c in choices] or [tag("span", "one instance", class_="pill")]
        rows.append(tag("div", tag("b", f"group {segment.group}"), join(pills), class_="planned"))
    knobs = [tag("span", f"{k.name} = {k.value}", class_="pill") for k in report.knobs]
    if knobs:
        rows.append(tag("div", tag("b", "knobs"), join(knobs), class_="planned"))
    repeated = [
        tag(
            "span",
            tag("b", f"{r.times}×"),
            f"{r.text}{_groups(r.segments)}",
            class_="pill",
            data_k=_key(r.place),
        )
        for r in report.repeated
    ]
    again = (
        join([tag("h3", "Computed more than once"), tag("p", join(repeated), class_="pills")])
        if repeated
        else None
    )
    variants = [
        tag(
            "li",
            tag("b", "this one" if v.current else "another"),
            f" {', '.join(v.guards) or 'for all extents'}",
        )
        for v in report.variants
    ]
    built = (
        join([tag("h3", "Variants so far"), tag("ul", join(variants), class_="plain")])
        if len(variants) > 1
        else None
    )
    return tag("article", tag("h2", "Plan"), join(rows), again, built, class_="card", id="plan")


def _groups(numbers: tuple[int, ...]) -> str:
    return "" if len(numbers) < 2 else f" (groups {', '.join(map(str, numbers))})"


def _choice(choice: Choice) -> Html:
    text = {
        "instance": "instances of",
        "serial": "loop by",
        "resident": "resident",
        "beside": "beside itself, loop by",
        "split": "parts:",
    }[choice.mode]
    return tag(
        "span",
        tag("i", class_=f"mode {choice.mode}"),
        tag("code", choice.axis),
        f" {text} {choice.size}",
        class_="pill",
    )


# -- storage and conditions ----------------------------------------------------------------------------------------


_ROLES = {
    "declared": "declared",
    "held": "a value computed once",
    "partial": "what each instance knows of its part",
    "arrival": "how many have arrived",
}


def storage(report: Report) -> Html:
    """Buffers with scope, storage and owner."""
    if not report.buffers:
        body: Html = tag("p", "No storage besides the views: everything else is in registers.", class_="note")
    else:
        rows = [
            _row(
                tag("td", tag("code", _typed(b))),
                b.storage,
                b.owner,
                _ROLES[b.role],
                tag("td", bytes_of(b.bytes), class_="number"),
                _line(b.place),
                place=b.place,
            )
            for b in report.buffers
        ]
        body = _table(("buffer", "in", "owner", "what", "bytes", "line"), rows)
    fences = [op for s in report.segments for op in s.operations if op.kind == "fence"]
    count = len(fences)
    fenced = tag("p", f"{count} fence{'s' if count != 1 else ''}.", class_="note") if count else None
    return tag("article", tag("h2", "Storage"), body, fenced, class_="card", id="storage")


def _typed(buffer: Buffer) -> str:
    return f"{buffer.name}: {buffer.dtype}[{', '.join(e.text for e in buffer.shape)}]"


def conditions(report: Report) -> Html:
    """What holds of the arguments, and what the author promised."""
    rows = [_condition(c) for c in report.conditions]
    promises = [tag("li", tag("b", a.kind), f" {a.text}", data_k=_key(a.place)) for a in report.assumptions]
    return tag(
        "article",
        tag("h2", "Checked at every call"),
        tag("ul", join(rows), class_="plain") if rows else tag("p", "Shapes and dtypes only.", class_="note"),
        tag("h3", "Promised by you"),
        tag("ul", join(promises), class_="plain") if promises else tag("p", "Nothing.", class_="note"),
        class_="card",
        id="conditions",
    )


def _condition(condition: Condition) -> Html:
    mark = {True: "✓", False: "✗", None: "·"}[condition.holds]
    return tag(
        "li",
        tag("b", mark),
        tag("code", condition.text),
        f" {condition.reason}",
        data_k=_key(condition.place),
    )
