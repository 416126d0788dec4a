"""Colours for code: comments, strings, numbers, keywords and the names in front of a call."""

from __future__ import annotations

import re
from typing import Final

from intent.explain.page.markup import Html, join, tag

__all__ = ["highlighted"]

_KEYWORDS: Final = (
    r"and|as|break|class|continue|def|elif|else|for|from|if|import|in|is|lambda|None|not|or|pass|return|True|False|while"
    r"|with|yield|const|int|float|void|auto|template|typename|extern|using|struct|unsigned|long"
)
_REST: Final = (
    r"""(?P<string>"[^"]*"|'[^']*')|(?P<number>\b\d[\w.]*(?:[eE][+-]?\d+)?)"""
    rf"""|(?P<keyword>\b(?:{_KEYWORDS})\b)|(?P<decorator>@[\w.]+)|(?P<call>\b\w+(?=\())"""
)
_HASH: Final = re.compile(rf"(?P<comment>\#.*)|{_REST}")
_SLASHES: Final = re.compile(rf"(?P<comment>//.*|^\s*\#\w+)|{_REST}")
"""In C a line that begins with # is for the preprocessor."""


def highlighted(line: str, language: str = "py") -> Html:
    """One line of code as markup; ``language`` is the suffix of its file."""
    parts: list[str] = []
    done = 0
    for match in (_HASH if language in ("py", "program") else _SLASHES).finditer(line):
        parts += [line[done : match.start()], tag("span", match.group(), class_=f"t-{match.lastgroup}")]
        done = match.end()
    return join([*parts, line[done:]])
