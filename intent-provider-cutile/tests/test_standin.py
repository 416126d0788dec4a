"""The stand-in refuses what the compiler refuses, and what the provider must not rely on."""

from __future__ import annotations

import numpy as np
import pytest

from intent_provider_cutile.emulate.carries import instrumented
from intent_provider_cutile.emulate.dtypes import ALL, FLOAT32, INT32, INT64, TileTypeError
from intent_provider_cutile.emulate.language import Language
from intent_provider_cutile.emulate.memory import BaseArray, OutsideAccess, memory_of
from intent_provider_cutile.emulate.tile import Tile


def run(body: str, *arguments: object, parameters: str = "") -> dict:
    """Run statements as a kernel's body and give its variables."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text = f"import cuda.tile as ct\n\n\n@ct.kernel\ndef k({parameters}):\n{lines}    return locals()\n"
    namespace = Language().namespace("test")
    exec(instrumented(text, "<test>"), namespace)
    with np.errstate(all="ignore"):
        return namespace["k"](*arguments)


def array(values: np.ndarray) -> BaseArray:
    kinds = {d.numpy: d for d in ALL.values()}
    return BaseArray(memory_of("x", values, values.ctypes.data, kinds[values.dtype]))


@pytest.mark.parametrize(
    "body",
    [
        "t = ct.arange(3, dtype=ct.int32)",
        "t = ct.full((2, 6), 0, ct.int32)",
        "t = ct.reshape(ct.arange(8, dtype=ct.int32), (0, 8))",
        "t = ct.arange(4, dtype=ct.int32) + ct.arange(8, dtype=ct.int32)",
        "t = ct.float32(1.0) + ct.float64(1.0)",
        "t = ct.int32(1) + ct.uint32(1)",
        "t = ct.int32(1) ^ ct.int64(1)",
        "t = ct.int32(1) + 1.5",
        "t = ct.int32(1) + 2147483648",
        "t = ct.int32(1) / 2",
        "t = ct.float8_e5m2(1.0) + ct.float8_e5m2(1.0)",
        "t = ct.bool_(True) + ct.bool_(True)",
        "t = ct.where(1, ct.int32(1), 2)",
        "t = ct.maximum(1, 2)",
        "t = ct.exp(ct.int32(1))",
        "if ct.int32(1):\n    pass",
        "if ct.full((2,), True, ct.bool_):\n    pass",
        "t = ct.arange(4, dtype=ct.int32)[0]",
        "t = ct.bitcast(ct.int32(1), ct.float64)",
        "for i in range(0, ct.float32(1.0)):\n    pass",
        "for i in range(4, 0, -1):\n    pass",
        "t = ct.mma(ct.zeros((2, 2), ct.float16), ct.zeros((2, 2), ct.float16), ct.zeros((2, 2), ct.float16))",
        "t = ct.reduce(ct.arange(4, dtype=ct.int32), 0, lambda a, b: a + b, ct.int32(0))",
        "t = ct.bid(1)",
    ],
)
def test_refused(body):
    with pytest.raises(TileTypeError):
        run(body)


@pytest.mark.parametrize(
    "body",
    [
        "a = ct.int32(0)\nfor i in range(0, 2):\n    a = ct.int64(1)",
        "a = ct.float32(0.0)\nfor i in range(0, 2):\n    a = ct.zeros((2,), ct.float32)",
        "a = ct.int32(0)\nwhile a < 3:\n    a = ct.astype(a + 1, ct.int64)",
    ],
)
def test_a_carry_keeps_its_type(body):
    with pytest.raises(TileTypeError, match="the loop turns 'a'"):
        run(body)


def test_stable_carries_run():
    found = run("a = ct.int32(0)\nfor i in range(0, ct.int64(3)):\n    a = a + 2")
    assert int(found["a"].data) == 6
    assert found["i"].dtype == INT64


@pytest.mark.parametrize("flip", [False, True])
def test_active_lanes_stay_inside_their_array(flip):
    values = np.arange(5, dtype=np.float32)
    values = values[::-1] if flip else values
    stride = "-1" if flip else "1"
    body = (
        f"x = x.get_raw_memory()\nlane = ct.arange(8, dtype=ct.int32)\nt = x.load_offset(lane * {stride}{{}})"
    )
    kept = run(body.format(", mask=lane < 5, padding_value=7.0"), array(values), parameters="x")
    np.testing.assert_array_equal(kept["t"].data, [*values, 7, 7, 7])
    with pytest.raises(OutsideAccess, match="'x'"):
        run(body.format(""), array(values), parameters="x")


def test_stored_values_have_the_element_type():
    with pytest.raises(TileTypeError, match="float64 meets"):
        run(
            "x.get_raw_memory().store_offset(0, ct.float64(1.0))",
            array(np.zeros(1, np.float32)),
            parameters="x",
        )


def test_atomics_that_cutile_lacks_are_refused():
    for values, kind in ((np.zeros(1, np.float32), "max"), (np.zeros(1, np.int16), "add")):
        literal = "1.0" if values.dtype.kind == "f" else "1"
        with pytest.raises(TileTypeError, match=f"atomic {kind}"):
            run(f"x.get_raw_memory().atomic_{kind}_offset(0, {literal})", array(values), parameters="x")


@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_promises_no_order_of_its_operands(reverse):
    # (a, b) stands for x -> a * x + b; composing maps is associative and does not commute.
    text = (
        "def then(a, b, c, d):\n    return c * a, c * b + d\n"
        "def placed(a, b, i, c, d, j):\n    swap = j < i\n"
        "    a, c = ct.where(swap, c, a), ct.where(swap, a, c)\n"
        "    b, d = ct.where(swap, d, b), ct.where(swap, b, d)\n"
        "    p, q = then(a, b, c, d)\n    both = (i >= 0) & (j >= 0)\n"
        "    return ct.where(both, p, c), ct.where(both, q, d), ct.maximum(i, j)\n"
        f"place = {'7 - ' if reverse else ''}ct.arange(8, dtype=ct.int32)\n"
        f"a, b, _ = ct.scan((m, s, place), 0, placed, (0, 0, -1), reverse={reverse})\n"
        "last = ct.reduce(m, 0, lambda p, q: p * q, 1)"
    )
    m, s = np.array([2, 3, 1, 5, 1, 1, 2, 3], np.int32), np.arange(8, dtype=np.int32)
    found = run(text, Tile(m, INT32), Tile(s, INT32), parameters="m, s")
    a, b = 1, 0
    for i in range(7, -1, -1) if reverse else range(8):
        a, b = m[i] * a, m[i] * b + s[i]
        assert (found["a"].data[i], found["b"].data[i]) == (a, b)
    assert found["last"].data == m.prod()


def test_other_imports_are_refused():
    with pytest.raises(ImportError, match=r"cuda\.tile only"):
        exec("import os", Language().namespace("test"))


def test_a_sum_stays_in_its_dtype():
    assert run("t = ct.sum(ct.full((4,), 1.0, ct.float32), axis=0)")["t"].dtype == FLOAT32


@pytest.mark.parametrize(
    "text", ["ct.float64(0.1)", "ct.full((2,), 0.1, ct.float64)", "ct.float64(0.0) + 0.1"]
)
def test_literals_are_rounded_to_f32_also_where_they_become_f64(text):
    assert np.all(run(f"t = {text}")["t"].data == np.float64(np.float32(0.1)))
