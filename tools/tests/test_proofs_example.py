"""The examples of docs/proofs.md say what the code says."""

from __future__ import annotations

from pathlib import Path

import pytest

import intent
import intent.language as I
from intent.diagnostics import CollidingWrites
from intent.frontend import lower

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "proofs.md").read_text(encoding="utf-8")


@intent.kernel
def prefix(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M",)]):
    first = I.domain(0, x.shape[0])[0 : y.shape[0]]
    y[...] = x[I.indices(first)]


@intent.kernel
def rows(x: I.In[I.f32, ("M",)], y: I.Out[I.f32, ("P",)], S: I.index):
    for i in I.parallel(range(x.shape[0])):
        for j in I.parallel(range(S + 1)):
            y[i * S + j] = x[i]


def test_the_example_of_an_access():
    text = intent.compile(prefix, "reference").explain()
    line = next(line for line in PAGE.splitlines() if "read x[axis_M]" in line)
    assert line.split("; ", 1)[1].strip() in text


def test_the_example_of_a_collision():
    with pytest.raises(CollidingWrites) as caught:
        lower(rows)
    for line in PAGE.splitlines():
        if "INT064" in line or "seen: one collision" in line or line.strip() == "y[i * S + j] = x[i]":
            assert line.strip() in str(caught.value)


def test_the_example_of_claims():
    block = PAGE.split("    from intent.proof import", 1)[1].split("\n\n1. ", 1)[0]
    lines = [
        line[4:] for line in ("    from intent.proof import" + block).splitlines() if line.startswith("    ")
    ]
    names: dict[str, object] = {}
    asked = [line for line in lines if line.startswith("prove(")]
    exec("\n".join(line for line in lines if line not in asked), names)
    assert len(asked) == 2
    for line in asked:
        question, answer = line.split("  # ")
        exec(f"outcome = {question}", names)
        outcome = names["outcome"]
        kind, _, numbers = answer.partition(": ")
        assert type(outcome).__name__ == kind
        if numbers:
            assert ", ".join(f"{atom} = {value}" for atom, value in outcome.model.items()) == numbers
