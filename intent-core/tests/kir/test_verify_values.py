"""Rules of the verifier about values and layouts; a wrong kernel breaks exactly one."""

from dataclasses import replace

import pytest

from intent.kir import (
    Bitcast,
    Broadcast,
    Cast,
    Condition,
    Constant,
    Join,
    Pointwise,
    RandomBits,
    Reduce,
    RegionFold,
    Reshape,
    Transpose,
)
from intent.kir.verify import FAMILIES, verify
from intent.types.dtypes import BOOL, F16, F32, I32, I64, INDEX, U8, U32
from intent.types.extent import const, dyn, symbol

M, N = symbol("M"), symbol("N")
CASES = {}


def case(rule):
    """Register ``build(kit) -> (right kernel, wrong kernel)`` for a rule; a rule may have several."""
    return lambda build: CASES.setdefault(f"{rule}: {build.__name__}", (rule, build))


@case("constant-type")
def an_int_for_a_float(kit):
    kit.constant(F32, 1.0)
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Constant, value=1)


@case("constant-type")
def an_int_out_of_range(kit):
    kit.constant(U8, 255)
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Constant, value=256)


@case("extent-value-type")
def an_extent_as_i64(kit):
    kit.extent(const(3))
    kernel = kit.kernel()
    op = kernel.body.ops[-1]
    return kernel, kit.spoil(kernel, type(op), results=(replace(op.result, dtype=I64),))


@case("iota-type")
def coordinates_as_i32(kit):
    kit.iota(const(3))
    kernel = kit.kernel()
    op = kernel.body.ops[-1]
    return kernel, kit.spoil(kernel, type(op), results=(replace(op.result, dtype=I32),))


@case("pointwise-known")
def a_function_that_is_none(kit):
    kit.add(kit.constant(F32, 1.0), kit.constant(F32, 2.0))
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Pointwise, fn="softmax")


@case("pointwise-known")
def too_few_operands(kit):
    a = kit.constant(F32, 1.0)
    kit.add(a, a)
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Pointwise, operands=(a,))


@case("pointwise-shapes")
def an_implicit_broadcast(kit):
    a, scalar = kit.tensor(F32, M), kit.constant(F32, 1.0)
    kit.add(a, a)
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Pointwise, operands=(a, scalar))


@case("pointwise-dtypes")
def mixed_dtypes(kit):
    a, b = kit.constant(F32, 1.0), kit.constant(F16, 1.0)
    kit.add(a, a)
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Pointwise, operands=(a, b))


@case("pointwise-dtypes")
def division_of_integers(kit):
    a = kit.constant(I32, 1)
    kit.op(Pointwise, kit.value(I32), fn="floordiv", operands=(a, a))
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Pointwise, fn="div")


@case("pointwise-dtypes")
def a_comparison_that_keeps_its_dtype(kit):
    a = kit.constant(I32, 1)
    kit.op(Pointwise, kit.value(BOOL), fn="lt", operands=(a, a))
    kernel = kit.kernel()
    result = kernel.body.ops[-1].result
    return kernel, kit.spoil(kernel, Pointwise, results=(replace(result, dtype=I32),))


@case("pointwise-permissions")
def an_approximate_sum(kit):
    a = kit.constant(F32, 1.0)
    kit.op(Pointwise, kit.value(F32), fn="div", operands=(a, a), approximate=True, flush_to_zero=True)
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Pointwise, fn="add", flush_to_zero=False)


@case("pointwise-permissions")
def flushing_without_approximation(kit):
    a = kit.constant(F32, 1.0)
    kit.op(Pointwise, kit.value(F32), fn="exp2", operands=(a,), approximate=True, flush_to_zero=True)
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Pointwise, approximate=False)


@case("cast-shape")
def a_cast_that_broadcasts(kit):
    kit.op(Cast, kit.value(F32, M), value=kit.tensor(F16, M))
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Cast, results=(replace(kernel.body.ops[-1].result, shape=()),))


@case("bitcast-width")
def bits_of_another_width(kit):
    kit.op(Bitcast, kit.value(U32), value=kit.constant(F32, 1.0))
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Bitcast, results=(replace(kernel.body.ops[-1].result, dtype=I64),))


@case("random-bits-type")
def signed_random_words(kit):
    seed = kit.constant(I64, 1)
    kit.op(RandomBits, kit.value(U32), seed=seed, counter=seed)
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, RandomBits, results=(replace(kernel.body.ops[-1].result, dtype=I32),))


@case("layout-keeps-dtype")
def a_transpose_that_casts(kit):
    kit.op(Transpose, kit.value(F32, N, M), value=kit.tensor(F32, M, N), permutation=(1, 0))
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Transpose, results=(replace(kernel.body.ops[-1].result, dtype=F16),))


@case("broadcast-axes")
def a_map_out_of_order(kit):
    kit.op(Broadcast, kit.value(F32, M, M), value=kit.tensor(F32, M, M), axes=(0, 1))
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Broadcast, axes=(1, 0))


@case("broadcast-axes")
def extents_that_nothing_relates(kit):
    kit.op(Broadcast, kit.value(F32, N), value=kit.tensor(F32, M), axes=(0,))
    kit.view("y", F32, N)
    right = kit.kernel(conditions=(Condition(kind="equal_or_one", lhs=M, rhs=N, reason=""),))
    return right, replace(right, conditions=())


@case("reshape-count")
def a_slice_that_is_taken_for_another_extent(kit):
    def kernel(kit, extent):
        x, zero, cut = kit.tensor(F32, M), kit.constant(F32, 0.0), dyn(kit.fresh())

        def total(part):
            flat = kit.op(Reshape, kit.value(F32, extent(cut)), value=part)
            return (kit.op(Reduce, kit.value(F32), operands=(flat,), axes=(0,), kind="sum"),)

        region = kit.region(kit.value(F32, cut), body=total)
        kit.op(
            RegionFold,
            kit.value(F32),
            source=(x,),
            axis=0,
            slice_extent=cut,
            identity=(zero,),
            summarize=region,
            combine=kit.combine(F32),
        )
        return kit.kernel()

    return kernel(kit, lambda cut: cut), kernel(type(kit)(), lambda _: M)


@case("reshape-count")
def a_reshape_that_loses_elements(kit):
    kit.op(Reshape, kit.value(F32, M * 4), value=kit.tensor(F32, M, 4))
    kernel = kit.kernel()
    result = kernel.body.ops[-1].result
    return kernel, kit.spoil(kernel, Reshape, results=(replace(result, shape=(M * 2,)),))


@case("transpose-permutation")
def an_axis_named_twice(kit):
    kit.op(Transpose, kit.value(F32, M, M), value=kit.tensor(F32, M, M), permutation=(1, 0))
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Transpose, permutation=(1, 1))


@case("join-shape")
def a_join_that_concatenates(kit):
    a = kit.tensor(F32, M)
    kit.op(Join, kit.value(F32, M, 2), lhs=a, rhs=a)
    kernel = kit.kernel()
    result = kernel.body.ops[-1].result
    return kernel, kit.spoil(kernel, Join, results=(replace(result, shape=(const(2), M)),))


@pytest.mark.parametrize(("rule", "build"), CASES.values(), ids=CASES)
def test_rule(breaks, rule, build):
    breaks(rule, build)


def test_every_rule_has_a_case():
    assert {rule for rule, _ in CASES.values()} == {
        rule
        for rule, family in FAMILIES.items()
        if family
        in (
            "values",
            "layout",
        )
    }


def test_extents_of_device_data_are_left_to_guards(kit):
    n = kit.constant(INDEX, 4)
    x = kit.op(Broadcast, kit.value(F32, dyn(n.id)), value=kit.constant(F32, 0.0), axes=())
    kit.op(Reshape, kit.value(F32, 4), value=x)
    verify(kit.kernel())
