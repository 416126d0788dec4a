"""Proofs of the testkit's programs: they can be shown again, rest on what they name, and cost little."""

from __future__ import annotations

from dataclasses import replace

import pytest

from intent import physical as ph
from intent.construct import construct
from intent.kir.facts import launch_facts
from intent.physical.walk import walk
from intent.proof import Facts, prove
from intent_testkit.bench.proof_time import measure, summary
from intent_testkit.cases import ALL
from intent_testkit.plans import Compiled

COLD_MEDIAN_MS, COLD_95_MS, KEPT_MS = 40.0, 300.0, 2.0


def proofs(program):
    """The accesses of a program with the proof of each axis."""
    for segment in program.segments:
        for op in walk(segment.body):
            if isinstance(op, ph.Load | ph.Store | ph.Atomic):
                for axis, proof in enumerate(op.proofs):
                    yield op, axis, proof


@pytest.fixture(scope="module")
def built():
    """Every case, taken apart, with its programs under the default and the minimal plan."""
    found = []
    for case in ALL:
        compiled = Compiled(case)
        plans = compiled.default(case.extents[0]), compiled.minimal(case.extents[0])
        found.append((compiled, [(plan, compiled.constructed(plan)) for plan in plans]))
    return found


def test_every_access_is_closed_and_every_proof_can_be_shown_again(built):
    shown = guarded = 0
    for compiled, programs in built:
        for _, program in programs:
            for op, axis, proof in proofs(program):
                where = f"{compiled.case.name}: axis {axis} of operation {op.id}"
                if proof.kind == "guard":
                    guarded += 1
                    assert op.valid is not None, where
                if proof.claim is not None:
                    shown += 1
                    assert prove(proof.claim, Facts(proof.facts)).proved, where
    assert shown > 150
    assert guarded > 100


def test_without_a_launch_condition_no_proof_rests_on_it(built):
    """Removing the fact that a proof rests on brings the guard back, or another fact takes its place."""
    back = 0
    for compiled, programs in built:
        kernel = compiled.kernel
        conditions = {fact: n for n, fact in enumerate(launch_facts(kernel.conditions))}
        for plan, program in programs:
            used = {f for _, _, proof in proofs(program) for f in proof.facts if f in conditions}
            for fact in used:
                rest = [c for n, c in enumerate(kernel.conditions) if n != conditions[fact]]
                again = construct(replace(kernel, conditions=tuple(rest)), plan)
                left = [proof for _, _, proof in proofs(again)]
                assert not any(fact in proof.facts for proof in left), compiled.case.name
                before = sum(proof == ph.GUARD for _, _, proof in proofs(program))
                back += sum(proof == ph.GUARD for proof in left) > before
    assert back >= 8


def test_proofs_are_quick(capsys):
    found = summary(list(measure()))
    with capsys.disabled():
        print(f"\nproofs: {found}")  # noqa: T201 - the numbers are part of the report
    assert found.median < COLD_MEDIAN_MS
    assert found.percentile_95 < COLD_95_MS
    assert found.most_kept < KEPT_MS
