"""Atomic accesses of every element type that a provider says it has; the others are refused by name."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from intent.diagnostics import CapabilityError
from intent.physical import Program
from intent.provider.registry import registry
from intent.types.dtypes import ALL, BY_NAME
from intent_testkit.cases.draw import Array
from intent_testkit.programs import atomic, run
from intent_testkit.programs.values import same


def _run(provider: str, kind: str, dtype: str, program: Program, arrays: Mapping[str, Array]) -> bool:
    """Run the program, or see it refused where the capabilities lack the pair; whether it ran."""
    if (kind, dtype) in registry().get(provider).capabilities.atomics:
        run(provider, program, arrays)
        return True
    with pytest.raises(CapabilityError, match=f"atomic {kind.replace('_', '.')}"):
        run(provider, program, arrays)
    return False


@pytest.mark.parametrize("dtype", [d.name for d in ALL if d.kind != "index"])
@pytest.mark.parametrize(
    ("count", "lanes", "masked"),
    [(13, atomic.BLOCK, True), (16, atomic.BLOCK, False), (3, 1, True), (0, atomic.BLOCK, True)],
)
def test_compare_exchange(intent_provider: str, dtype: str, count: int, lanes: int, masked: bool) -> None:
    """Every lane swaps or not by what it finds; both results say which."""
    kind = BY_NAME[dtype].numpy
    before = (np.arange(count) % 3).astype(kind)
    x, z = before.copy(), (np.arange(count) + 40).astype(kind)
    y, hit = np.full(count, 9, kind), np.zeros(count, np.bool_)
    program = atomic.exchange(dtype, masked=masked, lanes=lanes)
    if _run(intent_provider, "compare_exchange", dtype, program, {"x": x, "z": z, "y": y, "hit": hit}):
        same(y, before)
        same(hit, before == 0)
        same(x, np.where(before == 0, z, before))


@pytest.mark.parametrize("dtype", [d.name for d in ALL if d.kind != "index"])
@pytest.mark.parametrize("kind", ["load", "store"])
def test_load_and_store(intent_provider: str, kind: str, dtype: str) -> None:
    """An acquiring load and a releasing store move values as they are."""
    x = (np.arange(11) * 3).astype(BY_NAME[dtype].numpy)
    y, before = np.zeros_like(x), x.copy()
    program = {"load": atomic.load, "store": atomic.store}[kind](dtype)
    if _run(intent_provider, kind, dtype, program, {"x": x, "y": y}):
        same(y, before)
        same(x, before)


def test_neighbours_of_a_byte_stay_as_they_are(intent_provider: str) -> None:
    """A swap of one byte, whichever word it is done by, writes no other."""
    within, z = np.array([77, 0, 7, 0, 9, 0, 77], np.uint8), np.array([1, 2, 3, 4, 5], np.uint8)
    y, hit = np.zeros(5, np.uint8), np.zeros(5, np.bool_)
    arrays = {"x": within[1:6], "z": z, "y": y, "hit": hit}
    if _run(intent_provider, "compare_exchange", "u8", atomic.exchange("u8"), arrays):
        assert within.tolist() == [77, 1, 7, 3, 9, 5, 77]
