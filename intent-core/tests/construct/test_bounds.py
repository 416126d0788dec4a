"""Bounds of run-time extents: never below the extent, and as tight as buffers and resident lanes need them."""

from __future__ import annotations

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import analyze
from intent.construct.bounds import UpperBounds
from intent.construct.facts import Facts, _settled
from intent.frontend import lower
from intent.proof import at_least
from intent.types.extent import (
    Dyn,
    Extent,
    Scalar,
    Symbol,
    ceildiv,
    const,
    dyn,
    floordiv,
    maximum,
    minimum,
    scalar,
    symbol,
)

N, M, S = symbol("N"), symbol("M"), scalar("S")
BETWEEN, AT_LEAST, AT_MOST, ANY = dyn(91), dyn(92), dyn(93), dyn(94)


@intent.kernel
def nothing(x: I.In[I.f32, ("N", "M")], y: I.Out[I.f32, ("N",)]):
    y[...] = I.reduce.sum(x[...], axis=1)


@pytest.fixture(scope="module")
def bounds() -> UpperBounds:
    facts = Facts()
    facts.dyn = {91: (const(0), N - 1), 92: (S, None), 93: (None, 3 * M)}
    return UpperBounds(lower(nothing), facts)


@pytest.mark.parametrize(
    ("extent", "bound"),
    [
        (N * 2 + S, N * 2 + S),
        (minimum(BETWEEN * 64 + 64, M) - BETWEEN * 64, const(64)),
        (minimum(ANY, N), N),
        (minimum(ANY, 9, 5), const(5)),
        (N - BETWEEN, N),
        (BETWEEN * 2 + 2, N * 2),
        (AT_MOST - AT_LEAST, M * 3 - S),
        (ceildiv(BETWEEN + 1, 4), N),
        (N - BETWEEN * BETWEEN, N),
        (maximum(BETWEEN, M), maximum(N - 1, M)),
        (maximum(0, BETWEEN + 1), N),
        (maximum(BETWEEN, 7, AT_MOST), maximum(N - 1, 7, M * 3)),
        (ANY, None),
        (maximum(BETWEEN, ANY), None),
        (ceildiv(ANY, 4), None),
        (AT_LEAST, None),
        (N - AT_MOST, None),
        (AT_LEAST * minimum(ANY, 4), None),
        (S * BETWEEN, None),
        (floordiv(AT_MOST, S), None),
    ],
)
def test_what_an_extent_cannot_exceed(bounds: UpperBounds, extent: Extent, bound: Extent | None) -> None:
    assert bounds.of(extent) is bound


def _random(rng: np.random.Generator, depth: int) -> Extent:
    """A sum of products of atoms."""
    total = const(int(rng.integers(-3, 4)))
    for _ in range(rng.integers(1, 4)):
        product = const(int(rng.choice((-2, -1, 1, 1, 2))))
        for _ in range(rng.integers(1, 3)):
            product *= _atom(rng, depth)
        total += product
    return total


def _atom(rng: np.random.Generator, depth: int) -> Extent:
    kind = int(rng.integers(0, 9 if depth else 6))
    if kind < 6:
        return (N, M, S, BETWEEN, AT_LEAST, AT_MOST)[kind]
    a, b = _random(rng, depth - 1), _random(rng, depth - 1)
    return (minimum(a, b), maximum(a, b), ceildiv(a, 3))[kind - 6]


def test_no_extent_exceeds_its_bound(bounds: UpperBounds) -> None:
    rng = np.random.default_rng(3)
    known = 0
    for _ in range(900):
        extent = _random(rng, 1)
        bound = bounds.of(extent, 3)
        if bound is None or extent.launch_visible:
            continue
        known += 1
        for _ in range(12):
            n, m, s = (int(v) for v in (rng.integers(1, 9), rng.integers(0, 9), rng.integers(-9, 9)))
            env = {
                Symbol("N"): n,
                Symbol("M"): m,
                Scalar("S"): s,
                Dyn(91): int(rng.integers(0, n)),
                Dyn(92): s + int(rng.integers(0, 9)),
                Dyn(93): 3 * m - int(rng.integers(0, 30)),
            }
            assert extent.evaluate(env) <= bound.evaluate(env), f"{extent} is not at most {bound} where {env}"
    assert known > 60


@intent.kernel
def at_least_as_many(x: I.In[I.f32, ("K",)], z: I.In[I.f32, ("M",)], y: I.Out[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, y.shape[0])):
        m = I.maximum(i, z.shape[0])
        s = I.cumsum(x[0:m], axis=0)
        y[i] = I.reduce.sum(s * s[m - 1], axis=0)


@pytest.mark.parametrize(("n", "m"), [(4, 9), (9, 4), (1, 1)])
def test_what_is_held_of_the_larger_of_two_has_room(differ, n: int, m: int) -> None:
    x = np.arange(max(n, m)).astype(np.float32)
    sums = [np.cumsum(x[: max(i, m)]) for i in range(n)]
    wanted = [(s * s[-1]).sum() for s in sums]
    differ(
        at_least_as_many, {"x": x, "z": np.zeros(m, np.float32), "y": np.zeros(n, np.float32)}, {"y": wanted}
    )


@intent.kernel
def walked_outside_of_a_branch(
    x: I.In[I.i32, ("N",)], n: I.In[I.i32, (2,)], y: I.InOut[I.i32, ("N",)], z: I.Out[I.i32, ()]
):
    members = I.domain(0, I.cast(n[0], I.index))
    if n[1] > 0:
        y[members] = x[members]
    z[()] = I.cast(I.reduce.sum(I.indices(members), axis=0), I.i32)


def test_what_a_branch_indexes_bounds_nothing_outside_of_it():
    """With the branch not taken the domain may have more members than the axis."""
    analysis = analyze(lower(walked_outside_of_a_branch))
    (extent,) = {a.extent for a in analysis.inner.values() if not a.extent.launch_visible}
    assert analysis.upper_bound(extent) is None


@intent.kernel
def parts_of_numbers(x: I.In[I.f32, ("N",)], by: I.In[I.i64, (2,)], y: I.Out[I.f32, (6,)]):
    d, n = I.cast(by[0], I.index), I.cast(by[1], I.index)
    y[0] = I.reduce.sum(I.cast(I.indices(I.domain(0, x.shape[0] // d)), I.f32), axis=0)
    y[1] = I.reduce.sum(I.cast(I.indices(I.domain(0, (64 >> d) - 3)), I.f32), axis=0)
    y[2] = I.reduce.sum(I.cast(I.indices(I.domain(0, 40 % d)), I.f32), axis=0)
    y[3] = I.reduce.sum(I.cast(I.indices(I.domain(0, n // d)), I.f32), axis=0)


def test_parts_are_no_larger_than_the_whole():
    """But division by zero is data that breaks the rules, and so is a part of what may be negative unbounded."""
    analysis = analyze(lower(parts_of_numbers))
    extents = [a.extent for a in analysis.inner.values() if not a.extent.launch_visible]
    assert len(extents) == 4
    assert {str(analysis.upper_bound(e)) for e in extents} == {"N", "61", "40", "None"}
    assert not any(analysis.bounds.sure(e) for e in extents if analysis.upper_bound(e) is not None)


@intent.kernel
def walked_as_a_whole(x: I.In[I.i32, ("N",)], n: I.In[I.i32, (1,)], y: I.InOut[I.i32, ("N",)]):
    members = I.domain(0, I.cast(n[0], I.index))
    y[members] = x[members]


def test_what_indexes_an_axis_everywhere_is_bounded_by_it():
    analysis = analyze(lower(walked_as_a_whole))
    (extent,) = {
        e for a in analysis.kernel.body.ops for r in a.results for e in r.shape if not e.launch_visible
    }
    assert analysis.upper_bound(extent) is N


@intent.kernel
def every_third(x: I.In[I.i32, ("N",)], n: I.In[I.i32, ("M",)], y: I.Out[I.i32, ("M",)]):
    for i in I.parallel(I.domain(0, n.shape[0])):
        y[i] = I.reduce.sum(x[I.domain(0, I.cast(n[i], I.index), 3)] + 1, axis=0)


def test_how_many_members_a_domain_with_a_step_has(differ, rng):
    x, n = rng.integers(-9, 9, 12).astype(np.int32), np.arange(13, dtype=np.int32)
    wanted = np.array([(x[:m:3] + 1).sum() for m in n], np.int32)
    differ(every_third, {"x": x, "n": n, "y": np.zeros(13, np.int32)}, {"y": wanted}, count=2)


@pytest.mark.parametrize(
    ("a", "b", "settled"),
    [(N, N, True), (N + 3, N, True), (const(4), const(3), True), (N, M, False), (N * 2, N, False)],
)
def test_what_says_nothing_to_a_reader(a, b, settled):
    assert _settled(at_least(a, b)) is settled
