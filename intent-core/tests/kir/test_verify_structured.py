"""Rules of the verifier about structured operations and their regions; a wrong kernel breaks exactly one."""

from dataclasses import replace

import pytest

from intent.diagnostics import VerificationError
from intent.kir import (
    Broadcast,
    Constant,
    Contract,
    Histogram,
    RandomBits,
    Reduce,
    RegionFold,
    RegionScan,
    ScaledContract,
    Scan,
    ScatterReduce,
    SparseContract,
)
from intent.kir.verify import FAMILIES, verify
from intent.types.dtypes import F16, F32, F64, I32, I64, INDEX, U8, U32
from intent.types.extent import const, dyn, symbol
from intent.types.span import Span

M, N = symbol("M"), symbol("N")
CASES = {}


def case(rule):
    """Register ``build(kit) -> (right kernel, wrong kernel)`` for a rule; a rule may have several."""
    return lambda build: CASES.setdefault(f"{rule}: {build.__name__}", (rule, build))


def reduction(kit):
    x = kit.tensor(F32, M, N)
    kit.op(Reduce, kit.value(F32, M), operands=(x,), axes=(1,), kind="sum")
    return kit.kernel()


@case("reduce-axes")
def the_other_axis_removed(kit):
    kernel = reduction(kit)
    return kernel, kit.spoil(kernel, Reduce, axes=(0,))


@case("reduce-axes")
def one_axis_twice(kit):
    kernel = reduction(kit)
    return kernel, kit.spoil(kernel, Reduce, axes=(1, 1))


@case("reduce-builtin")
def a_hidden_accumulator_dtype(kit):
    kernel = reduction(kit)
    return kernel, kit.spoil(kernel, Reduce, results=(replace(kernel.body.ops[-1].result, dtype=F64),))


@case("reduce-builtin")
def any_of_floats(kit):
    kernel = reduction(kit)
    return kernel, kit.spoil(kernel, Reduce, kind="any")


def scanned(kit):
    x = kit.tensor(F32, M, N)
    kit.op(Scan, kit.value(F32, M, N), operands=(x,), axis=1, kind="sum")
    return kit.kernel()


@case("scan-axis")
def an_axis_outside(kit):
    kernel = scanned(kit)
    return kernel, kit.spoil(kernel, Scan, axis=2)


@case("scan-builtin")
def a_builtin_with_an_identity(kit):
    zero = kit.constant(F32, 0.0)
    kernel = scanned(kit)
    return kernel, kit.spoil(kernel, Scan, identity=(zero,))


def generic(kit):
    x, zero = kit.tensor(F32, M), kit.constant(F32, 0.0)
    kit.constant(F16, 0.0)
    kit.op(Reduce, kit.value(F32), operands=(x,), axes=(0,), identity=(zero,), combine=kit.combine(F32))
    return kit.kernel()


@case("accumulator-schema")
def no_identity(kit):
    kernel = generic(kit)
    return kernel, kit.spoil(kernel, Reduce, identity=())


@case("accumulator-schema")
def an_identity_of_another_dtype(kit):
    kernel = generic(kit)
    half = next(op.result for op in kernel.body.ops if isinstance(op, Constant) and op.result.dtype == F16)
    return kernel, kit.spoil(kernel, Reduce, identity=(half,))


def product(kit):
    a, b = kit.tensor(F32, M, 8), kit.tensor(F32, 8, N)
    kit.op(Contract, kit.value(F32, M, N), lhs=a, rhs=b, reduce=((1, 0),))
    return kit.kernel()


@case("contract-pairs")
def a_pair_of_different_extents(kit):
    kernel = product(kit)
    return kernel, kit.spoil(
        kernel,
        Contract,
        reduce=((0, 0),),
        results=(replace(kernel.body.ops[-1].result, shape=(const(8), N)),),
    )


@case("contract-pairs")
def nothing_summed(kit):
    kernel = product(kit)
    return kernel, kit.spoil(kernel, Contract, reduce=())


@case("contract-result")
def the_result_transposed(kit):
    kernel = product(kit)
    return kernel, kit.spoil(kernel, Contract, results=(replace(kernel.body.ops[-1].result, shape=(N, M)),))


@case("contract-result")
def floats_accumulated_in_integers(kit):
    kernel = product(kit)
    return kernel, kit.spoil(kernel, Contract, results=(replace(kernel.body.ops[-1].result, dtype=I32),))


@case("sparse-metadata")
def one_position_for_two(kit):
    a, b = kit.tensor(F16, M, 8), kit.tensor(F16, 16, N)
    first = kit.tensor(INDEX, M, 4)
    kit.op(
        SparseContract,
        kit.value(F32, M, N),
        compressed=a,
        metadata=(first, first),
        dense=b,
        format="two_of_four",
        reduce=((1, 0),),
    )
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, SparseContract, metadata=(first,))


@case("scaled-contract-schema")
def group_sizes_that_differ(kit):
    lhs, rhs = kit.tensor(U8, M, 4, 16), kit.tensor(U8, 4, 16, N)
    scales = kit.tensor(U8, M, 4), kit.tensor(U8, N, 4)
    kit.op(
        ScaledContract, kit.value(F32, M, N), lhs=lhs, lhs_scale=scales[0], rhs=rhs, rhs_scale=scales[1],
        lhs_format="e2m1", rhs_format="e2m1", lhs_group=32, rhs_group=32,
    )  # fmt: skip
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, ScaledContract, rhs_group=16)


@case("histogram-type")
def counting_floats(kit):
    values = kit.tensor(I32, M)
    floats = kit.tensor(F32, M)
    kit.op(Histogram, kit.value(I32, 16), values=values)
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Histogram, values=floats)


@case("region-source")
def a_source_without_the_axis(kit):
    kernel = kit.fold()
    return kernel, kit.spoil(kernel, RegionFold, axis=1)


def region_scan(kit):
    x, zero = kit.tensor(F32, M), kit.constant(F32, 0.0)
    cut = dyn(kit.fresh())

    def total(part):
        return (kit.op(Reduce, kit.value(F32), operands=(part,), axes=(0,), kind="sum"),)

    def emit(part, state):
        return (kit.add(part, kit.op(Broadcast, kit.value(F32, cut), value=state, axes=())),)

    kit.op(
        RegionScan,
        kit.value(F32, M),
        kit.value(F32),
        source=(x,),
        axis=0,
        slice_extent=cut,
        identity=(zero,),
        initial=(zero,),
        outputs=1,
        output_axis=0,
        summarize=kit.region(kit.value(F32, cut), body=total),
        combine=kit.combine(F32),
        apply=kit.combine(F32),
        emit=kit.region(kit.value(F32, cut), kit.value(F32), body=emit),
    )
    return kit.kernel()


@case("region-scan-results")
def a_final_state_of_another_dtype(kit):
    kernel = region_scan(kit)
    outputs, state = kernel.body.ops[-1].results
    return kernel, kit.spoil(kernel, RegionScan, results=(outputs, replace(state, dtype=F64)))


@case("region-scan-schema")
def an_emitter_of_one_element(kit):
    kernel = region_scan(kit)
    emit = kernel.body.ops[-1].emit
    return kernel, kit.spoil(kernel, RegionScan, emit=replace(emit, yields=emit.args[1:]))


@case("fold-schema")
def a_summary_of_another_dtype(kit):
    half = kit.constant(F16, 0.0)
    kernel = kit.fold()
    return kernel, kit.spoil(kernel, RegionFold, identity=(half,))


@case("pure-regions")
def a_combine_that_draws_random_numbers(kit):
    def impure(a, b):
        seed = kit.constant(I64, 1)
        kit.op(RandomBits, kit.value(U32), seed=seed, counter=seed)
        return (kit.add(a, b),)

    kernel = generic(kit)
    region = kit.region(kit.value(F32), kit.value(F32), body=impure)
    return kernel, kit.spoil(kernel, Reduce, combine=region)


@case("combine-schema")
def a_combine_of_another_dtype(kit):
    kernel = generic(kit)
    return kernel, kit.spoil(kernel, Reduce, combine=kit.combine(F16))


@case("combine-schema")
def a_capture_of_another_shape(kit):
    other = kit.tensor(F32, N)
    x, zero = kit.tensor(F32, M), kit.constant(F32, 0.0)
    region = kit.region(kit.value(F32), kit.value(F32), kit.value(F32), body=lambda a, b, _: (kit.add(a, b),))
    kit.op(
        Reduce, kit.value(F32), operands=(x,), axes=(0,), identity=(zero,), captures=(zero,), combine=region
    )
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Reduce, captures=(other,))


@case("scatter-combine-schema")
def a_scatter_combine_of_another_dtype(kit):
    kernel = kit.scatter()
    return kernel, kit.spoil(kernel, ScatterReduce, combine=kit.combine(F16))


@pytest.mark.parametrize(("rule", "build"), CASES.values(), ids=CASES)
def test_rule(breaks, rule, build):
    breaks(rule, build)


def test_every_rule_has_a_case():
    assert {rule for rule, _ in CASES.values()} == {
        rule
        for rule, family in FAMILIES.items()
        if family
        in (
            "structured",
            "regions",
        )
    }


def test_the_error_names_the_place(kit):
    kernel = reduction(kit)
    span = Span("k.py", 7, 4, 7, 10, "    y = I.reduce.sum(x, axis=3)")
    with pytest.raises(VerificationError) as error:
        verify(kit.spoil(kernel, Reduce, axes=(3,), span=span))
    assert error.value.span == span
    assert error.value.rule == "reduce-axes"
    assert "Reduce #" in error.value.seen["the subject"]
