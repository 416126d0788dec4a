"""Known calls: devices, streams, workspaces, threads, other libraries, and how many are kept."""

from __future__ import annotations

import random
import sys
import threading
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import intent
import intent.language as I
from intent.diagnostics import (
    ArgumentDType,
    IntentError,
    OverlappingViews,
    WrongArgumentCount,
)
from intent.provider.binder import ADDRESS_CLASS

BASE = 0x7F0000000000
FAR = BASE + (1 << 30)


@intent.kernel
def scale(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], factor: I.f32):
    y[...] = x[...] * factor


@intent.kernel
def lookup(x: I.In[I.f32, ("M", "N")], at: I.In[I.i64, ("K",)], y: I.Out[I.f32, ("M", "K")]):
    y[...] = I.cumsum(x[...], axis=1)[:, at[...]]


def test_devices_take_turns(call, torch, launcher):
    for number in (0, 1, 0, 1):
        x = torch.Tensor((3, 4), torch.float32, device=number)
        start = call(x, torch.Tensor((3, 4), torch.float32, FAR, device=number))
        assert (start.device, start.stream) == (number, torch.streams[number])
        assert torch.current == 0
    assert len(launcher.bound) == 2
    launcher.fail = RuntimeError("the driver says no")
    with pytest.raises(RuntimeError, match="says no"):
        call(x, torch.Tensor((3, 4), torch.float32, FAR, device=1))
    assert torch.current == 0


def test_the_current_stream_is_asked_at_every_call(call, torch, pair):
    x, y = pair()
    seen = []
    for stream in (16, 48, 0, 16):
        torch.streams[0] = stream
        seen.append(call(x, y).stream)
    assert seen == [16, 48, 0, 16]


def test_prepared_calls_follow_device_and_stream(call, torch, launcher):
    x = torch.Tensor((3, 4), torch.float32, device=1)
    again = call.artifact.prepare(x, torch.Tensor((3, 4), torch.float32, FAR, device=1), 2.0)
    assert not launcher.starts
    again()
    torch.streams[1], torch.current = 64, 1
    again()
    assert [(s.stream, s.device) for s in launcher.starts] == [(32, 1), (64, 1)]
    assert launcher.starts[1].values == (BASE, FAR, 2.0)


@pytest.fixture
def looked_up(provider, torch, launcher):
    """``lookup``, whose program has a workspace, and its arguments."""
    artifact = intent.compile(lookup, provider)
    x, at = torch.Tensor((3, 100_000), torch.float32), torch.Tensor((7,), torch.int64, FAR)
    args = (x, at, torch.Tensor((3, 7), torch.float32, FAR + 4096))
    artifact.prepare(*args)
    assert artifact.program.workspace
    launcher.bound.clear()
    return artifact, args


def test_streams_have_a_workspace_each(looked_up, torch, launcher):
    artifact, args = looked_up
    again = artifact.prepare(*args)
    by_stream = {}
    for stream in (16, 48, 16, 48, 16):
        torch.streams[0] = stream
        artifact(*args)
        again()
        for start in launcher.starts[-2:]:
            assert start.stream == stream
            by_stream.setdefault(stream, set()).add(start.values[-1])
    assert [len(found) for found in by_stream.values()] == [1, 1]
    assert not by_stream[16] & by_stream[48]
    assert all(pointer % 128 == 0 for found in by_stream.values() for pointer in found)


def test_a_captured_launch_has_a_workspace_of_its_own(looked_up, torch, launcher):
    artifact, args = looked_up
    for capture in (False, True, True, False):
        torch.capture = capture
        artifact(*args)
    first, second, third, last = (start.values[-1] for start in launcher.starts)
    assert len({first, second, third}) == 3
    assert last == first


def test_threads_on_their_own_default_streams_share_no_workspace(looked_up, torch, launcher):
    artifact, args = looked_up
    torch.streams[0] = 2
    artifact(*args)
    thread = threading.Thread(target=artifact, args=args)
    thread.start()
    thread.join()
    assert launcher.starts[0].values[-1] != launcher.starts[1].values[-1]


def test_a_failed_launch_gives_its_workspace_up(looked_up, torch, launcher):
    artifact, args = looked_up
    artifact(*args)
    launcher.fail = RuntimeError("no")
    with pytest.raises(RuntimeError):
        artifact(*args)
    launcher.fail = None
    artifact(*args)
    assert launcher.starts[0].values[-1] != launcher.starts[1].values[-1]


def test_random_calls_use_what_was_settled_for_them(call, torch, launcher):
    rng = random.Random(7)  # noqa: S311 - a repeatable test
    shapes = [(3, 4), (4, 3), (1, 4), (16, 1), (1, 1), (0, 4), (17, 16)]
    for _ in range(400):
        shape = rng.choice(shapes)
        strides = [(shape[1], 1), (1, shape[0]), (2 * shape[1], 2), (0, 1), (16, 1)]
        pointer = BASE + rng.choice([0, 0, 4, 8, 12, 16, 2])
        x = torch.Tensor(shape, torch.float32, pointer, stride=rng.choice(strides))
        near = pointer + rng.choice([0, 4, 16, 32, 4096])
        y = torch.Tensor(shape, torch.float32, rng.choice([FAR, FAR + 4, near]), stride=rng.choice(strides))
        fresh, before = _outcome(call.fresh(), x, y), len(launcher.starts)
        known = _outcome(call.artifact, x, y)
        assert known == fresh
        for start in launcher.starts[before:]:
            for name, array, value in zip("xy", (x, y), start.values, strict=False):
                view = start.bound.views[name]
                assert (view.shape, view.strides) == (array.shape, array.stride())
                assert value == array.data_ptr()
                assert view.pointer % ADDRESS_CLASS == value % ADDRESS_CLASS


def _outcome(artifact, x, y):
    try:
        artifact(x, y, 2.0)
    except IntentError as error:
        return str(error)
    return None


class Ndarray:
    """What the runtime reads of a CuPy array."""

    def __init__(self, shape, pointer=BASE, strides=None, device=0):
        self.shape, self.dtype, self.itemsize = shape, np.dtype(np.float32), 4
        self.strides = strides or (4 * shape[1], 4)
        self.data = SimpleNamespace(ptr=pointer, device_id=device)
        self.device = SimpleNamespace(id=device)


def test_arrays_of_cupy(provider, launcher, monkeypatch):
    current = [0]

    @contextmanager
    def device(number):
        before, current[0] = current[0], number
        yield
        current[0] = before

    cupy = ModuleType("cupy")
    cupy.ndarray = Ndarray
    cupy.cuda = SimpleNamespace(
        Device=device,
        runtime=SimpleNamespace(getDevice=lambda: current[0]),
        get_current_stream=lambda: SimpleNamespace(ptr=100 + current[0]),
    )
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    artifact = intent.compile(scale, provider)
    x, y = Ndarray((3, 4)), Ndarray((3, 4), FAR)
    artifact(x, y, 2.0)
    flipped = Ndarray((3, 4), BASE + 44, strides=(-16, -4))
    artifact(flipped, y, 2.0)
    artifact(Ndarray((3, 4), device=1), Ndarray((3, 4), FAR, device=1), 2.0)
    with pytest.raises(OverlappingViews):
        artifact(flipped, Ndarray((3, 4), BASE), 2.0)
    monkeypatch.setattr(artifact, "_launch", None)
    artifact(Ndarray((3, 4), BASE + 64), y, 0.5)
    artifact(flipped, Ndarray((3, 4), BASE + 48), 2.0)
    artifact(Ndarray((3, 4), device=1), Ndarray((3, 4), FAR, device=1), 2.0)
    assert launcher.starts[3].values == (BASE + 64, FAR, 0.5)
    assert launcher.starts[4].bound.views["x"].strides == (-4, -1)
    assert [s.stream for s in launcher.starts] == [100, 100, 101, 100, 100, 101]


def test_run_allocates_for_the_inputs_of_the_call(provider, torch, launcher, monkeypatch):
    artifact = intent.compile(scale, provider)
    for shape, device in (((3, 4), 0), ((4, 3), 0), ((3, 4), 1), ((3, 4), 0), ((0, 4), 0)):
        for factor in (2.0, 0.5):
            x = torch.Tensor(shape, torch.float32, device=device)
            y = artifact.run(x, factor)
            assert (y.shape, y.stride(), y.device) == (shape, x.stride(), x.device)
            if 0 not in shape:
                assert launcher.starts[-1].values == (BASE, y.data_ptr(), factor)
    with pytest.raises(ArgumentDType):
        artifact.run(torch.Tensor((3, 4), torch.int32), 2.0)
    with pytest.raises(WrongArgumentCount):
        artifact.run(torch.Tensor((3, 4), torch.float32))
    monkeypatch.setattr(artifact, "_allocate", None)
    assert artifact.run(factor=1.5, x=torch.Tensor((4, 3), torch.float32)).shape == (4, 3)


def test_threads_may_call_at_once(call, torch, launcher, pair):
    arguments = [pair((3 + k, 4)) for k in range(8)]
    failures = []

    def work(k):
        try:
            for _ in range(50):
                for x, y in arguments:
                    call.artifact(x, y, float(k))
        except Exception as error:  # noqa: BLE001 - whatever it is, the test fails with it
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(launcher.starts) == 4 * 50 * 8


def test_no_more_calls_are_kept_than_the_limit(call, torch, launcher, monkeypatch, pair):
    from intent.runtime import quick

    monkeypatch.setattr(quick, "_LIMIT", 4)
    for columns in range(1, 30):
        call(*pair((2, columns)))
    assert len(call.artifact._quick._code.known) <= 4
    call(*pair((2, 3)))
    assert launcher.starts[-1].bound.views["x"].shape == (2, 3)
