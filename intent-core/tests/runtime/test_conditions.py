"""Every launch condition: the error names the parameter, what was expected and what was found; nothing is written."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from intent.construct.plan import GroupPlan, Plan, resident
from intent.diagnostics import (
    ArgumentDType,
    ArgumentKind,
    ArgumentRank,
    ExtentMismatch,
    GridLimit,
    LaunchCondition,
    OverlappingViews,
    PlanError,
    ReadOnlyArgument,
    ScalarArgument,
    StrideMismatch,
    ZeroStrideWritable,
)


@pytest.fixture
def refuses(toy):
    """``refuses(error, artifact, *args)``: the text of the error; no launch happened, ``args[1]`` is untouched."""

    def check(error, artifact, *args):
        out = args[1]
        before = out.copy() if isinstance(out, np.ndarray) else None
        with pytest.raises(error) as caught:
            artifact(*args)
        assert not toy.launches
        if before is not None:
            np.testing.assert_array_equal(out, before)
        return str(caught.value)

    return check


def test_kind(refuses, scale, x):
    text = refuses(ArgumentKind, scale, [[1.0]], x, 1.0)
    assert "'x'" in text
    assert "a list" in text


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.float16, ml_dtypes.bfloat16, ">f4", np.complex64])
def test_dtype(refuses, scale, x, dtype):
    text = refuses(ArgumentDType, scale, x.astype(dtype), x, 1.0)
    assert "the dtype declared is f32" in text
    assert "'x'" in text


def test_rank(refuses, scale, x):
    text = refuses(ArgumentRank, scale, x[0], x, 1.0)
    assert "(M, N)" in text
    assert "(4,)" in text


def test_symbols_show_every_value(refuses, scale, x):
    text = refuses(ExtentMismatch, scale, x, np.zeros((3, 5), np.float32), 1.0)
    assert "'N'" in text
    assert "x.shape[1] is 4" in text
    assert "y.shape[1] is 5" in text


def test_fixed_extent(refuses, compiled, kernels, toy):
    artifact = compiled(kernels.two, toy)
    n = np.zeros(5, np.float32)
    text = refuses(ExtentMismatch, artifact, n, n.copy(), np.zeros((3, 5), np.float32))
    assert "an extent declared as 2" in text
    assert "b.shape[0] is 3" in text


def test_declared_stride(refuses, compiled, kernels, toy, x):
    artifact = compiled(kernels.scale(x=" strides=(None, 1)"), toy)
    text = refuses(StrideMismatch, artifact, np.asfortranarray(x), np.zeros_like(x), 1.0)
    assert "'x'" in text
    assert "axis 1" in text
    assert "3 elements" in text
    artifact(x, np.zeros_like(x), 1.0)


def test_stride_symbols_are_equal_everywhere(refuses, compiled, kernels, toy, x):
    artifact = compiled(kernels.scale(x=" strides=(S, 1)", y=" strides=(S, 1)"), toy)
    wide = np.zeros((3, 9), np.float32)[:, :4]
    assert "S = 4" in refuses(StrideMismatch, artifact, x, wide, 1.0)
    artifact(x, np.zeros_like(x), 1.0)


def test_a_stride_may_be_an_extent(refuses, compiled, kernels, toy, x):
    artifact = compiled(kernels.scale(x=" strides=(N, 1)"), toy)
    wide = np.zeros((3, 9), np.float32)[:, :4]
    assert "N = 4" in refuses(StrideMismatch, artifact, wide, np.zeros_like(x), 1.0)


def test_the_stride_of_an_axis_of_one_is_never_used(compiled, kernels, toy):
    artifact = compiled(kernels.scale(x=" strides=(None, 1)"), toy)
    column = np.zeros((3, 4), np.float32)[:, :1]
    artifact(as_strided(column, (3, 1), (16, 400)), np.zeros((3, 1), np.float32), 1.0)
    assert len(toy.launches) == 1


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("2", "must be a real number"),
        (True, "not a bool"),
        (1e300, "does not fit f32"),
        (10**400, "does not fit f32"),
        (np.zeros(()), "must be a real number"),
    ],
)
def test_scalar(refuses, scale, x, value, reason):
    text = refuses(ScalarArgument, scale, x, np.zeros_like(x), value)
    assert "'factor'" in text
    assert reason in text


def test_scalars_are_rounded_once(scale, toy, x):
    scale(x, np.zeros_like(x), 0.1)
    assert toy.launches[0].scalars["factor"] == float(np.float32(0.1))
    for value in (np.float64(2), np.int8(2), 2, float("inf")):
        scale(x + 1, np.zeros_like(x), value)


@pytest.mark.parametrize(("value", "reason"), [(2.0, "must be an integer"), (1 << 63, "does not fit i64")])
def test_integer_scalar(compiled, kernels, toy, value, reason):
    with pytest.raises(ScalarArgument, match=reason):
        compiled(kernels.count, toy)(np.zeros(4, np.int64), value)


def test_read_only(refuses, scale, x):
    y = np.zeros_like(x)
    y.flags.writeable = False
    text = refuses(ReadOnlyArgument, scale, x, y, 1.0)
    assert "'y'" in text
    assert "I.Out" in text
    x.flags.writeable = False
    scale(x, np.zeros_like(x), 1.0)


def test_broadcast_view_written(refuses, scale, x):
    y = as_strided(np.zeros(4, np.float32), (3, 4), (0, 4))
    text = refuses(ZeroStrideWritable, scale, x, y, 1.0)
    assert "'y'" in text
    assert "(0, 1) elements" in text


def test_windows_that_overlap_themselves_written(refuses, scale, x):
    y = as_strided(np.zeros(12, np.float32), (3, 4), (8, 4))
    refuses(ZeroStrideWritable, scale, x, y, 1.0)


def test_an_interleaved_layout_without_repetition_is_whole(scale, x):
    # Rows step by 5, columns by 2: strides overlap in range, but no element repeats for 2 columns of reach.
    y = as_strided(np.zeros(40, np.float32), (3, 4), (4, 12))
    scale(x, y, 1.0)
    np.testing.assert_array_equal(y, x)


def test_broadcast_and_flipped_inputs_are_fine(scale, x):
    y = np.zeros_like(x)
    scale(np.broadcast_to(x[:1], (3, 4)), y, 1.0)
    np.testing.assert_array_equal(y, np.broadcast_to(x[:1], (3, 4)))
    scale(x[::-1, ::-1], y, 1.0)
    np.testing.assert_array_equal(y, x[::-1, ::-1])


def test_overlap(refuses, scale):
    base = np.zeros(40, np.float32)
    text = refuses(OverlappingViews, scale, base[:12].reshape(3, 4), base[11:23].reshape(3, 4), 1.0)
    assert "'y' and 'x' overlap, and 'y' is written" in text
    square = np.zeros((4, 4), np.float32)
    refuses(OverlappingViews, scale, square, square.T, 1.0)
    refuses(OverlappingViews, scale, square, square[::-1], 1.0)


def test_a_known_signature_is_checked_again_for_addresses(refuses, scale, toy, x):
    y = np.zeros_like(x)
    scale(x, y, 1.0)
    toy.launches.clear()
    refuses(OverlappingViews, scale, x, x[::-1], 1.0)
    y.flags.writeable = False
    refuses(ReadOnlyArgument, scale, x, y, 1.0)
    odd = np.frombuffer(np.zeros(49, np.uint8), np.float32, 12, offset=1).reshape(3, 4)
    refuses(LaunchCondition, scale, odd, np.zeros_like(x), 1.0)


def test_interleaved_views_do_not_overlap(scale):
    base = np.zeros((3, 8), np.float32)
    scale(base[:, ::2], base[:, 1::2], 1.0)
    scale(base[:, :4], base[:, 4:], 1.0)
    scale(base[:, ::2][::-1], base[:, 1::2], 1.0)


@pytest.mark.parametrize(
    "promise", [{"x": " noalias"}, {"y": " noalias"}, {"x": " alias=g", "y": " alias=g"}]
)
def test_declared_overlap_is_the_callers_matter(compiled, kernels, toy, x, promise):
    compiled(kernels.scale(**promise), toy)(x, x[::-1], 1.0)
    assert len(toy.launches) == 1


def test_misaligned(refuses, scale, x):
    raw = np.zeros(49, np.uint8)
    odd = np.frombuffer(raw, np.float32, 12, offset=1).reshape(3, 4)
    assert "'x' lie at multiples of 4 bytes" in refuses(LaunchCondition, scale, odd, np.zeros_like(x), 1.0)
    packed = np.zeros((3, 4), np.dtype([("a", np.float32), ("b", np.uint8)]))["a"]
    assert "strides in bytes" in refuses(LaunchCondition, scale, packed, np.zeros_like(x), 1.0)


def test_condition_of_the_kernel(refuses, compiled, kernels, toy, x):
    artifact = compiled(kernels.scale(conditions='  condition equal <M> <2*N> "a reshape"\n'), toy)
    text = refuses(LaunchCondition, artifact, x, np.zeros_like(x), 1.0)
    for part in ("M == 2*N", "a reshape", "M is 3", "N is 4", "2*N is 8"):
        assert part in text
    artifact(np.zeros((8, 4), np.float32), np.zeros((8, 4), np.float32), 1.0)


@pytest.mark.parametrize(
    ("n", "m", "holds"), [(4, 4, True), (1, 4, True), (4, 1, True), (4, 3, False), (0, 1, True)]
)
def test_equal_or_one(compiled, kernels, toy, n, m, holds):
    artifact = compiled(kernels.scale(conditions='  condition equal_or_one <M> <N> "a broadcast"\n'), toy)
    array = np.zeros((m, n), np.float32)
    if holds:
        artifact(array, array.copy(), 1.0)
    else:
        with pytest.raises(LaunchCondition, match="M == N or M == 1 or N == 1"):
            artifact(array, array.copy(), 1.0)


def test_a_violated_condition_shows_names_as_the_author_wrote_them():
    error = LaunchCondition("$n >= 0", values={"$n": -1, "0": 0}, needed_by="a subregion")
    assert "'n >= 0'" in str(error)
    assert "seen: n is -1" in str(error)
    assert "0 is 0" not in str(error)


def test_a_condition_that_divides_by_zero(compiled, kernels, toy):
    artifact = compiled(
        kernels.scale(conditions='  condition at_least <floordiv(M, N)> <1> "a count"\n'), toy
    )
    empty = np.zeros((3, 0), np.float32)
    with pytest.raises(LaunchCondition, match="no divisor is zero"):
        artifact(empty, empty.copy(), 1.0)


def test_negative_extent(compiled, kernels, toy):
    with pytest.raises(LaunchCondition, match="0 <= n "):
        compiled(kernels.count, toy)(np.zeros(4, np.int64), -1)
    assert not toy.launches


def test_grid_limit(compiled, kernels, make_toy, x):
    artifact = compiled(kernels.scale(), make_toy(grid_limit=0))
    with pytest.raises(GridLimit) as caught:
        artifact(x, np.zeros_like(x), 1.0)
    assert "the limit is 0" in str(caught.value)


def test_a_fixed_plan_never_falls_back(refuses, compiled, kernels, toy, x):
    group = GroupPlan(instance=(("rows", 1),), inner=(("cols", resident(4)),))
    artifact = compiled(kernels.scale(), toy, plan=Plan(groups=(group,)))
    wide = np.zeros((3, 5), np.float32)
    text = refuses(PlanError, artifact, wide, wide.copy(), 1.0)
    assert "N <= 4" in text
    assert "N is 5" in text
    y = np.zeros_like(x)
    artifact(x, y, 1.0)
    np.testing.assert_array_equal(y, x)
