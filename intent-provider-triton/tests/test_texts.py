"""Texts of small programs, one after the other in a file that is read when they change.

That they mean the right thing is for other tests.
"""

from __future__ import annotations

import re
from pathlib import Path

from intent_provider_triton import prelude
from intent_provider_triton.emit import emit
from intent_testkit.golden import check_golden
from intent_testkit.programs import small


def shown(name, program):
    """A program's text without the functions that all texts share."""
    parts = emit(program).text.strip().split("\n\n\n")[1:]
    own = [
        part
        for part in parts
        if not prelude.FUNCTIONS.keys() & set(re.findall(r"^def (\w+)", part, re.MULTILINE))
    ]
    return f"# {name}\n" + "\n\n".join(own)


def test_texts_of_small_programs():
    text = "\n\n\n".join(shown(name, program) for name, program in small.programs())
    check_golden(Path(__file__).parent / "goldens" / "small.py.txt", text + "\n")
