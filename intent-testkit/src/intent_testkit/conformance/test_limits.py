"""Sizes beyond 32 bits: each point and each element once, or an error that names the limit before the launch."""

from __future__ import annotations

import numpy as np
import pytest

import intent
from intent.construct import GroupPlan, Plan, resident
from intent.diagnostics import CapabilityError, GridLimit
from intent.provider.registry import registry
from intent_testkit.cases.case import Case, inout
from intent_testkit.cases.draw import Array, normal
from intent_testkit.device import Place
from intent_testkit.kernels import hazards
from intent_testkit.memory import Allocation, allocate
from intent_testkit.sparse import Sparse
from intent_testkit.suite import Suite, compile_case

RNG = np.random.default_rng(31)


def _bare(kernel: object) -> Case:
    return Case(name="", kernel=kernel, parameters=(), oracle=lambda _: {}, extents=(), segments=())


def _counters(place: Place, count: int) -> tuple[Allocation, object]:
    allocation = allocate(inout("y", "i64", str(count), normal()), np.zeros(count, np.int64), "contiguous")
    return allocation, place.argument(allocation)


def test_more_programs_than_the_grid_allows(intent_provider: str) -> None:
    """2**80 points: refused with the number and the limit, and nothing is written."""
    with Suite.execution(intent_provider) as (_, place):
        artifact = compile_case(intent_provider, _bare(hazards.wide_square))
        counts, argument = _counters(place, 4)
        with pytest.raises(GridLimit) as caught:
            artifact(2**40, argument)
        place.fetch(counts)
        np.testing.assert_array_equal(counts.block, counts.before)
    limit = registry().get(intent_provider).capabilities.grid_limit
    if str(limit) not in str(caught.value):
        pytest.fail(f"the error does not name the limit {limit}: {caught.value}")


def test_fragments_of_more_lanes_than_the_target_takes(intent_provider: str) -> None:
    """A row as long as a fragment may be is spelled; a longer one is refused at the author's line."""
    most = registry().get(intent_provider).capabilities.max_lanes
    assert _row_of(intent_provider, most).source
    longer = _row_of(intent_provider, 2 * most)
    with pytest.raises(CapabilityError, match=f"{2 * most} lanes") as caught:
        _ = longer.source
    assert caught.value.span is not None
    assert "x[...]" in str(caught.value)


def _row_of(provider: str, lanes: int) -> intent.Artifact:
    plan = Plan(groups=(GroupPlan(inner=(("axis_N", resident(lanes)),)),))
    return intent.compile(hazards.divided_by_largest, provider=provider, plan=plan)


def test_a_domain_of_very_many_points(intent_provider: str) -> None:
    """Every point counts itself once; on a GPU there are more than 2**32 of them."""
    with Suite.execution(intent_provider) as (kind, place):
        n, k = {"gpu": (2**32 + 5, 1 << 16)}.get(kind, (5003, 7))
        artifact = compile_case(intent_provider, _bare(hazards.wide_domain))
        counts, argument = _counters(place, k)
        artifact(n, 1, argument)
        place.fetch(counts)
    np.testing.assert_array_equal(counts.view, n // k + (np.arange(k) < n % k))


def test_no_points_of_a_domain_that_ends_before_it_begins(intent_provider: str) -> None:
    """Launches nothing."""
    with Suite.execution(intent_provider) as (_, place):
        artifact = compile_case(intent_provider, _bare(hazards.wide_domain))
        counts, argument = _counters(place, 3)
        artifact(0, 2**40, argument)
        place.fetch(counts)
        np.testing.assert_array_equal(counts.block, counts.before)


@pytest.mark.parametrize(
    ("dtype", "shape", "read", "written"),
    [
        # Element offsets beyond 2**31, in the rows of one view and the columns of the other.
        ("i8", (3, 5), (2**31 + 3, 1), (1, 2**30 + 7)),
        # Offsets that fit 32 bits in elements, and not in bytes.
        ("f64", (3, 5), (2**28 + 1, 1), (7, 2**27 + 3)),
        # Two axes that fit on their own, and not together.
        ("i8", (3, 3), (2**30, 2**30 - 64), (2**30, 2**30 + 64)),
    ],
)
def test_elements_far_apart(
    intent_provider: str, dtype: str, shape: tuple[int, ...], read: tuple[int, ...], written: tuple[int, ...]
) -> None:
    """Exact offsets over 2**31 elements and over 4 GiB, at addresses that really exist."""
    kernel = {"i8": hazards.far_rows_i8, "f64": hazards.far_rows_f64}[dtype]
    values = RNG.integers(-100, 100, shape)
    with Suite.execution(intent_provider) as (_, place):
        artifact = compile_case(intent_provider, _bare(kernel))
        # Close together first, so that a build for narrow offsets exists and must not be taken again.
        for strides in (((shape[1], 1), (shape[1], 1)), (read, written)):
            x, y = (Sparse(shape=shape, strides=s, dtype=dtype, place=place) for s in strides)
            x.fill(values)
            y.fill(np.zeros(shape))
            artifact(x.array, y.array)
            np.testing.assert_array_equal(y.read(), values + 1)
            np.testing.assert_array_equal(x.read(), values)
        if max(x.bytes, y.bytes) <= 2**32:
            pytest.fail("the arrays reach less far than this test is about")


def test_coordinates_beyond_32_bits(intent_provider: str) -> None:
    """A view of more than 2**31 elements, written at both ends by coordinates read from memory."""
    n = 2**31 + 77
    at = np.array([0, n - 1, 2**31 - 1, 2**31, 5])
    x = np.array([11, -12, 13, -14, 15])
    with Suite.execution(intent_provider) as (_, place):
        artifact = compile_case(intent_provider, _bare(hazards.far_scatter))
        where, first = _line(place, at, "i64")
        what, second = _line(place, x, "i32")
        y = Sparse(shape=(n,), strides=(1,), dtype="i32", place=place)
        artifact(first, second, y.array)
        place.fetch(where)
        place.fetch(what)
        np.testing.assert_array_equal([int(y.array[int(i)]) for i in at], x)


def _line(place: Place, values: Array, dtype: str) -> tuple[Allocation, object]:
    spec = inout("v", dtype, str(values.size), normal())
    allocation = allocate(spec, values.astype(spec.numpy), "contiguous")
    return allocation, place.argument(allocation)
