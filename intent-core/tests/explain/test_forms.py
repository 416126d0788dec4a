"""The report as text, as JSON and through the artifact."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import intent
import intent.language as I
from intent.diagnostics import OptionError
from intent.explain import document, schema, text
from intent.explain.emitted import _commented

SCHEMA = Path(__file__).with_name("goldens") / "schema.json"


@intent.fn
def normalised(row, total):
    return row / total


@intent.kernel
def shares(
    x: I.In[I.f32, ("M", "N")],
    scale: I.f32,
    at: I.In[I.i32, ("N",)],
    y: I.Out[I.f32, ("M", "N")],
    n: I.InOut[I.i32, ("K",)],
):
    total = I.reduce.sum(x[...], axis=1)
    y[...] = normalised(x[...], total[:, None]) * scale
    I.scatter_reduce(n, index=at[...], value=I.full((x.shape[1],), 1, I.i32), combine=I.add)


def fits(value, node, root):
    """Whether a value is valid under the parts of JSON Schema that the document uses; where it is not."""
    if "$ref" in node:
        return fits(value, root["$defs"][node["$ref"].removeprefix("#/$defs/")], root)
    if "anyOf" in node:
        return any(fits(value, option, root) for option in node["anyOf"])
    if "enum" in node:
        return value in node["enum"]
    kind = node["type"]
    if kind == "array":
        return isinstance(value, list) and all(fits(item, node["items"], root) for item in value)
    if kind == "object":
        known = isinstance(value, dict) and set(value) == {*node["required"]} == {*node["properties"]}
        return known and all(fits(value[name], inner, root) for name, inner in node["properties"].items())
    types = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None)}
    return isinstance(value, types[kind]) and not (kind in ("integer", "number") and isinstance(value, bool))


@pytest.mark.parametrize("extents", [None, {"M": 5, "N": 7, "K": 3}])
def test_the_document_has_the_shape_of_its_schema(explained, extents):
    artifact, report = explained(shares, extents)
    data = json.loads(artifact.explain(format="json", extents=extents))
    assert fits(data, schema(), schema())
    assert data == json.loads(document(report))
    assert data["version"] == 1
    assert [segment["length"]["text"] for segment in data["segments"]] == [
        s.length.text for s in report.segments
    ]
    del data["work"]["once"]["value"]
    assert not fits(data, schema(), schema())


def test_the_schema_changes_on_purpose_only():
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == schema()


def test_the_text_says_what_the_program_does(explained):
    artifact, report = explained(shares, {"M": 5, "N": 7, "K": 3})
    said = artifact.explain(extents={"M": 5, "N": 7, "K": 3})
    assert said == text(report)
    line = report.groups[0].statements[0].place.line
    for wanted in (
        "kernel shares, one launch, provider 'reference'",
        "view x: f32[M, N] in",
        "scalar scale: f32",
        "axis_M of M = 5",
        f"write of y (line {line})",
        f"a write to 'y' whose destinations are unique (line {line})",
        "groups 0 and 1 are apart",
        "read x[axis_M, axis_N]",
        "reduce x by sum over axis_N:8",
        "in bounds: every axis runs over the axis itself",
        "write y[axis_M, axis_N]",
        "read x: 140 B once",
        "reductions: 35 operations",
        "verify:",
    ):
        assert wanted in said
    assert f"program space: {report.length.text} = {report.length.value} programs" in said


def test_stages_are_timed(explained):
    _, report = explained(shares)
    names = [stage.name for stage in report.stages]
    assert names == ["front end", "analyze", "plan", "construct", "passes", "verify", "emit"]
    assert all(stage.milliseconds >= 0 for stage in report.stages)


def test_lines_of_helpers_are_shown_and_used(explained):
    _, report = explained(shares)
    used = [line.text.strip() for line in report.lines if line.used]
    assert "return row / total" in used
    assert "@intent.kernel" in [line.text for line in report.lines]
    assert report.lines[0].text == "@intent.kernel", "the kernel comes first"
    assert [line.key for line in report.lines] == list(range(len(report.lines)))


def test_emitted_lines_know_their_line(explained):
    _, report = explained(shares)
    lines = {line.key: line.text for line in report.lines}
    stores = [line for line in report.emitted.lines if line.text.strip().startswith("store target=@y")]
    assert stores
    for store in stores:
        assert [lines[key].strip() for key in store.lines] == [
            "y[...] = normalised(x[...], total[:, None]) * scale"
        ]


def test_emitted_comments_lead_to_their_lines():
    said = {"a = x[i]": (3,), "b = a * 2": (4, 9)}
    lines = [
        "def kernel(x):",
        "    pid = 0",
        "    # a = x[i]",
        "    t = load(",
        "        x,",
        "    )",
        "    for i in range(4):",
        "        u = t",
        "        # b = a * 2",
        "        v = t * 2",
        "    w = v",
        "    # no line of the author",
        "    y = w",
        "",
        "    // b = a * 2",
        "    z = y",
    ]
    keys = [(), (), (3,), (3,), (3,), (3,), (3,), (3,), (4, 9), (4, 9), (3,), (3,), (3,), (), (4, 9), (4, 9)]
    assert _commented(lines, said) == keys


def test_after_a_launch_it_is_about_that_launch():
    artifact = intent.compile(shares, "reference")
    assert artifact.report().extents == ()
    x, at = np.ones((4, 6), np.float32), np.zeros(6, np.int32)
    artifact(x, 2.0, at, np.zeros_like(x), np.zeros(3, np.int32))
    report = artifact.report()
    assert {(e.name, e.value) for e in report.extents} == {("M", 4), ("N", 6), ("K", 3)}
    assert not report.picture.chosen
    assert sum(variant.current for variant in report.variants) == 1
    assert "build" in [stage.name for stage in report.stages]
    assert all(condition.holds for condition in report.conditions)


def test_every_variant_so_far_is_listed():
    artifact = intent.compile(shares, "reference")
    for n in (6, 4000):
        x, at = np.ones((4, n), np.float32), np.zeros(n, np.int32)
        artifact(x, 2.0, at, np.zeros_like(x), np.zeros(3, np.int32))
    report = artifact.report()
    assert len(report.variants) >= 2
    (current,) = [variant for variant in report.variants if variant.current]
    assert current.guards == tuple(str(guard) for guard in artifact.program.guards)
    assert current.plan == report.plan
    said = text(report).splitlines()
    assert [line for line in said if line.endswith("(this one)")] == [
        f"  {report.variants.index(current)}: {', '.join(current.guards) or 'no guard'} (this one)"
    ]


def test_promises_are_shown_with_their_line(explained):
    @intent.kernel
    def scattered(x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.f32, ("K",)]):
        I.scatter_unique(y, index=at[...], value=x[...])

    _, report = explained(scattered)
    (promise,) = report.assumptions
    assert promise.kind == "unique"
    assert promise.place.text == "I.scatter_unique(y, index=at[...], value=x[...])"


@pytest.mark.parametrize("extents", [{"M": 1}, {"M": 1, "N": 2, "K": 3, "Z": 4}, {"M": 1, "N": 2, "K": "3"}])
def test_extents_have_to_be_all_of_the_kernel(extents):
    artifact = intent.compile(shares, "reference")
    with pytest.raises(OptionError, match="K, M, N"):
        artifact.explain(extents=extents)


def test_an_unknown_form_is_refused():
    artifact = intent.compile(shares, "reference")
    with pytest.raises(OptionError, match="'text', 'json', 'html'"):
        artifact.explain(format="pdf")


def test_the_current_variant_is_listed_even_when_tuning_forgot_it():
    artifact = intent.compile(shares, "reference")
    x, at = np.ones((4, 4001), np.float32), np.zeros(4001, np.int32)
    artifact(x, 2.0, at, np.zeros_like(x), np.zeros(3, np.int32))
    artifact._variants.remember({})
    assert sum(variant.current for variant in artifact.report().variants) == 1
