"""Pytest plugin of the testkit: the option that names the provider under test."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--intent-provider NAME``; without it the conformance cases run on ``reference``."""
    group = parser.getgroup("intent", "Intent conformance")
    group.addoption("--intent-provider", metavar="NAME", default="reference", help="provider under test")
