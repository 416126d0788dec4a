"""Rules of the verifier about SSA form and the interface of a kernel; a wrong kernel breaks exactly one."""

from dataclasses import replace

import pytest

from intent.kir import Broadcast, Buffer, BufferAlloc, Cast, Condition, Constant, DomainInfo, Load, Reduce
from intent.kir.verify import FAMILIES
from intent.types.dtypes import F16, F32, F64, INDEX
from intent.types.extent import const, dyn, symbol

M, N = symbol("M"), symbol("N")
CASES = {}


def case(rule):
    """Register ``build(kit) -> (right kernel, wrong kernel)`` for a rule; a rule may have several."""
    return lambda build: CASES.setdefault(f"{rule}: {build.__name__}", (rule, build))


@case("unique-ids")
def one_value_defined_twice(kit):
    a = kit.constant(F32, 1.0)
    kit.constant(F32, 2.0)
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Constant, results=(a,))


@case("unique-ids")
def one_operation_id_twice(kit):
    kit.constant(F32, 1.0)
    kit.constant(F32, 2.0)
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Constant, id=kernel.body.ops[0].id)


@case("dominance")
def used_before_defined(kit):
    a = kit.tensor(F32, M)
    kit.add(a, a)
    kernel = kit.kernel()
    ops = kernel.body.ops
    return kernel, replace(kernel, body=replace(kernel.body, ops=(*ops[:-2], ops[-1], ops[-2])))


@case("dominance")
def a_combine_region_sees_the_kernel(kit):
    x, zero = kit.tensor(F32, M), kit.constant(F32, 0.0)
    kit.op(Reduce, kit.value(F32), operands=(x,), axes=(0,), identity=(zero,), combine=kit.combine(F32))
    kernel = kit.kernel()
    region = kernel.body.ops[-1].combine
    return kernel, kit.spoil(kernel, Reduce, combine=replace(region, yields=(zero,)))


@case("value-types-agree")
def used_with_another_dtype(kit):
    a = kit.constant(F32, 1.0)
    kit.op(Cast, kit.value(F64), value=a)
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Cast, value=replace(a, dtype=F16))


@case("dyn-atoms")
def a_shape_of_an_undefined_value(kit):
    n = kit.constant(INDEX, 4)
    kit.op(Broadcast, kit.value(F32, dyn(n.id)), value=kit.constant(F32, 0.0), axes=())
    kernel = kit.kernel()
    result = kernel.body.ops[-1].result
    return kernel, kit.spoil(kernel, Broadcast, results=(replace(result, shape=(dyn(999),)),))


@case("dyn-atoms")
def a_shape_of_a_float(kit):
    f, n = kit.constant(F32, 4.0), kit.constant(INDEX, 4)
    kit.op(Broadcast, kit.value(F32, dyn(n.id)), value=f, axes=())
    kernel = kit.kernel()
    result = kernel.body.ops[-1].result
    return kernel, kit.spoil(kernel, Broadcast, results=(replace(result, shape=(dyn(f.id),)),))


@case("slice-extents-fresh")
def a_slice_extent_that_a_symbol_names(kit):
    return kit.fold(), type(kit)().fold(M)


@case("parameters-are-body-arguments")
def a_scalar_that_is_no_argument(kit):
    kit.scalar("n", F32)
    kernel = kit.kernel()
    return kernel, replace(kernel, body=replace(kernel.body, args=()))


@case("parameters-are-body-arguments")
def two_parameters_of_one_name(kit):
    kit.view("x", F32, M)
    kit.view("y", F32, M)
    kernel = kit.kernel()
    return kernel, replace(kernel, params=tuple(replace(p, name="x") for p in kernel.params))


@case("symbols-are-bound")
def a_symbol_of_no_view(kit):
    kit.view("x", F32, M)
    kit.extent(M)
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, type(kernel.body.ops[0]), extent=N)


@case("conditions-are-launch-visible")
def a_condition_on_device_data(kit):
    kit.view("x", F32, M)
    n = kit.constant(INDEX, 4)
    right = kit.kernel(conditions=(Condition(kind="equal", lhs=M, rhs=const(4), reason=""),))
    return right, replace(right, conditions=(Condition(kind="equal", lhs=M, rhs=dyn(n.id), reason=""),))


@case("domains-are-declared")
def a_domain_whose_parent_is_unknown(kit):
    right = kit.kernel(domains=(DomainInfo(id=0, name="a"), DomainInfo(id=1, name="b", parent=0)))
    return right, replace(right, domains=right.domains[1:])


@case("domains-are-declared")
def coordinates_of_no_domain(kit):
    kit.iota(const(4))
    kernel = kit.kernel()
    return kernel, replace(kernel, domains=())


@case("views-are-parameters")
def a_read_of_something_else(kit):
    kit.tensor(F32, M)
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Load, source=replace(kernel.params[0], name="other"))


@case("buffers-are-allocated")
def a_buffer_used_without_allocation(kit):
    buffer = Buffer(id=0, name="b", dtype=F32, shape=(M,))
    kit.view("x", F32, M)
    kit.op(BufferAlloc, buffer=buffer)
    kit.op(Load, kit.value(F32, M), source=buffer, relation=kit.relation(kit.iota(M)))
    kernel = kit.kernel()
    kept = tuple(op for op in kernel.body.ops if not isinstance(op, BufferAlloc))
    return kernel, replace(kernel, body=replace(kernel.body, ops=kept))


@pytest.mark.parametrize(("rule", "build"), CASES.values(), ids=CASES)
def test_rule(breaks, rule, build):
    breaks(rule, build)


def test_every_rule_has_a_case():
    assert {rule for rule, _ in CASES.values()} == {
        rule
        for rule, family in FAMILIES.items()
        if family
        in (
            "structure",
            "interface",
        )
    }
