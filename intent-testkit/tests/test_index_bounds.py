"""Bounds that are wrong are noticed by the differential tests."""

from __future__ import annotations

import pytest

from intent.provider.emission import Bounds, Interval
from intent_testkit import index_bounds
from intent_testkit.cases import BY_NAME
from intent_testkit.differential import check_plans
from intent_testkit.index_bounds import WrongBound


@pytest.mark.parametrize("side", ["low", "high"])
def test_a_bound_that_a_value_passes(monkeypatch: pytest.MonkeyPatch, side: str) -> None:
    right = Bounds.interval

    def wrong(self: Bounds, fragment: object) -> Interval | None:
        found = right(self, fragment)  # type: ignore[arg-type]
        if found is None or found.low is found.high:
            return found
        return Interval(found.low + 1, found.high) if side == "low" else Interval(found.low, found.high - 1)

    monkeypatch.setattr(Bounds, "interval", wrong)
    monkeypatch.setattr(index_bounds, "_all_asked", lambda *_: None)
    with pytest.raises(WrongBound, match="not from"):
        check_plans(BY_NAME["transpose"])


def test_a_bound_that_no_launch_asks_about(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Bounds.launch_facts
    monkeypatch.setattr(Bounds, "launch_facts", lambda self: right(self)[1:])
    with pytest.raises(WrongBound, match="no launch asks"):
        check_plans(BY_NAME["transpose"])
