"""When a launch may use 32-bit index arithmetic."""

from __future__ import annotations

import pytest

from intent.physical import Program
from intent.provider import BoundView, Invocation
from intent.types.extent import Symbol, symbol
from intent_provider_cutile.emit import emit
from intent_testkit.programs import offsets, single, whole


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


@pytest.mark.parametrize(("shift", "stride", "bits"), offsets.BORDERS)
def test_offsets_by_constant_strides(shift, stride, bits):
    wide = ", INDEX) * " in emit(offsets.apart(shift, stride)).text
    assert wide is (bits == "64 bits")


def test_places_far_away_are_written_as_numbers():
    assert "8589934592 * y_stride_0 + 7 * y_stride_1" in emit(offsets.far()).text


def test_places_by_constant_strides_are_numbers():
    assert "300 + 70" in emit(offsets.near()).text
