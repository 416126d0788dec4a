"""Stand-ins for torch and for a launcher that settles layouts and records which one every start used."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace

import pytest

import intent
import intent.language as I
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


@pytest.fixture
def call(provider, torch, launcher):
    """``call(x, y, factor=2.0)`` launches ``scale`` and gives its start; ``call.fresh()`` is one that knows no call."""
    artifact = intent.compile(scale, provider)

    def launch(x, y, factor=2.0):
        before = len(launcher.starts)
        artifact(x, y, factor)
        assert len(launcher.starts) == before + 1
        return launcher.starts[-1]

    launch.artifact = artifact
    launch.fresh = lambda: intent.compile(scale, provider)
    return launch


@pytest.fixture
def pair(torch):
    """``pair(shape, **changes)``: an input with the changes, and an output far from it."""

    def made(shape=(3, 4), **changes):
        return torch.Tensor(shape, torch.float32, **changes), torch.Tensor(shape, torch.float32, FAR)

    return made
