"""Claims about extents: proved from facts, refuted by numbers, or unknown."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys

import pytest

from intent.proof import (
    AtLeast,
    Facts,
    Proved,
    Range,
    Refuted,
    Unknown,
    at_least,
    disjoint,
    either,
    equal,
    fits,
    forget,
    holds,
    less,
    negation,
    prove,
    subset,
    within,
)
from intent.types.extent import (
    Scalar,
    Symbol,
    Var,
    broadcast,
    call,
    ceildiv,
    const,
    maximum,
    minimum,
    scalar,
    symbol,
    var,
)

N, M, S, K = map(symbol, "NMSK")
i, j = var("i"), var("j")
LOOPS = Facts().between(i, const(0), M - 1, "loop over i").between(j, const(0), S - 1, "loop over j")


@pytest.fixture(autouse=True)
def _nothing_known():
    forget()
    yield
    forget()


PROVED = {
    "constant": (at_least(7, 3), Facts()),
    "symbols are never negative": (at_least(N * M + N, 0), Facts()),
    "a fact": (at_least(N, 1), Facts().given(at_least(N - 1, 0))),
    "two facts": (at_least(N, K), Facts().given(at_least(N, M)).given(at_least(M, K))),
    "a multiple of a fact": (at_least(N * S, S), Facts().given(at_least(N, 1))),
    "integers have no halves": (at_least(i, 1), Facts().given(at_least(i * 2, 1))),
    "a flattened index": (within(i * S + j, M * S), LOOPS),
    "a padded flattened index": (within(i * N + j, M * N), LOOPS.given(at_least(N, S), "condition")),
    "blocks of an odd extent": (at_least(N - 1, ceildiv(N, 2) * 2 - 2), Facts()),
    "a maximum": (at_least(N - 1, maximum(0, N - 2) + 1), Facts().given(at_least(maximum(0, N - 2), 1))),
    "a broadcast": (
        either(equal(N, 1), equal(N, broadcast(N, M))),
        Facts().given(either(equal(N, M), equal(N, 1), equal(M, 1))),
    ),
    "a minimum": (at_least(N, minimum(N, M)), Facts()),
    "half of something": (at_least(N - 1, N // 2), Facts().given(at_least(N, 1))),
    "a third and a bit": (at_least(N, N // 3 + 2), Facts().given(at_least(N, 2))),
    "quotient and remainder": (equal(N // 4 * 4 + N % 4, N), Facts()),
    "a quotient": (at_least(i // S, 0), LOOPS),
    "a digit": (within(call("mod", i, S), S), Facts()),
    "narrowed": (subset(Range(const(0), minimum(N, M + 1)), Range(const(0), N)), Facts()),
    "an empty range is everywhere": (subset(Range(N, N), Range(const(0), const(0))), Facts()),
    "blocks of lanes": (
        disjoint(Range(i * 4, i * 4 + 4), Range(j * 4, j * 4 + 4)),
        Facts().given(less(i, j)),
    ),
    "blocks of different owners": (
        disjoint(Range(i * 4, i * 4 + 4), Range(j * 4, j * 4 + 4)),
        Facts().given(either(less(i, j), less(j, i))),
    ),
    "facts that contradict each other": (at_least(-3, i), Facts().given(less(i, j)).given(less(j, i))),
    "a choice of facts": (at_least(N, 1), Facts().given(either(at_least(N, 3), equal(N, 1)))),
    "fits": (fits(i * 3, 32), Facts().between(i, const(0), const(1000))),
}


@pytest.mark.parametrize("name", PROVED)
def test_the_fast_path_proves(name):
    claim, facts = PROVED[name]
    assert isinstance(prove(claim, facts, solver=False), Proved)


def test_a_proof_names_the_facts_it_rests_on():
    facts = (
        Facts()
        .given(at_least(K, 7), "not needed")
        .given(at_least(N, M), "slice of x")
        .given(at_least(M, 2), "y")
    )
    outcome = prove(at_least(N, 2), facts)
    assert isinstance(outcome, Proved)
    assert [f.because for f in outcome.facts] == ["slice of x", "y"]
    assert str(outcome) == "N >= 2 because N >= M (slice of x), M >= 2 (y)"


@pytest.mark.parametrize("name", [n for n, (_, facts) in PROVED.items() if len(facts)])
def test_without_a_fact_that_it_rests_on_nothing_is_proved(name):
    claim, facts = PROVED[name]
    outcome = prove(claim, facts)
    assert isinstance(outcome, Proved)
    for fact in outcome.facts:
        again = prove(claim, facts.without(fact))
        assert not again.proved or fact not in again.facts


def test_kept_answers_name_the_facts_of_the_one_who_asks():
    first = prove(at_least(N, 2), Facts().given(at_least(N, 3), "slice of x"))
    second = prove(at_least(N, 2), Facts().given(at_least(N, 3), "slice of y"))
    assert isinstance(first, Proved)
    assert isinstance(second, Proved)
    assert [f.because for f in (*first.facts, *second.facts)] == ["slice of x", "slice of y"]


REFUTED = {
    "an extent may be 0": (at_least(N - 1, 0), Facts()),
    "one past the end": (within(i * S + j, M * S - 1), LOOPS),
    "unrelated extents": (within(i * S + j, M * N), LOOPS),
    "a scalar has any sign": (at_least(scalar("k"), 0), Facts()),
    "not narrowed": (subset(Range(const(0), N), Range(const(0), minimum(N, M))), Facts()),
    "overlapping blocks": (
        disjoint(Range(i * 4, i * 4 + 5), Range(j * 4, j * 4 + 5)),
        Facts().given(less(i, j)),
    ),
    "a remainder is not 0": (equal(call("mod", N, const(3)), const(0)), Facts()),
}


def test_the_solver_finds_large_numbers():
    outcome = prove(fits(i * S, 32), LOOPS)
    assert isinstance(outcome, Refuted)
    assert outcome.model[Var("i")] * outcome.model[Symbol("S")] >= 1 << 31


@pytest.mark.parametrize("solver", [False, True])
@pytest.mark.parametrize("name", REFUTED)
def test_numbers_refute(name, solver):
    claim, facts = REFUTED[name]
    outcome = prove(claim, facts, solver=solver)
    assert isinstance(outcome, Refuted)
    assert all(holds(fact.claim, outcome.model) for fact in facts)
    assert not holds(claim, outcome.model)
    assert all(outcome.model[s] >= 0 for s in outcome.model if isinstance(s, Symbol))


def test_the_solver_proves_what_sums_of_facts_do_not():
    # Where a number and its square differ, the square is the larger one.
    claim, facts = at_least(i * i, i + 1), Facts().given(either(less(i, 0), less(1, i)), "neither 0 nor 1")
    assert not prove(claim, facts, solver=False).proved
    outcome = prove(claim, facts)
    assert isinstance(outcome, Proved)
    assert outcome.method == "z3"
    assert outcome.facts == facts.known


def test_what_is_beyond_the_limits_is_unknown():
    # No cube is the sum of two cubes: no numbers refute it, and nobody proves it in passing.
    a, b, c = (symbol(n) for n in "abc")
    positive = Facts.of(at_least(x, 1) for x in (a, b, c))
    claim = either(less(a * a * a + b * b * b, c * c * c), less(c * c * c, a * a * a + b * b * b))
    outcome = prove(claim, positive)
    assert isinstance(outcome, Unknown)
    assert not outcome.proved


def test_z3_is_loaded_only_where_it_is_needed():
    code = """
import sys
from intent.proof import Facts, at_least, prove
from intent.types.extent import symbol, var
N, i = symbol("N"), var("i")
assert prove(at_least(N, 0)).proved
assert not prove(at_least(N, 1)).proved
assert "z3" not in sys.modules
assert prove(at_least(i * i, i)).proved
assert "z3" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_no_answer_is_wrong_for_small_numbers():
    """Random claims over a box: a proof holds everywhere in it, a refutation is one of its points."""
    rng = random.Random(20)  # noqa: S311 - draws of a test
    atoms = (Symbol("N"), Var("i"), Scalar("k"))
    box = list(itertools.product(range(4), range(-3, 4), range(-3, 4)))
    singles = (N, i, scalar("k"))
    answers = {Proved: 0, Refuted: 0, Unknown: 0}

    def term():
        e = rng.choice(singles)
        kind = rng.randrange(9)
        other = rng.choice(singles)
        if kind == 0:
            return e * other
        if kind == 1:
            return e // rng.randint(1, 3)
        if kind == 2:
            return e % rng.randint(2, 3)
        if kind == 3:
            return maximum(e, other)
        if kind == 4:
            return minimum(e, other - 1)
        return e

    def literal():
        total = const(rng.randint(-3, 3))
        for _ in range(rng.randint(1, 3)):
            total = total + term() * rng.randint(-2, 2)
        return AtLeast(total, const(0))

    bounded = Facts().between(N, const(0), const(3)).between(i, const(-3), const(3))
    bounded = bounded.between(scalar("k"), const(-3), const(3))
    for _ in range(400):
        facts = bounded
        for _ in range(rng.randint(0, 2)):
            facts = facts.given(literal())
        claim = literal() if rng.random() < 0.6 else either(literal(), literal())
        outcome = prove(claim, facts, solver=rng.random() < 0.3)
        answers[type(outcome)] += 1
        points = [dict(zip(atoms, values, strict=True)) for values in box]
        points = [p for p in points if all(holds(f.claim, p) for f in facts)]
        if isinstance(outcome, Proved):
            assert all(holds(claim, p) for p in points), (str(claim), list(map(str, facts)))
            assert all(f in facts.known for f in outcome.facts)
        if isinstance(outcome, Refuted):
            model = dict.fromkeys(atoms, 0) | dict(outcome.model)
            assert any(all(p[a] == model[a] for a in outcome.model) for p in points)
            assert not holds(claim, model)
    assert answers[Proved] > 60
    assert answers[Refuted] > 100
    assert answers[Unknown] < 60


def test_a_negation_is_false_where_the_claim_is_true():
    for claim in (at_least(N, 2), equal(N, 2), within(N, 3), either(at_least(1, N), equal(N, 3))):
        for value in range(6):
            values = {Symbol("N"): value}
            assert holds(negation(claim), values) is not holds(claim, values)
