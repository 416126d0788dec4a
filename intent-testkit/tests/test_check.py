"""No kernel of the testkit breaks a rule that the sanitizer knows: correct programs report nothing."""

from __future__ import annotations

import pytest

import intent
from intent_testkit.cases import ALL
from intent_testkit.memory import CONTIGUOUS
from intent_testkit.run import draw, points


@pytest.mark.parametrize("case", ALL, ids=repr)
def test_a_correct_kernel_reports_nothing(case):
    """At its smallest extents, and at its two largest contiguous ones without an empty axis."""
    plain = [p for p in points(case) if p.variant == CONTIGUOUS] or list(points(case))
    filled = [p for p in plain[1:] if all(p.extents.values())]
    for point in (plain[0], *filled[-2:]):
        values = draw(point)
        arguments = [values[spec.name] for spec in case.parameters]
        report = intent.check(case.kernel, *arguments, constexprs=dict(case.constexprs), rounds=3)
        assert not report, f"{point}: {report}"
