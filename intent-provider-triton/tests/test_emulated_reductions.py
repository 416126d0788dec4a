"""Reductions of the emulation: one tree, whether its levels are computed at once or pair by pair."""

from __future__ import annotations

import numpy as np
import triton.language as native

from intent_provider_triton.emulate.builder import Builder
from intent_provider_triton.emulate.language import Language
from intent_provider_triton.emulate.memory import Memory
from intent_provider_triton.emulate.values import Handle, Type


def _block(language, data):
    names = {"float32": ("f32", native.float32), "int32": ("i32", native.int32)}
    name, dtype = names[data.dtype.name]
    return language.tensor(Handle(data, Type(name)), native.block_type(dtype, list(data.shape)))


def _tree(data, combine):
    parts = list(np.moveaxis(data, 1, 0))
    while len(parts) > 1:
        parts = [combine(a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]


def test_sums_are_those_of_adjacent_pairs_to_the_bit():
    language = Language(Builder(Memory(), 1))
    data = np.random.default_rng(3).standard_normal((4, 64, 2)).astype(np.float32)
    found = language.tl.sum(_block(language, data), 1)
    np.testing.assert_array_equal(found.handle.data, _tree(data, np.add))


def test_functions_that_branch_see_one_pair_at_a_time():
    language = Language(Builder(Memory(), 1))
    data = np.random.default_rng(4).integers(-9, 9, 32).astype(np.int32)
    calls = []

    def further(a, b):
        calls.append(a.handle.data.size)
        if a * a < b * b:
            return b
        return a

    found = language.tl.reduce(_block(language, data), 0, further)
    wanted = _tree(data[None], lambda a, b: np.where(a * a < b * b, b, a))
    assert found.handle.data == wanted[0]
    assert max(calls[1:]) == 1


def test_several_values_and_constants():
    language = Language(Builder(Memory(), 1))
    data = np.arange(32, dtype=np.float32).reshape(4, 8)
    one = language.tl.full((), 1, native.int32)
    values = (_block(language, data), _block(language, np.zeros((4, 8), np.int32)))
    total, made = language.tl.reduce(values, 1, lambda a, m, b, n: (a + b, one))
    np.testing.assert_array_equal(total.handle.data, data.sum(1))
    np.testing.assert_array_equal(made.handle.data, np.ones(4, np.int32))
