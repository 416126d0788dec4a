"""Destinations that different points reach: proven distinct, or two points that meet, with numbers."""

from __future__ import annotations

from itertools import product

import pytest

from intent.proof import Axis, Collision, Distinct, Facts, Proved, Unknown, at_least, equal, holds, injective
from intent.types.extent import Scalar, Symbol, Var, call, const, minimum, scalar, symbol, var

N, M, S, K, P = map(symbol, "NMSKP")
i, j, k = var("i"), var("j"), var("k")
FAR = const(1 << 50)


def axis(name, count):
    return Axis(atom=Var(name), name=name, low=const(0), high=count - 1)


def distinct(*coordinates, apart=None, **counts):
    axes = tuple(
        axis(name, count if not isinstance(count, int) else const(count)) for name, count in counts.items()
    )
    chosen = axes if apart is None else tuple(a for a in axes if a.name in apart)
    coordinates = tuple(c if not isinstance(c, int) else const(c) for c in coordinates)
    return Distinct(coordinates=coordinates, axes=axes, apart=chosen, shape=(FAR,) * len(coordinates))


def windows(high):
    """The element is the position inside the window of i."""
    position = Axis(atom=Var("j"), name="j", low=i * 8, high=high)
    outer = axis("i", call("ceildiv", N, const(8)))
    return Distinct(coordinates=(j,), axes=(outer, position), apart=(outer,), shape=(FAR,))


NOTHING = Facts()
PROVED = {
    "an axis": (distinct(i, i=N), NOTHING),
    "affine": (distinct(i * 3 + K, i=N), NOTHING),
    "backwards": (distinct(N - 1 - i, i=N), NOTHING),
    "two coordinates": (distinct(j + 1, i - j, i=N, j=M), NOTHING),
    "flattened": (distinct(i * S + j, i=M, j=S), NOTHING),
    "flattened, rows padded": (distinct(i * N + j, i=M, j=S), NOTHING.given(at_least(N, S))),
    "flattened, equal extents": (distinct(i * N + j, i=M, j=S), NOTHING.given(equal(N, S))),
    "flattened backwards": (distinct(M * S - 1 - i * S - j, i=M, j=S), NOTHING),
    "three axes": (distinct(i * (S * K) + j * K + k, i=M, j=S, k=K), NOTHING),
    "three axes in another order": (distinct(k * (S * M) + i * S + j, i=M, j=S, k=K), NOTHING),
    "constant strides with gaps": (distinct(i * 64 + j * 8 + k, i=N, j=8, k=8), NOTHING),
    "digits": (distinct(i // S, call("mod", i, S), i=N), NOTHING),
    "digits put together elsewhere": (distinct(call("mod", i, S) * 7, i // S + 2, i=N), NOTHING),
    "outer axis alone, whatever the inner is": (distinct(i * S + j, i=M, j=S, apart="i"), NOTHING),
    "windows": (windows(minimum(i * 8 + 7, N - 1)), NOTHING),
    "a triangle": (distinct(i * N + j, i=N, j=i + 1), NOTHING),
}


@pytest.mark.parametrize("name", PROVED)
def test_it_is_proved(name):
    claim, facts = PROVED[name]
    outcome = injective(claim, facts)
    assert isinstance(outcome, Proved), outcome


@pytest.mark.parametrize("name", [n for n, (_, facts) in PROVED.items() if len(facts)])
def test_without_the_fact_two_points_meet(name):
    claim, facts = PROVED[name]
    outcome = injective(claim, facts)
    assert set(facts) <= set(outcome.facts)
    assert isinstance(injective(claim, NOTHING), Collision)


REFUTED = {
    "an axis that is not there": (distinct(const(0) + K, i=N), NOTHING, True),
    "half": (distinct(i // 2, i=N), NOTHING, True),
    "rows that overlap": (distinct(i * S + j, i=M, j=S + 1), NOTHING, True),
    "rows that may overlap": (distinct(i * S + j, i=M, j=N), NOTHING, False),
    "diagonals": (distinct(i + j, i=N, j=M), NOTHING, True),
    "wrapped": (distinct(call("mod", i, K), i=N), NOTHING, False),
    "clamped": (distinct(minimum(i, K), i=N), NOTHING, False),
    "a scalar stride": (distinct(i * scalar("s") + j, i=M, j=N), NOTHING, False),
    "windows that overlap": (windows(minimum(i * 8 + 8, N - 1)), NOTHING, True),
    "points that share an inner step": (distinct(i + j, i=N, j=2, apart="i"), NOTHING, True),
}


@pytest.mark.parametrize("name", REFUTED)
def test_two_points_meet(name):
    claim, facts, always = REFUTED[name]
    found = injective(claim, facts)
    assert isinstance(found, Collision)
    assert found.always is always
    assert found.one != found.other
    launch = {}
    for atom in {a for e in claim.coordinates for a in e.atoms()}:
        if isinstance(atom, Symbol | Scalar):
            launch[atom] = found.launch[atom.name]
    for point in (found.one, found.other):
        values = launch | {Var(n): v for n, v in point.items()}
        assert tuple(c.evaluate(values) for c in claim.coordinates) == found.element


def test_the_witness_is_a_sentence():
    found = injective(distinct(i * S + j, i=M, j=S + 1))
    assert isinstance(found, Collision)
    assert found.witness("y") == "i = 1, j = 0 and i = 0, j = 5 both write y[5] when S = 5"


def test_an_inner_step_that_meets_itself_is_no_collision_of_points():
    claim = distinct(i, i=N, j=M, apart="i")
    assert isinstance(injective(claim), Proved)
    assert isinstance(injective(distinct(i, i=N, j=M)), Collision)


def test_what_is_outside_of_the_resource_is_not_reached():
    claim = distinct(i * 4 + j, i=N, j=5)
    small = Distinct(coordinates=claim.coordinates, axes=claim.axes, apart=claim.apart, shape=(const(4),))
    assert isinstance(injective(claim), Collision)
    assert not isinstance(injective(small), Collision)


def test_data_decides_nothing():
    from intent.types.extent import dyn

    assert isinstance(injective(distinct(dyn(7) + i * 0, i=N)), Unknown)


def test_small_spaces_agree_with_trying_everything():
    """Every claim over constant extents is decided by enumeration; no answer contradicts it."""
    terms = [
        i,
        j,
        i + j,
        i * 2 + j,
        i * 3 + j,
        i * 4 + j * 2,
        i // 2,
        call("mod", i, const(2)),
        i - j,
        minimum(i, j),
    ]
    for n, m in ((2, 3), (3, 2), (4, 2)):
        for one, other in product(terms, [*terms, const(0)]):
            claim = distinct(one, other, i=n, j=m)
            points = [{Var("i"): a, Var("j"): b} for a in range(n) for b in range(m)]
            reached = {(one.evaluate(p), other.evaluate(p)) for p in points}
            inside = [p for p in points if one.evaluate(p) >= 0 and other.evaluate(p) >= 0]
            met = {(one.evaluate(p), other.evaluate(p)) for p in inside}
            outcome = injective(claim, solver=False)
            if isinstance(outcome, Proved):
                assert len(reached) == len(points), str(claim)
            if isinstance(outcome, Collision):
                assert len(met) < len(inside), str(claim)
            elif len(met) < len(inside):
                raise AssertionError(f"a collision was missed: {claim}")


def test_the_facts_of_a_proof_hold_where_it_is_used():
    claim, facts = PROVED["flattened, rows padded"]
    outcome = injective(claim, facts)
    values = {Symbol("N"): 4, Symbol("S"): 4, Symbol("M"): 2, Var("i"): 0, Var("j"): 0}
    assert all(holds(f.claim, values) for f in outcome.facts)
