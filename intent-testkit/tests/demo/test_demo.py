"""The demo runs, prints what it promises, and its exit status tells right from wrong."""

from __future__ import annotations

import dataclasses

import pytest

from intent_testkit.demo import __main__ as demo
from intent_testkit.demo.jobs import JOBS


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_reference_runs_each_job(job, capsys):
    assert demo.main([job.name, "--provider", "reference"]) == 0
    printed = capsys.readouterr().out
    assert "@intent.kernel" in printed
    assert f"def {job.name}(" in printed
    assert "what was constructed" in printed
    assert "provider reference" in printed
    assert "correct" in printed


def test_wrong_result_fails(monkeypatch, capsys):
    wrong = dataclasses.replace(JOBS[0], expected=lambda x: JOBS[0].expected(x) + 1e-3)
    monkeypatch.setattr(demo, "JOBS", (wrong,))
    assert demo.main(["--provider", "reference"]) == 1
    assert "WRONG" in capsys.readouterr().out


def test_nan_is_wrong(monkeypatch, capsys):
    wrong = dataclasses.replace(JOBS[0], expected=lambda x: JOBS[0].expected(x) * float("nan"))
    monkeypatch.setattr(demo, "JOBS", (wrong,))
    assert demo.main(["--provider", "reference"]) == 1
    assert "WRONG" in capsys.readouterr().out


def test_missing_provider_is_named(capsys):
    assert demo.main(["softmax", "--provider", "metal"]) == 1
    assert "there is no provider 'metal'" in capsys.readouterr().out


def test_unknown_job_is_refused(capsys):
    with pytest.raises(SystemExit):
        demo.main(["soft_max"])
    assert "no such job: soft_max" in capsys.readouterr().err
