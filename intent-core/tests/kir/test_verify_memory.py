"""Rules of the verifier about indexed accesses and effects; a wrong kernel breaks exactly one."""

from dataclasses import replace

import pytest

from intent.kir import (
    AssumeInBounds,
    Atomic,
    Broadcast,
    Buffer,
    BufferAlloc,
    Cast,
    Gather,
    Load,
    Relation,
    ScatterReduce,
    Store,
)
from intent.kir.verify import FAMILIES
from intent.types.dtypes import BOOL, F16, F32, I32, INDEX
from intent.types.extent import const, symbol

M, N = symbol("M"), symbol("N")
CASES = {}


def case(rule):
    """Register ``build(kit) -> (right kernel, wrong kernel)`` for a rule; a rule may have several."""
    return lambda build: CASES.setdefault(f"{rule}: {build.__name__}", (rule, build))


@case("relation-coordinates")
def a_coordinate_too_few(kit):
    kit.tensor(F32, M, N)
    kernel = kit.kernel()
    relation = kernel.body.ops[-1].relation
    short = Relation(coordinates=relation.coordinates[:1], axes=relation.axes[:1])
    return kernel, kit.spoil(kernel, Load, relation=short)


@case("relation-coordinates")
def a_coordinate_as_i32(kit):
    i32 = kit.op(Cast, kit.value(I32, M), value=kit.iota(M))
    kit.tensor(F32, M)
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Load, relation=kit.relation(i32))


@case("relation-coordinates")
def a_vector_spread_over_nothing(kit):
    kit.tensor(F32, M)
    kernel = kit.kernel()
    coordinates = kernel.body.ops[-1].relation.coordinates
    return kernel, kit.spoil(kernel, Load, relation=Relation(coordinates=coordinates, axes=((),)))


@case("relation-extents")
def a_coordinate_of_another_extent(kit):
    kit.tensor(F32, M)
    kit.view("y", F32, N)
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Load, results=(replace(kernel.body.ops[-1].result, shape=(N,)),))


@case("access-validity")
def validity_of_another_shape(kit):
    view, yes = kit.view("x", F32, M), kit.constant(BOOL, True)
    valid = kit.op(Broadcast, kit.value(BOOL, M), value=yes, axes=())
    kit.op(Load, kit.value(F32, M), source=view, relation=kit.relation(kit.iota(M)), valid=valid)
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Load, valid=yes)


@case("access-validity")
def a_gather_with_validity_and_no_fill(kit):
    x, yes = kit.tensor(F32, M), kit.constant(BOOL, True)
    zero, point = kit.constant(F32, 0.0), kit.constant(INDEX, 0)
    kit.op(Gather, kit.value(F32), source=x, relation=kit.relation(point), valid=yes, fill=zero)
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Gather, fill=None)


@case("access-dtypes")
def a_read_that_casts(kit):
    kit.tensor(F32, M)
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, Load, results=(replace(kernel.body.ops[-1].result, dtype=F16),))


def store(kit, mode="out"):
    value = kit.tensor(F32, M)
    y = kit.view("y", F32, M, mode=mode)
    kit.op(Store, target=y, relation=kit.relation(kit.iota(M)), value=value)
    return kit.kernel()


@case("writes-are-allowed")
def a_write_to_an_input(kit):
    return store(kit), store(type(kit)(), "in")


@case("assumed-flags")
def a_flag_too_many(kit):
    kernel = store(kit)
    return kernel, kit.spoil(kernel, Store, assumed=(True, False))


@case("store-uniqueness")
def a_tensor_stored_as_a_point(kit):
    kernel = store(kit)
    return kernel, kit.spoil(kernel, Store, uniqueness="point")


@case("scatter-reduce-combine")
def a_kind_beside_a_combine(kit):
    kernel = kit.scatter()
    return kernel, kit.spoil(kernel, ScatterReduce, kind="sum")


@case("buffer-init")
def an_initial_value_of_another_dtype(kit):
    wrong = kit.constant(F16, 0.0)
    kit.op(
        BufferAlloc, buffer=Buffer(id=0, name="b", dtype=F32, shape=(const(4),)), init=kit.constant(F32, 0.0)
    )
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, BufferAlloc, init=wrong)


@case("assume-in-bounds-axis")
def a_promise_about_an_axis_that_is_none(kit):
    kit.op(AssumeInBounds, index=kit.constant(INDEX, 0), target=kit.view("x", F32, M), axis=0)
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, AssumeInBounds, axis=1)


def atomic(kit, kind="add", order="relaxed"):
    one, y = kit.constant(I32, 1), kit.view("y", I32, M, mode="inout")
    relation = kit.relation(kit.constant(INDEX, 0))
    kit.op(Atomic, kit.value(I32), target=y, relation=relation, kind=kind, operands=(one,), order=order)
    return kit.kernel()


@case("atomic-schema")
def an_exchange_without_an_operand(kit):
    kernel = atomic(kit)
    return kernel, kit.spoil(kernel, Atomic, operands=())


@case("atomic-schema")
def a_store_that_acquires(kit):
    kernel = kit.spoil(atomic(kit), Atomic, kind="store", results=(), order="release")
    return kernel, kit.spoil(kernel, Atomic, order="acquire")


@pytest.mark.parametrize(("rule", "build"), CASES.values(), ids=CASES)
def test_rule(breaks, rule, build):
    breaks(rule, build)


def test_every_rule_has_a_case():
    assert {rule for rule, _ in CASES.values()} == {
        rule for rule, family in FAMILIES.items() if family == "memory"
    }
