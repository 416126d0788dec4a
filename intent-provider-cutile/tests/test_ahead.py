"""Reads that the compiler may take out of a loop test their own bounds."""

from __future__ import annotations

import re

import intent
import intent.language as I


@intent.kernel
def promised(n: I.i32, where: I.i64, x: I.In[I.i32, ("K",)], y: I.Out[I.i32, ()]):
    total = I.cast(0, I.i32)
    j = I.cast(where, I.index)
    for k in range(I.cast(n, I.index)):
        I.assume_in_bounds(j, x, 0)
        total = total * 3 + x[j] + I.cast(k, I.i32)
    y[()] = total


@intent.kernel
def each_of(x: I.In[I.i32, ("K",)], y: I.Out[I.i32, ()]):
    total = I.cast(0, I.i32)
    for k in range(x.shape[0]):
        total = total * 3 + x[k]
    y[()] = total


def reads(kernel):
    return re.findall(r"x\.load_offset\(.*?\n?.*?\)\n", intent.compile(kernel, provider="cutile").source)


def test_the_same_element_in_every_pass():
    (read,) = reads(promised)
    assert ">= 0" in read
    assert "< K" in read


def test_not_elements_that_change_from_pass_to_pass():
    (read,) = reads(each_of)
    assert "mask" not in read
