"""How constants are written: bare, negative, large, small and special ones of every dtype."""

from __future__ import annotations

from pathlib import Path

from intent_provider_cutile.emit.literals import literal, typed
from intent_testkit.golden import check_golden
from intent_testkit.programs import constants


def test_texts_of_literals():
    check_golden(Path(__file__).parent / "goldens" / "literals.txt", constants.texts(literal, typed))
