"""When a launch may run its text with 32-bit index arithmetic: at every border, on both sides of it."""

from __future__ import annotations

import pytest

from intent.provider import BoundView, Invocation
from intent.provider.emission import Parameter, Signature
from intent.provider.emission.bounds import Interval
from intent.types.extent import const, floordiv, scalar, symbol

LEAST, MOST = -(2**31), 2**31 - 1
N, K = symbol("N"), scalar("k")


def call(shape=(8,), strides=(1,), **numbers):
    x = BoundView(name="x", pointer=64, shape=shape, strides=strides, dtype="i8", device="cpu", array=None)
    extents = {name: value for name, value in numbers.items() if name.isupper()}
    return Invocation(views={"x": x}, scalars={"k": numbers.get("k", 0)}, extents=extents, length=1)


def signature(**what):
    parameters = (
        Parameter(emitted="x", kind="view", dtype="i8", view="x"),
        Parameter(emitted="x_stride_0", kind="stride", view="x", index=True),
    )
    return Signature(parameters=parameters + what.pop("more", ()), **what)


@pytest.mark.parametrize(
    ("strides", "small"), [((1,), True), ((MOST // 7,), True), ((MOST // 7 + 1,), False)]
)
def test_offsets_of_elements(strides, small):
    assert signature().small(call(strides=strides)) is small


@pytest.mark.parametrize(
    ("stride", "small"), [(MOST, True), (MOST + 1, False), (LEAST, True), (LEAST - 1, False)]
)
def test_arguments_that_are_indices(stride, small):
    """A view of one element has no offsets, whatever its stride."""
    assert signature().small(call(shape=(1,), strides=(stride,))) is small


@pytest.mark.parametrize("index", [True, False])
def test_arguments_that_are_none(index):
    more = (Parameter(emitted="N", kind="extent", name="N", index=index),)
    assert signature(more=more).small(call(N=MOST + 1)) is not index


@pytest.mark.parametrize(
    ("low", "high", "small"),
    [
        (LEAST, MOST, True),
        (LEAST - 1, 0, False),
        (0, MOST + 1, False),
        (5, 7, True),
    ],
)
def test_facts(low, high, small):
    facts = (Interval(const(0), const(1)), Interval(N, K))
    assert signature(facts=facts).small(call(N=low, k=high)) is small


@pytest.mark.parametrize(("value", "small"), [(0, True), (-1, False), (5, True)])
def test_signs(value, small):
    assert signature(signs=(const(1), K)).small(call(k=value)) is small


def test_a_bound_that_divides_by_zero_is_no_bound():
    facts = (Interval(const(0), floordiv(symbol("M"), N)),)
    assert signature(facts=facts).small(call(N=2, M=8))
    assert not signature(facts=facts).small(call(N=0, M=8))


def test_numbers_that_are_not_finite_are_no_part_of_bounds():
    invocation = call()
    odd = Invocation(views=invocation.views, scalars={"k": float("inf")}, extents={}, length=1)
    assert signature().small(odd)


def test_an_extent_goes_before_a_scalar_of_its_name():
    invocation = call(N=3)
    both = Invocation(views=invocation.views, scalars={"N": -1}, extents={"N": 3}, length=1)
    assert signature(signs=(scalar("N"),)).small(both)


def test_what_layouts_depend_on():
    more = (
        Parameter(emitted="n", kind="extent", name="N", index=True),
        Parameter(emitted="f", kind="scalar", name="factor", dtype="f32"),
    )
    made = signature(more=more, facts=(Interval(symbol("A"), symbol("B") + K),), signs=(symbol("C"),))
    assert made.assumes() == {"A", "B", "C", "k", "N"}
