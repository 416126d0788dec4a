"""What a launch hands to ``ct.launch``, with the driver and the compiler replaced."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from intent.diagnostics import BuildFailure, CapabilityError, MissingToolkit, NoDevice
from intent.provider import Invocation
from intent.provider.cuda import driver
from intent_provider_cutile import launch, toolkit
from intent_provider_cutile.plugin import plugin
from intent_testkit.programs import invocation, whole

PROVIDER = plugin.intent_provider()


class FakeDevice:
    def __init__(self, ordinal):
        self.ordinal = ordinal

    def current(self):
        return nullcontext()


@pytest.fixture
def launcher(monkeypatch):
    """A launcher of softmax, and the calls that reached ``ct.launch``."""
    calls = []
    monkeypatch.setattr(driver, "unavailable", lambda: None)
    monkeypatch.setattr(driver, "Device", FakeDevice)
    monkeypatch.setattr(launch, "require_compiler", lambda: None)
    made = launch.CuTileLauncher(PROVIDER.serialize(whole.softmax()), "cuda:1")
    made._launch = lambda *words: calls.append(words)
    return made, calls


def call(x: np.ndarray, stream: int | None = 7) -> Invocation:
    y = np.zeros(x.shape, np.float32)
    return replace(invocation(whole.softmax(), {"x": x, "y": y}), stream=stream)


def names(kernel) -> dict[str, object]:
    return dict(kernel._annotated_function.pyfunc.__annotations__)


def test_arguments_stand_in_the_kernel_s_order(launcher):
    made, calls = launcher
    x = np.zeros((6, 10), np.float32)[:, :5]
    made(call(x))
    ((stream, grid, kernel, arguments),) = calls
    assert (stream, grid) == (7, (6,))
    assert arguments[0] is x
    order = [name for name in names(kernel) if name != "return"]
    values = dict(zip(order, arguments, strict=True))
    assert (values["x_stride_0"], values["x_stride_1"], values["N"]) == (10, 1, 5)
    assert names(kernel)["x_stride_1"] == toolkit.tile_module().Constant[int]


def test_variants_follow_the_layout_not_the_shape(launcher):
    made, calls = launcher
    made(call(np.zeros((3, 5), np.float32)))
    made(call(np.zeros((4, 9), np.float32)))
    made(call(np.zeros((9, 4), np.float32).T))
    kernels = [words[2] for words in calls]
    assert kernels[0] is kernels[1]
    assert kernels[2] is not kernels[0]


def test_strides_and_extents_that_16_divides_are_told_to_the_compiler(launcher, monkeypatch):
    made, calls = launcher
    texts = []
    monkeypatch.setattr(launch, "kernel_of", lambda text, entry: (texts.append(text), None))
    made(call(np.zeros((3, 32), np.float32)))
    made(call(np.zeros((5, 48), np.float32)))
    made(call(np.zeros((3, 24), np.float32)))
    assert len(calls) == 3
    rows, odd = texts
    for name in ("x_stride_0", "y_stride_0", "N"):
        assert f"    {name} = ct.assume_divisible_by({name}, 16)\n" in rows
    assert "assume_divisible_by" not in odd


def test_no_stream_is_the_default_stream(launcher):
    made, calls = launcher
    made(call(np.zeros((1, 1), np.float32), stream=None))
    assert calls[0][0] == 0


def test_backward_arrays_travel_as_their_first_element(launcher):
    made, calls = launcher
    x = np.arange(6, dtype=np.float32).reshape(2, 3)[:, ::-1]
    made(call(x))
    address = calls[0][3][0].__cuda_array_interface__
    assert address["data"] == (x.ctypes.data, False)
    assert (address["shape"], address["typestr"]) == ((1,), "<f4")


def test_backward_arrays_without_a_type_string_are_refused():
    with pytest.raises(CapabilityError, match="bf16"):
        launch.Address(4096, 1, "bf16")


def failing(error):
    def run(*_):
        raise error

    return run


def test_failures_are_one_clear_error(launcher):
    made, _ = launcher
    tile = toolkit.tile_module()
    cases = [
        (FileNotFoundError("'tileiras' compiler not found"), MissingToolkit, "nvidia-cuda-tileiras==13.4.92"),
        (RuntimeError("unsupported toolchain"), NoDevice, "driver of CUDA 13"),
        (tile.TileTypeError("no such thing"), BuildFailure, "no such thing"),
    ]
    for error, wanted, words in cases:
        made._launch = failing(error)
        with pytest.raises(wanted, match=words):
            made(call(np.zeros((2, 2), np.float32)))


def test_a_device_must_be_cuda(monkeypatch):
    with pytest.raises(NoDevice, match="no CUDA device"):
        launch.CuTileLauncher(PROVIDER.serialize(whole.add()), "cpu")
