"""The Python shown in README and docs/ runs, and its links within the repository lead somewhere."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PROGRAMS = [ROOT / "README.md", ROOT / "docs" / "getting-started.md"]


def programs(page: Path) -> list[str]:
    """Python blocks of a page that stand alone: those that import what they use."""
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [block for block in blocks if "import numpy" in block]


@pytest.mark.parametrize("page", PROGRAMS, ids=lambda page: page.name)
def test_programs_run(page, tmp_path):
    found = programs(page)
    assert found
    for number, text in enumerate(found):
        script = tmp_path / f"block{number}.py"
        script.write_text(text)
        assert "artifact" in runpy.run_path(str(script))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    local = [target for target in targets if not target.startswith("http")]
    assert [target for target in local if not (page.parent / target).exists()] == []
