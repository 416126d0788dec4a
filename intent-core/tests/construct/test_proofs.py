"""Accesses are closed by proofs that name what they rest on; without it the guard is back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import intent
import intent.language as I
from intent import physical as ph
from intent.construct import analyze, construct
from intent.construct.definitions import Definitions
from intent.construct.facts import Facts as Known
from intent.frontend import lower
from intent.physical.walk import walk
from intent.planning import default_plan, minimal_plan
from intent.proof import Facts, at_least, both, either, equal, prove
from intent.provider.registry import registry
from intent.types.extent import const, symbol


def accesses(kernel, *, name, plan=minimal_plan):
    """The accesses of a view in the program of a plan."""
    analysis = analyze(kernel)
    program = construct(
        kernel, plan(analysis, registry().get("reference").capabilities, {"N": 9, "M": 5}), analysis
    )
    found = [
        op
        for segment in program.segments
        for op in walk(segment.body)
        if isinstance(op, ph.Load | ph.Store)
        and (op.source if isinstance(op, ph.Load) else op.target).name == name
    ]
    assert found
    return found


def proof(kernel, *, name, axis=0, plan=minimal_plan):
    """The proof that all accesses of a view have for an axis."""
    (found,) = {op.proofs[axis] for op in accesses(kernel, name=name, plan=plan)}
    return found


@intent.kernel
def prefix(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M",)]):
    first = I.domain(0, x.shape[0])[0 : y.shape[0]]
    y[...] = x[I.indices(first) + 0]


@intent.kernel
def last(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M",)], end: I.i64):
    for i in I.domain(0, y.shape[0])[0:end]:
        y[i] = x[y.shape[0] - 1 - i]


@pytest.mark.parametrize("plan", [minimal_plan, default_plan])
def test_a_launch_condition_takes_the_place_of_a_guard(plan):
    kernel = lower(prefix)
    found = proof(kernel, name="x", plan=plan)
    assert found.kind == "interval"
    assert [str(f.claim) for f in found.facts] == ["N >= M"]
    assert "N - 1 >= M - 1 because N >= M (checked at the call: " in found.why
    assert all(op.valid is None or "guard" not in map(str, op.proofs) for op in accesses(kernel, name="x"))


@pytest.mark.parametrize("plan", [minimal_plan, default_plan])
def test_without_the_condition_the_guard_is_back(plan):
    kernel = replace(lower(prefix), conditions=())
    found = proof(kernel, name="x", plan=plan)
    assert found == ph.GUARD
    assert all(op.valid is not None for op in accesses(kernel, name="x", plan=plan))


@intent.kernel
def neighbours(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    i = I.indices(I.domain(0, x.shape[0]))
    y[...] = I.gather(x, index=i - 1, valid=i > 0, fill=0.0)


@intent.kernel
def neighbours_by_another_test(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    i = I.indices(I.domain(0, x.shape[0]))
    y[...] = I.gather(x, index=i - 1, valid=i != 3, fill=0.0)


def test_the_predicate_of_an_access_takes_the_place_of_a_guard():
    found = proof(lower(neighbours), name="x")
    assert found.kind == "predicate"
    assert any(f.because == "the access's own predicate" for f in found.facts)
    (load,) = accesses(lower(neighbours), name="x")
    (other,) = accesses(lower(neighbours_by_another_test), name="x")
    assert load.valid is not None
    assert other.proofs == (ph.GUARD,)


def test_what_a_proof_says_can_be_shown_again():
    for definition in (prefix, neighbours, last, table, doubled):
        for op in accesses(lower(definition), name="x", plan=default_plan):
            for found in op.proofs:
                if found.claim is not None:
                    assert prove(found.claim, Facts(found.facts)).proved


@intent.kernel
def table(x: I.In[I.f32, (256,)], codes: I.In[I.u8, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = x[I.cast(codes[...], I.index)]


@intent.kernel
def small_table(x: I.In[I.f32, (255,)], codes: I.In[I.u8, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = x[I.cast(codes[...], I.index)]


def test_a_dtype_bounds_an_index():
    assert proof(lower(table), name="x").kind == "interval"
    assert proof(lower(small_table), name="x") == ph.GUARD


@intent.kernel
def doubled(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    half = I.domain(0, (x.shape[0] + 1) // 2)
    y[0 : (x.shape[0] + 1) // 2] = x[I.indices(half) * 2]


def test_half_of_an_extent_doubled_is_inside():
    assert proof(lower(doubled), name="x").kind == "interval"


@intent.kernel
def squares(x: I.In[I.f32, (65536,)], codes: I.In[I.u8, ("N",)], y: I.Out[I.f32, ("N",)]):
    code = I.cast(codes[...], I.i32)
    y[...] = x[I.cast(code * code, I.index)]


@intent.kernel
def squares_that_wrap(x: I.In[I.f32, (65536,)], codes: I.In[I.u8, ("N",)], y: I.Out[I.f32, ("N",)]):
    code = I.cast(codes[...], I.i16)
    y[...] = x[I.cast(code * code, I.index)]


def test_narrow_arithmetic_that_may_wrap_has_no_bounds():
    assert proof(lower(squares), name="x").kind == "interval"
    assert proof(lower(squares_that_wrap), name="x") == ph.GUARD


@intent.kernel
def smaller_of(x: I.In[I.f32, ("M",)], z: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M",)]):
    i = I.indices(I.domain(0, z.shape[0])[0 : x.shape[0]])
    y[...] = x[I.minimum(i, I.full(x.shape, z.shape[0] - x.shape[0], I.index))]


def test_a_proof_rests_on_what_the_bounds_of_its_coordinate_rest_on():
    kernel = lower(smaller_of)
    found = proof(kernel, name="x")
    assert found.kind == "interval"
    assert [str(f.claim) for f in found.facts] == ["N >= M"]
    assert proof(replace(kernel, conditions=()), name="x") == ph.GUARD


@intent.kernel
def two_reads(
    x: I.In[I.f32, ("M",)], z: I.In[I.f32, ("N",)], table: I.In[I.f32, (256,)], k: I.In[I.u8, ("M",)],
    y: I.Out[I.f32, ("M",)],
):  # fmt: skip
    i = I.indices(I.domain(0, z.shape[0])[0 : x.shape[0]])
    first = x[I.minimum(i, I.full(x.shape, z.shape[0] - x.shape[0], I.index))]
    y[...] = first + table[I.cast(k[...], I.index)]


def test_a_proof_does_not_rest_on_what_another_one_rested_on():
    assert [str(f.claim) for f in proof(lower(two_reads), name="x").facts] == ["N >= M"]
    found = proof(lower(two_reads), name="table")
    assert (found.kind, found.facts) == ("interval", ())


@intent.kernel
def end_of_the_loop(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, (1,)], count: I.i64):
    total = I.cast(0.0, I.f32)
    for i in range(count):
        total = total + x[I.cast(count, I.index) - 1] * I.cast(i, I.f32)
    y[0] = total


def test_a_load_that_may_leave_its_loop_rests_on_nothing_in_it():
    """In the loop ``count`` is positive; outside of it ``x[count - 1]`` may be ``x[-1]``."""
    kernel = lower(end_of_the_loop)
    assert proof(kernel, name="x") == ph.GUARD
    x, y = np.ones(4, np.float32), np.full(1, 9, np.float32)
    intent.compile(end_of_the_loop, provider="reference")(x, y, 0)
    assert y[0] == 0


@intent.kernel
def promised(x: I.In[I.f32, ("N",)], rows: I.In[I.i64, ("M",)], y: I.Out[I.f32, ("M",)]):
    index = I.cast(rows[...], I.index)
    I.assume_in_bounds(index, x, 0)
    y[...] = x[index]


@intent.kernel
def not_promised(x: I.In[I.f32, ("N",)], rows: I.In[I.i64, ("M",)], y: I.Out[I.f32, ("M",)]):
    y[...] = x[I.cast(rows[...], I.index)]


@intent.kernel
def promised_of_one_axis(
    x: I.In[I.f32, ("N", "K")],
    rows: I.In[I.i64, ("M",)],
    columns: I.In[I.i64, ("M",)],
    y: I.Out[I.f32, ("M",)],
):
    index = I.cast(rows[...], I.index)
    I.assume_in_bounds(index, x, 0)
    y[...] = x[index, I.cast(columns[...], I.index)]


def test_a_promise_is_about_one_axis():
    kernel = lower(promised_of_one_axis)
    program = construct(kernel, minimal_plan(analyze(kernel), registry().get("reference").capabilities, {}))
    (load,) = (
        op
        for s in program.segments
        for op in walk(s.body)
        if getattr(op, "source", None) and op.source.name == "x"
    )
    assert load.proofs == (ph.ASSUMED, ph.GUARD)


def test_a_promise_takes_the_place_of_a_guard():
    assert proof(lower(promised), name="x") == ph.ASSUMED
    assert proof(lower(not_promised), name="x") == ph.GUARD


@intent.kernel
def padded_rows(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("P",)], S: I.i64):
    M, N = x.shape
    used = I.domain(0, S)[0:N]
    for i in I.parallel(range(M)):
        for j in I.parallel(used):
            y[i * I.cast(S, I.index) + j] = x[i, j]


@intent.kernel
def scattered(x: I.In[I.f32, ("N",)], rows: I.In[I.i64, ("N",)], y: I.Out[I.f32, ("M",)]):
    I.scatter_unique(y, index=(rows[...],), value=x[...])


@intent.kernel
def one_element(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, (1,)]):
    y[0] = I.reduce.sum(x[...], axis=0)


def unique(kernel):
    (store,) = accesses(kernel, name="y")
    return store.unique


def test_a_store_says_why_it_writes_every_element_once():
    assert unique(lower(one_element)) == ph.STATIC
    assert unique(lower(prefix)).once == "each element once"
    assert unique(lower(scattered)).once == "each element once by the author's promise"
    kernel = lower(padded_rows)
    assert unique(kernel).once == "each element once because checked at the call: a subregion"
    without = unique(replace(kernel, conditions=()))
    assert without.kind == "assumed"
    assert "both write" in without.why


@intent.kernel
def flattened(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("L",)]):
    y[...] = I.reshape(x[...], y.shape)


@intent.kernel
def added(x: I.In[I.f32, ("M",)], w: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M",)]):
    y[...] = x[...] + w[...]


@pytest.mark.parametrize(("definition", "name"), [(flattened, "x"), (added, "w")])
@pytest.mark.parametrize("plan", [minimal_plan, default_plan])
def test_shapes_that_the_launch_compares_are_facts_too(definition, name, plan):
    kernel = lower(definition)
    assert ph.GUARD not in {p for op in accesses(kernel, name=name, plan=plan) for p in op.proofs}
    without = replace(kernel, conditions=())
    assert ph.GUARD in {p for op in accesses(without, name=name, plan=plan) for p in op.proofs}


@intent.kernel
def clamped_above(x: I.In[I.f32, ("N",)], at: I.In[I.index, ("M",)], y: I.Out[I.f32, ("M",)]):
    y[...] = x[I.minimum(at[...], x.shape[0] - 1)]


@intent.kernel
def clamped_below(x: I.In[I.f32, ("N",)], at: I.In[I.index, ("M",)], y: I.Out[I.f32, ("M",)]):
    y[...] = x[I.maximum(at[...], 0)]


@intent.kernel
def not_clamped(x: I.In[I.f32, ("N",)], at: I.In[I.index, ("M",)], y: I.Out[I.f32, ("M",)]):
    y[...] = x[at[...]]


@pytest.mark.parametrize(
    ("kernel", "tests"), [(clamped_above, {"ge"}), (clamped_below, {"lt"}), (not_clamped, {"ge", "lt"})]
)
def test_only_the_side_without_a_bound_is_tested(kernel, tests):
    (load,) = accesses(lower(kernel), name="x")
    assert load.proofs == (ph.GUARD,)
    analysis = analyze(lower(kernel))
    plan = minimal_plan(analysis, registry().get("reference").capabilities, {"N": 9, "M": 5})
    found = [op for segment in construct(lower(kernel), plan, analysis).segments for op in walk(segment.body)]
    compared = {op.fn for op in found if isinstance(op, ph.Pointwise) and op.fn in ("ge", "lt")}
    assert compared == tests


@intent.kernel
def added_to_a_part(x: I.In[I.f32, ("N",)], z: I.In[I.f32, ("M",)], y: I.Out[I.f32, ("N",)]):
    y[...] = x[...] + z[...]


@intent.kernel
def added_where_checked(x: I.In[I.f32, ("N",)], z: I.In[I.f32, ("M",)], y: I.Out[I.f32, ("N",)]):
    y[...] = x[0 : z.shape[0]] + z[...]


def test_extents_that_the_launch_compares_are_not_compared_again():
    def chosen(kernel):
        analysis = analyze(kernel)
        plan = minimal_plan(analysis, registry().get("reference").capabilities, {"N": 9, "M": 9})
        found = [op for segment in construct(kernel, plan, analysis).segments for op in walk(segment.body)]
        return [op.fn for op in found if isinstance(op, ph.Pointwise) and op.fn == "select"]

    assert chosen(lower(added_to_a_part)) == ["select"]
    assert chosen(lower(added_where_checked)) == []


def test_claims_of_numbers_alone_are_not_shown():
    n, m = symbol("N"), symbol("M")
    assert Known().text(both(at_least(n, 0), at_least(const(3), 1)), (), {}) == "N >= 0"
    assert Known().text(either(equal(n, 1), equal(n, m)), (), {}) == str(either(equal(n, 1), equal(n, m)))
    assert "3 == 4" in Known().text(both(equal(const(3), const(4)), at_least(n, m)), (), {})


@intent.kernel
def part_if_wanted(
    x: I.In[I.f32, ("N",)], z: I.In[I.f32, (8,)], y: I.Out[I.f32, ("M",)], w: I.Out[I.f32, (6,)], K: I.index
):
    if K > 0:
        y[0:K] = x[0:K]
    w[...] = z[2:8]


def test_where_a_branch_promises_something_constants_are_still_known():
    kernel = lower(part_if_wanted)
    assert Definitions.of(kernel).conditional
    assert proof(kernel, name="x") == ph.GUARD
    assert proof(kernel, name="z") != ph.GUARD
