"""Stores whose element offsets are at the borders of 32 bits, or are numbers."""

from __future__ import annotations

from typing import Final

from intent.physical import Dim, Fragment, Program, View
from intent.types.dtypes import I8
from intent.types.extent import const
from intent_testkit.programs.builder import Builder

BORDERS: Final = (
    (0, 1 << 29, "32 bits"), (0, 715827882, "32 bits"), (0, 715827883, "64 bits"), (0, 1 << 30, "64 bits"),
    (-3, 715827882, "32 bits"), (-3, 715827883, "64 bits"), (-2, 1 << 30, "32 bits"),
    (-2, (1 << 30) + 1, "64 bits"), (-1, -(1 << 30), "32 bits"), (-1, -(1 << 30) - 1, "64 bits"),
    (1 << 20, 2047, "32 bits"), (1 << 20, 2048, "64 bits"),
)  # fmt: skip
"""Shifts and strides of :func:`apart`, and what its offsets need: those of all lanes have to fit."""


def apart(shift: int, stride: int) -> Program:
    """``y[lane + shift] = 1`` for four lanes, the elements ``stride`` apart."""
    lane = Dim("n", 4)
    b = Builder(lane)
    y = View(name="y", dtype=I8, shape=(const(1 << 40),), mode="out", strides=(stride,))

    def body(_: Fragment) -> None:
        b.store(y, [b.op("add", b.lane(lane), b.constant(shift))], b.constant(1, I8))

    return b.program("apart", [y], b.segment([("one", const(1), 1)], body))


def far() -> Program:
    """``y[2**33, 7] = 1``, strides of the call."""
    return _at("far", (1 << 33, 7), 1 << 40, None)


def near() -> Program:
    """``y[3, 7] = 1``, strides 100 and 10."""
    return _at("near", (3, 7), 9, (100, 10))


def _at(name: str, place: tuple[int, int], extent: int, strides: tuple[int, int] | None) -> Program:
    b = Builder()
    y = View(name="y", dtype=I8, shape=(const(extent), const(extent)), mode="out", strides=strides)

    def body(_: Fragment) -> None:
        b.store(y, [b.constant(k) for k in place], b.constant(1, I8))

    return b.program(name, [y], b.segment([("one", const(1), 1)], body))
