"""Histograms in CUDA C++: where counters are zeroed and read, and how many copies of them there are."""

from __future__ import annotations

import re

import cupy_kernels as kernels
import pytest

import intent
import intent.language as I
from intent_provider_cupy import build


@intent.kernel
def counts(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("K",)]):
    y[...] = I.histogram(x[...], bins=y.shape[0])


@intent.kernel
def wide_counts(x: I.In[I.i32, ("N",)], y: I.Out[I.i64, ("K",)]):
    y[...] = I.histogram(x[...], bins=y.shape[0], count_dtype=I.i64)


@intent.kernel
def counts_doubled(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("K",)]):
    total = I.zeros((y.shape[0],), I.i32)
    for i in range(x.shape[0]):
        total = total * 2 + I.histogram(x[i, :], bins=y.shape[0])
    y[...] = total


def text_of(kernel, **extents):
    return kernels.kernel_text(kernels.compiled(kernel, extents))


def depth(text: str, call: str) -> int:
    """How deep the line with the call stands in braces."""
    before = text[: text.index(call)]
    return before.count("{") - before.count("}")


def test_a_loop_zeroes_and_reads_its_counters_once():
    text = text_of(counts, N=1 << 20, K=256)
    assert depth(text, "it_piece<unsigned>") == 1
    assert text.index("it_piece<unsigned>") < text.index("it_count<") < text.index("it_counted<")
    assert depth(text, "it_count<") == 3, "in the loop over blocks, in the one over a thread's values"
    assert text.count("it_count<") == text.count("it_counted<") == 1


def test_counts_that_a_loop_uses_are_read_in_every_pass():
    text = text_of(counts_doubled, M=30, N=100, K=256)
    assert depth(text, "it_piece<unsigned>") == 2
    assert re.search(r"__syncthreads\(\);\s*unsigned\* const \w+ = it_piece", text), "the pass before is read"


@pytest.mark.parametrize(("bins", "copies"), [(2, 32), (256, 32), (1000, 8), (4096, 2), (8192, 1)])
def test_copies_fill_a_quarter_of_what_two_blocks_can_have(bins, copies):
    assert f"it_count<{1 << (bins - 1).bit_length()}, {copies}>" in text_of(counts, N=1 << 20, K=bins)


def test_wide_counts_have_wide_counters():
    text = text_of(wide_counts, N=1 << 20, K=256)
    assert "it_piece<unsigned long long>" in text
    assert "it_count<256, 16>" in text


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100"])
def test_counters_are_known_to_be_in_shared_memory(target):
    """Where the compiler knows that, one instruction counts for all threads of a warp that agree on the bin."""
    listing = build.build(kernels.compiled(counts, {"N": 1 << 20, "K": 256}).variant.source, target).listing
    assert re.search(r"(atom|red)\.shared\.add\.u32\s.*, 1;", listing)
    assert not re.search(r"atom\.add\.u32", listing)
