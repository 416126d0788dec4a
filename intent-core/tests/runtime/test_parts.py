"""Overlap, workspace layout, options, caches."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import intent.physical as ph
from intent.diagnostics import OptionError
from intent.kir.parse import parse_kernel
from intent.runtime.cache import Memory, kernel_key
from intent.runtime.libraries import NUMPY
from intent.runtime.options import CompileOptions
from intent.runtime.overlap import overlaps, repeats_itself
from intent.runtime.workspace import ALIGNMENT, allocate, layout
from intent.types import Span, dtypes
from intent.types.extent import Symbol, const, symbol


def places(array):
    """Every byte of every element, one entry per element."""
    base = array.__array_interface__["data"][0]
    found = []
    for index in itertools.product(*map(range, array.shape)):
        start = base + sum(i * s for i, s in zip(index, array.strides, strict=True))
        found.append(range(start, start + array.itemsize))
    return found


def random_view(rng, base):
    rank = int(rng.integers(0, 4))
    shape = tuple(int(e) for e in rng.integers(0, 4, rank))
    strides = tuple(int(s) * 4 for s in rng.integers(-5, 6, rank))
    low = sum(min(0, (e - 1) * s) for e, s in zip(shape, strides, strict=True) if e)
    start = int(rng.integers(0, 40)) * 4 - low
    return (
        np.ndarray(shape, np.float32, base, offset=start, strides=strides)
        if 0 not in shape
        else np.empty(shape)
    )


@pytest.mark.parametrize("seed", range(4))
def test_overlap_and_repetition_agree_with_enumeration(seed):
    rng = np.random.default_rng(seed)
    base = np.zeros(400, np.float32).data
    for _ in range(150):
        a, b = random_view(rng, base), random_view(rng, base)
        in_a, in_b = places(a), places(b)
        shared = bool({p for r in in_a for p in r} & {p for r in in_b for p in r})
        assert overlaps(NUMPY.recognize(a), NUMPY.recognize(b)) is shared
        starts = [r.start for r in in_a]
        assert repeats_itself(NUMPY.recognize(a)) is (len(set(starts)) < len(starts))


def test_elements_that_overlap_in_part_repeat_themselves():
    base = np.zeros(64, np.uint8)
    assert repeats_itself(NUMPY.recognize(as_strided(base.view(np.float32), (4,), (2,))))


def program(*buffers):
    return ph.Program(name="p", params=(), segments=(), workspace=buffers)


def buffer(number, shape, dtype=dtypes.F32, scope="program"):
    return ph.Buffer(id=number, name=f"b{number}", dtype=dtype, shape=shape, scope=scope)


def test_workspace_layout():
    made = program(
        buffer(1, (symbol("N"), const(3))),
        buffer(2, (const(5),), dtypes.U8),
        buffer(3, (), scope="invocation"),
    )
    placed = layout(made, {Symbol("N"): 7}, 10)
    assert placed.offsets[1] == 0
    assert placed.offsets[2] == -(-10 * 7 * 3 * 4 // ALIGNMENT) * ALIGNMENT
    assert placed.offsets[3] == placed.offsets[2] + ALIGNMENT
    assert placed.size == placed.offsets[3] + 4
    view = allocate(placed, NUMPY, "cpu")
    assert view.shape == (placed.size,) == view.array.shape
    assert view.pointer % ALIGNMENT == 0
    assert view.array.__array_interface__["data"][0] == view.pointer


def test_no_workspace_no_allocation():
    placed = layout(program(), {}, 10)
    assert allocate(placed, NUMPY, "cpu") is None


def test_options():
    assert CompileOptions() == CompileOptions(numerics="source", fold_law="on")
    with pytest.raises(OptionError, match="numerics"):
        CompileOptions(numerics="fast")
    with pytest.raises(OptionError, match="fold_law"):
        CompileOptions(fold_law=True)


def test_memory_keeps_the_latest_and_not_failures():
    made = []

    def make(value):
        made.append(value)
        if value == "bad":
            raise ValueError(value)
        return value

    memory = Memory(limit=2)
    for key in ("a", "b", "a", "c", "a", "b"):
        assert memory.get(key, lambda key=key: make(key)) == key
    assert made == ["a", "b", "c", "b"]
    for _ in range(2):
        with pytest.raises(ValueError, match="bad"):
            memory.get("bad", lambda: make("bad"))


def test_kernels_are_keyed_by_meaning_and_lines(kernels):
    kernel = parse_kernel(kernels.scale())
    assert kernel_key(kernel) == kernel_key(parse_kernel(kernels.scale()))
    assert kernel_key(kernel) != kernel_key(parse_kernel(kernels.scale(x=" noalias")))
    first, *rest = kernel.body.ops
    moved = replace(kernel, body=replace(kernel.body, ops=(replace(first, span=Span("k.py", 3)), *rest)))
    assert moved == kernel
    assert kernel_key(moved) != kernel_key(kernel)
