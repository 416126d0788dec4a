"""docs/survivors.md has every mutant that nothing finds, with its reason."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from intent_testkit.mutants.survivors import KNOWN

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tool():
    spec = importlib.util.spec_from_file_location("survivors_page", ROOT / "tools" / "survivors_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(tool):
    written = (ROOT / "docs" / "survivors.md").read_text(encoding="utf-8")
    assert tool.page() == written, "run tools/survivors_page.py"


def test_every_mutant_stands_beside_its_reason(tool):
    rows = [line for line in tool.page().splitlines() if line.startswith("| ")]
    for name, reason in KNOWN.items():
        assert any(row.startswith(f"| {reason} |") and f"`{name}`" in row for row in rows), name


def test_a_mutant_of_no_section_is_an_error(tool):
    with pytest.raises(ValueError, match=r"elsewhere:f:drop-mask:0"):
        tool.page({"elsewhere:f:drop-mask:0": "why"})
