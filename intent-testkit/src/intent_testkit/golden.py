"""Golden files: texts that are kept beside the tests and compared to the letter.

``INTENT_UPDATE_GOLDENS=1`` accepts the new text; the change is then read in the diff.
"""

from __future__ import annotations

import os
from pathlib import Path


def check_golden(path: Path, text: str) -> None:
    """Fail unless the file holds ``text``; under ``INTENT_UPDATE_GOLDENS=1`` write it first."""
    if os.environ.get("INTENT_UPDATE_GOLDENS") == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), "set INTENT_UPDATE_GOLDENS=1 to accept the new text"
