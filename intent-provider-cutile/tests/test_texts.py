"""Texts of small programs, one after the other in a file that is read when they change.

That they mean the right thing is for other tests.
"""

from __future__ import annotations

from pathlib import Path

from intent_provider_cutile import prelude
from intent_provider_cutile.emit import emit
from intent_testkit.golden import check_golden
from intent_testkit.programs import small


def test_texts_of_small_programs():
    text = small.texts(lambda program: emit(program).text, prelude.FUNCTIONS)
    check_golden(Path(__file__).parent / "goldens" / "small.py.txt", text)
