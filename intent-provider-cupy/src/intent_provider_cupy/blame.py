"""A compiler's refusal of emitted text as an error at the author's line."""

from __future__ import annotations

import re
from typing import Final

from intent.diagnostics import BuildFailure
from intent.physical import Program
from intent.provider import blame
from intent_provider_cupy.toolkit import PROVIDER

_PLACE: Final = re.compile(r"\.cu[(:](\d+)")
"""Where a message of NVRTC or of g++ says its error is."""
_HEADS: Final = ('extern "C"', "__device__", "template", "IT_FN")


def failure(text: str, program: Program, target: str, log: str) -> BuildFailure:
    """The error for ``log``, which speaks of lines of ``text``."""
    lines = [int(line) for line in _PLACE.findall(log)]
    span = blame.author_span(text, lines, program, comment="// ", heads=_HEADS)
    return BuildFailure(PROVIDER, target=target, log=log, span=span)
