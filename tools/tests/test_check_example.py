"""The example of docs/check.md prints what the page says."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "check.md"


def test_the_example_prints_what_is_shown(tmp_path, capsys):
    text = PAGE.read_text(encoding="utf-8")
    program = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[0]
    (shown,) = re.findall(r"^```text\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    script = tmp_path / "add.py"
    script.write_text(program, encoding="utf-8")
    runpy.run_path(str(script))
    assert capsys.readouterr().out.replace(f"{tmp_path}/", "") == shown
