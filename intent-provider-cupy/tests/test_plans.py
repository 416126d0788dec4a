"""What the default plans of some kernels are, by their sizes."""

from __future__ import annotations

import cupy_kernels as kernels
import pytest

from intent_provider_cupy.emit import emit
from intent_testkit.kernels import serving


def plan_of(kernel, **extents):
    plan = kernels.compiled(kernel, extents).plan
    (group,) = plan.groups
    return [n for _, n in group.instance], {label: i.size for label, i in group.inner}, dict(plan.knobs)


@pytest.mark.parametrize(
    ("size", "tile"), [(4096, [64, 128]), (2048, [64, 128]), (1024, [64, 64]), (100, [64, 64])]
)
def test_large_products_of_f32_have_wide_tiles(size, tile):
    instance, inner, knobs = plan_of(kernels.matmul_f32, M=size, N=size, K=512)
    assert instance == tile
    assert inner["axis_K"] == 32
    assert knobs == {"num_warps": 4, "num_stages": 3}


@pytest.mark.parametrize(
    ("row", "block", "warps", "kept"),
    [(32768, 8192, 16, 64), (20000, 8192, 16, 64), (65536, 8192, 16, 96), (131072, 16384, 32, 192)],
)
def test_long_rows_stay_in_shared_memory(row, block, warps, kept):
    _, inner, knobs = plan_of(kernels.softmax, M=8192, N=row)
    assert inner["axis_N"] == block
    assert knobs == {"num_warps": warps, "kept_kilobytes": kept}


def test_rows_that_are_kept_fit_the_device():
    program = kernels.compiled(kernels.softmax, {"M": 64, "N": 131072}).program
    assert emit(program).signature.shared_bytes > 160 * 1024
    assert emit(program, 100 * 1024).signature.shared_bytes <= 100 * 1024


def test_states_are_scanned_in_longer_slices_than_registers_would_hold():
    instance, inner, _ = plan_of(serving.linear_attention_heads, H=64, T=4096, D=64, E=64)
    assert instance == [1, 32]
    assert inner["axis_T"] == 32
