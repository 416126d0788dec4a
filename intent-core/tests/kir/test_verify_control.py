"""Rules of the verifier about control; a wrong kernel breaks exactly one."""

from dataclasses import replace

import pytest

from intent.kir import DomainInfo, For, If, Pointwise, While
from intent.kir.verify import FAMILIES
from intent.types.dtypes import BOOL, F32, I32, INDEX
from intent.types.extent import symbol

M, N = symbol("M"), symbol("N")
CASES = {}


def case(rule):
    """Register ``build(kit) -> (right kernel, wrong kernel)`` for a rule; a rule may have several."""
    return lambda build: CASES.setdefault(f"{rule}: {build.__name__}", (rule, build))


def loop(kit):
    init = kit.constant(F32, 0.0)
    bounds = {"begin": kit.constant(INDEX, 0), "end": kit.constant(INDEX, 8), "step": kit.constant(INDEX, 1)}
    kit.domains.append(DomainInfo(id=0, name="i"))
    body = kit.region(kit.value(INDEX), kit.value(F32), body=lambda _, c: (kit.add(c, c),))
    kit.op(For, kit.value(F32), **bounds, inits=(init,), body=body, domain=0)
    return kit.kernel()


@case("for-bounds")
def an_end_as_i32(kit):
    wrong = kit.constant(I32, 8)
    kernel = loop(kit)
    return kernel, kit.spoil(kernel, For, end=wrong)


@case("for-carries")
def a_carry_that_is_dropped(kit):
    kernel = loop(kit)
    return kernel, kit.spoil(kernel, For, inits=())


@case("for-carries")
def a_parallel_loop_with_a_carry(kit):
    kernel = loop(kit)
    return kernel, kit.spoil(kernel, For, parallel=True)


@case("if-branches")
def a_branch_that_yields_nothing(kit):
    cond, one = kit.constant(BOOL, True), kit.constant(F32, 1.0)
    then, orelse = (kit.region(body=lambda: (one,)) for _ in range(2))
    kit.op(If, kit.value(F32), condition=cond, then=then, orelse=orelse)
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, If, orelse=replace(orelse, yields=()))


@case("if-branches")
def a_condition_with_axes(kit):
    cond, many = kit.constant(BOOL, True), kit.tensor(BOOL, M)
    kit.op(If, condition=cond, then=kit.region(), orelse=kit.region())
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, If, condition=many)


@case("while-carries")
def a_condition_that_is_no_bool(kit):
    init = kit.constant(I32, 0)

    def less(carry):
        return (kit.op(Pointwise, kit.value(BOOL), fn="lt", operands=(carry, kit.constant(I32, 9))),)

    condition = kit.region(kit.value(I32), body=less)
    body = kit.region(kit.value(I32), body=lambda c: (kit.add(c, c),))
    kit.op(While, kit.value(I32), inits=(init,), condition=condition, body=body)
    kernel = kit.kernel()
    return kernel, kit.spoil(kernel, While, condition=replace(condition, yields=condition.args))


@pytest.mark.parametrize(("rule", "build"), CASES.values(), ids=CASES)
def test_rule(breaks, rule, build):
    breaks(rule, build)


def test_every_rule_has_a_case():
    assert {rule for rule, _ in CASES.values()} == {
        rule for rule, family in FAMILIES.items() if family == "control"
    }
