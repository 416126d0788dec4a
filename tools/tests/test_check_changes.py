"""The fragment check finds each kind of fault, and passes on this repository."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load_check():
    spec = importlib.util.spec_from_file_location("check_changes", ROOT / "tools" / "check_changes.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.check_changes


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "changes").mkdir()
    (tmp_path / "intent-core").mkdir()
    for name in ("pyproject.toml", "CHANGELOG.md", "changes/README.md", "intent-core/pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n")
    return tmp_path


def test_this_repository_passes():
    assert load_check()(ROOT) == []


def test_whole_sentences_of_known_kinds_pass(workspace):
    (workspace / "changes" / "2.feature.md").write_text("Softmax compiles.\n")
    (workspace / "changes" / "+typing.internal.md").write_text("Types are strict.\n")
    assert load_check()(workspace) == []


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("softmax.md", "Softmax compiles.", "the name should be"),
        ("2.feature", "Softmax compiles.", "the name should be"),
        ("2.novelty.md", "Softmax compiles.", "unknown kind 'novelty'"),
        ("2.feature.md", "", "whole sentences"),
        ("2.feature.md", "softmax", "whole sentences"),
    ],
)
def test_faulty_fragment_is_named(workspace, name, text, fault):
    (workspace / "changes" / name).write_text(text)
    (found,) = load_check()(workspace)
    assert found.startswith(f"changes/{name}: ")
    assert fault in found


def test_no_fragment_between_releases_is_a_fault(workspace):
    (found,) = load_check()(workspace)
    assert "no fragment" in found


def test_no_fragment_right_after_a_release_passes(workspace):
    (workspace / "CHANGELOG.md").write_text("# Changelog\n\n## 0.1.0.dev0 (2026-11-30)\n")
    assert load_check()(workspace) == []
