"""Worksets: which statements share instances and why, and why others do not."""

from __future__ import annotations

from intent.explain.page.markup import Html, join, tag
from intent.explain.report import Axis, Fact, Group, Place, Reason, Report, Statement

__all__ = ["why"]

_MOST = 12
"""Pairs of groups that are listed one by one."""


def why(report: Report) -> Html:
    """The section about groups."""
    numbers = {s.id: s for group in report.groups for s in group.statements}
    return tag(
        "section",
        tag("h2", "Worksets"),
        tag("div", join([_group(group, numbers) for group in report.groups]), class_="columns"),
        _apart(report),
        id="worksets",
    )


def _group(group: Group, statements: dict[int, Statement]) -> Html:
    head = tag("header", tag("h3", f"Group {group.number}"), _count(group))
    what = [tag("ol", join([_statement(s) for s in group.statements]), class_="statements")]
    for reason in group.joined:
        text = f" {_lines(reason, statements)}{reason.text}"
        what.append(tag("p", tag("b", "joined"), text, class_="reason joined"))
    points = [_axis(axis) for axis in group.axes]
    points += [
        tag("p", tag("b", "inside"), f" {reason.text}", class_="reason inside") for reason in group.inside
    ]
    if not group.axes:
        points.append(tag("p", "No axis of independent points: one instance does it all.", class_="reason"))
    body = tag("div", tag("div", join(what)), tag("div", join(points)), class_="halves")
    return tag("article", head, body, class_="card")


def _count(group: Group) -> Html:
    count = len(group.statements)
    return tag("span", f"{count} statement{'s' if count > 1 else ''}", class_="pill")


def _statement(statement: Statement) -> Html:
    text = statement.place.text if statement.place is not None else statement.kind
    key = None if statement.place is None else statement.place.key
    uses = []
    if statement.reads:
        uses.append(tag("span", f"reads {', '.join(statement.reads)}", class_="use read"))
    if statement.writes:
        verb = "atomically updates" if statement.kind.startswith("atomic") else "writes"
        name = "atomic" if statement.kind.startswith("atomic") else "write"
        uses.append(tag("span", f"{verb} {', '.join(statement.writes)}", class_=f"use {name}"))
    return tag("li", tag("code", text), tag("span", join(uses), class_="uses"), data_k=key)


def _lines(reason: Reason, statements: dict[int, Statement]) -> str:
    places = [statements[s].place for s in reason.statements if s in statements]
    lines = dict.fromkeys(str(p.line) for p in places if p is not None)
    return f"lines {' and '.join(lines)}: " if len(lines) > 1 else ""


def _axis(axis: Axis) -> Html:
    facts = [
        tag("li", _fact(fact), data_k=None if fact.place is None else fact.place.key) for fact in axis.facts
    ]
    notes = []
    if axis.single:
        notes.append(tag("span", "one point per program: control depends on it", class_="pill"))
    head = tag("p", tag("b", axis.label), f" of {axis.extent.text} ", join(notes), class_="axis")
    return join([head, tag("ul", join(facts), class_="facts")])


def _fact(fact: Fact) -> Html:
    return join([fact.text, _at(fact.place)])


def _at(place: Place | None) -> Html | None:
    return None if place is None else tag("span", f" line {place.line}", class_="at")


def _apart(report: Report) -> Html | None:
    if not report.apart:
        return None
    listed = (
        report.apart
        if len(report.apart) <= _MOST
        else [r for r in report.apart if r.because != "independent"]
    )
    rows = [
        tag("li", tag("b", f"groups {reason.groups[0]} and {reason.groups[1]}"), f" {reason.text}")
        for reason in listed
    ]
    left = len(report.apart) - len(rows)
    if left:
        which = f"{left} other pairs of groups have" if rows else f"all {left} pairs of groups have"
        rows.append(tag("li", f"{which} nothing in common"))
    return tag("div", tag("h3", "Kept apart"), tag("ul", join(rows), class_="plain"), class_="card")
