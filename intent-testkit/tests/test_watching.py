"""Watching the right compiler in several processes, and work shared out among forks."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from intent_testkit.mutants.forked import Lost, forked
from intent_testkit.mutants.right import Right
from intent_testkit.mutants.rooms import ROOMS
from intent_testkit.mutants.tested import of_core
from intent_testkit.mutants.watching import watch

_MODULES = ["intent.construct.reduce", "intent.construct.facts"]
_NAME = "test_any_and_all[1-1]"


@pytest.fixture(autouse=True)
def _one_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("intent_testkit.mutants.watching.TESTS", 1)


def _watched(monkeypatch: pytest.MonkeyPatch, tests: list[str], jobs: int) -> Right:
    monkeypatch.setattr("intent_testkit.mutants.watching.of_core", lambda *_: tests)
    return watch(ROOMS["construct"], _MODULES, every=1000, jobs=jobs)


def _lines(right: Right) -> dict[tuple[str, int], set[str]]:
    return {(module, k): set(names) for module, by in right.lines.items() for k, names in by.items()}


def test_what_is_seen_does_not_depend_on_how_many_look(monkeypatch: pytest.MonkeyPatch) -> None:
    (file,) = of_core("construct/test_masks.py")
    tests = [f"{file}::{_NAME}"]
    alone, together = (_watched(monkeypatch, tests, jobs) for jobs in (1, 2))
    assert _lines(alone) == _lines(together)
    assert (alone.programs, alone.expenses) == (together.programs, together.expenses)
    mattered = [{name: set(told) for name, told in right.mattered.items()} for right in (alone, together)]
    assert mattered[0] == mattered[1]
    told = set().union(*_lines(alone).values())
    assert set(alone.programs) <= told, "the case runs some line"
    assert set(tests) <= told, "and the test does"
    assert any(mattered[0].values()), "and some condition matters"


def test_a_test_that_fails_already_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "test_two.py"
    text = "from intent.construct.facts import Facts\ndef test_{}():\n    assert Facts(()).{}\n"
    file.write_text(text.format("good", "about") + text.format("bad", "nothing"), encoding="utf-8")
    right = _watched(monkeypatch, [str(file)], 2)
    (said,) = right.failing.values()
    assert said.startswith("test_bad: ")
    assert not any("test_bad" in name for names in _lines(right).values() for name in names)


def test_results_of_forks() -> None:
    def work(item: int) -> int:
        if item == 3:
            os._exit(1)
        time.sleep(60 if item == 4 else 0)
        return item * item

    found = dict(forked(range(6), work, 3, most=1))
    assert found == {0: 0, 1: 1, 2: 4, 3: Lost.DIED, 4: Lost.LATE, 5: 25}


def test_none_begins_after_its_time_and_those_that_have_begun_end() -> None:
    def work(item: int) -> int:
        time.sleep(0.4)
        return item

    assert dict(forked(range(6), work, 2, begin_within=0.1)) == {0: 0, 1: 1}
