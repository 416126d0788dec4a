"""Histograms of programs: what the rules refuse, what a trial refutes, and which loops only count on."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

import intent
import intent.language as I
import intent.physical as ph
from intent.construct import GroupPlan, Plan, analyze, construct, resident, serial
from intent.frontend import lower
from intent.physical.counted import counting_chain
from intent.physical.verify import problems
from intent.physical.walk import operands_of, regions_of, walk
from intent.types.dtypes import F32, I64


@intent.kernel
def counts(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("K",)]):
    y[...] = I.histogram(x[...], bins=y.shape[0])


@intent.kernel
def counts_seen(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("K",)]):
    total = I.zeros((y.shape[0],), I.i32)
    for i in range(x.shape[0]):
        total = total * 2 + I.histogram(x[i, :], bins=y.shape[0])
    y[...] = total


@intent.kernel
def high_counts(x: I.In[I.u8, ("M", "N")], y: I.Out[I.i32, (300,)]):
    v = x[...]
    y[...] = I.histogram(v, bins=300, valid=v > 3)


@intent.kernel
def low_counts(x: I.In[I.u8, ("M", "N")], y: I.Out[I.i32, (300,)]):
    v = x[...]
    y[...] = I.histogram(v, bins=300, valid=v < 3)


@intent.kernel
def chosen_counts(x: I.In[I.u8, ("M",)], seen: I.In[I.bool, ("M",)], y: I.Out[I.i32, (300,)]):
    y[...] = I.histogram(x[...], bins=300, valid=seen[...])


@intent.kernel
def heavy_counts(x: I.In[I.u8, ("M",)], weight: I.In[I.f32, ("M",)], y: I.Out[I.i32, (300,)]):
    y[...] = I.histogram(x[...], bins=300, valid=weight[...] > 0.5)


@intent.kernel
def light_counts(x: I.In[I.u8, ("M",)], weight: I.In[I.f32, ("M",)], y: I.Out[I.i32, (300,)]):
    y[...] = I.histogram(x[...], bins=300, valid=weight[...] < 0.5)


@intent.kernel
def nibbles(x: I.In[I.u8, ("M",)], y: I.Out[I.i32, (16,)]):
    y[...] = I.histogram(x[...] % 16, bins=16, valid=x[...] // 16 > 3)


def made(kernel, **inner) -> tuple[ph.Program, object]:
    lowered = lower(kernel)
    plan = GroupPlan(inner=(*inner.items(), ("axis_K", resident(16))))
    return construct(lowered, Plan(groups=(plan,)), analyze(lowered)), lowered


@pytest.fixture
def program() -> ph.Program:
    found, lowered = made(counts, axis_M=serial(2), axis_N=serial(8))
    assert problems(found, lowered) == {}
    return found


def edited(region: ph.Region, change) -> ph.Region:
    ops = tuple(
        change(op) if isinstance(op, ph.Histogram)
        else replace(op, body=edited(op.body, change)) if isinstance(op, ph.Loop) else op
        for op in region.ops
    )  # fmt: skip
    return replace(region, ops=ops)


def found_in(program: ph.Program, change) -> dict[str, list]:
    (segment,) = program.segments
    return problems(replace(program, segments=(replace(segment, body=edited(segment.body, change)),)))


def histogram_of(program: ph.Program) -> ph.Histogram:
    (op,) = (op for s in program.segments for op in walk(s.body) if isinstance(op, ph.Histogram))
    return op


EDITS = {
    "no dims": (lambda op: replace(op, dims=()), "names no counted dims"),
    "a dim it has not": (lambda op: replace(op, dims=(*op.dims, op.bins)), "has no dim"),
    "bins that are counted": (lambda op: replace(op, bins=op.dims[0]), "has the dim of the bins"),
    "one dim less": (lambda op: replace(op, dims=op.dims[:1]), "must have the dims"),
    "floats": (lambda op: replace(op, values=replace(op.values, dtype=F32)), "counts integers"),
    "float counts": (lambda op: replace(op, results=(replace(op.result, dtype=F32),)), "are integers"),
    "another accumulator": (
        lambda op: replace(op, accumulator=replace(op.accumulator, dtype=I64)),
        "the accumulator is i64",
    ),
    "no mask": (lambda op: replace(op, valid=op.values), "must be bool"),
}


@pytest.mark.parametrize("name", EDITS)
def test_the_rules_refuse(program, name):
    change, text = EDITS[name]
    found = found_in(program, change)
    assert {"structured-dims", "structured-schema"} & found.keys()
    assert any(text in problem.text for several in found.values() for problem in several)


@pytest.mark.parametrize(
    "change",
    [lambda op: replace(op, valid=None), lambda op: replace(op, accumulator=None)],
    ids=["the tail counts", "only the last block counts"],
)
def test_a_trial_refutes(program, change):
    _, lowered = made(counts, axis_M=serial(2), axis_N=serial(8))
    (segment,) = program.segments
    wrong = replace(program, segments=(replace(segment, body=edited(segment.body, change)),))
    assert problems(wrong) == {}, "nothing is wrong with it as a program"
    assert problems(wrong, lowered)


MASKED = (high_counts, low_counts, chosen_counts, heavy_counts, light_counts, nibbles)


@pytest.mark.rejects
@pytest.mark.parametrize("kernel", MASKED, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("block", [1, 2, 4])
def test_a_trial_refutes_parts_of_masked_counts_that_are_merged_wrongly(kernel, block):
    """Masks let something through in two parts, and those count in one bin: else their greatest is their sum."""
    lowered = lower(kernel)
    bins = f"axis_{16 if kernel is nibbles else 300}"
    inner = (("axis_M", serial(block)), ("axis_N", serial(4)), (bins, resident(512)))
    plan = GroupPlan(inner=inner, split=("axis_M", 3))
    program = construct(lowered, Plan(groups=(plan,)), analyze(lowered))
    assert problems(program, lowered) == {}
    (segment,) = program.segments

    def greatest(op: ph.Op) -> ph.Op:
        return replace(op, kind="max") if isinstance(op, ph.Reduce) and op.kind == "sum" else op

    ops = tuple(
        replace(op, then=replace(op.then, ops=tuple(map(greatest, op.then.ops))))
        if isinstance(op, ph.If)
        else op
        for op in segment.body.ops
    )
    wrong = replace(program, segments=(replace(segment, body=replace(segment.body, ops=ops)),))
    assert wrong != program
    assert problems(wrong) == {}, "nothing is wrong with it as a program"
    assert problems(wrong, lowered)


def chains(program: ph.Program) -> dict[str, int]:
    ops = [op for s in program.segments for op in walk(s.body)]
    uses = Counter(f.id for op in ops for f in operands_of(op))
    uses.update(y.id for op in ops for region in regions_of(op) for y in region.yields)
    defined = {r.id: op for op in ops for r in op.results}
    loops = [op for op in ops if isinstance(op, ph.Loop)]
    return {str(loop.step.id): len(counting_chain(loop, 0, uses, defined)) for loop in loops}


def test_loops_that_only_count_on(program):
    assert list(chains(program).values()) == [1, 1], "both loops of the nest"
    assert histogram_of(program).accumulator is not None


def test_a_loop_that_looks_at_its_counts_does_more(program):
    found, lowered = made(counts_seen, axis_M=serial(1), axis_N=serial(8))
    assert problems(found, lowered) == {}
    assert sorted(chains(found).values()) == [0, 1], "the inner one counts, the outer one doubles"
