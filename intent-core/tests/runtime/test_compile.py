"""From Python source to a launch, through the public names of ``intent``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import intent
import intent.language as I
from intent.diagnostics import (
    ConstexprMissing,
    IntentError,
    MissingProvider,
    NotADefinition,
    OptionError,
    PlanError,
)
from intent.planning import minimal_plan

TWICE = 2.0


@intent.kernel
def double(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = x[...] * TWICE


@intent.kernel
def shifted(x: I.In[I.f32, ("N",)], UP: I.Constexpr[bool], y: I.Out[I.f32, ("N",)]):
    if UP:
        y[...] = x[...] + 1.0
    else:
        y[...] = x[...] - 1.0


@intent.fn
def both(x):
    return I.exp(x), x * 3.0


@intent.kernel
def stacked(x: I.In[I.f32, ("M", "N")], total: I.Out[I.f32, ("M",)], scaled: I.Out[I.f32, ("M", "N")]):
    grown, tripled = both(x[...])
    total[...] = I.reduce.sum(grown, axis=1)
    scaled[...] = tripled


@pytest.fixture
def x():
    return np.linspace(-1, 1, 37, dtype=np.float32)


def test_compile_and_run(x):
    artifact = intent.compile(double, "reference")
    assert isinstance(artifact, intent.Artifact)
    np.testing.assert_array_equal(artifact.run(x), 2 * x)
    y = np.zeros_like(x)
    artifact(x=x[::-1], y=y)
    np.testing.assert_array_equal(y, 2 * x[::-1])


def test_constexprs_select_a_specialization(x):
    up = intent.compile(shifted, "reference", constexprs={"UP": True})
    down = intent.compile(shifted, "reference", constexprs={"UP": False})
    np.testing.assert_array_equal(up.run(x), x + 1)
    np.testing.assert_array_equal(down.run(x), x - 1)
    with pytest.raises(ConstexprMissing):
        intent.compile(shifted, "reference")


def test_several_outs_and_explain(x):
    artifact = intent.compile(stacked, "reference")
    data = np.stack([x, x + 1, x - 1])
    total, scaled = artifact.run(data)
    np.testing.assert_allclose(total, np.exp(data.astype(np.float64)).sum(axis=1), rtol=1e-6)
    np.testing.assert_array_equal(scaled, 3 * data)
    text = artifact.explain()
    for part in ("of M = 3", "of N = 37", "write total[", "write scaled[", "read x[", "reduce ", "verify: "):
        assert part in text


def test_a_plan_is_used_for_every_launch(x):
    lowered = intent.compile(double, "reference")
    plan = minimal_plan(lowered.kir, lowered.provider.capabilities)
    artifact = intent.compile(double, "reference", plan=plan)
    np.testing.assert_array_equal(artifact.run(x), 2 * x)
    assert artifact.plan == plan
    two_groups = type(plan)(groups=plan.groups * 2)
    with pytest.raises(PlanError):
        intent.compile(double, "reference", plan=two_groups)


def test_a_kernel_of_the_logical_ir_compiles_too(x):
    lowered = intent.compile(double, "reference").kir
    np.testing.assert_array_equal(intent.compile(lowered, "reference").run(x), 2 * x)
    with pytest.raises(OptionError, match="constexprs"):
        intent.compile(lowered, "reference", constexprs={"UP": True})


def test_a_provider_object_and_a_wrong_name(x, toy):
    assert intent.compile(double, toy).provider is toy
    with pytest.raises(MissingProvider, match="did you mean reference"):
        intent.compile(double, "refrence")


@pytest.mark.parametrize("wrong", [np.exp, "double", both, None])
def test_only_kernels_compile(wrong):
    with pytest.raises(NotADefinition, match="a kernel is needed here"):
        intent.compile(wrong, "reference")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("provider", 3),
        ("provider", intent.CompileOptions),
        ("constexprs", [("UP", True)]),
        ("options", {"numerics": "source"}),
        ("target", 90),
        ("plan", "fast"),
        ("plan", {"N": 4}),
    ],
)
def test_options_of_another_kind_are_refused_by_name(option, value):
    with pytest.raises(OptionError, match=f"the option {option} cannot be") as caught:
        intent.compile(double, **({"provider": "reference"} | {option: value}))
    assert caught.value.fix


def test_options_are_part_of_the_compilation():
    options = intent.CompileOptions(numerics="relaxed_normalization")
    assert intent.compile(double, "reference", options=options).options == options
    assert issubclass(OptionError, intent.IntentError)
    assert intent.IntentError is IntentError


def test_the_public_names():
    assert set(intent.__all__) <= set(dir(intent))
    assert intent.__version__.startswith("0.")
    assert {"reference", "triton"} <= set(intent.providers())
    with pytest.raises(AttributeError, match="no attribute 'tile'"):
        _ = intent.tile


FORKED = """
import os, sys
import numpy as np
import intent, intent.language as I
sys.path.insert(0, {folder!r})
from test_compile import double
artifact = intent.compile(double, "reference")
child = os.fork()
if child == 0:
    os._exit(0 if (artifact.run(np.ones(3, np.float32)) == 2).all() else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(",".join(m for m in sys.modules if m.split(".")[0] in ("torch", "triton", "cupy", "cuda")))
"""


def test_compiling_for_the_reference_loads_no_gpu_library_and_survives_a_fork(tmp_path):
    copy = tmp_path / "test_compile.py"
    copy.write_text(Path(__file__).read_text(encoding="utf-8"), encoding="utf-8")
    code = FORKED.format(folder=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "0\n\n", done.stderr
