"""Plans for the differential tests. The one file that knows how core makes plans."""

from __future__ import annotations

from typing import Any

import intent
from intent_testkit.cases.case import Case


def minimal_program(case: Case) -> Any:
    """The verified program of a case under the minimal plan (spec: kir-to-gpu-program 4)."""
    return intent.compile(
        case.kernel, provider="reference", constexprs=dict(case.constexprs), plan="minimal"
    ).program
