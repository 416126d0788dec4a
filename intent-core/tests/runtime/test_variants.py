from __future__ import annotations

import numpy as np
import pytest

from intent.runtime.variants import bucket
from intent.types.extent import Symbol

N = Symbol("N")


def square(rows, columns):
    return np.ones((rows, columns), np.float32)


def test_a_new_shape_inside_a_bucket_compiles_nothing(scale, toy):
    scale.run(square(96, 600), 2.0)
    built = len(toy.builds)
    variant = scale.variant
    for rows, columns in ((95, 601), (70, 999), (127, 517)):
        result = scale.run(square(rows, columns), 3.0)
        np.testing.assert_array_equal(result, 3.0)
    scale.run(square(96, 600), 2.0)
    odd = {id(source.program) for source in toy.builds}
    assert scale.variant is variant
    assert len(odd) == len(toy.builds)
    before = len(toy.builds)
    for rows, columns in ((95, 601), (93, 605), (77, 701), (65, 1001)):
        scale.run(square(rows, columns), 3.0)
    assert len(toy.builds) == before
    assert built >= 1


def test_the_guards_of_what_is_launched_always_hold(scale, toy):
    for rows in (1, 2, 15, 16, 17, 64, 65):
        for columns in (1, 31, 32, 64, 100, 128, 1000, 1024, 5000):
            scale.run(square(rows, columns), 1.0)
            values = {Symbol("M"): rows, N: columns}
            assert all(g.holds(g.extent.evaluate(values)) for g in scale.program.guards)


def test_equal_kernels_share_variants(compiled, kernels, toy, x):
    compiled(kernels.scale(), toy).run(x, 1.0)
    built = len(toy.builds)
    compiled(kernels.scale(), toy).run(x, 1.0)
    assert len(toy.builds) == built
    compiled(kernels.scale(mode="inout"), toy)(x, x.copy(), 1.0)
    assert len(toy.builds) == built + 1


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [(96, 160, False), (1, 2, False), (3, 5, False), (33, 35, True), (96, 32 * 5, False), (128, 64, False),
     (600, 616, True), (600, 604, False), (0, 1, False), (0, 0, True), (-1, -3, False), (1 << 20, 3 << 19, False)],
)  # fmt: skip
def test_buckets(a, b, same):
    assert (bucket({N: a}) == bucket({N: b})) is same
