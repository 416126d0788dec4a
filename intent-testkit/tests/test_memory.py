from __future__ import annotations

import numpy as np
import pytest

from intent_testkit.cases.case import inout, out, view
from intent_testkit.cases.draw import normal
from intent_testkit.memory import VARIANTS, InputModified, OutOfBoundsWrite, allocate, poison

SHAPES = [(), (1,), (7,), (3, 5), (2, 3, 4), (0, 3)]


def _spec(shape: tuple[int, ...], role: str = "inout", dtype: str = "f32"):
    axes = " ".join(map(str, shape))
    return {"in": view, "inout": inout}[role]("x", dtype, axes, normal())


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["f32", "u8", "f64", "bool", "bf16"])
def test_a_view_holds_its_values_in_every_layout(shape, variant, dtype):
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(_spec(shape, dtype=dtype).numpy)
    allocation = allocate(_spec(shape, dtype=dtype), values, variant)
    assert np.array_equal(allocation.view, values)
    allocation.check_surroundings()


def test_layouts_are_what_their_names_say():
    values = np.zeros((3, 5), np.float32)
    strides = {v: allocate(_spec((3, 5), "in"), values, v).view.strides for v in VARIANTS}
    assert strides["contiguous"] == (20, 4)
    assert strides["strided"] == (52, 8)
    assert strides["transposed"] == (4, 12)
    assert strides["flipped"] == (-20, -4)
    assert strides["broadcast"] == (0, 4)
    written = allocate(_spec((3, 5)), values, "broadcast").view
    assert written.strides == (20, 4)


@pytest.mark.parametrize("variant", ["contiguous", "strided", "transposed", "flipped"])
@pytest.mark.parametrize("distance", [-1, 1])
def test_a_write_beside_the_view_is_seen(variant, distance):
    allocation = allocate(_spec((3, 5)), np.ones((3, 5), np.float32), variant)
    low, high = np.lib.array_utils.byte_bounds(allocation.view)
    base = allocation.block.__array_interface__["data"][0]
    where = (low - base - 1) if distance < 0 else high - base
    allocation.block[where] ^= 0xFF
    with pytest.raises(OutOfBoundsWrite, match="outside the view"):
        allocation.check_surroundings()


def test_a_write_into_the_gap_of_a_strided_view_is_seen():
    allocation = allocate(_spec((3, 5)), np.ones((3, 5), np.float32), "strided")
    allocation.block[allocation.start + 4] ^= 1
    with pytest.raises(OutOfBoundsWrite):
        allocation.check_surroundings()


def test_a_write_into_the_view_is_no_fault_of_an_output_but_one_of_an_input():
    output = allocate(_spec((4,)), np.ones(4, np.float32), "strided")
    output.view[2] = 7
    output.check_surroundings()
    given = allocate(_spec((4,), "in"), np.ones(4, np.float32), "strided")
    given.view[2] = 7
    with pytest.raises(InputModified, match="'x'"):
        given.check_surroundings()


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64", "i8", "i32", "u64"])
def test_poison_fills_every_element(dtype):
    spec = out("y", dtype, "5")
    values = poison(spec, (5,))
    assert values.dtype == spec.numpy
    assert np.isfinite(values.astype(np.float64)).all()
    assert len(set(values.tolist())) == 1


def test_poisoned_bools_hold_no_bool():
    assert poison(out("y", "bool", "3"), (3,)).view(np.uint8).tolist() == [0x5A] * 3
