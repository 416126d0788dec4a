from __future__ import annotations

from intent_testkit.cases import BY_NAME
from intent_testkit.differential import check_guards


def test_guards_are_violated_in_the_differential_tests():
    # The conformance test of guards would hold vacuously if no case ever met a violation.
    assert sum(check_guards(BY_NAME[name]) for name in ("softmax", "matmul", "axpy", "sum_all")) >= 4
