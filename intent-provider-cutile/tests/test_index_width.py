"""When a launch may use 32-bit index arithmetic."""

from __future__ import annotations

import pytest

from intent.physical import Dim, Fragment, Program, View
from intent.provider import BoundView, Invocation
from intent.types.dtypes import I8
from intent.types.extent import Symbol, const, symbol
from intent_provider_cutile.emit import emit
from intent_testkit.programs import single, whole
from intent_testkit.programs.builder import Builder


def small(program: Program, **extents: int) -> bool:
    """Whether a launch with these extents may use 32-bit index values; no memory is touched."""
    env = {Symbol(name): value for name, value in extents.items()}
    views = {
        v.name: BoundView(
            name=v.name, pointer=0, shape=tuple(e.evaluate(env) for e in v.shape), strides=(1,) * len(v.shape),
            dtype=v.dtype.name, device="cpu", array=None,
        )
        for v in program.views
    }  # fmt: skip
    call = Invocation(views=views, scalars={}, extents=extents, length=program.length.evaluate(env))
    return emit(program).signature.small(call)


@pytest.mark.parametrize(
    ("n", "wanted"), [((1 << 31) - 128, True), ((1 << 31) - 10, False), (1 << 31, False)]
)
def test_a_loop_counter_must_pass_its_end_without_wrapping(n: int, wanted: bool) -> None:
    assert small(whole.row_sum_loop(), M=1, N=n) is wanted


@pytest.mark.parametrize(("n", "wanted"), [(40_000, True), (50_000, False)])
def test_what_an_extent_divides_must_not_wrap(n: int, wanted: bool) -> None:
    """A quarter of N * N fits 32 bits in both; N * N does not for the second."""
    quarter = symbol("N") * symbol("N") // 4
    assert small(single.twice_divided(quarter, "mod", "mod"), N=n) is wanted


def offset(shift: int, stride: int, lanes: int = 4) -> str:
    """How the offset of ``y[lane + shift]`` is written where elements are so far apart."""
    lane = Dim("n", lanes)
    b = Builder(lane)
    y = View(name="y", dtype=I8, shape=(const(1 << 40),), mode="out", strides=(stride,))

    def body(_: Fragment) -> None:
        b.store(y, [b.op("add", b.lane(lane), b.constant(shift))], b.constant(1, I8))

    text = emit(b.program("apart", [y], b.segment([("one", const(1), 1)], body))).text
    return "64 bits" if ", INDEX) * " in text else "32 bits"


@pytest.mark.parametrize(
    ("shift", "stride", "bits"),
    [
        (0, 1 << 29, "32 bits"), (0, 715827882, "32 bits"), (0, 715827883, "64 bits"), (0, 1 << 30, "64 bits"),
        (-3, 715827882, "32 bits"), (-3, 715827883, "64 bits"), (-2, 1 << 30, "32 bits"),
        (-2, (1 << 30) + 1, "64 bits"),
        (-1, -(1 << 30), "32 bits"), (-1, -(1 << 30) - 1, "64 bits"), (1 << 20, 2047, "32 bits"),
        (1 << 20, 2048, "64 bits"),
    ],
)  # fmt: skip
def test_offsets_by_constant_strides(shift, stride, bits):
    """Every lane's has to fit, on both sides of zero."""
    assert offset(shift, stride) == bits


def test_places_far_away_are_written_as_numbers():
    b = Builder()
    y = View(name="y", dtype=I8, shape=(const(1 << 40), const(1 << 40)), mode="out")

    def body(_: Fragment) -> None:
        b.store(y, [b.constant(1 << 33), b.constant(7)], b.constant(1, I8))

    one = b.segment([("one", const(1), 1)], body)
    assert "8589934592 * y_stride_0 + 7 * y_stride_1" in emit(b.program("far", [y], one)).text


def test_places_by_constant_strides_are_numbers():
    b = Builder()
    y = View(name="y", dtype=I8, shape=(const(9), const(9)), mode="out", strides=(100, 10))

    def body(_: Fragment) -> None:
        b.store(y, [b.constant(3), b.constant(7)], b.constant(1, I8))

    assert "300 + 70" in emit(b.program("near", [y], b.segment([("one", const(1), 1)], body))).text
