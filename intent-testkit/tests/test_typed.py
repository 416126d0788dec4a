"""Mutants that the type checker refuses: what it says of a text, and how they are counted."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from intent_testkit.mutants import Mutant, mutants_of, typed

_FIRST, _SECOND, _THIRD, *_ = mutants_of("intent.construct.relocate")


@pytest.mark.parametrize(
    ("said", "refused"),
    [
        ("", None),
        ("a.py:3: error: Statement is unreachable  [unreachable]\na.py:3: note: so [it] is\n", None),
        (("a.py:3: error: Right operand of \"and\" is never evaluated  [unreachable]\n"
         'a.py:5: error: "None" has no attribute "low"  [attr-defined]\n'), '"None" has no attribute "low"'),
    ],
)  # fmt: skip
def test_a_mutant_is_refused_for_a_wrong_type_and_not_for_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, refused: str | None
) -> None:
    texts: list[str] = []

    def mypy(words: list[str], **_: object) -> CompletedProcess[str]:
        module, text = words[words.index("--shadow-file") + 1 :][:2]
        assert module.endswith("construct/relocate.py")
        texts.append(Path(text).read_text(encoding="utf-8"))
        return CompletedProcess(words, returncode=int(bool(said)), stdout=said, stderr="")

    monkeypatch.setattr(subprocess, "run", mypy)
    assert typed.refusal(tmp_path / "warm", _FIRST) == refused
    assert texts == [_FIRST.source], "it is asked of the wrong text, in place of the right one"


def test_a_type_checker_that_breaks_says_nothing_of_mutants(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = CompletedProcess([], returncode=2, stdout="", stderr="no such option")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: broken)
    with pytest.raises(RuntimeError, match="no such option"):
        typed.refusal(Path("nowhere"), _FIRST)


def test_those_refused_are_left_out_whether_or_not_they_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusals(asked: list[Mutant], _: int) -> Iterator[tuple[Mutant, str | None]]:
        return ((mutant, "wrong" if mutant is not _SECOND else None) for mutant in asked)

    monkeypatch.setattr(typed, "refusals", refusals)
    verdicts = (_FIRST, "found"), (_SECOND, "found"), (_THIRD, "open")
    records = tmp_path / "records.jsonl"
    records.write_text(
        "".join(json.dumps({"name": m.name, "verdict": said}) + "\n" for m, said in verdicts),
        encoding="utf-8",
    )
    assert typed.told(records, [_FIRST, _SECOND, _THIRD], 1) == (
        "2 of 3 found, 66.7%; 2 are refused by the type checker, 1 of them found and 1 not told apart;"
        " without them 1 of 1 found, 100.0%"
    )
    noted = [json.loads(line)["refused"] for line in records.read_text(encoding="utf-8").splitlines()]
    assert noted == ["wrong", None, "wrong"]
