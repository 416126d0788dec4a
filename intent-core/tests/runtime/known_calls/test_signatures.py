"""Known calls: what may be launched without checking again, and what must not."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.diagnostics import (
    ArgumentDType,
    ArgumentKind,
    DeviceMismatch,
    ExtentMismatch,
    LaunchCondition,
    OverlappingViews,
    ScalarArgument,
    WrongArgumentCount,
    ZeroStrideWritable,
)
from intent.provider.binder import ADDRESS_CLASS

BASE = 0x7F0000000000
FAR = BASE + (1 << 30)


@intent.kernel
def shift(x: I.In[I.i64, ("N",)], y: I.Out[I.i64, ("N",)], by: I.i64, flag: I.bool):
    y[...] = I.select(flag, x[...] + by, x[...])


@intent.kernel
def count(y: I.Out[I.i64, ("N",)], n: I.i32):
    y[0:n] = I.cast(I.indices(I.domain(0, n)), I.i64)


def test_a_known_call_is_not_checked_again(call, torch, launcher, monkeypatch, pair):
    x, y = pair()
    call(x, y)
    monkeypatch.setattr(call.artifact, "_launch", None)
    start = call(x, torch.Tensor((3, 4), torch.float32, FAR + 4096), 0.5)
    assert start.values == (BASE, FAR + 4096, 0.5)
    assert start.stream == 16
    assert len(launcher.bound) == 1


def test_the_variant_is_that_of_the_latest_launch(call, torch, pair):
    small, large = pair(), pair((300, 5000))
    call(*small)
    first = call.artifact.variant
    call(*large)
    second = call.artifact.variant
    assert first is not second
    for arrays, variant in ((small, first), (large, second)):
        call(*arrays)
        assert call.artifact.variant is variant
    assert "M = 300" in call.artifact.explain()


@pytest.mark.parametrize(
    "change",
    [{"stride": (1, 3)}, {"stride": (8, 1)}, {"stride": (4, 0)}, {"stride": (0, 0)}, {"pointer": BASE + 4},
     {"pointer": BASE + 8}, {"shape": (4, 3)}, {"shape": (1, 4)}, {"shape": (1, 4), "stride": (400, 1)},
     {"shape": (12, 1), "stride": (1, 7)}, {"shape": (0, 4)}],
)  # fmt: skip
def test_another_layout_is_another_start(call, torch, launcher, change, pair):
    call(*pair())
    x, y = pair(**change)
    if 0 in x.shape:
        call.artifact(x, y, 2.0)
        assert len(launcher.starts) == 1
        return
    start = call(x, y)
    assert start.bound.views["x"].strides == x.stride()
    assert start.bound.views["x"].shape == x.shape
    assert start.bound.views["x"].pointer % ADDRESS_CLASS == x.data_ptr() % ADDRESS_CLASS
    assert len(launcher.bound) == 2
    again = call(*pair())
    assert again.bound is launcher.bound[0]


def test_strides_of_an_axis_of_one_are_those_of_the_call(call, torch, launcher, pair):
    for stride in ((4, 1), (1, 1), (16, 1), (4, 1)):
        start = call(*pair((1, 4), stride=stride))
        assert start.bound.views["x"].strides == stride
    assert len(launcher.bound) == 3


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"pointer": BASE + 2}, LaunchCondition),
        ({"negative": True}, ArgumentKind),
        ({"layout": "sparse"}, ArgumentKind),
        ({"device": 1}, DeviceMismatch),
        ({"shape": (3, 5)}, ExtentMismatch),
    ],
)
def test_what_a_known_call_never_lets_pass(call, torch, launcher, change, error, pair):
    call(*pair())
    x, _ = pair(**change)
    with pytest.raises(error):
        call.artifact(x, torch.Tensor((3, 4), torch.float32, FAR), 2.0)
    assert len(launcher.starts) == 1


def test_another_dtype_of_the_same_layout(call, torch, launcher, pair):
    x, y = pair()
    call(x, y)
    with pytest.raises(ArgumentDType):
        call.artifact(torch.Tensor((3, 4), torch.int32), y, 2.0)
    with pytest.raises(ArgumentKind):
        call.artifact([1.0], y, 2.0)
    with pytest.raises(DeviceMismatch):
        call.artifact(np.zeros((3, 4), np.float32), y, 2.0)
    for wrong in ((x, y), (x, y, 2.0, 3.0)):
        with pytest.raises(WrongArgumentCount):
            call.artifact(*wrong)
    assert len(launcher.starts) == 1


def test_overlap_of_known_layouts(call, torch, launcher, pair):
    x, y = pair()
    call(x, y)
    for distance in (4, 16, 44, -4, -44):
        with pytest.raises(OverlappingViews):
            call.artifact(x, torch.Tensor((3, 4), torch.float32, BASE + distance), 2.0)
    call(x, torch.Tensor((3, 4), torch.float32, BASE + 48))
    call(x, torch.Tensor((3, 4), torch.float32, BASE - 48))
    assert len(launcher.starts) == 3


def test_in_place_is_known_by_its_distance(call, torch, monkeypatch, pair):
    x, _ = pair()
    call(x, x)
    with pytest.raises(OverlappingViews):
        call.artifact(x, torch.Tensor((3, 4), torch.float32, BASE + 16), 2.0)
    monkeypatch.setattr(call.artifact, "_launch", None)
    other = torch.Tensor((3, 4), torch.float32, FAR)
    assert call(other, other).values == (FAR, FAR, 2.0)


def test_views_interleaved_in_one_allocation(call, torch, monkeypatch):
    x = torch.Tensor((3, 4), torch.float32, BASE, stride=(8, 1))
    y = torch.Tensor((3, 4), torch.float32, BASE + 16, stride=(8, 1))
    call(x, y)
    with pytest.raises(OverlappingViews):
        call.artifact(x, torch.Tensor((3, 4), torch.float32, BASE + 32, stride=(8, 1)), 2.0)
    monkeypatch.setattr(call.artifact, "_launch", None)
    call(x, y)


def test_a_written_layout_that_repeats_itself(call, torch, launcher, pair):
    x, y = pair()
    call(x, y)
    with pytest.raises(ZeroStrideWritable):
        call.artifact(x, torch.Tensor((3, 4), torch.float32, FAR, stride=(0, 1)), 2.0)
    assert len(launcher.starts) == 1


def test_float_scalars_are_not_part_of_a_signature(call, torch, launcher, pair):
    x, y = pair()
    for factor in (2.0, 0.1, 3, np.float64(0.5), np.float32(0.25), float("inf"), -1e-45):
        assert call(x, y, factor).values[2] in (factor, float(np.float32(factor)))
    assert len(launcher.bound) == 1
    for wrong in (True, "2", None, 1e39, 10**400):
        with pytest.raises(ScalarArgument):
            call.artifact(x, y, wrong)
    assert len(launcher.starts) == 7


@pytest.fixture
def shifted(provider, torch, launcher):
    """``shifted(by, flag)``: launches ``shift`` and gives its start."""
    artifact = intent.compile(shift, provider)
    x, y = torch.Tensor((6,), torch.int64), torch.Tensor((6,), torch.int64, FAR)

    def launch(by, flag=True):
        artifact(x, y, by, flag)
        return launcher.starts[-1]

    return launch


def test_integer_scalars_that_nothing_depends_on(shifted, launcher):
    for by in (1, 16, 17, 0, -5, np.int64(9), (1 << 63) - 1):
        assert shifted(by).values[2:] == (by, True)
    assert shifted(1, flag=np.bool_(False)).values[3] is False
    assert len(launcher.bound) == 1
    for by, flag in ((1.0, True), (True, True), (1 << 63, True), (1, 1), (1, None)):
        with pytest.raises(ScalarArgument):
            shifted(by, flag)
    assert len(launcher.starts) == 8


@pytest.mark.parametrize("values", [(1, 16, 17, 16, 1), (16, 1, 32, 16)])
def test_a_start_has_the_scalars_that_its_launcher_assumes(provider, torch, launcher, values):
    launcher.assumes = frozenset({"by", "N"})
    artifact = intent.compile(shift, provider)
    x, y = torch.Tensor((6,), torch.int64), torch.Tensor((6,), torch.int64, FAR)
    for by in values:
        artifact(x, y, by, True)
        assert launcher.starts[-1].bound.scalars["by"] == by
    assert len(launcher.bound) == len(set(values))
    with pytest.raises(ScalarArgument):
        artifact(x, y, float(values[0]), True)
    artifact(x, y, np.int32(values[0]), True)
    assert len(launcher.bound) == len(set(values))


def test_scalars_that_extents_mention(provider, torch, launcher):
    artifact = intent.compile(count, provider)
    y = torch.Tensor((300,), torch.int64)
    lengths = {}
    for n in (1, 16, 17, 300, 17, 1):
        artifact(y, n)
        bound = launcher.starts[-1].bound
        assert bound.extents["n"] == n
        assert lengths.setdefault(n, bound.length) == bound.length
        assert bound.length == artifact.program.length.evaluate(artifact._latest.env)
    before = len(launcher.starts)
    for wrong in (True, 2.0, 1 << 31):
        with pytest.raises(ScalarArgument):
            artifact(y, wrong)
    artifact(y, 0)
    assert len(launcher.starts) == before
