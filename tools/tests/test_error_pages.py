"""docs/errors.md is what the error classes say, and a faulty class does not slip into it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from intent.diagnostics import IntentError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tool():
    spec = importlib.util.spec_from_file_location("error_pages", ROOT / "tools" / "error_pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(tool):
    assert tool.page() == (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")


def test_every_exported_error_has_a_row(tool):
    from intent import diagnostics

    exported = [getattr(diagnostics, name) for name in diagnostics.__all__]
    errors = [item for item in exported if isinstance(item, type) and issubclass(item, IntentError)]
    text = tool.page()
    missing = [
        e.__name__ for e in errors if e is not IntentError and f"| {e.code} | `{e.__name__}` |" not in text
    ]
    assert missing == []
    assert len(errors) > 50


def test_one_code_for_two_classes_is_an_error(tool, monkeypatch):
    from intent.diagnostics import call

    monkeypatch.setattr(call.ArgumentRank, "code", call.ArgumentDType.code)
    with pytest.raises(ValueError, match=call.ArgumentDType.code):
        tool.page()


def test_a_class_without_a_cause_is_an_error(tool, monkeypatch):
    from intent.diagnostics import call

    monkeypatch.setattr(call.ArgumentRank, "__doc__", None)
    with pytest.raises(ValueError, match="ArgumentRank"):
        tool.page()
