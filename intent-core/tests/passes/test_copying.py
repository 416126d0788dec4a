"""What the copier makes of operations with a known operand: right for every other operand, and found at all."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pytest

import intent.physical as ph
from intent.passes.building import Builder
from intent.passes.copying import Copier, guarded
from intent.types.dtypes import BOOL, F16, F32, F64, I32, INDEX
from intent.types.extent import const

INF, NAN = math.inf, math.nan
LEAST, MOST = -(2**31), 2**31 - 1
FLOATS: Final = (0.0, -0.0, 1.0, -1.0, 2.5, INF, -INF, NAN)
INTEGERS: Final = (0, 1, -1, 7, LEAST, MOST)
FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "add": operator.add, "mul": operator.mul, "sub": operator.sub, "gt": operator.gt, "lt": operator.lt,
    "maximum": np.maximum, "minimum": np.minimum, "and": operator.and_, "or": operator.or_,
}  # fmt: skip


def builder() -> Builder:
    body = ph.Region(args=(), ops=())
    segment = ph.Segment(group=0, axes=(), length=const(1), offset=const(0), body=body)
    return Builder(ph.Program(name="p", params=(), segments=(segment,)))


def simplified(fn, known, place, dtype, **how):
    """What ``fn`` of a constant and an unknown comes to: "it", a constant, or None for the operation itself."""
    b = builder()
    with b.region():
        unknown = b.fragment(dtype)
        given = b.constant(known, dtype)
        operands = (given, unknown) if place == 0 else (unknown, given)
        result = b.fragment(BOOL if fn in ("gt", "lt") else dtype)
        sums = frozenset({unknown.id}) if how.pop("running", False) else frozenset()
        copier = Copier(b, {}, sums=sums, **how)
        copier.op(ph.Pointwise(id=b.fresh(), results=(result,), fn=fn, operands=operands))
        found = copier.get(result)
        if found == unknown:
            return "it"
        return b.known.value(found)


def agrees(fn, known, place, dtype, found, others, *, exact):
    """Whether what was found is the function, for all other operands."""
    for other in others:
        kind = np.float32 if dtype is F32 else np.int32 if dtype is I32 else np.bool_
        a, b = (kind(known), kind(other)) if place == 0 else (kind(other), kind(known))
        with np.errstate(all="ignore"):
            wanted = FUNCTIONS[fn](a, b)
            got = kind(other) if isinstance(found, str) else type(wanted)(found)
        assert got == wanted or (np.isnan(got) and np.isnan(wanted)), (fn, known, place, other, found)
        if exact and dtype is F32:
            assert np.signbit(got) == np.signbit(wanted) or np.isnan(wanted), (fn, known, place, other, found)


ALWAYS = {
    F32: [
        ("add", -0.0, "it"), ("mul", 1.0, "it"), ("maximum", -INF, "it"), ("minimum", INF, "it"),
        ("add", 0.0, None), ("mul", 0.0, None), ("maximum", INF, None), ("minimum", -INF, None),
        ("maximum", 0.0, None), ("minimum", 0.0, None), ("mul", -0.0, None), ("add", 1.0, None),
    ],
    I32: [
        ("add", 0, "it"), ("mul", 1, "it"), ("mul", 0, 0), ("maximum", LEAST, "it"), ("minimum", MOST, "it"),
        ("maximum", MOST, None), ("minimum", LEAST, None), ("maximum", 0, None), ("add", 1, None),
        ("and", 7, None), ("or", 7, None),
    ],
    BOOL: [("and", True, "it"), ("and", False, False), ("or", False, "it"), ("or", True, True)],
}  # fmt: skip


@pytest.mark.parametrize(
    ("dtype", "fn", "known", "wanted"), [(d, *entry) for d, entries in ALWAYS.items() for entry in entries]
)
@pytest.mark.parametrize("place", [0, 1])
def test_what_a_known_operand_makes_of_it(dtype, fn, known, wanted, place):
    found = simplified(fn, known, place, dtype)
    assert found == wanted
    assert type(found) is type(wanted)
    others = {F32: FLOATS, I32: INTEGERS, BOOL: (False, True)}[dtype]
    if found is not None:
        agrees(fn, known, place, dtype, found, others, exact=True)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("known", FLOATS)
@pytest.mark.parametrize("fn", ["add", "mul", "sub", "gt", "lt", "maximum", "minimum"])
def test_nothing_is_left_out_that_some_operand_shows(fn, known, place):
    exact, running, finite = (
        simplified(fn, known, place, F32, **how) for how in ({}, {"running": True}, {"finite": True})
    )
    numbers = [v for v in FLOATS if math.isfinite(v)]
    for found, others, bits in (
        (exact, FLOATS, True),
        (running, [v for v in FLOATS if str(v) != "-0.0"], True),
        (finite, numbers, False),
    ):
        if found is not None:
            agrees(fn, known, place, F32, found, others, exact=bits)


@pytest.mark.parametrize(
    ("fn", "known", "place", "wanted"),
    [
        ("mul", 0.0, 0, 0.0), ("mul", 0.0, 1, 0.0), ("sub", -INF, 0, -INF), ("sub", -INF, 1, None),
        ("sub", INF, 0, None), ("maximum", INF, 0, INF), ("maximum", INF, 1, INF), ("minimum", -INF, 0, -INF),
        ("maximum", 0.0, 0, None), ("gt", -INF, 0, False), ("gt", -INF, 1, None), ("gt", INF, 0, None),
    ],
)  # fmt: skip
def test_what_it_comes_to_beside_finite_numbers(fn, known, place, wanted):
    assert simplified(fn, known, place, F32, finite=True) == wanted
    strict = simplified(fn, known, place, F32)
    assert strict == (wanted if fn == "gt" else None)


def test_zero_is_nothing_to_a_running_sum():
    assert simplified("add", 0.0, 0, F32, running=True) == "it"
    assert simplified("add", 0.0, 1, F32, running=True) == "it"


def selected(test, left, right):
    """What a selection comes to: which operand, or None."""
    b = builder()
    with b.region():
        operands = tuple(
            b.fragment(dtype) if v is None else b.constant(v, dtype)
            for v, dtype in ((test, BOOL), (left, F32), (right, F32))
        )
        result = b.fragment(F32)
        copier = Copier(b, {})
        copier.op(ph.Pointwise(id=b.fresh(), results=(result,), fn="select", operands=operands))
        found = copier.get(result)
        return operands.index(found) if found in operands else None


@pytest.mark.parametrize(
    ("operands", "wanted"),
    [
        ((True, None, None), 1), ((False, None, None), 2), ((None, 1.0, 1.0), 1), ((None, NAN, NAN), 1),
        ((None, 0.0, -0.0), None), ((None, 1.0, None), None), ((None, None, None), None),
    ],
)  # fmt: skip
def test_selections(operands, wanted):
    assert selected(*operands) == wanted


def test_one_value_on_both_sides_is_selected_without_a_test():
    b = builder()
    with b.region():
        test, value, result = b.fragment(BOOL), b.fragment(F32), b.fragment(F32)
        copier = Copier(b, {})
        copier.op(ph.Pointwise(id=b.fresh(), results=(result,), fn="select", operands=(test, value, value)))
        assert copier.get(result) == value


@pytest.mark.parametrize(
    ("value", "source", "target", "wanted"),
    [
        (0.0, F32, F16, 0.0), (-0.0, F32, F64, -0.0), (1.0, F32, F16, 1.0), (INF, F32, F16, INF),
        (-INF, F64, F32, -INF), (0.1, F64, F32, None), (NAN, F32, F16, None), (2.0, F32, F16, None),
        (1.0, F32, I32, None), (None, F32, F16, None), (None, I32, F32, None),
        (0, I32, F32, 0.0), (1, I32, F16, 1.0), (1, I32, INDEX, 1), (2, I32, F32, None),
        (True, BOOL, I32, 1), (True, BOOL, F32, 1.0), (False, BOOL, F32, 0.0), (1, I32, BOOL, None),
    ],
)  # fmt: skip
def test_casts_of_constants(value, source, target, wanted):
    b = builder()
    with b.region():
        result = b.fragment(target)
        copier = Copier(b, {})
        given = b.fragment(source) if value is None else b.constant(value, source)
        copier.op(ph.Cast(id=b.fresh(), results=(result,), value=given))
        found = copier.value(result)
    assert repr(found) == repr(wanted)


L, M = ph.Dim("l", 4), ph.Dim("m", 2)


def copied(op, values=(), **how):
    """Two copiers that each copied ``op``, and the operations; ``values``: what is known of its operands."""
    b = builder()
    b._order |= {L: 0, M: 1}  # dims of a program
    with b.region() as ops:
        copiers = [
            Copier(b, {f.id: b.constant(v, f.dtype, f.dims) for f, v in values}, **how) for _ in range(2)
        ]
        for copier in copiers:
            copier.op(op)
    return copiers, ops


def fragment(number, dtype=F32, dims=()):
    return ph.Fragment(id=1000 + number, dtype=dtype, dims=dims)


@pytest.mark.parametrize(
    ("dtype", "sides", "finite", "wanted"),
    [
        (I32, (0, None), False, 0), (I32, (None, 0), False, 0), (F32, (0.0, None), False, None),
        (F32, (None, 0.0), False, None), (F32, (0.0, None), True, 0.0), (F32, (0.0, 0.0), False, 0.0),
        (F32, (1.0, 1.0), False, None), (F32, (None, None), True, None), (F32, (1.0, None), True, None),
        (I32, (1, None), False, None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("started", [False, True])
def test_products_with_zeros(dtype, sides, finite, wanted, started):
    lhs, rhs, start = fragment(0, dtype, (L,)), fragment(1, dtype, (L,)), fragment(2, dtype)
    op = ph.Contract(
        id=1,
        results=(fragment(3, dtype),),
        lhs=lhs,
        rhs=rhs,
        accumulator=start if started else None,
        dims=(L,),
    )
    known = [(f, v) for f, v in zip((lhs, rhs), sides, strict=True) if v is not None]
    (copier, _), ops = copied(op, known, finite=finite)
    left = [o for o in ops if isinstance(o, ph.Contract)]
    if wanted is None:
        assert len(left) == 2
    else:
        assert not left
        found = copier.get(op.result)
        assert found == start if started else copier.value(op.result) == wanted


@pytest.mark.parametrize("valid", [None, "unknown", True, False])
@pytest.mark.parametrize("started", [False, True])
def test_histograms_of_something_and_of_nothing(valid, started):
    test = None if valid is None else fragment(1, BOOL, (L,))
    start = fragment(2, I32, (M,)) if started else None
    op = ph.Histogram(
        id=1, results=(fragment(3, I32, (M,)),), values=fragment(0, I32, (L,)), valid=test, accumulator=start,
        dims=(L,), bins=M,
    )  # fmt: skip
    (copier, _), ops = copied(op, [(test, valid)] if isinstance(valid, bool) else [])
    left = [o for o in ops if isinstance(o, ph.Histogram)]
    if valid is False:
        assert not left
        found = copier.get(op.result)
        assert found == start if started else copier.value(op.result) == 0
    else:
        assert [o.valid for o in left] == [test if valid == "unknown" else None] * 2


def loop(*ops):
    counter, init = fragment(20, INDEX), fragment(21)
    carry, made = fragment(22), fragment(23)
    step = ph.Pointwise(id=30, results=(made,), fn="add", operands=(carry, init))
    body = ph.Region(args=(counter, carry), ops=(step, *ops), yields=(made,))
    return ph.Loop(
        id=31, results=(fragment(24),), begin=fragment(25, INDEX), end=fragment(26, INDEX),
        step=fragment(27, INDEX), inits=(init,), body=body,
    )  # fmt: skip


X = ph.View(name="x", dtype=F32, shape=(const(4),), mode="inout")
STORE = ph.Store(
    id=32, target=X, coordinates=(fragment(20, INDEX),), value=fragment(23), dims=(), proofs=(ph.REGION,)
)
LOAD = ph.Load(
    id=33, results=(fragment(40),), source=X, coordinates=(fragment(25, INDEX),), proofs=(ph.REGION,)
)
BRANCH = ph.If(
    id=34, results=(fragment(41),), condition=fragment(42, BOOL),
    then=ph.Region(args=(), ops=(), yields=(fragment(21),)), orelse=ph.Region(args=(), ops=(), yields=(fragment(43),)),
)  # fmt: skip
LARGEST = ph.Reduce(
    id=35, results=(fragment(44), fragment(45, INDEX)), operands=(fragment(46, F32, (L,)), fragment(47, INDEX, (L,))),
    dims=(L,), kind="argmax",
)  # fmt: skip


@pytest.mark.parametrize(
    ("op", "once"),
    [(loop(), True), (loop(STORE), False), (LOAD, True), (BRANCH, False), (LARGEST, False)],
    ids=["loop", "loop that writes", "read", "branch", "two results"],
)
def test_what_is_made_once_where_no_memory_changes(op, once):
    (first, second), ops = copied(op, still=True)
    assert len(ops) == (1 if once else 2)
    assert all((first.get(f) == second.get(f)) is once for f in op.results)


def test_reads_are_made_again_where_memory_may_change():
    assert len(copied(LOAD)[1]) == 2


@pytest.mark.parametrize("proof", [ph.GUARD, ph.REGION, ph.STATIC])
@pytest.mark.parametrize("moves", [False, True])
def test_coordinates_that_tests_keep_in_bounds(proof, moves):
    b = builder()
    with b.region():
        counter, steady = b.fragment(INDEX), b.fragment(INDEX)
        place = b.pointwise("add", counter if moves else steady, b.index(1))
        op = replace(LOAD, coordinates=(place,), proofs=(proof,))
        assert guarded(b, counter, op) is (proof == ph.GUARD and moves)


@pytest.mark.parametrize("valid", [None, "unknown", True, False])
@pytest.mark.parametrize("fill", [None, 3.0])
def test_reads_of_something_and_of_nothing(valid, fill):
    test, other = fragment(1, BOOL, (L,)), fragment(2)
    op = replace(
        LOAD, results=(fragment(3, F32, (L,)),), valid=None if valid is None else test,
        fill=None if fill is None else other,
    )  # fmt: skip
    known = [(test, valid)] if isinstance(valid, bool) else []
    (copier, _), ops = copied(op, known + ([(other, fill)] if fill else []))
    left = [o for o in ops if isinstance(o, ph.Load)]
    if valid is False:
        assert not left
        assert copier.value(op.result) == (fill or 0.0)
    else:
        assert [o.valid for o in left] == [test if valid == "unknown" else None] * 2
