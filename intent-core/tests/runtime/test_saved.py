"""Artifacts in folders, and back."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import intent
import intent.language as I
from intent.diagnostics import ArtifactError, MissingProvider, WrongArgumentCount
from intent.planning import minimal_plan
from intent.runtime.variants import Variants


@intent.kernel
def softmax(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    m = I.reduce.max(x[...], axis=1)
    e = I.exp(x[...] - m[:, None])
    y[...] = e / I.reduce.sum(e, axis=1)[:, None]


@intent.kernel
def counted(at: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("K",)]):
    seen = I.buffer((4,), I.i32, init=0)
    for i in range(at.shape[0]):
        seen[i % 4] = seen[i % 4] + 1
        I.scatter_reduce(y, index=at[i], value=seen[i % 4], combine=I.add)


@pytest.fixture
def x():
    return np.random.default_rng(3).normal(size=(5, 9)).astype(np.float32)


def test_an_artifact_comes_back(tmp_path, x):
    artifact = intent.compile(
        softmax, "reference", options=intent.CompileOptions(fold_law="strict"), target="sm_90"
    )
    assert artifact.save(tmp_path / "made" / "here") == tmp_path / "made" / "here"
    again = intent.load(tmp_path / "made" / "here")
    assert (again.kir, again.options, again.target) == (artifact.kir, artifact.options, artifact.target)
    assert again.source == artifact.source
    np.testing.assert_array_equal(again.run(x), artifact.run(x))


def test_errors_quote_the_author_whose_source_is_not_there(tmp_path):
    intent.compile(softmax, "reference").save(tmp_path)
    with pytest.raises(WrongArgumentCount, match=r"def softmax\(x: I.In"):
        intent.load(tmp_path)()


def test_effects_and_buffers_come_back(tmp_path):
    intent.compile(counted, "reference").save(tmp_path)
    y = np.zeros(3, np.int32)
    intent.load(str(tmp_path))(np.array([0, 2, 2, 1, 2], np.int32), y)
    assert y.tolist() == [1, 1, 4]


def test_the_one_plan_is_kept(tmp_path, x):
    first = intent.compile(softmax, "reference")
    plan = minimal_plan(first.kir, first.provider.capabilities)
    intent.compile(softmax, "reference", plan=plan).save(tmp_path)
    again = intent.load(tmp_path)
    again.run(x)
    assert again.plan == plan


def test_a_folder_is_written_again(tmp_path, x):
    intent.compile(softmax, "reference").save(tmp_path)
    intent.compile(counted, "reference").save(tmp_path)
    assert intent.load(tmp_path).name == "counted"


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("artifact.json", None, "there is no artifact.json"),
        ("kernel.kir", None, "there is no kernel.kir"),
        ("artifact.json", "{", "do not hold what they should"),
        ("artifact.json", '{"format": 99}', "its format is 99, this version reads 1"),
        ("artifact.json", "[]", r"its format is \[\]"),
        ("kernel.kir", "kernel", "cannot be read"),
        ("places.json", "[]", "fewer places than parts"),
    ],
)
def test_what_is_not_an_artifact_is_a_typed_error(tmp_path, file, text, problem):
    intent.compile(softmax, "reference").save(tmp_path)
    if text is None:
        (tmp_path / file).unlink()
    else:
        (tmp_path / file).write_text(text, encoding="utf-8")
    with pytest.raises(ArtifactError, match=problem):
        intent.load(tmp_path)


def test_options_that_this_version_does_not_have(tmp_path):
    intent.compile(softmax, "reference").save(tmp_path)
    record = json.loads((tmp_path / "artifact.json").read_text())
    record["options"]["numerics"] = "wild"
    (tmp_path / "artifact.json").write_text(json.dumps(record))
    with pytest.raises(ArtifactError, match="numerics cannot be 'wild'"):
        intent.load(tmp_path)


@pytest.fixture
def older(tmp_path):
    """Saves an artifact with one plan whose record ``change`` makes another one."""
    first = intent.compile(softmax, "reference")
    plan = minimal_plan(first.kir, first.provider.capabilities)

    def save(change):
        intent.compile(softmax, "reference", plan=plan).save(tmp_path)
        record = json.loads((tmp_path / "artifact.json").read_text())
        change(record["plan"])
        (tmp_path / "artifact.json").write_text(json.dumps(record))
        return tmp_path, plan

    return save


@pytest.mark.parametrize(
    "lacking",
    [("peel",), ("split",), ("online",), ("planes",), ("peel", "split", "online", "planes")],
    ids="-".join,
)
def test_plans_of_before_there_was_a_field_mean_what_they_meant(older, x, lacking):
    def change(record):
        for name in lacking:
            for part in (record, *record["groups"]):
                part.pop(name, None)

    folder, plan = older(change)
    again = intent.load(folder)
    again.run(x)
    assert again.plan == plan


@pytest.mark.parametrize(("field", "value"), [("peel", False), ("online", False), ("planes", True)])
def test_what_a_plan_says_otherwise_is_kept(older, x, field, value):
    folder, plan = older(lambda record: record.update({field: value}))
    again = intent.load(folder)
    again.run(x)
    assert again.plan == replace(plan, **{field: value})


@pytest.mark.rejects
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda r: r.update(vectors=4), "its plan has 'vectors', which this version does not know"),
        (lambda r: r["groups"][0].update(turned=True), "its plan has 'turned', which this version"),
        (lambda r: r.update(peel="no"), "'peel' of its plan is 'no', neither true nor false"),
        (lambda r: r.update(online=0), "'online' of its plan is 0, neither true nor false"),
        (lambda r: r.pop("groups"), "do not hold what they should"),
        (lambda r: r["groups"][0].update(split=["axis_N"]), "do not hold what they should"),
        (lambda r: r["groups"][0].update(inner=[["axis_N"]]), "do not hold what they should"),
        (lambda r: r["groups"].append(3), "do not hold what they should"),
    ],
)
def test_plans_that_this_version_does_not_read(older, change, problem):
    folder, _ = older(change)
    with pytest.raises(ArtifactError, match=problem):
        intent.load(folder)


def test_too_many_places_are_refused(tmp_path):
    intent.compile(softmax, "reference").save(tmp_path)
    places = json.loads((tmp_path / "places.json").read_text())
    (tmp_path / "places.json").write_text(json.dumps([*places, places[0]]))
    with pytest.raises(ArtifactError, match="more places than parts"):
        intent.load(tmp_path)


def test_a_provider_that_is_gone(tmp_path):
    intent.compile(softmax, "reference").save(tmp_path)
    record = json.loads((tmp_path / "artifact.json").read_text())
    record["provider"]["name"] = "refrence"
    (tmp_path / "artifact.json").write_text(json.dumps(record))
    with pytest.raises(MissingProvider, match="did you mean reference"):
        intent.load(tmp_path)
    assert intent.load(tmp_path, provider="reference").provider.name == "reference"


def test_another_provider_chooses_its_own_plans(tmp_path, x, toy):
    first = intent.compile(softmax, "reference", target="sm_90")
    plan = minimal_plan(first.kir, first.provider.capabilities)
    intent.compile(softmax, "reference", plan=plan, target="sm_90").save(tmp_path)
    again = intent.load(tmp_path, provider=toy)
    assert again.provider is toy
    assert again.target is None
    assert again.plan == Variants(again.kir, toy, again.options, None).initial.plan
