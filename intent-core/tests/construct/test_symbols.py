"""The symbolic value of an index scalar: an expression where it is exactly that, else a variable of its own."""

from __future__ import annotations

import pytest

import intent
import intent.language as I
from intent import kir
from intent.construct.definitions import Definitions
from intent.frontend import lower
from intent.kir.walk import walk
from intent.types.extent import Extent, dyn, maximum, minimum, scalar, symbol

N, M, S, T = symbol("N"), symbol("M"), scalar("s"), scalar("t")


@intent.kernel
def known(x: I.In[I.f32, ("N", "M")], y: I.Out[I.f32, ("N",)], s: I.i64, t: I.i32):
    N, M = x.shape
    for i in range(N):
        total = I.cast(0.0, I.f32)
        for _ in range(i * 2 + M - 1):
            total = total + 1.0
        for _ in range(I.maximum(i, M)):
            total = total + 1.0
        for _ in range(I.minimum(i, I.cast(s, I.index))):
            total = total + 1.0
        for _ in range(i // 3):
            total = total + 1.0
        for _ in range(i % 3 + 7):
            total = total + 1.0
        for _ in range(I.cast(t, I.index)):
            total = total + 1.0
        for _ in range(I.cast(I.cast(i, I.i64), I.index)):
            total = total + 1.0
        y[i] = total


@intent.kernel
def unknown(x: I.In[I.f32, ("N", "M")], y: I.Out[I.f32, ("N",)], s: I.i64, t: I.i32, f: I.f32):
    N, M = x.shape
    for i in range(N):
        total = I.cast(0.0, I.f32)
        for _ in range(i // M):
            total = total + 1.0
        for _ in range(i % M):
            total = total + 1.0
        for _ in range(i // I.cast(s, I.index)):
            total = total + 1.0
        for _ in range(i // (M - M - 3)):
            total = total + 1.0
        for _ in range(I.cast(I.cast(i, I.i32), I.index)):
            total = total + 1.0
        for _ in range(I.cast(I.cast(i, I.i32) + t, I.index)):
            total = total + 1.0
        for _ in range(I.cast(f, I.index)):
            total = total + 1.0
        for _ in range(-i):
            total = total + 1.0
        for _ in range(I.select(s > 0, i, M)):
            total = total + 1.0
        for _ in range(i & M):
            total = total + 1.0
        for _ in range(i & 3):
            total = total + 1.0
        for _ in range(i << 2):
            total = total + 1.0
        y[i] = total


def ends(definition: object) -> tuple[Definitions, Extent, list[kir.Value]]:
    """The outer loop's variable, and the ends of the inner loops."""
    kernel = lower(definition)
    outer, *inner = (op for op in walk(kernel.body) if isinstance(op, kir.For))
    return Definitions.of(kernel), dyn(outer.body.args[0].id), [op.end for op in inner]


def test_arithmetic_of_indices_is_an_expression() -> None:
    definitions, i, found = ends(known)
    wanted = [i * 2 + M - 1, maximum(i, M), minimum(i, S), i // 3, i % 3 + 7, T, i]
    assert [definitions.symbol(v) for v in found] == wanted


def test_what_may_wrap_divides_by_an_unknown_or_is_no_function_of_numbers_is_a_variable() -> None:
    definitions, _, found = ends(unknown)
    assert len(found) == 12
    casts_of_narrow = found[4:6]
    for value in found:
        own = definitions.op[value.id].value if value in casts_of_narrow else value
        assert definitions.symbol(value) is dyn(own.id)


@intent.kernel
def checked(x: I.In[I.f32, ("N",)], z: I.In[I.f32, ("M",)], y: I.Out[I.f32, ("N",)]):
    y[...] = x[0 : z.shape[0]] + z[...]


@pytest.mark.parametrize(("a", "b", "same"), [(N, N, True), (N, M, True), (M, N, True), (N, N + 1, False)])
def test_extents_that_the_launch_compares_are_the_same(a: Extent, b: Extent, same: bool) -> None:
    assert Definitions.of(lower(checked)).same(a, b) is same
