"""GPU programs written by hand, for tests of a provider that need no kernel: what it is given, and nothing more.

    lane = Dim("n", 128)
    b = Builder(lane)
    x, y = view("x", "f32", "N"), view("y", "f32", "N", "out")

    def body(pid: Fragment) -> None:
        i = b.op("add", b.op("mul", pid, b.constant(128)), b.lane(lane))
        valid = b.op("lt", i, b.launch("N"))
        value = b.load(x, i, valid=valid)
        b.store(y, [i], b.op("add", value, value), valid)

    double = b.program("double", [x, y], b.segment([("i", symbol("N"), 128)], body))
    run("triton", double, {"x": x_array, "y": y_array})

:mod:`~intent_testkit.programs.whole` has small programs that each show one construct, for golden texts and
builds; :mod:`~intent_testkit.programs.rare` has some that construction seldom makes;
:mod:`~intent_testkit.programs.single` and :mod:`~intent_testkit.programs.atomic` one operation over a block of
lanes, for every function and dtype.
"""

from intent_testkit.programs import atomic, rare, single, whole
from intent_testkit.programs.builder import Builder, view
from intent_testkit.programs.running import invocation, run

__all__ = ["Builder", "atomic", "invocation", "rare", "run", "single", "view", "whole"]
