"""docs/language.md says "not supported yet" of exactly the constructs that the compiler refuses."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

import intent
from intent.diagnostics import NotSupportedYet

ROOT = Path(__file__).resolve().parents[2]
CONSTRUCTS = runpy.run_path(str(Path(__file__).with_name("constructs.py")))["CONSTRUCTS"]
GUIDE = (ROOT / "docs" / "language.md").read_text(encoding="utf-8").splitlines()


def row(spelling: str) -> str:
    """The table row whose first cell names the construct."""
    (found,) = [line for line in GUIDE if line.startswith("|") and f"`{spelling}" in line.split("|")[1]]
    return found


@pytest.mark.parametrize("spelling", CONSTRUCTS)
def test_guide_tells_what_compiles(spelling):
    if "**not supported yet**" in row(spelling):
        with pytest.raises(NotSupportedYet):
            intent.compile(CONSTRUCTS[spelling], provider="reference")
    else:
        intent.compile(CONSTRUCTS[spelling], provider="reference")
