"""docs/verifier.md is what the rules say: every sentence of the specification has rules, every rule its words."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest

from intent.physical.verify import RULES, SENTENCES

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tool():
    spec = importlib.util.spec_from_file_location("verifier_page", ROOT / "tools" / "verifier_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(tool):
    assert tool.page() == (ROOT / "docs" / "verifier.md").read_text(encoding="utf-8")


def test_sixteen_sentences_have_rules_and_every_rule_cites_one():
    assert len(set(SENTENCES)) == 16
    assert {rule.sentence for rule in RULES.values()} == set(SENTENCES)


def test_every_rule_has_a_row(tool):
    text = tool.page()
    assert [name for name in RULES if f"| `{name}` |" not in text] == []


def test_a_sentence_without_a_rule_is_an_error(tool, monkeypatch):
    for name, rule in list(RULES.items()):
        if rule.sentence == SENTENCES[0]:
            monkeypatch.setitem(RULES, name, replace(rule, sentence=SENTENCES[1]))
    with pytest.raises(ValueError, match="no rule cites"):
        tool.page()


def test_a_rule_without_words_is_an_error(tool, monkeypatch):
    def silent(program):
        return iter(())

    monkeypatch.setitem(RULES, "interface", replace(RULES["interface"], check=silent))
    with pytest.raises(ValueError, match="interface"):
        tool.page()
