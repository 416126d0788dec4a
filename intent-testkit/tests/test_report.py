from __future__ import annotations

from intent_testkit.report import Outcome, table


def _outcome(case: str, *, passed: bool = True, excused: bool = False, provider: str = "toy"):
    return Outcome(provider=provider, execution="emulate", case=case, passed=passed, excused=excused)


def test_a_case_holds_only_if_all_of_its_points_do():
    lines = list(table([_outcome("a"), _outcome("a", passed=False), _outcome("b"), _outcome("b")]))
    assert lines == ["toy (emulate): 1 of 2 cases hold, 4 points", "  failed: a"]


def test_excused_cases_do_not_count_as_held():
    lines = list(table([_outcome("a", excused=True), _outcome("b")]))
    assert lines == ["toy (emulate): 1 of 2 cases hold, 2 points", "  excused: a"]


def test_providers_are_apart():
    lines = list(table([_outcome("a"), _outcome("a", provider="other", passed=False)]))
    assert lines[0] == "other (emulate): 0 of 1 cases hold, 1 points"
    assert lines[2] == "toy (emulate): 1 of 1 cases hold, 1 points"
