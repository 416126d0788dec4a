"""Where packages keep files."""

from __future__ import annotations

from intent.provider.folder import cache_folder


def test_a_folder_that_the_caller_names_wins(monkeypatch, tmp_path):
    monkeypatch.setenv("INTENT_CACHE_DIR", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"


def test_else_it_is_the_users(monkeypatch, tmp_path):
    monkeypatch.delenv("INTENT_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert tmp_path in cache_folder().parents
    assert cache_folder().name == "intent"
