"""The report, the arguments of a check, and the whole testkit without a violation."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import intent
import intent.language as I
from intent.diagnostics import (
    CheckFailed,
    DataRace,
    ExtentMismatch,
    InvalidStepValue,
    LaunchCondition,
    OutOfBounds,
    OverlappingViews,
)
from intent.frontend import lower
from intent.reference.sanitizer import Report

F = np.float32


@intent.kernel
def two_faults(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], BY: I.Constexpr[int]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i] = x[i + BY]
        y[i] = y[i] + x[i - BY]


def test_no_violation():
    report = intent.check(two_faults, np.ones(3, F), constexprs={"BY": 0})
    assert isinstance(report, Report)
    assert not report
    assert len(report) == 0
    assert list(report) == []
    assert str(report) == "kernel 'two_faults': no violations"
    report.raise_if_any()


def test_text_of_two_violations():
    report = intent.check(two_faults, np.ones(3, F), np.zeros(3, F), constexprs={"BY": 1})
    assert report
    assert len(report) == 2
    assert {v.code for v in report} == {"INT100"}
    text = str(report)
    assert text.endswith("kernel 'two_faults': 2 violations")
    assert "        y[i] = x[i + BY]\n" in text
    assert "^^^^^^^^^" in text
    assert "seen: the index is x[3]" in text
    assert "seen: the index is x[-1]" in text
    assert "\x1b" not in text
    with pytest.raises(CheckFailed, match="breaks 2 rules") as raised:
        report.raise_if_any()
    assert "x[i - BY]" in str(raised.value)
    assert raised.value.span == report[0].span


def test_one_violation_is_raised_itself():
    report = intent.check(two_faults, np.ones((0,), F), constexprs={"BY": 1})
    report.raise_if_any()
    with pytest.raises(OutOfBounds):
        intent.check(only_one, np.ones(2, F)).raise_if_any()


@intent.kernel
def only_one(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    for i in I.domain(0, x.shape[0]):
        y[i] = x[i + 1]


def test_arguments_are_left_as_they_were():
    x = np.arange(6, dtype=F)
    y = np.full(6, 7, F)
    intent.check(two_faults, x, y, constexprs={"BY": 1})
    assert (x == np.arange(6)).all()
    assert (y == 7).all()


def test_calls_that_a_launch_refuses_are_refused():
    with pytest.raises(ExtentMismatch):
        intent.check(only_one, np.ones(3, F), np.ones(4, F))
    memory = np.ones(6, F)
    with pytest.raises(OverlappingViews):
        intent.check(only_one, memory[:4], memory[2:])


@intent.kernel
def window(x: I.In[I.f32, ("N",)], n: I.i32, y: I.Out[I.f32, ()]):
    y[...] = I.reduce.sum(x[0:n], axis=0)


@intent.kernel
def two_lengths(x: I.In[I.f32, ("N",)], w: I.In[I.f32, ("M",)], y: I.Out[I.f32, ("N",)]):
    y[...] = x[...] * w[...]


@intent.kernel
def one_cell(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("K",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[0] = x[i]


def test_violated_launch_conditions_are_reported():
    """A launch refuses these calls; where the evaluation shows why, its violation stands for the condition."""
    assert [type(v) for v in intent.check(window, np.ones(3, F), 4)] == [OutOfBounds]
    assert not intent.check(window, np.ones(3, F), 3)
    report = intent.check(two_lengths, np.ones(3, F), np.ones(4, F))
    assert {v.span.line for v in report} == {two_lengths.source.first_line + 2}
    assert not intent.check(two_lengths, np.ones(3, F), np.ones(1, F))
    (race,) = intent.check(one_cell, np.ones(3, F), np.zeros(2, F))
    assert isinstance(race, DataRace)
    assert race.span.source.strip() == "y[0] = x[i]"
    assert not intent.check(one_cell, np.ones(1, F), np.zeros(2, F))


@intent.kernel
def counted_down(x: I.In[I.f32, ("N",)], step: I.i32, y: I.Out[I.f32, ("N",)]):
    y[...] = x[...]
    for i in I.domain(0, x.shape[0], step):
        y[i] = 0.0


def test_a_condition_that_nothing_else_shows():
    (error,) = intent.check(counted_down, np.ones(3, F), -1)
    assert isinstance(error, (LaunchCondition, InvalidStepValue))
    assert error.span.source.strip().startswith("for i in")


def test_a_kernel_of_the_logical_ir():
    made = lower(two_faults, {"BY": 1})
    assert len(intent.check(made, np.ones(3, F))) == 2


def test_the_same_seed_finds_the_same():
    first = intent.check(two_faults, np.ones(5, F), constexprs={"BY": 2}, seed=5)
    second = intent.check(two_faults, np.ones(5, F), constexprs={"BY": 2}, seed=5)
    assert str(first) == str(second)


def test_strides_symbols_and_layouts_are_kept():
    base = np.arange(24, dtype=F).reshape(4, 6)
    assert not intent.check(strided, base[:, ::2])
    assert not intent.check(strided, base[::-1, ::-1])
    assert not intent.check(strided, np.broadcast_to(base[0], (4, 6)))


@intent.kernel
def strided(x: I.In[I.f32, ("M", "N"), I.constraints(strides=("S", "T"))], y: I.Out[I.f32, ("M", "N")]):
    y[...] = x[...]


class Exported:
    """An array that only speaks DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_arrays_of_another_library():
    assert len(intent.check(only_one, Exported(np.ones(3, F)))) == 1
    assert not intent.check(strided, Exported(np.ones((3, 2), F)))


@intent.kernel
def zero_divisor(x: I.In[I.f32, ("N",)], parts: I.In[I.i32, ()], y: I.Out[I.f32, ("N",)]):
    size = x.shape[0] // I.cast(parts[()], I.index)
    for i in I.domain(0, size):
        y[i] = x[i]


def test_a_bound_that_divides_by_zero():
    report = intent.check(zero_divisor, np.ones(4, F), np.array(0, np.int32))
    assert [v.code for v in report] == ["INT107"]
    assert report[0].span.source.strip().startswith("size =")
    assert not intent.check(zero_divisor, np.ones(4, F), np.array(2, np.int32))


def test_importing_intent_loads_no_evaluator():
    code = "import sys, intent; assert not [m for m in sys.modules if m.startswith(('intent.reference', 'numpy'))]"
    subprocess.run([sys.executable, "-c", code], check=True)
