"""HTML and SVG from trees of tags: text is escaped unless it is markup already."""

from __future__ import annotations

from html import escape
from typing import Final

__all__ = ["Html", "Node", "join", "tag"]


class Html(str):
    """Text that is markup."""

    __slots__ = ()


Node = str | int | float | None
"""A child: markup, text to escape, a number, or nothing."""

_VOID: Final = frozenset({"br", "hr", "img", "input", "link", "meta"})


def _text(node: Node) -> str:
    if node is None:
        return ""
    if isinstance(node, Html):
        return node
    return escape(_number(node) if isinstance(node, float) else str(node), quote=False)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def join(nodes: object) -> Html:
    """Children one after the other."""
    assert hasattr(nodes, "__iter__")
    return Html("".join(_text(node) for node in nodes))


def tag(name: str, /, *children: Node, **attributes: Node) -> Html:
    """``tag("td", text, class_="number", data_k="3")``; attributes that are None are left out.

    ``_`` in a name is ``-``, a trailing one is dropped.
    """
    given = []
    for key, value in attributes.items():
        if value is not None:
            shown = _number(value) if isinstance(value, float) else str(value)
            given.append(f' {key.rstrip("_").replace("_", "-")}="{escape(shown)}"')
    head = f"<{name}{''.join(given)}>"
    if name in _VOID:
        return Html(head)
    return Html(f"{head}{''.join(map(_text, children))}</{name}>")
