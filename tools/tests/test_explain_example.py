"""The example of docs/explain.md says what its kernel's report says, whatever plan is chosen for it."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explain.md"
INDEPENDENT = ("interface", "worksets")
"""Blocks that do not depend on the plan."""


def blocks(text):
    return {block.splitlines()[0]: block.splitlines()[1:] for block in text.strip().split("\n\n")}


def test_the_example_is_what_explain_says(tmp_path, capsys):
    text = PAGE.read_text(encoding="utf-8")
    program = next(
        b for b in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE) if "def " in b
    )
    (shown,) = re.findall(r"^```text\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    script = tmp_path / "example.py"
    script.write_text(program, encoding="utf-8")
    runpy.run_path(str(script))
    said = blocks(capsys.readouterr().out)
    for head in INDEPENDENT:
        assert blocks(shown)[head] == said[head]
    known = [re.sub(r"\d+", "#", head) for head in said]
    assert [head for head in (re.sub(r"\d+", "#", h) for h in blocks(shown)) if head not in known] == []
