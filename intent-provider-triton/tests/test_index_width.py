"""When a launch may use 32-bit index arithmetic, and that 64-bit arithmetic gives the same results."""

from __future__ import annotations

import numpy as np
import pytest

from intent.physical import Program
from intent.provider import BoundView, Invocation
from intent.types.extent import Symbol
from intent_provider_triton.emit import emit
from intent_provider_triton.emit.signature import Signature
from intent_testkit.programs import offsets, run, whole


def planned(program: Program, strides: dict | None = None, **extents: int) -> bool:
    """The launch's choice for views of these extents (row-major unless strides are given), without any memory."""
    env = {Symbol(name): value for name, value in extents.items()}
    views = {}
    for view in program.views:
        shape = tuple(e.evaluate(env) for e in view.shape)
        steps = tuple(int(np.prod(shape[i + 1 :], dtype=object)) for i in range(len(shape)))
        views[view.name] = BoundView(
            name=view.name, pointer=0, shape=shape, strides=(strides or {}).get(view.name, steps),
            dtype=view.dtype.name, device="cpu", array=None,
        )  # fmt: skip
    call = Invocation(views=views, scalars={}, extents=extents, length=program.length.evaluate(env))
    return emit(program).signature.small(call)


@pytest.mark.parametrize(
    ("n", "small"),
    [(1, True), (1 << 30, True), ((1 << 31) - 128, True), ((1 << 31) - 1, True), (1 << 31, False)],
)
def test_the_last_block_of_lanes_must_fit(n, small):
    assert planned(whole.add(), N=n) is small


def test_element_offsets_must_fit():
    assert planned(whole.softmax(), M=1 << 20, N=1 << 10)
    assert not planned(whole.softmax(), M=1 << 22, N=1 << 10)
    assert not planned(whole.softmax(), {"x": (1 << 21, 1)}, M=1 << 11, N=1 << 10)
    assert not planned(whole.softmax(), {"x": (-(1 << 21), 1)}, M=1 << 11, N=1 << 10)
    assert planned(whole.softmax(), {"x": (0, 1)}, M=1 << 11, N=1 << 10)


def test_strides_that_nothing_is_multiplied_by_must_fit_too():
    """They are arguments: an axis of one element may have any stride."""
    assert not planned(whole.softmax(), {"x": (1 << 33, 1)}, M=1, N=1 << 10)


def test_a_loop_counter_must_pass_its_end_without_wrapping():
    assert planned(whole.row_sum_loop(), M=1, N=(1 << 31) - 128)
    assert not planned(whole.row_sum_loop(), M=1, N=(1 << 31) - 10)


def test_workspace_offsets_are_64_bit_in_the_text():
    text = emit(whole.workspace()).text
    assert "pid.to(tl.int64) * 32" in text


def test_data_derived_indices_are_compared_in_64_bits_and_address_in_index():
    """Where they are in bounds they fit what the extents fit; elsewhere nothing is accessed."""
    text = emit(whole.gather(index="i64")).text
    assert "mask=(row >= 0) & inside" in text
    assert "table + row.to(INDEX) * table_stride_0" in text
    assert planned(whole.gather(index="i64"), V=100, D=20, N=30)


CASES = {
    "add": lambda rng: ({"x": rng(300), "y": rng(300), "out": rng(300)}, None),
    "softmax": lambda rng: ({"x": rng(3, 700), "y": rng(3, 700)}, None),
    "row_sum_loop": lambda rng: ({"x": rng(3, 130), "y": rng(3)}, None),
    "two_segments": lambda rng: ({"x": rng(130), "y": rng(130), "w": rng(4, 70), "s": rng(4)}, None),
    "branches": lambda rng: ({"x": rng(9), "y": rng(9)}, {"flip": True}),
    "transpose": lambda rng: ({"x": rng(20, 33), "y": rng(33, 20)}, None),
    "workspace": lambda rng: ({"x": rng(4, 27), "y": rng(4, 27)}, None),
}


@pytest.mark.parametrize("name", CASES)
def test_both_widths_give_the_same_result(name, monkeypatch):
    generator = np.random.default_rng(5)
    arrays, scalars = CASES[name](lambda *shape: generator.standard_normal(shape).astype(np.float32))
    copies = {key: value.copy() for key, value in arrays.items()}
    run("triton", whole.ALL[name](), arrays, scalars)
    monkeypatch.setattr(Signature, "small", lambda *_: False)
    run("triton", whole.ALL[name](), copies, scalars)
    for key, value in arrays.items():
        np.testing.assert_array_equal(value, copies[key])


@pytest.mark.parametrize(("shift", "stride", "bits"), offsets.BORDERS)
def test_offsets_by_constant_strides(shift, stride, bits):
    wide = ".to(INDEX)" in emit(offsets.apart(shift, stride)).text
    assert wide is (bits == "64 bits")


def test_places_far_away_are_written_as_numbers():
    assert "8589934592 * y_stride_0 + 7 * y_stride_1" in emit(offsets.far()).text


def test_places_by_constant_strides_are_numbers():
    assert "300 + 70" in emit(offsets.near()).text
