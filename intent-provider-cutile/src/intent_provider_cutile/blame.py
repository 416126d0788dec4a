"""From an error in emitted text to the author's line."""

from __future__ import annotations

import re
import traceback

from intent.physical import Program
from intent.provider import blame
from intent.types import Span

_PLACE = re.compile(r'"<intent [^"]*>", line (\d+)')


def author_span(error: BaseException, text: str, program: Program) -> Span:
    """The span of the author's line that the text's comments name above the error's line; UNKNOWN if none does."""
    return blame.author_span(text, _lines_of(error), program, comment="# ", heads=("def ", "@"))


def _lines_of(error: BaseException) -> list[int]:
    """The lines of emitted text that the compiler's message or the traceback mentions, innermost first."""
    found = _PLACE.findall(str(error)) or _PLACE.findall("".join(traceback.format_exception(error)))
    return [int(line) for line in reversed(found)]
