"""Products, literals, helpers, unrolled loops and constants around a kernel, evaluated."""

from __future__ import annotations

import math

import numpy as np
import pytest

import intent.language as I
from intent.diagnostics import (
    CarryTypeChanged,
    LaunchCondition,
    LiteralNotRepresentable,
    MixedDTypes,
)
from intent.frontend import lower
from intent.kir import For, If, Load, Pointwise, While
from intent.kir.walk import walk
from intent.language.definitions import fn, kernel

SCALE = 3
OFFSETS = (1, 2)
HALF = I.f16


class Mode(I.Enum):
    SUM = 0
    MAX = 1


@fn
def welford(state, value):
    count = state.count + 1.0
    delta = value - state.mean
    mean = state.mean + delta / count
    return I.record(count=count, mean=mean, m2=state.m2 + delta * (value - mean))


@kernel
def record_carry(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, (3,)]):
    state = I.record(count=0.0, mean=0.0, m2=0.0)
    for i in range(x.shape[0]):
        state = welford(state, x[i])
    y[0], y[1] = state.count, state.mean
    y[2] = state.m2


def test_records_of_literals_are_carried(run):
    x, y = np.array([1, 2, 4, 9], np.float32), np.zeros(3, np.float32)
    run(record_carry, x, y)
    assert np.allclose(y, [4, x.mean(), ((x - x.mean()) ** 2).sum()])


@kernel
def merged_tuple(x: I.In[I.f32, (2,)], y: I.Out[I.f32, (2,)]):
    if x[0] > x[1]:
        pair = x[0], I.record(other=x[1], flag=True)
    else:
        pair = 7.0, I.record(other=0.5, flag=False)
    y[0] = pair[0]
    y[1] = pair[1].other if pair[1].flag else -1.0


@pytest.mark.parametrize(("x", "expected"), [([2, 1], [2, 1]), ([1, 2], [7, -1])])
def test_products_are_merged_by_component(run, x, expected):
    y = np.zeros(2, np.float32)
    run(merged_tuple, np.array(x, np.float32), y)
    assert y.tolist() == expected


@kernel
def literal_types(
    h: I.In[I.f16, ("N",)], k: I.In[I.i16, ("N",)], y: I.Out[I.f16, ("N",)], z: I.Out[I.i16, ("N",)]
):
    y[...] = 2 * h + 0.5
    z[...] = (k << 1) - 1


def test_literals_take_the_dtype_of_the_other_operand():
    made = lower(literal_types, {})
    assert {op.result.dtype.name for op in walk(made.body) if isinstance(op, Pointwise)} == {"f16", "i16"}


@kernel
def literal_carry(k: I.In[I.u8, ("N",)], y: I.Out[I.u8, (2,)], z: I.Out[I.i64, (1,)]):
    total = 0
    flips = 1
    count = 0
    for i in range(k.shape[0]):
        total = total + k[i]
        flips = flips ^ 3
        y[1] = flips + k[i]
        count += 2
    y[0] = total
    z[0] = count


def test_a_carried_literal_takes_the_dtype_its_uses_expect(run):
    y, z = np.zeros(2, np.uint8), np.zeros(1, np.int64)
    made = run(literal_carry, np.array([200, 100], np.uint8), y, z)
    assert y.tolist() == [44, 101]
    assert z.tolist() == [4]
    (loop,) = [op for op in walk(made.body) if isinstance(op, For)]
    assert sorted(value.dtype.name for value in loop.inits) == ["i64", "u8", "u8"]


@kernel
def invariant_names(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    width, view, scale = 2, x, 1.5
    for i in range(x.shape[0]):
        width, view, scale = 2, x, 1.5
        temporary = view[i] * scale
        y[i] = temporary * width


def test_names_that_every_step_leaves_alone_are_not_carried():
    made = lower(invariant_names, {})
    (loop,) = [op for op in walk(made.body) if isinstance(op, For)]
    assert not loop.inits


@fn
def polynomial(x, *, a=1.0, b: I.f32 = 0.0, steps=(1, 2)):
    """Keyword-only arguments, defaults of constants, a tuple as a default."""
    total = b * x
    for step in steps:
        total = total + a * step
    return total


@kernel
def keywords(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = polynomial(x[...], b=2.0) + polynomial(x[...], a=3.0, steps=(4,))


def test_helper_arguments_follow_the_python_signature(run):
    x, y = np.array([1, 2], np.float32), np.zeros(2, np.float32)
    run(keywords, x, y)
    assert y.tolist() == [2 * v + 3 + 12 for v in (1, 2)]


@kernel
def unrolled(x: I.In[I.f32, (4,)], y: I.Out[I.f32, (4,)], limit: I.f32):
    total = 0.0
    for k, weight in enumerate((1.0, 10.0, 100.0, 1000.0)):
        if x[k] < 0.0:
            continue
        total = total + weight * x[k]
        if total > limit:
            break
        y[k] = total


@pytest.mark.parametrize("x", [[1, -1, 2, 3], [1, 1, 1, 1], [-1, -1, -1, -1], [9, 9, 9, 9]])
def test_loops_over_tuples_are_unrolled(run, x):
    y, expected, total = np.zeros(4, np.float32), np.zeros(4, np.float32), 0.0
    made = run(unrolled, np.array(x, np.float32), y, 90.0)
    for k, weight in enumerate((1.0, 10.0, 100.0, 1000.0)):
        if x[k] < 0:
            continue
        total += weight * x[k]
        if total > 90:
            break
        expected[k] = total
    assert (y == expected).all()
    assert not [op for op in walk(made.body) if isinstance(op, For | While)]


@kernel
def constants_around(
    x: I.In[I.f32, ("N",)], y: I.Out[HALF, ("N",)], MODE: I.Constexpr[Mode], WIDE: I.Constexpr[int] = 2
):
    factor = SCALE * WIDE
    if MODE is Mode.SUM and factor > 4:
        factor = factor + math.pi
    value = x * factor
    if MODE == Mode.MAX:
        value = I.maximum(value, 0.0)
    y[...] = I.cast(value, HALF)


def test_constants_around_a_kernel_are_implicit_constexprs(run):
    y = np.zeros(1, np.float16)
    made = run(constants_around, np.ones(1, np.float32), y, MODE=Mode.SUM)
    assert y[0] == np.float16(np.float32(6 + math.pi))
    assert dict(made.constexprs) == {"MODE": repr(Mode.SUM), "WIDE": "2", "SCALE": "3", "HALF": "f16"}
    assert not [op for op in walk(made.body) if isinstance(op, If)]


@kernel
def short_circuit(x: I.In[I.f32, ("N",)], k: I.In[I.i32, (2,)], y: I.Out[I.i32, (4,)]):
    y[0] = 1 if k[0] > 0 and 10 // k[0] > 2 else 0
    y[1] = 1 if k[1] == 0 or 10 // k[1] > 2 else 0
    y[2] = 10 // k[0] if k[0] != 0 else -5
    y[3] = 1 if not (k[0] > 0 and k[1] > 0) else 0


@pytest.mark.parametrize(("k", "expected"), [([0, 0], [0, 1, -5, 1]), ([3, 4], [1, 0, 3, 0])])
def test_the_right_side_runs_only_if_needed(run, k, expected):
    y = np.zeros(4, np.int32)
    made = run(short_circuit, np.zeros(1, np.float32), np.array(k, np.int32), y)
    assert y.tolist() == expected
    divisions = [op for op in made.body.ops if isinstance(op, Pointwise) and op.fn == "floordiv"]
    assert not divisions, "a division that may be by zero stays in its branch"


@kernel
def while_true(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, (1,)]):
    i = 0
    while True:
        if x[i] == 0:
            break
        i += 1
    y[0] = I.cast(i, I.i32)


def test_while_true_ends_with_break(run):
    y = np.zeros(1, np.int32)
    run(while_true, np.array([4, 2, 0, 1], np.int32), y)
    assert y[0] == 2


@kernel
def scalar_extent(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], n: I.i32):
    head = I.domain(0, n * 2 - 1)
    y[...] = 0.0
    y[head] = x[head]


def test_scalar_arithmetic_forms_extents_where_it_does_not_wrap(run):
    y = np.zeros(8, np.float32)
    made = run(scalar_extent, np.ones(8, np.float32), y, 3)
    assert y.sum() == 5
    assert all(load.result.shape[0].launch_visible for load in walk(made.body) if isinstance(load, Load))
    with pytest.raises(LaunchCondition):
        run(scalar_extent, np.ones(8, np.float32), y, 2**30 + 1)


@kernel
def in_place(x: I.InOut[I.f32, ("N", "N")]):
    x[...] = I.transpose(x)
    x[0, :] += 1.0
    x[:, 0] *= 2.0


def test_augmented_assignments_read_and_write_one_destination(run):
    x = np.arange(9, dtype=np.float32).reshape(3, 3)
    expected = x.T.copy()
    expected[0, :] += 1
    expected[:, 0] *= 2
    run(in_place, x)
    assert (x == expected).all()


@kernel
def unpacked(x: I.In[I.f32, ("A", "B", "C")], y: I.Out[I.f32, ("C",)]):
    *batch, last = x.shape
    first, (second,) = batch[0], (batch[-1],)
    y[...] = I.full((last,), I.cast(first * second, I.f32), I.f32) + x[0, 0]


def test_starred_and_nested_targets(run):
    y = np.zeros(4, np.float32)
    run(unpacked, np.ones((2, 3, 4), np.float32), y)
    assert y.tolist() == [7] * 4


@kernel
def literal_against_its_use(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    step = 1
    for i in range(x.shape[0]):
        y[i] = x[i] * step
        step = step + i


def test_a_literal_cannot_have_two_dtypes(refused):
    refused(literal_against_its_use, (MixedDTypes, CarryTypeChanged), "x[i] * step")


@kernel
def chosen_literals(
    x: I.In[I.f32, ("N",)], k: I.In[I.i32, ("N",)], y: I.Out[I.f32, ("N",)], z: I.Out[I.i32, ("N",)]
):
    for i in I.parallel(I.domain(0, x.shape[0])):
        if x[i] > 0.0:
            sign = 1
            place = 0
        else:
            sign = -1
            place = -1 if x[i] < -1.0 else 1
        y[i] = x[i] * sign + (2 if k[i] > 1 else 0.5)
        z[i] = k[i] + sign + k[(0 if k[i] == 1 else 1)] + place


def test_a_choice_between_literals_takes_the_dtype_of_its_use(run):
    x, k = np.array([2, -3, -0.5], np.float32), np.array([1, 2, 3], np.int32)
    y, z = np.zeros(3, np.float32), np.zeros(3, np.int32)
    run(chosen_literals, x, k, y, z)
    assert y.tolist() == [2.5, 5, 2.5]
    assert z.tolist() == [1 + 1 + 1 + 0, 2 - 1 + 2 - 1, 3 - 1 + 2 + 1]


@kernel
def chosen_wrongly(k: I.In[I.i32, (2,)], z: I.Out[I.i32, (2,)]):
    z[0] = k[0] + (0.5 if k[1] > 0 else 1.0)


@kernel
def chosen_and_computed(k: I.In[I.i32, (2,)], z: I.Out[I.i32, (2,)]):
    z[0] = k[0] + 2 * (0.5 if k[1] > 0 else 1.0)


def test_a_choice_between_floats_never_becomes_an_integer(refused):
    refused(chosen_wrongly, LiteralNotRepresentable, "k[0] + (0.5 if k[1] > 0 else 1.0)")
    refused(chosen_and_computed, LiteralNotRepresentable, "k[0] + 2 * (0.5 if k[1] > 0 else 1.0)")
