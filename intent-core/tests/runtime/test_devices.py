"""Arrays of torch and CuPy, stood in for by modules of the same interface: recognition, devices, streams."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from intent.diagnostics import (
    ArgumentDType,
    ArgumentKind,
    DeviceMismatch,
    NoDevice,
    NotSupportedYet,
    ReadOnlyArgument,
)
from intent.runtime import foreign

POINTER = 0x7F0000000000


class Tensor:
    """As much of a torch tensor as the runtime reads; the memory of ``cuda`` tensors does not exist."""

    def __init__(self, shape, stride, dtype, device, pointer=POINTER, layout="strided", negative=False):
        self.shape, self._stride, self.dtype, self.device = shape, stride, dtype, device
        self._pointer, self.layout, self._negative = pointer, layout, negative

    def stride(self):
        return self._stride

    def data_ptr(self):
        return self._pointer

    def element_size(self):
        return self.dtype.itemsize

    def is_neg(self):
        return self._negative

    def is_conj(self):
        return False


@dataclass(frozen=True)
class DType:
    name: str
    itemsize: int


class FakeTorch(ModuleType):
    def __init__(self):
        super().__init__("torch")
        sizes = {"bool": 1, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "float16": 2, "bfloat16": 2,
                 "float32": 4, "float64": 8, "float8_e4m3fn": 1, "float8_e5m2": 1}  # fmt: skip
        for name, size in sizes.items():
            setattr(self, name, DType(name, size))
        self.Tensor, self.strided = Tensor, "strided"
        self.current, self.handles, self.made = 0, {0: 11, 1: 22}, []
        self.cuda = SimpleNamespace(
            device=self._device, current_stream=self._stream, current_device=lambda: self.current
        )

    @contextmanager
    def _device(self, number):
        before, self.current = self.current, number
        yield
        self.current = before

    def _stream(self, number):
        return SimpleNamespace(cuda_stream=self.handles[number])

    def empty_strided(self, shape, stride, dtype, device):
        self.made.append((shape, stride, dtype.name, device))
        return Tensor(shape, stride, dtype, device, pointer=POINTER + (len(self.made) << 20))


@pytest.fixture
def torch(monkeypatch):
    module = FakeTorch()
    monkeypatch.setitem(sys.modules, "torch", module)
    monkeypatch.setattr(foreign, "_BY_TYPE", {})
    return module


@pytest.fixture
def gpu(compiled, kernels, make_toy, monkeypatch):
    monkeypatch.delenv("INTENT_EXECUTION", raising=False)
    toy = make_toy(needs_gpu=True)
    return compiled(kernels.scale(), toy), toy


def cuda(torch, number=0, *, offset=0, dtype="float32"):
    return Tensor((3, 4), (4, 1), getattr(torch, dtype), f"cuda:{number}", POINTER + offset)


def test_tensors_of_a_gpu_are_launched_on_their_device_and_stream(gpu, torch):
    artifact, toy = gpu
    seen = []
    inner = toy.emulate

    def emulate(source):
        launch = inner(source)
        return lambda invocation: (seen.append((torch.current, invocation.stream)), launch(invocation))

    toy.emulate = emulate
    artifact(cuda(torch, 1), cuda(torch, 1, offset=4096), 2.0)
    assert seen == [(1, 22)]
    assert torch.current == 0
    assert toy.loaded == ["cuda:1"]
    (invocation,) = toy.launches
    assert invocation.views["x"].device == "cuda:1"
    assert invocation.views["y"].pointer == POINTER + 4096


def test_a_prepared_call_follows_the_current_stream(gpu, torch):
    artifact, toy = gpu
    relaunch = artifact.prepare(cuda(torch), cuda(torch, offset=4096), 2.0)
    relaunch()
    torch.handles[0] = 33
    relaunch()
    assert [i.stream for i in toy.launches] == [11, 33]


def test_outs_come_from_the_callers_library(gpu, torch):
    artifact, _ = gpu
    y = artifact.run(cuda(torch, 1), 2.0)
    assert isinstance(y, Tensor)
    assert torch.made == [((3, 4), (4, 1), "float32", "cuda:1")]


def test_mixed_devices(gpu, torch, x):
    artifact, toy = gpu
    with pytest.raises(DeviceMismatch) as caught:
        artifact(cuda(torch, 0), cuda(torch, 1, offset=4096), 2.0)
    assert "x is cuda:0" in str(caught.value)
    assert "y is cuda:1" in str(caught.value)
    with pytest.raises(DeviceMismatch, match="runs on a GPU"):
        artifact(x, x.copy(), 2.0)
    assert not toy.launches


def test_without_a_gpu_the_error_says_how_to_emulate(compiled, kernels, make_toy, x, monkeypatch):
    monkeypatch.delenv("INTENT_EXECUTION", raising=False)
    toy = make_toy(needs_gpu=True, reason="the driver is missing")
    artifact = compiled(kernels.scale(), toy)
    y = np.full_like(x, 5)
    for call in (lambda: artifact(x, y, 2.0), lambda: artifact.run(x, 2.0)):
        with pytest.raises(NoDevice) as caught:
            call()
        assert "INTENT_EXECUTION=emulate" in str(caught.value)
        assert "the driver is missing" in str(caught.value)
    np.testing.assert_array_equal(y, 5)
    monkeypatch.setenv("INTENT_EXECUTION", "emulate")
    artifact(x, y, 2.0)
    np.testing.assert_array_equal(y, 2 * x)
    assert toy.loaded == []


def test_emulation_and_cpu_providers_refuse_gpu_arrays(scale, torch):
    with pytest.raises(DeviceMismatch, match="runs on the CPU"):
        scale(cuda(torch), cuda(torch, offset=4096), 1.0)


def test_cpu_tensors_are_bound_as_numpy_over_the_same_memory(scale, torch, x):
    base = np.zeros_like(x)
    pointer = base.__array_interface__["data"][0]
    tensor = Tensor((4, 3), (1, 4), torch.float32, "cpu", pointer)
    scale(np.ascontiguousarray(x.T), tensor, 2.0)
    np.testing.assert_array_equal(base, 2 * x)


@pytest.mark.parametrize(
    ("theirs", "ours"), [("bfloat16", "bf16"), ("float8_e4m3fn", "f8e4m3fn"), ("float16", "f16")]
)
def test_element_types_of_torch(compiled, kernels, make_toy, torch, theirs, ours, monkeypatch):
    monkeypatch.delenv("INTENT_EXECUTION", raising=False)
    toy = make_toy(needs_gpu=True)
    artifact = compiled(kernels.scale(dtype=ours), toy)
    artifact(cuda(torch, dtype=theirs), cuda(torch, offset=4096, dtype=theirs), 1.0)
    assert toy.launches[0].views["x"].dtype == ours


@pytest.mark.parametrize("change", [{"layout": "sparse"}, {"negative": True}])
def test_tensors_that_are_no_plain_memory(scale, torch, x, change):
    with pytest.raises(ArgumentKind):
        scale(Tensor((3, 4), (4, 1), torch.float32, "cpu", **change), x, 1.0)


class Exporter:
    """An array of an unknown library that offers DLPack only."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, *, stream=None):
        return self._array.__dlpack__()

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_dlpack(scale, x):
    y = np.zeros((3, 8), np.float32)
    scale(Exporter(x), Exporter(y[:, ::2]), 2.0)
    np.testing.assert_array_equal(y[:, ::2], 2 * x)
    np.testing.assert_array_equal(y[:, 1::2], 0)
    result = scale.run(Exporter(x[::-1]), 1.0)
    np.testing.assert_array_equal(result, x[::-1])


def test_dlpack_of_another_dtype(scale, x):
    with pytest.raises(ArgumentDType, match="f64"):
        scale(Exporter(x.astype(np.float64)), x, 1.0)


class Interface:
    def __init__(self, offset=0, readonly=False, strides=None, typestr="<f4"):
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": (3, 4),
            "typestr": typestr,
            "data": (POINTER + offset, readonly),
            "strides": strides,
        }


def test_cuda_array_interface(gpu):
    artifact, toy = gpu
    artifact(Interface(readonly=True, strides=(4, 12)), Interface(offset=4096), 1.0)
    views = toy.launches[0].views
    assert (views["x"].strides, views["y"].strides) == ((1, 3), (4, 1))
    assert views["x"].pointer == POINTER
    with pytest.raises(ReadOnlyArgument):
        artifact(Interface(), Interface(offset=4096, readonly=True), 1.0)
    with pytest.raises(NotSupportedYet, match="allocating Outs"):
        artifact.run(Interface(), 1.0)


class FakeCupy(ModuleType):
    def __init__(self):
        super().__init__("cupy")
        self.current = 0

        class NdArray:
            def __init__(self, shape, dtype, memptr=None, strides=None, device=0):
                self.shape, self.dtype = shape, np.dtype(dtype)
                self.itemsize = self.dtype.itemsize
                self.strides = strides or (shape[1] * self.itemsize, self.itemsize)
                self.data = memptr or SimpleNamespace(ptr=POINTER)
                self.device = SimpleNamespace(id=device)

        self.ndarray = NdArray
        self.cuda = SimpleNamespace(
            Device=self._device, get_current_stream=lambda: SimpleNamespace(ptr=100 + self.current)
        )

    @contextmanager
    def _device(self, number):
        before, self.current = self.current, number
        yield
        self.current = before

    def empty(self, count, dtype):
        return SimpleNamespace(data=SimpleNamespace(ptr=POINTER + (1 << 30)))


def test_cupy(gpu, monkeypatch):
    cupy = FakeCupy()
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    artifact, toy = gpu
    y = artifact.run(cupy.ndarray((3, 4), np.float32), 1.0)
    assert isinstance(y, cupy.ndarray)
    (invocation,) = toy.launches
    assert (invocation.stream, invocation.views["y"].pointer) == (100, POINTER + (1 << 30))
