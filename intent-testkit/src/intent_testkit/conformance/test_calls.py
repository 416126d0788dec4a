"""Calls: what every provider's artifacts must honour or refuse, whatever the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intent.diagnostics import ExtentMismatch, OverlappingViews, WrongArgumentCount, ZeroStrideWritable
from intent_testkit.cases import BY_NAME
from intent_testkit.cases.case import inout
from intent_testkit.cases.draw import Array, normal
from intent_testkit.device import Place
from intent_testkit.memory import Allocation, Layout, allocate
from intent_testkit.run import Point, run, variants
from intent_testkit.suite import Suite, compile_case

RNG = np.random.default_rng(20)


def _place(place: Place, values: Array) -> tuple[Allocation, Any]:
    spec = inout("v", "f32", " ".join(map(str, values.shape)), normal())
    allocation = allocate(spec, values.astype(np.float32), "contiguous")
    return allocation, place.argument(allocation)


def _same(got: Array, wanted: Array) -> None:
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6, strict=False)


def test_one_artifact_serves_changing_shapes_layouts_and_scalars(intent_provider: str) -> None:
    """A size of 1, of 16 and of 17, contiguous or not, and a scalar of 1 never meet a stale kernel."""
    case = BY_NAME["axpy"]
    with Suite.execution(intent_provider) as (_, place):
        artifact = compile_case(intent_provider, case)
        for m, n in ((16, 16), (1, 16), (16, 17), (17, 1), (1, 1), (16, 16)):
            for variant in variants(case):
                run(Point(case=case, extents={"M": m, "N": n}, variant=variant), artifact, place)


def test_integer_scalars_that_compilers_specialise_on(intent_provider: str) -> None:
    """1, 16, 17 and 0 in turn through one artifact."""
    case = BY_NAME["integer_scalars"]
    with Suite.execution(intent_provider) as (_, place):
        artifact = compile_case(intent_provider, case)
        x = np.arange(-5, 20, dtype=np.int32)
        for n, k in ((1, 1), (16, 16), (17, 17), (0, 0), (1, 16), (2**40, -1)):
            given, result = (_ints(place, values) for values in (x, np.zeros(x.size, np.int64)))
            artifact(n, k, given[1], result[1])
            place.fetch(given[0])
            place.fetch(result[0])
            np.testing.assert_array_equal(result[0].view, x.astype(np.int64) * k + n)


def _ints(place: Place, values: Array) -> tuple[Allocation, Any]:
    spec = inout("v", f"i{values.itemsize * 8}", str(values.size), normal())
    allocation = allocate(spec, values, "contiguous")
    return allocation, place.argument(allocation)


@pytest.mark.parametrize("name", ["add", "softmax", "transpose_square"])
def test_the_same_elements_in_and_out(intent_provider: str, name: str) -> None:
    """An input given as the output too is honoured as if it had been copied, or refused by name, never raced."""
    case = BY_NAME["transpose" if name == "transpose_square" else name]
    x = RNG.normal(size=(300,) if name == "add" else (17, 17))
    with Suite.execution(intent_provider) as (_, place):
        artifact = compile_case(intent_provider, case)
        both, argument = _place(place, x)
        other, second = _place(place, x[::-1].copy())
        arguments = (argument, second, argument) if name == "add" else (argument, argument)
        wanted = x + x[::-1] if name == "add" else _softmax(x) if name == "softmax" else x.T
        try:
            artifact(*arguments)
        except OverlappingViews:
            wanted = x
        place.fetch(both)
        place.fetch(other)
        _same(both.view, wanted)


def _softmax(x: Array) -> Array:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


def test_overlapping_views_are_refused(intent_provider: str) -> None:
    """A writable view that overlaps another one in part: an error naming both, and nothing is written."""
    with Suite.execution(intent_provider) as (_, place):
        artifact = compile_case(intent_provider, BY_NAME["transpose"])
        line, argument = _place(place, RNG.normal(size=40))
        x, y = argument[:25].reshape(5, 5), argument[3:28].reshape(5, 5)
        with pytest.raises(OverlappingViews, match="'x'"):
            artifact(x, y)
        place.fetch(line)
        np.testing.assert_array_equal(line.block, line.before)


def test_a_written_view_with_a_zero_stride_is_refused(intent_provider: str) -> None:
    """Several elements in one place cannot be written."""
    with Suite.execution(intent_provider) as (_, place):
        artifact = compile_case(intent_provider, BY_NAME["scale_in_place"])
        spec = inout("x", "f32", "3 4", normal())
        allocation = allocate(spec, np.ones((3, 4), np.float32), "contiguous")
        allocation.layout = Layout(shape=(3, 4), strides=(0, 1), offset=0, elements=4)
        with pytest.raises(ZeroStrideWritable, match="'x'"):
            artifact(2.0, place.argument(allocation))
        place.fetch(allocation)
        np.testing.assert_array_equal(allocation.block, allocation.before)


def test_extents_that_disagree_are_refused(intent_provider: str) -> None:
    """One symbol, two extents: an error before launch."""
    with Suite.execution(intent_provider) as (_, place):
        artifact = compile_case(intent_provider, BY_NAME["add"])
        arguments = [_place(place, np.zeros(n))[1] for n in (7, 8, 7)]
        with pytest.raises(ExtentMismatch, match="'N'"):
            artifact(*arguments)


def test_missing_arguments_are_refused(intent_provider: str) -> None:
    """Outputs are arguments too."""
    with Suite.execution(intent_provider) as (_, place):
        artifact = compile_case(intent_provider, BY_NAME["add"])
        with pytest.raises(WrongArgumentCount):
            artifact(*[_place(place, np.zeros(7))[1] for _ in range(2)])


def test_run_allocates_the_outputs(intent_provider: str) -> None:
    """``.run`` takes the inputs and gives new outputs in the caller's library."""
    with Suite.execution(intent_provider) as (_, place):
        artifact = compile_case(intent_provider, BY_NAME["softmax"])
        x = RNG.normal(size=(5, 33))
        allocation, argument = _place(place, x)
        result = artifact.run(argument)
        if type(result) is not type(argument):
            pytest.fail(f"the result is a {type(result).__name__}, the input a {type(argument).__name__}")
        host = result.cpu().numpy() if hasattr(result, "cpu") else np.asarray(result)
        place.fetch(allocation)
        _same(host, _softmax(x))
