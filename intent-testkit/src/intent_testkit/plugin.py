"""Pytest plugin of the testkit: ``pytest --pyargs intent_testkit --intent-provider NAME``.

The option may be repeated; without it every installed provider is tested. GPU providers run the source they
emit on the CPU when there is no GPU (``INTENT_EXECUTION=emulate``). ``--intent-case TEXT`` keeps the cases
whose name contains the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from intent_testkit.suite import Suite

_CASE, _POINT, _PROVIDER = "intent_case", "intent_point", "intent_provider"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--intent-provider NAME`` and ``--intent-case TEXT``."""
    group = parser.getgroup("intent", "Intent conformance")
    group.addoption(
        "--intent-provider",
        metavar="NAME",
        action="append",
        default=[],
        help="provider under test; may be repeated (default: every installed one)",
    )
    group.addoption("--intent-case", metavar="TEXT", default="", help="only cases whose name contains TEXT")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Fill ``intent_provider``, ``intent_case`` and ``intent_point`` where a test asks for them."""
    wanted = {_PROVIDER, _CASE, _POINT} & set(metafunc.fixturenames)
    if not wanted:
        return
    # Imported here: the plugin is loaded by every pytest run, most of which test something else.
    from intent_testkit.cases import ALL
    from intent_testkit.run import points
    from intent_testkit.suite import provider_names

    if _PROVIDER in wanted:
        names = metafunc.config.getoption("--intent-provider") or provider_names()
        metafunc.parametrize(_PROVIDER, list(names), scope="session")
    part = metafunc.config.getoption("--intent-case")
    cases = [case for case in ALL if part in case.name]
    if _POINT in wanted:
        every = [point for case in cases for point in points(case)]
        metafunc.parametrize(_POINT, every, ids=map(str, every))
    elif _CASE in wanted:
        metafunc.parametrize(_CASE, cases, ids=[case.name for case in cases])


@pytest.fixture(scope="session")
def intent_suite() -> Suite:
    """Compiled artifacts of this session, one per provider and case."""
    from intent_testkit.suite import Suite

    return Suite()


def pytest_report_header(config: pytest.Config) -> str | None:
    """Name the providers when the option is given."""
    names: Any = config.getoption("--intent-provider")
    return f"intent: providers {', '.join(names)}" if names else None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the conformance table (see :mod:`intent_testkit.report`) when conformance tests ran."""
    reports = [r for kind in ("passed", "failed") for r in terminalreporter.stats.get(kind, ())]
    found = [(dict(r.user_properties).get("intent"), r) for r in reports if getattr(r, "when", "") == "call"]
    if not any(properties for properties, _ in found):
        return
    from intent_testkit.report import Outcome, table

    outcomes = [
        Outcome(provider=p[0], execution=p[1], case=p[2], passed=report.passed, excused=bool(p[3]))
        for p, report in found
        if p
    ]
    terminalreporter.section("intent conformance")
    for line in table(outcomes):
        terminalreporter.line(line)
