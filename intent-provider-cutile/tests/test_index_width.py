"""When a launch may use 32-bit index arithmetic."""

from __future__ import annotations

import pytest

from intent.provider import BoundView, Invocation
from intent.types.extent import Symbol
from intent_provider_cutile.emit import emit
from intent_testkit.programs import whole


@pytest.mark.parametrize(("n", "small"), [((1 << 31) - 128, True), ((1 << 31) - 10, False), (1 << 31, False)])
def test_a_loop_counter_must_pass_its_end_without_wrapping(n: int, small: bool) -> None:
    program = whole.row_sum_loop()
    env = {Symbol("M"): 1, Symbol("N"): n}
    views = {
        v.name: BoundView(
            name=v.name, pointer=0, shape=tuple(e.evaluate(env) for e in v.shape), strides=(1,) * len(v.shape),
            dtype=v.dtype.name, device="cpu", array=None,
        )
        for v in program.views
    }  # fmt: skip
    call = Invocation(views=views, scalars={}, extents={"M": 1, "N": n}, length=program.length.evaluate(env))
    assert emit(program).signature.small(call) is small
