"""What is said of the whole program: proven apart, or decided by each call."""

from __future__ import annotations

import json

import intent
import intent.language as I


@intent.kernel
def two_groups(
    x: I.In[I.f32, ("N",)],
    w: I.In[I.f32, (8, 8), I.constraints(strides=(8, 1))],
    y: I.Out[I.f32, ("N",)],
    z: I.Out[I.f32, (8, 8)],
):
    y[...] = x[...] * 2.0
    z[...] = w[...] + 1.0


def test_the_report_says_what_is_proved_and_what_a_call_decides():
    artifact = intent.compile(two_groups, "reference")
    report = json.loads(artifact.explain(format="json"))
    assert {c["text"]: c["answer"] for c in report["claims"]} == {
        "programs of groups 0 and 1 are apart": "proved",
        "offsets into 'x' fit 32 bits": "at the call",
        "offsets into 'w' fit 32 bits": "proved",
        "offsets into 'y' fit 32 bits": "at the call",
        "offsets into 'z' fit 32 bits": "at the call",
    }
    block = artifact.explain().split("proved of the whole program\n", 1)[1].split("\n\n", 1)[0]
    assert [line.strip() for line in block.splitlines()] == [
        "programs of groups 0 and 1 are apart",
        "offsets into 'w' fit 32 bits",
    ]
