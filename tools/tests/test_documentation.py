"""The Python shown in README and docs/ runs, and its links within the repository lead somewhere."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def programs(page: Path) -> list[str]:
    """Python blocks of a page that stand alone: those that import what they use."""
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [block for block in blocks if "import numpy" in block]


PROGRAMS = [(page, number, text) for page in PAGES for number, text in enumerate(programs(page))]


@pytest.mark.parametrize(
    "text", [pytest.param(text, id=f"{page.name}-{number}") for page, number, text in PROGRAMS]
)
def test_programs_run(text, tmp_path):
    script = tmp_path / "block.py"
    script.write_text(text)
    assert runpy.run_path(str(script))


@pytest.mark.parametrize("name", ["README.md", "getting-started.md", "providers.md"])
def test_pages_that_show_a_whole_program(name):
    assert name in {page.name for page, *_ in PROGRAMS}


@pytest.mark.parametrize("room", ["construct", "passes"])
def test_the_architecture_page_names_every_file_of_a_room(room):
    """In the tables that say where to look; and no file that is not there."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (table,) = re.findall(rf"Where to look in `{room}/`:\n\n\|.*\n\|.*\n((?:\|.*\n)+)", text)
    named = re.findall(r"`([a-z_]+)/?`", "".join(row.split("|")[1] for row in table.splitlines()))
    there = {
        path.stem
        for path in (ROOT / "intent-core/src/intent" / room).iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert sorted(named) == sorted(there - {"__init__"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    local = [target for target in targets if not target.startswith("http")]
    assert [target for target in local if not (page.parent / target).exists()] == []


def test_the_site_lists_every_page():
    """``mkdocs build --strict`` refuses a page that its contents do not name."""
    listed = re.findall(r"([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    docs = ROOT / "docs"
    assert sorted(listed) == sorted(str(page.relative_to(docs)) for page in docs.rglob("*.md"))


def test_the_index_of_decisions_lists_every_record():
    records = sorted((ROOT / "docs" / "decisions").glob("0*.md"))
    index = (ROOT / "docs" / "decisions" / "index.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((0\d+-[\w-]+\.md)\)", index) == [record.name for record in records]
