"""Program space under the minimal plan: independent axes are programs, dependent ones are not."""

from __future__ import annotations

from intent_testkit.cases.case import Case
from intent_testkit.plans import Compiled
from intent_testkit.segments import check_segments


def test_segments(intent_case: Case) -> None:
    """The segments are the expected ones, so that a grid of one cannot pass."""
    compiled = Compiled(intent_case)
    check_segments(intent_case, compiled.program(compiled.minimal()))
