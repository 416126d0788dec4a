"""The report as one HTML page that needs nothing else: styles, script, picture and data are inside."""

from __future__ import annotations

import json
from importlib.resources import files
from string import Template

from intent.explain.page.code import code
from intent.explain.page.markup import Html, join, tag
from intent.explain.page.numbers import head, stages, work
from intent.explain.page.space import space
from intent.explain.page.tables import accesses, conditions, plan, storage
from intent.explain.page.why import why
from intent.explain.report import Report

__all__ = ["page"]


def page(report: Report) -> str:
    """The page; what the author and the provider wrote is escaped."""
    picture, scenes = space(report)
    body = join(
        [
            head(report),
            picture,
            code(report),
            why(report),
            accesses(report),
            tag(
                "section",
                plan(report),
                work(report),
                storage(report),
                conditions(report),
                stages(report),
                class_="cards",
            ),
        ]
    )
    return Template(_asset("page.html")).substitute(
        title=tag("title", f"{report.kernel} explained"),
        style=_asset("page.css"),
        script=_asset("page.js"),
        data=_json(scenes),
        body=body,
    )


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _json(data: object) -> Html:
    """JSON inside a script element: nothing in it can end the element."""
    text = json.dumps(data, separators=(",", ":"))
    return Html(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))
