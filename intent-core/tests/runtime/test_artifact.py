from __future__ import annotations

import numpy as np
import pytest

from intent.diagnostics import (
    BuildFailure,
    OptionError,
    RepeatedArgument,
    UndeterminedOut,
    UnknownArgument,
    WrongArgumentCount,
)
from intent.types.extent import Symbol


def test_a_call_takes_every_parameter_in_order(scale, toy, x):
    y = np.zeros_like(x)
    assert scale(x, y, 2.0) is None
    np.testing.assert_array_equal(y, 2 * x)
    (invocation,) = toy.launches
    assert invocation.extents == {"M": 3, "N": 4}
    assert invocation.scalars == {"factor": 2.0}
    assert invocation.length == scale.program.length.evaluate({Symbol("M"): 3, Symbol("N"): 4})
    assert invocation.views["x"].array is x
    assert invocation.views["x"].strides == (4, 1)
    assert (invocation.workspace, invocation.stream) == (None, None)


def test_parameters_by_name(scale, x):
    y = np.zeros_like(x)
    scale(x, factor=3.0, y=y)
    np.testing.assert_array_equal(y, 3 * x)


def test_run_allocates_and_returns_a_single_out_bare(scale, x):
    y = scale.run(x, 0.5)
    assert isinstance(y, np.ndarray)
    np.testing.assert_array_equal(y, x / 2)
    np.testing.assert_array_equal(scale.run(factor=1.0, x=x), x)


def test_run_returns_several_outs_as_a_tuple(compiled, kernels, toy):
    a, b = compiled(kernels.two, toy).run(np.ones(5, np.float32))
    assert (a.shape, b.shape) == ((5,), (2, 5))


def test_an_inout_stays_an_input(compiled, kernels, toy, x):
    y = np.ones_like(x)
    assert compiled(kernels.scale(mode="inout"), toy).run(x, y, 2.0) is None
    np.testing.assert_array_equal(y, 2 * x)


def test_run_refuses_an_out_that_inputs_do_not_determine(compiled, kernels, toy):
    with pytest.raises(UndeterminedOut) as caught:
        compiled(kernels.count, toy).run(4)
    assert "'y'" in str(caught.value)
    assert "N" in str(caught.value)
    assert not toy.launches


def test_run_allocates_with_declared_strides(compiled, kernels, toy, x):
    y = compiled(kernels.scale(y=" strides=(1, 3)"), toy).run(x, 1.0)
    assert y.strides == (4, 12)
    np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize("count", [0, 2, 4])
def test_wrong_argument_count(scale, toy, x, count):
    with pytest.raises(WrongArgumentCount) as caught:
        scale(*[x] * count)
    assert f"{count} given" in str(caught.value)
    assert "x, y, factor" in str(caught.value)
    assert not toy.launches


def test_unknown_and_repeated_names(scale, x):
    with pytest.raises(UnknownArgument, match="'scale' has no runtime parameter 'z'"):
        scale(x, x, z=1.0)
    with pytest.raises(RepeatedArgument):
        scale(x, x, 1.0, x=x)


def test_prepare_builds_but_does_not_launch(scale, toy, x):
    y = np.zeros_like(x)
    relaunch = scale.prepare(x, y, 2.0)
    assert (len(toy.builds), len(toy.launches)) == (1, 0)
    relaunch()
    x += 1
    relaunch()
    np.testing.assert_array_equal(y, 2 * x)
    assert (len(toy.builds), len(toy.launches)) == (1, 2)


def test_an_empty_program_space_launches_nothing(scale, toy):
    empty = np.zeros((0, 4), np.float32)
    scale(empty, np.zeros((0, 4), np.float32), 1.0)
    assert scale.run(empty, 1.0).shape == (0, 4)
    assert not toy.launches
    assert not toy.builds


def test_a_failing_build_raises_at_every_launch(compiled, kernels, make_toy, x):
    artifact = compiled(kernels.scale(), make_toy(failing=True))
    y = np.full_like(x, 7)
    for _ in range(3):
        with pytest.raises(BuildFailure):
            artifact(x, y, 1.0)
    np.testing.assert_array_equal(y, 7)


def test_text_of_every_stage(scale):
    assert "segment 0" in scale.source
    assert str(scale.program) == scale.source
    assert repr(scale) == "<artifact scale(x, y, factor) for provider 'toy'>"


def test_build_names_its_target(scale):
    assert scale.build("sm_90").target == "sm_90"
    with pytest.raises(OptionError, match="target"):
        scale.build()
    with pytest.raises(OptionError, match="target cannot be 90"):
        scale.build(90)


def test_published_source_is_a_file_of_the_same_text(scale, tmp_path, monkeypatch):
    monkeypatch.setenv("INTENT_CACHE_DIR", str(tmp_path))
    path = scale.publish_source()
    assert path.read_text() == scale.source
    assert path == scale.publish_source()
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_explain_answers_every_question(scale, x):
    before = scale.explain()
    assert "kernel scale, one launch, provider 'toy' 1" in before
    scale.run(x, 2.0)
    text = scale.explain()
    for line in (
        "view x: f32[M, N] in",
        "rows of M = 3",
        "read x[rows, cols]",
        "write y[rows, cols]",
        "construct:",
    ):
        assert line in text
