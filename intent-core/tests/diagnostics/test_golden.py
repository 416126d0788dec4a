"""The text of every error, one golden file for each stage. ``INTENT_UPDATE_GOLDENS=1`` writes them anew."""

from __future__ import annotations

import importlib.util
import os
import pickle
import re
from pathlib import Path

import pytest

from intent import diagnostics
from intent.diagnostics import IntentError, render

HERE = Path(__file__).parent


def _samples() -> dict[str, tuple[IntentError, ...]]:
    spec = importlib.util.spec_from_file_location("causes", HERE / "causes.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.SAMPLES


SAMPLES = _samples()
EVERY = [error for errors in SAMPLES.values() for error in errors]
CLASSES = {
    value
    for value in vars(diagnostics).values()
    if isinstance(value, type) and issubclass(value, IntentError) and value is not IntentError
}


@pytest.mark.parametrize("stage", SAMPLES)
def test_text_is_the_golden_one(stage):
    text = "\n\n".join(render(error, short_files=True) for error in SAMPLES[stage]) + "\n"
    golden = HERE / "goldens" / f"{stage}.txt"
    if os.environ.get("INTENT_UPDATE_GOLDENS"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_every_class_has_a_sample():
    assert {type(error) for error in EVERY} == CLASSES


def test_codes_are_unique_and_well_formed():
    codes = [cls.code for cls in CLASSES]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch(r"INT[01]\d\d", code) for code in codes)
    assert "INT000" not in codes


@pytest.mark.parametrize("error", EVERY, ids=lambda e: type(e).__name__)
def test_one_fix_and_a_one_line_message(error):
    assert error.fix
    assert "\n" not in error.fix
    assert "\n" not in error.message
    assert not error.message.endswith(".")


@pytest.mark.parametrize("error", EVERY, ids=lambda e: type(e).__name__)
def test_survives_pickling(error):
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 -- made one line above
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert copy.span == error.span


def test_every_class_documents_itself():
    assert all(cls.__doc__ and cls.__doc__ != IntentError.__doc__ for cls in CLASSES)
