"""Launches of the Triton provider up to the driver's call: what is passed, and what it costs."""

from __future__ import annotations

import ctypes
import os
import random
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("intent_provider_triton")

import intent
import intent.language as I
from intent.diagnostics import IntentError, ScalarArgument
from intent.runtime import native
from intent.runtime.native import build
from intent_testkit.bench.launch_cost import costs
from intent_testkit.bench.stand_in import Driver, gpu
from intent_testkit.kernels import memory, pointwise

MOST_US = 40.0
"""Far above the 2 us measured: this bound finds a lost fast path, on any machine."""


@intent.kernel
def numbers(
    y: I.Out[I.f32, ("N",)], a: I.f16, b: I.bf16, c: I.f32, d: I.f64, e: I.i8, f: I.i64, g: I.u32, h: I.bool
):
    total = I.cast(a, I.f64) + I.cast(b, I.f64) + I.cast(c, I.f64) + d
    whole = I.cast(e, I.f64) + I.cast(f, I.f64) + I.cast(g, I.f64)
    y[...] = I.full(y.shape, I.cast(total + whole + I.select(h, 1.0, 0.0), I.f32), I.f32)


@pytest.fixture(params=["written out", "compiled"])
def recorded(request, monkeypatch):
    """:func:`recording` with known calls in Python, and with known calls in compiled code."""
    exchange = request.param == "compiled"
    if exchange:
        reason = native.load_now()
        if reason is not None:
            pytest.skip(f"known calls cannot be compiled here: {reason}")
    return partial(recording, exchange=exchange)


@intent.kernel
def saxpy(
    a: I.f32,
    x: I.In[I.f32, ("M", "N"), I.constraints(strides=("X0", "X1"))],
    y: I.In[I.f32, ("M", "N"), I.constraints(strides=("Y0", "Y1"))],
    z: I.Out[I.f32, ("M", "N"), I.constraints(strides=("Z0", "Z1"))],
):
    z[...] = a * x[...] + y[...]


@contextmanager
def recording(sizes: str, *, exchange: bool) -> Iterator[tuple]:
    """Stand-ins whose driver keeps (grid, stream, the arguments read as ``sizes``, a struct code each)."""
    seen: list[tuple] = []

    def launch(config, pointers):
        grid = struct.unpack_from("7I4xQ", config)
        places = (ctypes.c_void_p * len(sizes)).from_address(pointers)
        values = tuple(
            struct.unpack(code, ctypes.string_at(place, struct.calcsize(code)))[0]
            for code, place in zip(sizes, places, strict=True)
        )
        seen.append((grid[:-1], grid[-1], values))

    driver = Driver(seen=launch)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("INTENT_EXECUTION", raising=False)
        with gpu(driver, exchange=exchange) as (torch, _):
            yield torch, driver, seen


def test_what_the_driver_gets(recorded):
    with recorded("QQQiQQ") as (torch, _, seen):
        x, y, z = (torch.empty(1000) for _ in range(3))
        artifact = intent.compile(pointwise.add, "triton")
        artifact(x, y, z)
        torch.handles[0] = 48
        artifact(x, z, y)
        artifact.prepare(y, x, z)()
        assert len(seen) == 3
        length = artifact._latest.length
        assert {grid[:3] for grid, _, _ in seen} == {(length, 1, 1)}
        assert {grid[4:6] for grid, _, _ in seen} == {(1, 1)}
        assert [stream for _, stream, _ in seen] == [16, 48, 48]
        a, b, c = x.data_ptr(), y.data_ptr(), z.data_ptr()
        scratch = (0, 0)
        assert [values for _, _, values in seen] == [
            (*addresses, 1000, *scratch) for addresses in ((a, b, c), (a, c, b), (b, a, c))
        ]


def test_scalars_of_every_kind(recorded):
    with recorded("QeHfdbqI?iQQ") as (torch, _, seen):
        y = torch.empty(5)
        artifact = intent.compile(numbers, "triton")
        for c in (0.1, 3, np.float64(-2.5)):
            artifact(y, 0.1, 1 / 3, c, 0.1, -7, -(1 << 62), (1 << 32) - 1, True)
        for _, _, values in seen:
            assert values[1] == np.float16(0.1)
            assert values[2] == np.asarray(1 / 3, ml_dtypes.bfloat16).view(np.uint16)
            assert values[4:9] == (0.1, -7, -(1 << 62), (1 << 32) - 1, True)
        assert [values[3] for _, _, values in seen] == [np.float32(0.1), 3.0, -2.5]
        for wrong in ((70000.0, 0.0, 0.0), (0.0, 3.4e38, 1e39), (0.0, 3.4e38, 0.0)):
            with pytest.raises(ScalarArgument):
                artifact(y, *wrong, 0.1, -7, 0, 0, True)
        assert len(seen) == 3


def test_layouts_are_built_apart_and_starts_are_not_mixed_up(recorded):
    with recorded("QQQiQQ") as (torch, driver, seen):
        artifact = intent.compile(pointwise.add, "triton")
        wide = [torch.empty(1200) for _ in range(3)]
        for begin, size in ((0, 1200), (1, 1199), (8, 1192), (0, 1200), (2, 1198), (1, 1199)):
            args = [t[begin:] for t in wide]
            artifact(*args)
            assert seen[-1][2][:3] == tuple(t.data_ptr() for t in args)
            assert seen[-1][2][3] == size
        assert driver.loaded == 4  # 16 divides all; addresses, and 8 the extent; 8 and 2; 4 and 1


def test_a_thread_without_a_context_launches_in_ours(recorded):
    with recorded("QQQiQQ") as (torch, driver, seen):
        x, y, z = (torch.empty(64) for _ in range(3))
        artifact = intent.compile(pointwise.add, "triton")
        artifact(x, y, z)
        driver.context = None
        driver.statuses = [201]
        artifact(x, y, z)
        assert len(seen) == 2
        assert driver.context is None
        driver.statuses = [700]
        with pytest.raises(RuntimeError, match="stand-in error 700"):
            artifact(x, y, z)
        driver.statuses = [400, 400]
        with pytest.raises(RuntimeError, match="stand-in error 400"):
            artifact.prepare(x, y, z)()
        artifact(x, y, z)
        assert len(seen) == 3


def test_threads_do_not_mix_their_arguments(recorded):
    with recorded("QQQiQQ") as (torch, _, seen):
        artifact = intent.compile(pointwise.add, "triton")
        calls = [[torch.empty(512) for _ in range(3)] for _ in range(6)]
        artifact(*calls[0])

        def work(args):
            again = artifact.prepare(*args)
            for _ in range(200):
                artifact(*args)
                again()

        threads = [threading.Thread(target=work, args=(args,)) for args in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        expected = [tuple(t.data_ptr() for t in args) for args in calls]
        counts = {e: sum(values[:3] == e for _, _, values in seen) for e in expected}
        assert counts == {e: 401 if e == expected[0] else 400 for e in expected}
        assert len(seen) == 6 * 400 + 1


def test_a_workspace_is_passed_by_the_addresses_of_its_buffers(recorded):
    with recorded("QQ") as (torch, _, seen):
        artifact = intent.compile(memory.sort_rows, "triton")
        x, y = (torch.empty(8, 700, dtype=torch.int32) for _ in range(2))
        artifact(x, y)
        artifact(x, y)
        assert artifact.program.workspace
        assert len(seen) == 2
        assert len(artifact._launches._workspaces._kept) == 1


def test_compiled_code_knows_the_call_itself(monkeypatch):
    reason = native.load_now()
    if reason is not None:
        pytest.skip(f"known calls cannot be compiled here: {reason}")
    with recording("QQQf", exchange=True) as (torch, driver, seen):
        artifact = intent.compile(saxpy, "triton")
        x, y, z = (torch.empty(64, 4) for _ in range(3))
        artifact(2.0, x, y, z)
        artifact(2.0, x, y, y)
        with monkeypatch.context() as patch:
            patch.setattr(artifact, "_launch", None)
            artifact._quick._code.known.clear()  # the code that is written out knows nothing
            artifact(0.1, y, x, z)
            artifact(3.5, z, x, x)
            torch.handles[0] = 48
            artifact(float("-inf"), x, y, z)
        assert [values[:3] for _, _, values in seen[2:]] == [
            tuple(t.data_ptr() for t in args) for args in ((y, x, z), (z, x, x), (x, y, z))
        ]
        assert [values[3] for _, _, values in seen[2:]] == [np.float32(0.1), 3.5, float("-inf")]
        assert [stream for _, stream, _ in seen[2:]] == [16, 16, 48]
        before = len(seen)
        for wrong in (1e39, True, None, "2"):
            with pytest.raises(ScalarArgument):
                artifact(wrong, x, y, z)
        assert len(seen) == before
        artifact(2, x, y, z)  # the long way takes an int, and says so in float
        assert seen[-1][2][3] == 2.0


def test_compiled_code_relaunches_a_prepared_call(monkeypatch):
    reason = native.load_now()
    if reason is not None:
        pytest.skip(f"known calls cannot be compiled here: {reason}")
    with recording("QQQf", exchange=True) as (torch, driver, seen):
        artifact = intent.compile(saxpy, "triton")
        x, y, z = (torch.empty(64, 4) for _ in range(3))
        again = artifact.prepare(0.1, x, y, z)
        assert not seen
        again()
        torch.handles[0] = 48
        again()
        arguments = (x.data_ptr(), y.data_ptr(), z.data_ptr(), np.float32(0.1))
        assert [(stream, values) for _, stream, values in seen] == [(16, arguments), (48, arguments)]
        assert type(again._again).__name__ == "Again"
        with pytest.raises(TypeError):
            again._again(1)
        driver.statuses = [700, 700]
        with pytest.raises(RuntimeError, match="stand-in error 700"):
            again()
        u, v, w = (torch.Tensor((64, 4), torch.float32, pointer=t.data_ptr(), device=1) for t in (x, y, z))
        elsewhere = artifact.prepare(2.0, u, v, w)
        driver.context = 101
        monkeypatch.setattr(driver, "statuses", [201])
        elsewhere()  # the context is another device's: the code that is written out makes its own current
        assert seen[-1][1] == 32
        assert driver.context == 101


def test_calls_move_to_compiled_code_when_it_arrives(monkeypatch):
    reason = native.load_now()
    if reason is not None:
        pytest.skip(f"known calls cannot be compiled here: {reason}")
    state = build._State()
    monkeypatch.setattr(build, "_STATE", state)
    with recording("QQQf", exchange=True) as (torch, _, seen):
        state.stage = "pending"
        artifact = intent.compile(saxpy, "triton")
        x, y, z = (torch.empty(64, 4) for _ in range(3))
        again = artifact.prepare(0.5, x, y, z)
        for _ in range(2):
            artifact(0.5, x, y, z)
            again()
        assert artifact._quick._code.compiled is None
        state.settle(build._load(build._place()))
        for _ in range(2):
            artifact(0.5, x, y, z)
            again()
        assert artifact._quick._code.compiled is not None
        assert type(again._again).__name__ == "Again"
        assert len({values for _, _, values in seen}) == 1
        assert len(seen) == 8


def test_random_calls_reach_the_driver_as_they_are(recorded):
    rng = random.Random(11)  # noqa: S311 - a repeatable test
    with recorded("QQQf") as (torch, _, seen):
        base = torch.empty(1 << 20).data_ptr()
        artifact = intent.compile(saxpy, "triton")

        def tensor(shape, *, offsets):
            strides = [(shape[1], 1), (1, shape[0]), (2 * shape[1], 2), (shape[1] + 16, 1), (0, 1)]
            pointer = base + rng.choice(offsets)
            return torch.Tensor(shape, torch.float32, stride=rng.choice(strides), pointer=pointer)

        for _ in range(300):
            shape = rng.choice([(16, 8), (8, 16), (1, 8), (5, 7), (0, 8)])
            x, y = (tensor(shape, offsets=(0, 4, 16, 2)) for _ in range(2))
            z = tensor(shape, offsets=(4096, 4100, 0, 16, 512))
            scale = rng.choice([0.5, 2, -1.0, True])
            fresh = _outcome(intent.compile(saxpy, "triton"), seen, scale, x, y, z)
            assert _outcome(artifact, seen, scale, x, y, z) == fresh


def _outcome(artifact, seen, *args):
    """The error, or what the driver got."""
    before = len(seen)
    try:
        artifact(*args)
    except IntentError as error:
        assert len(seen) == before
        return str(error)
    assert len(seen) <= before + 1
    return artifact.variant.plan, seen[before:]


@pytest.mark.skipif("COVERAGE_RUN" in os.environ, reason="tracing costs more than what is measured")
def test_python_costs_little_at_a_launch():
    found = costs(calls=300)
    slow = found.pop("call, not known"), found.pop("run, three vectors")
    assert all(value < MOST_US for value in found.values()), found
    assert all(value < 10 * MOST_US for value in slow), slow
    assert found["call, three vectors"] < slow[0] / 3
    assert found["prepared, three vectors"] < found["call, three vectors"]
