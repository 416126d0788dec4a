"""Logical evaluator = physical evaluator = oracle, under the minimal and three random plans.

Instances run in random order and in batches of random size; the logical evaluator also runs with an
adversary that chooses at random among all that the language leaves open.
"""

from __future__ import annotations

from intent_testkit.cases.case import Case
from intent_testkit.differential import check_guards, check_logical, check_passes, check_plans


def test_logical(intent_case: Case) -> None:
    """The kernel's meaning is the oracle's at every extents assignment, whatever the adversary chooses."""
    check_logical(intent_case)


def test_plans(intent_case: Case) -> None:
    """Every plan gives the same program meaning, and no plan is replaced by another."""
    check_plans(intent_case)


def test_guards(intent_case: Case) -> None:
    """A plan with a violated guard is refused, untouched; with its guards met, it and no other plan runs."""
    check_guards(intent_case)


def test_passes(intent_case: Case) -> None:
    """Every pass leaves a legal program with the same meaning."""
    check_passes(intent_case)
