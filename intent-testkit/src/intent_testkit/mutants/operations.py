"""The conformance tests of single operations and of programs by hand, inside of this process."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from intent_testkit import conformance

_WHERE: Final = [
    str(Path(str(conformance.__file__)).parent / name) for name in ("operations", "test_programs.py")
]
_QUIET: Final = (
    "-o", "addopts=", "-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:xdist", "--assert=plain", "-W", "ignore",
)  # fmt: skip


class _Watching:
    def __init__(self, before: Callable[[str], object]) -> None:
        self.before = before
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []
        self._began = 0.0

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.before(nodeid)
        self._began = time.perf_counter()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.seconds[nodeid] = time.perf_counter() - self._began

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            said = " ".join(str(getattr(crash, "message", report.longrepr)).split())
            self.failed.append(f"{report.nodeid.split('::')[-1]}: {said[:160]}")


def watched(provider: str, before: Callable[[str], object]) -> dict[str, float]:
    """Run every test, with ``before`` called with its name first; the seconds that each took.

    Raises RuntimeError if one fails: then nothing can be said about mutants.
    """
    watching = _run(provider, _WHERE, before)
    if watching.failed:
        raise RuntimeError(f"a test fails without any mutant: {watching.failed[0]}")
    return watching.seconds


def failure(provider: str, names: Sequence[str]) -> str | None:
    """Run some of the tests until one fails, and say which."""
    failed = _run(provider, [*names, "-x"], lambda _: None).failed
    return failed[0] if failed else None


def _run(provider: str, words: Sequence[str], before: Callable[[str], object]) -> _Watching:
    watching = _Watching(before)
    pytest.main([*words, *_QUIET, "--intent-provider", provider], plugins=[watching])
    return watching
