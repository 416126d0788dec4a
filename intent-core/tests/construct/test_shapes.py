"""Runs of axes with equal counts, and resources in which equal coordinates are one element."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest

from intent import kir
from intent.construct.shapes import reshape_groups
from intent.construct.shared_axes import _same
from intent.types import dtypes
from intent.types.extent import Extent, as_extent, const, symbol

N, M, K = symbol("N"), symbol("M"), symbol("K")


@pytest.mark.parametrize(
    ("old", "new", "groups"),
    [
        ((N,), (N,), [([0], [0])]),
        ((N, 1), (N,), [([0], [0]), ([1], [])]),
        ((N,), (N, 1, 1), [([0], [0]), ([], [1]), ([], [2])]),
        ((N, M), (N * M,), [([0, 1], [0])]),
        ((N * M, K), (N, M, K), [([0], [0, 1]), ([1], [2])]),
        ((6, N), (2, 3, N), [([0], [0, 1]), ([1], [2])]),
        ((2, 3, N), (6, N), [([0, 1], [0]), ([2], [1])]),
        ((N, M, K), (N * M, K), [([0, 1], [0]), ([2], [1])]),
        ((N * M, K), (M, N, K), [([0], [0, 1]), ([1], [2])]),
        ((K,), (N * M, N), [([0], [0, 1])]),
        ((N * M, N), (K,), [([0, 1], [0])]),
        ((4, 6), (8, 3), [([0, 1], [0, 1])]),
        ((N, 4), (N * 4,), [([0, 1], [0])]),
        ((N * 2, M), (N, M * 2), [([0, 1], [0, 1])]),
        ((N, M), (M, N), [([0, 1], [0, 1])]),
        ((4, N), (N, 4), [([0, 1], [0, 1])]),
        ((N, 4), (4, N), [([0, 1], [0, 1])]),
        ((N * 3 + 3, M), (N + 1, 3, M), [([0], [0, 1]), ([1], [2])]),
        ((N + 5, 2, M), (N * 2 + 10, M), [([0, 1], [0]), ([2], [1])]),
        ((), (1,), [([], [0])]),
    ],
)
def test_runs_of_axes_are_as_short_as_they_can_be(old, new, groups) -> None:
    found = reshape_groups(tuple(map(as_extent, old)), tuple(map(as_extent, new)))
    assert found == groups


def test_every_axis_is_in_one_run_and_runs_have_equal_counts() -> None:
    shapes = [s for n in range(1, 4) for s in product((1, 2, 3, 4, 6), repeat=n)]
    by_count: dict[int, list[tuple[int, ...]]] = {}
    for shape in shapes:
        by_count.setdefault(prod(shape), []).append(shape)
    for same in by_count.values():
        for old, new in product(same[:12], repeat=2):
            groups = reshape_groups(tuple(map(const, old)), tuple(map(const, new)))
            assert [k for left, _ in groups for k in left] == list(range(len(old)))
            assert [k for _, right in groups for k in right] == list(range(len(new)))
            assert all(prod(old[k] for k in left) == prod(new[k] for k in right) for left, right in groups)


def view(name: str, *, alias: str | None = None, coincident: bool = False) -> kir.View:
    shape: tuple[Extent, ...] = (N,)
    return kir.View(
        name=name, dtype=dtypes.F32, shape=shape, mode="inout", alias=alias, coincident=coincident
    )


def test_equal_coordinates_are_one_element_of_one_resource_or_of_coincident_views() -> None:
    buffer = kir.Buffer(id=1, name="b", dtype=dtypes.F32, shape=(N,))
    here = view("x", alias="g", coincident=True)
    assert _same(buffer, buffer)
    assert _same(here, view("z", alias="g", coincident=True))
    assert not _same(here, view("z", alias="h", coincident=True))
    assert not _same(view("x", alias="g"), view("z", alias="g"))
    assert not _same(view("x"), view("z"))
    assert not _same(here, buffer)
    assert not _same(buffer, here)
