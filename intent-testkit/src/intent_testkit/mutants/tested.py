"""Tests inside of this process: the conformance tests of single operations, and those of rooms of the core."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path
from typing import Any, Final

import pytest

import intent
from intent_testkit import conformance

OPERATIONS: Final = tuple(
    str(Path(str(conformance.__file__)).parent / name) for name in ("operations", "test_programs.py")
)
"""The conformance tests of single operations and of programs by hand."""
_CORE: Final = Path(str(intent.__file__)).resolve().parents[2] / "tests"
_QUIET: Final = (
    "-o", "addopts=", "-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:xdist", "--assert=plain", "-W", "ignore",
    "--import-mode=importlib",
)  # fmt: skip


def of_core(*folders: str) -> tuple[str, ...]:
    """Folders of the core's own tests; none of an installed core, which comes without them."""
    return tuple(str(_CORE / folder) for folder in folders if (_CORE / folder).exists())


class _Watching:
    def __init__(
        self, before: Callable[[str], object], after: Callable[[str], object], seconds: float
    ) -> None:
        self.before, self.after = before, after
        self.names: list[str] = []
        self.seconds: dict[str, float] = {}
        self.failed: dict[str, str] = {}
        self._began = 0.0
        self._end = time.process_time() + seconds
        self._root = Path()

    def pytest_configure(self, config: pytest.Config) -> None:
        self._root = config.rootpath

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.before(str(self._root / nodeid))
        self._began = time.process_time()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.seconds[str(self._root / nodeid)] = time.process_time() - self._began
        self.after(str(self._root / nodeid))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.names = [str(self._root / item.nodeid) for item in session.items]

    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        if time.process_time() > self._end:
            item.session.shouldstop = "long enough"

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._note(report)

    def pytest_collectreport(self, report: Any) -> None:
        self._note(report)

    def _note(self, report: Any) -> None:
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            said = " ".join(str(getattr(crash, "message", report.longrepr)).split())
            self.failed[str(self._root / report.nodeid)] = f"{report.nodeid.split('::')[-1]}: {said[:160]}"


def failure(
    names: Sequence[str],
    provider: str = "",
    before: Callable[[str], object] = lambda _: None,
    seconds: float = inf,
) -> tuple[str | None, int]:
    """Run some of the tests until one fails, or so much processor time is over; which, and how many were run."""
    watching = _run([*names, "-x"], before, provider, seconds=seconds)
    return _first(watching), len(watching.seconds)


def noted(
    where: Sequence[str],
    before: Callable[[str], object],
    provider: str = "",
    after: Callable[[str], object] = lambda _: None,
) -> tuple[dict[str, float], dict[str, str]]:
    """Run every test, with ``before`` and ``after`` called with its name.

    The seconds of processor time that each took which passed, and what the others said.
    """
    watching = _run(where, before, provider, after)
    passed = {name: took for name, took in watching.seconds.items() if name not in watching.failed}
    return passed, watching.failed


def collected(where: Sequence[str], provider: str = "") -> tuple[list[str], dict[str, str]]:
    """The names of all tests of files and folders, none for none; what files said that cannot be read."""
    if not where:
        return [], {}
    watching = _run([*where, "--collect-only"], lambda _: None, provider)
    return watching.names, watching.failed


def _first(watching: _Watching) -> str | None:
    return next(iter(watching.failed.values()), None)


def _run(
    words: Sequence[str],
    before: Callable[[str], object],
    provider: str,
    after: Callable[[str], object] = lambda _: None,
    seconds: float = inf,
) -> _Watching:
    watching = _Watching(before, after, seconds)
    chosen = ("--intent-provider", provider) if provider else ()
    pytest.main([*words, *_QUIET, *chosen], plugins=[watching])
    return watching
