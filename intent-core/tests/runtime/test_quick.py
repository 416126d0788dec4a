"""Known calls: what may be launched without checking again, and what must not.

The arrays are stood in for; the launcher settles layouts and records which one every start used.
"""

from __future__ import annotations

import random
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import intent
import intent.language as I
from intent.diagnostics import (
    ArgumentDType,
    ArgumentKind,
    DeviceMismatch,
    ExtentMismatch,
    IntentError,
    LaunchCondition,
    OverlappingViews,
    ScalarArgument,
    WrongArgumentCount,
    ZeroStrideWritable,
)
from intent.provider.binder import ADDRESS_CLASS
from intent.runtime import foreign

BASE = 0x7F0000000000
FAR = BASE + (1 << 30)


@dataclass(frozen=True)
class DType:
    name: str
    itemsize: int


class Tensor:
    def __init__(
        self, shape, dtype, pointer=BASE, *, stride=None, device=0, negative=False, layout="strided"
    ):
        strides, step = [], 1
        for extent in reversed(shape):
            strides.append(step)
            step *= extent
        self.shape, self.dtype, self.device, self.layout = shape, dtype, f"cuda:{device}", layout
        self._stride = tuple(reversed(strides)) if stride is None else stride
        self._pointer, self._device, self._negative = pointer, device, negative

    def stride(self):
        if self.layout != "strided":
            raise RuntimeError("no strides")
        return self._stride

    def data_ptr(self):
        return self._pointer

    def element_size(self):
        return self.dtype.itemsize

    def get_device(self):
        return self._device

    def is_neg(self):
        return self._negative

    def is_conj(self):
        return False

    def __getitem__(self, part):
        return Tensor((self.shape[0] - part.start,), self.dtype, self._pointer + part.start)


class Torch(ModuleType):
    def __init__(self):
        super().__init__("torch")
        sizes = {"bool": 1, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "float16": 2,
                 "bfloat16": 2, "float32": 4, "float64": 8}  # fmt: skip
        for name, size in sizes.items():
            setattr(self, name, DType(name, size))
        self.Tensor, self.strided, self.current = Tensor, "strided", 0
        self.streams, self.capture, self.made = {0: 16, 1: 32}, False, 0
        self.cuda = SimpleNamespace(
            device=self._device,
            current_device=lambda: self.current,
            current_stream=lambda number: SimpleNamespace(cuda_stream=self.streams[number]),
            is_current_stream_capturing=lambda: self.capture,
        )

    @contextmanager
    def _device(self, number):
        before, self.current = self.current, number
        try:
            yield
        finally:
            self.current = before

    def empty_strided(self, shape, stride, dtype, device):
        self.made += 1
        return Tensor(shape, dtype, FAR + self.made * (1 << 20) + 16, stride=stride, device=int(device[5:]))


@dataclass
class Started:
    """One start: the layout that it was settled for, and what it was given."""

    bound: object
    stream: int
    values: tuple
    device: int


class Launcher:
    def __init__(self, torch, assumes=()):
        self.torch, self.assumes = torch, frozenset(assumes)
        self.bound, self.starts, self.fail = [], [], None

    def __call__(self, invocation):
        raise AssertionError("a launcher that settles layouts is not launched otherwise")

    def bind(self, invocation):
        self.bound.append(invocation)

        def start(stream, *values):
            if any(isinstance(v, float) and 1e38 < abs(v) < float("inf") for v in values):
                raise OverflowError
            if self.fail is not None:
                raise self.fail
            self.starts.append(Started(invocation, stream, values, self.torch.current))

        return start


@pytest.fixture
def torch(monkeypatch):
    module = Torch()
    monkeypatch.setitem(sys.modules, "torch", module)
    monkeypatch.setattr(foreign, "_BY_TYPE", {})
    monkeypatch.delenv("INTENT_EXECUTION", raising=False)
    return module


@pytest.fixture
def launcher(torch):
    return Launcher(torch)


@pytest.fixture
def provider(make_toy, launcher):
    toy = make_toy(needs_gpu=True)
    toy.load = lambda source, device: launcher
    return toy


@intent.kernel
def scale(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], factor: I.f32):
    y[...] = x[...] * factor


@intent.kernel
def shift(x: I.In[I.i64, ("N",)], y: I.Out[I.i64, ("N",)], by: I.i64, flag: I.bool):
    y[...] = I.select(flag, x[...] + by, x[...])


@intent.kernel
def count(y: I.Out[I.i64, ("N",)], n: I.i32):
    y[0:n] = I.cast(I.indices(I.domain(0, n)), I.i64)


@intent.kernel
def lookup(x: I.In[I.f32, ("M", "N")], at: I.In[I.i64, ("K",)], y: I.Out[I.f32, ("M", "K")]):
    y[...] = I.cumsum(x[...], axis=1)[:, at[...]]


@pytest.fixture
def call(provider, torch, launcher):
    """``call(x, y, factor=2.0)``: launches ``scale`` and gives its start."""
    artifact = intent.compile(scale, provider)

    def launch(x, y, factor=2.0):
        before = len(launcher.starts)
        artifact(x, y, factor)
        assert len(launcher.starts) == before + 1
        return launcher.starts[-1]

    launch.artifact = artifact
    return launch


def pair(torch, shape=(3, 4), **changes):
    return Tensor(shape, torch.float32, **changes), Tensor(shape, torch.float32, FAR)


def test_a_known_call_is_not_checked_again(call, torch, launcher, monkeypatch):
    x, y = pair(torch)
    call(x, y)
    monkeypatch.setattr(call.artifact, "_launch", None)
    start = call(x, Tensor((3, 4), torch.float32, FAR + 4096), 0.5)
    assert start.values == (BASE, FAR + 4096, 0.5)
    assert start.stream == 16
    assert len(launcher.bound) == 1


def test_the_variant_is_that_of_the_latest_launch(call, torch):
    small, large = pair(torch), pair(torch, (300, 5000))
    call(*small)
    first = call.artifact.variant
    call(*large)
    second = call.artifact.variant
    assert first is not second
    for arrays, variant in ((small, first), (large, second)):
        call(*arrays)
        assert call.artifact.variant is variant
    assert "M = 300" in call.artifact.explain()


@pytest.mark.parametrize(
    "change",
    [{"stride": (1, 3)}, {"stride": (8, 1)}, {"stride": (4, 0)}, {"stride": (0, 0)}, {"pointer": BASE + 4},
     {"pointer": BASE + 8}, {"shape": (4, 3)}, {"shape": (1, 4)}, {"shape": (1, 4), "stride": (400, 1)},
     {"shape": (12, 1), "stride": (1, 7)}, {"shape": (0, 4)}],
)  # fmt: skip
def test_another_layout_is_another_start(call, torch, launcher, change):
    call(*pair(torch))
    x, y = pair(torch, **change)
    if 0 in x.shape:
        call.artifact(x, y, 2.0)
        assert len(launcher.starts) == 1
        return
    start = call(x, y)
    assert start.bound.views["x"].strides == x.stride()
    assert start.bound.views["x"].shape == x.shape
    assert start.bound.views["x"].pointer % ADDRESS_CLASS == x.data_ptr() % ADDRESS_CLASS
    assert len(launcher.bound) == 2
    again = call(*pair(torch))
    assert again.bound is launcher.bound[0]


def test_strides_of_an_axis_of_one_are_those_of_the_call(call, torch, launcher):
    for stride in ((4, 1), (1, 1), (16, 1), (4, 1)):
        start = call(*pair(torch, (1, 4), stride=stride))
        assert start.bound.views["x"].strides == stride
    assert len(launcher.bound) == 3


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"pointer": BASE + 2}, LaunchCondition),
        ({"negative": True}, ArgumentKind),
        ({"layout": "sparse"}, ArgumentKind),
        ({"device": 1}, DeviceMismatch),
        ({"shape": (3, 5)}, ExtentMismatch),
    ],
)
def test_what_a_known_call_never_lets_pass(call, torch, launcher, change, error):
    call(*pair(torch))
    x, _ = pair(torch, **change)
    with pytest.raises(error):
        call.artifact(x, Tensor((3, 4), torch.float32, FAR), 2.0)
    assert len(launcher.starts) == 1


def test_another_dtype_of_the_same_layout(call, torch, launcher):
    x, y = pair(torch)
    call(x, y)
    with pytest.raises(ArgumentDType):
        call.artifact(Tensor((3, 4), torch.int32), y, 2.0)
    with pytest.raises(ArgumentKind):
        call.artifact([1.0], y, 2.0)
    with pytest.raises(DeviceMismatch):
        call.artifact(np.zeros((3, 4), np.float32), y, 2.0)
    for wrong in ((x, y), (x, y, 2.0, 3.0)):
        with pytest.raises(WrongArgumentCount):
            call.artifact(*wrong)
    assert len(launcher.starts) == 1


def test_overlap_of_known_layouts(call, torch, launcher):
    x, y = pair(torch)
    call(x, y)
    for distance in (4, 16, 44, -4, -44):
        with pytest.raises(OverlappingViews):
            call.artifact(x, Tensor((3, 4), torch.float32, BASE + distance), 2.0)
    call(x, Tensor((3, 4), torch.float32, BASE + 48))
    call(x, Tensor((3, 4), torch.float32, BASE - 48))
    assert len(launcher.starts) == 3


def test_in_place_is_known_by_its_distance(call, torch, monkeypatch):
    x, _ = pair(torch)
    call(x, x)
    with pytest.raises(OverlappingViews):
        call.artifact(x, Tensor((3, 4), torch.float32, BASE + 16), 2.0)
    monkeypatch.setattr(call.artifact, "_launch", None)
    other = Tensor((3, 4), torch.float32, FAR)
    assert call(other, other).values == (FAR, FAR, 2.0)


def test_views_interleaved_in_one_allocation(call, torch, monkeypatch):
    x = Tensor((3, 4), torch.float32, BASE, stride=(8, 1))
    y = Tensor((3, 4), torch.float32, BASE + 16, stride=(8, 1))
    call(x, y)
    with pytest.raises(OverlappingViews):
        call.artifact(x, Tensor((3, 4), torch.float32, BASE + 32, stride=(8, 1)), 2.0)
    monkeypatch.setattr(call.artifact, "_launch", None)
    call(x, y)


def test_a_written_layout_that_repeats_itself(call, torch, launcher):
    x, y = pair(torch)
    call(x, y)
    with pytest.raises(ZeroStrideWritable):
        call.artifact(x, Tensor((3, 4), torch.float32, FAR, stride=(0, 1)), 2.0)
    assert len(launcher.starts) == 1


def test_float_scalars_are_not_part_of_a_signature(call, torch, launcher):
    x, y = pair(torch)
    for factor in (2.0, 0.1, 3, np.float64(0.5), np.float32(0.25), float("inf"), -1e-45):
        assert call(x, y, factor).values[2] in (factor, float(np.float32(factor)))
    assert len(launcher.bound) == 1
    for wrong in (True, "2", None, 1e39, 10**400):
        with pytest.raises(ScalarArgument):
            call.artifact(x, y, wrong)
    assert len(launcher.starts) == 7


@pytest.fixture
def shifted(provider, torch, launcher):
    """``shifted(by, flag)``: launches ``shift`` and gives its start."""
    artifact = intent.compile(shift, provider)
    x, y = Tensor((6,), torch.int64), Tensor((6,), torch.int64, FAR)

    def launch(by, flag=True):
        artifact(x, y, by, flag)
        return launcher.starts[-1]

    return launch


def test_integer_scalars_that_nothing_depends_on(shifted, launcher):
    for by in (1, 16, 17, 0, -5, np.int64(9), (1 << 63) - 1):
        assert shifted(by).values[2:] == (by, True)
    assert shifted(1, flag=np.bool_(False)).values[3] is False
    assert len(launcher.bound) == 1
    for by, flag in ((1.0, True), (True, True), (1 << 63, True), (1, 1), (1, None)):
        with pytest.raises(ScalarArgument):
            shifted(by, flag)
    assert len(launcher.starts) == 8


@pytest.mark.parametrize("values", [(1, 16, 17, 16, 1), (16, 1, 32, 16)])
def test_a_start_has_the_scalars_that_its_launcher_assumes(provider, torch, launcher, values):
    launcher.assumes = frozenset({"by", "N"})
    artifact = intent.compile(shift, provider)
    x, y = Tensor((6,), torch.int64), Tensor((6,), torch.int64, FAR)
    for by in values:
        artifact(x, y, by, True)
        assert launcher.starts[-1].bound.scalars["by"] == by
    assert len(launcher.bound) == len(set(values))
    with pytest.raises(ScalarArgument):
        artifact(x, y, float(values[0]), True)
    artifact(x, y, np.int32(values[0]), True)
    assert len(launcher.bound) == len(set(values))


def test_scalars_that_extents_mention(provider, torch, launcher):
    artifact = intent.compile(count, provider)
    y = Tensor((300,), torch.int64)
    lengths = {}
    for n in (1, 16, 17, 300, 17, 1):
        artifact(y, n)
        bound = launcher.starts[-1].bound
        assert bound.extents["n"] == n
        assert lengths.setdefault(n, bound.length) == bound.length
        assert bound.length == artifact.program.length.evaluate(artifact._latest.env)
    before = len(launcher.starts)
    for wrong in (True, 2.0, 1 << 31):
        with pytest.raises(ScalarArgument):
            artifact(y, wrong)
    artifact(y, 0)
    assert len(launcher.starts) == before


def test_devices_take_turns(call, torch, launcher):
    for number in (0, 1, 0, 1):
        x = Tensor((3, 4), torch.float32, device=number)
        start = call(x, Tensor((3, 4), torch.float32, FAR, device=number))
        assert (start.device, start.stream) == (number, torch.streams[number])
        assert torch.current == 0
    assert len(launcher.bound) == 2
    launcher.fail = RuntimeError("the driver says no")
    with pytest.raises(RuntimeError, match="says no"):
        call(x, Tensor((3, 4), torch.float32, FAR, device=1))
    assert torch.current == 0


def test_the_current_stream_is_asked_at_every_call(call, torch):
    x, y = pair(torch)
    seen = []
    for stream in (16, 48, 0, 16):
        torch.streams[0] = stream
        seen.append(call(x, y).stream)
    assert seen == [16, 48, 0, 16]


def test_prepared_calls_follow_device_and_stream(call, torch, launcher):
    x = Tensor((3, 4), torch.float32, device=1)
    again = call.artifact.prepare(x, Tensor((3, 4), torch.float32, FAR, device=1), 2.0)
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
    x, at = Tensor((3, 100_000), torch.float32), Tensor((7,), torch.int64, FAR)
    args = (x, at, Tensor((3, 7), torch.float32, FAR + 4096))
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
        x = Tensor(shape, torch.float32, pointer, stride=rng.choice(strides))
        near = pointer + rng.choice([0, 4, 16, 32, 4096])
        y = Tensor(shape, torch.float32, rng.choice([FAR, FAR + 4, near]), stride=rng.choice(strides))
        fresh, before = _outcome(provider_copy(call), x, y), len(launcher.starts)
        known = _outcome(call.artifact, x, y)
        assert known == fresh
        for start in launcher.starts[before:]:
            for name, array, value in zip("xy", (x, y), start.values, strict=False):
                view = start.bound.views[name]
                assert (view.shape, view.strides) == (array.shape, array.stride())
                assert value == array.data_ptr()
                assert view.pointer % ADDRESS_CLASS == value % ADDRESS_CLASS


def provider_copy(call):
    """An artifact of the same kernel that knows no call."""
    return intent.compile(scale, call.artifact.provider)


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
            x = Tensor(shape, torch.float32, device=device)
            y = artifact.run(x, factor)
            assert (y.shape, y.stride(), y.device) == (shape, x.stride(), x.device)
            if 0 not in shape:
                assert launcher.starts[-1].values == (BASE, y.data_ptr(), factor)
    with pytest.raises(ArgumentDType):
        artifact.run(Tensor((3, 4), torch.int32), 2.0)
    with pytest.raises(WrongArgumentCount):
        artifact.run(Tensor((3, 4), torch.float32))
    monkeypatch.setattr(artifact, "_allocate", None)
    assert artifact.run(factor=1.5, x=Tensor((4, 3), torch.float32)).shape == (4, 3)


def test_threads_may_call_at_once(call, torch, launcher):
    arguments = [pair(torch, (3 + k, 4)) for k in range(8)]
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


def test_no_more_calls_are_kept_than_the_limit(call, torch, launcher, monkeypatch):
    from intent.runtime import quick

    monkeypatch.setattr(quick, "_LIMIT", 4)
    for columns in range(1, 30):
        call(*pair(torch, (2, columns)))
    assert len(call.artifact._quick._code.known) <= 4
    call(*pair(torch, (2, 3)))
    assert launcher.starts[-1].bound.views["x"].shape == (2, 3)
