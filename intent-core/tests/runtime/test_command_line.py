from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from intent.__main__ import main

KERNELS = """
import intent
import intent.language as I

@intent.kernel
def double(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = x[...] * 2.0

@intent.kernel
def moved(x: I.In[I.f32, ("N",)], BY: I.Constexpr[int], y: I.Out[I.f32, ("N",)]):
    y[...] = x[...] + I.cast(BY, I.f32)

@intent.kernel
def wrong(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = I.exq(x[...])
"""


@pytest.fixture
def place(tmp_path):
    path = tmp_path / "command_line_kernels.py"
    path.write_text(textwrap.dedent(KERNELS))
    return str(path)


def test_providers(capsys):
    assert main(["providers"]) == 0
    text = capsys.readouterr().out
    assert "reference" in text
    assert "ready" in text


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("explain", "kernel double, one launch, provider 'reference'"),
        ("kir", "kernel double\n  view x: f32[N] in"),
        ("program", "program double\n  view x: f32[N] in"),
        ("source", "program double"),
    ],
)
def test_what_is_shown(capsys, place, command, expected):
    assert main([command, f"{place}:double", "--provider", "reference"]) == 0
    assert expected in capsys.readouterr().out


def test_other_forms_go_to_files(capsys, place, tmp_path):
    page, document = tmp_path / "double.html", tmp_path / "double.json"
    options = ["--html", str(page), "--json", str(document), "-e", "N=1000"]
    assert main(["explain", f"{place}:double", "--provider", "reference", *options]) == 0
    assert capsys.readouterr().out.splitlines() == [f"wrote {page}", f"wrote {document}"]
    assert "<title>double explained</title>" in page.read_text(encoding="utf-8")
    assert json.loads(document.read_text(encoding="utf-8"))["extents"] == [{"name": "N", "value": 1000}]


def test_extents_are_those_of_the_kernel(capsys, place):
    assert main(["explain", f"{place}:double", "--provider", "reference", "-e", "N=1000"]) == 0
    assert "axis_N of N = 1000" in capsys.readouterr().out
    assert main(["explain", f"{place}:double", "--provider", "reference", "-e", "M=1000"]) == 1
    assert "an integer for each of N" in capsys.readouterr().err


def test_a_module_may_stand_for_the_file(capsys, place, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(place).parent))
    for name in ("command_line_kernels", "no_such_module", "no_such_package.module"):
        found = main(["kir", f"{name}:double", "--provider", "reference"])
        assert found == (0 if name == "command_line_kernels" else 1)
    assert "kernel double" in capsys.readouterr().out


def test_constexprs(capsys, place):
    assert main(["kir", f"{place}:moved", "--provider", "reference", "-c", "BY=3"]) == 0
    assert "value=3" in capsys.readouterr().out
    assert main(["kir", f"{place}:moved", "--provider", "reference"]) == 1
    assert "BY" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["kir", f"{place}:moved", "-c", "BY"])


def test_errors_quote_the_author(capsys, place):
    assert main(["explain", f"{place}:wrong", "--provider", "reference"]) == 1
    text = capsys.readouterr().err
    assert "I.exq(x[...])" in text
    assert "did you mean" in text


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ("nowhere.py:double", "FILE:KERNEL"),
        ("double", "FILE:KERNEL"),
        ("{place}:treble", "name one of: double, moved, wrong"),
    ],
)
def test_a_kernel_that_is_not_there(capsys, place, kernel, expected):
    assert main(["explain", kernel.format(place=place)]) == 1
    assert expected in capsys.readouterr().err
