"""Launches up to the driver's call, on stand-ins for torch, for the driver and for tileiras."""

from __future__ import annotations

import ctypes
import struct
from contextlib import contextmanager
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

import intent
import intent.language as I
from intent.diagnostics import NoDevice, ScalarArgument
from intent.provider.cuda import driver
from intent_provider_cutile import build, launch, tools
from intent_provider_cutile.plugin import plugin
from intent_testkit.bench.stand_in import Driver, gpu
from intent_testkit.kernels import matmul, pointwise, softmax
from intent_testkit.programs import whole

PROVIDER = plugin.intent_provider()
CODES = {
    "view": "Qqq", "buffer": "Qqq", "f16": "f", "bf16": "f", "f32": "f", "f64": "d", "i8": "i", "u16": "i", "i64": "q",
    "u32": "q", "u64": "Q", "bool": "?",
}  # fmt: skip
"""An array is its address, its length and its stride; scalars are passed as the types that launches know."""


@intent.kernel
def numbers(
    y: I.Out[I.f32, ("N",)], a: I.f16, b: I.bf16, c: I.f32, d: I.f64, e: I.i8, f: I.i64, g: I.u32, h: I.bool,
    k: I.u64, m: I.u16,
):  # fmt: skip
    total = I.cast(a, I.f64) + I.cast(b, I.f64) + I.cast(c, I.f64) + d
    whole = I.cast(e, I.f64) + I.cast(f, I.f64) + I.cast(g, I.f64) + I.cast(k, I.f64) + I.cast(m, I.f64)
    y[...] = I.full(y.shape, I.cast(total + whole + I.select(h, 1.0, 0.0), I.f32), I.f32)


@contextmanager
def recording(monkeypatch):
    """Stand-ins, and what the driver got: (grid and block and shared bytes, stream, arguments by name); the builds."""
    seen, builds = [], []

    def made(source, signature, layout, target):
        builds.append((source.text, signature, layout, target))
        return b"cubin"

    def launched(config, pointers):
        grid = struct.unpack_from("7I4xQ", config)
        _, signature, layout, _ = builds[-1]
        index = "i" if layout.small else "q"
        passed = [p for i, p in enumerate(signature.parameters) if i not in layout.ones]
        codes = [(p.emitted, index if p.index else CODES.get(p.kind) or CODES[p.dtype]) for p in passed]
        places = iter((ctypes.c_void_p * sum(len(c) for _, c in codes)).from_address(pointers))
        values = {}
        for name, code in codes:
            read = [struct.unpack(c, ctypes.string_at(next(places), struct.calcsize(c)))[0] for c in code]
            values[name] = read[0]
            assert read[1:] == [1] * (len(code) - 1)
        seen.append((grid[:-1], grid[-1], values))

    monkeypatch.delenv("INTENT_EXECUTION", raising=False)
    monkeypatch.setattr(tools, "compiler", lambda: "tileiras")
    monkeypatch.setattr(launch, "cubin", made)
    with gpu(Driver(seen=launched)) as (torch, _):
        yield torch, seen, builds


def test_what_the_driver_gets(monkeypatch):
    artifact = intent.compile(pointwise.add, "cutile")
    with recording(monkeypatch) as (torch, seen, builds):
        x, y, z = (torch.empty(1000) for _ in range(3))
        artifact(x, y, z)
        torch.handles[0] = 48
        artifact(x, z, y)
        artifact.prepare(y, x, z)()
        assert [grid for grid, _, _ in seen] == [(artifact._latest.length, 1, 1, 1, 1, 1, 0)] * 3
        assert [stream for _, stream, _ in seen] == [16, 48, 48]
        a, b, c = x.data_ptr(), y.data_ptr(), z.data_ptr()
        passed = [tuple(v for v in values.values() if v >= a) for _, _, values in seen]
        assert passed == [(a, b, c), (a, c, b), (b, a, c)]
        assert all(values["N"] == 1000 for _, _, values in seen)
        assert [target for *_, target in builds] == ["sm_90"]


def test_scalars_of_every_kind(monkeypatch):
    artifact = intent.compile(numbers, "cutile")
    with recording(monkeypatch) as (torch, seen, _):
        y = torch.empty(5)
        for c in (0.1, 3, np.float64(-2.5)):
            artifact(y, 0.1, 1 / 3, c, 0.1, -7, -(1 << 62), (1 << 32) - 1, True, (1 << 64) - 1, 65535)
        for _, _, values in seen:
            assert values["a"] == np.float16(0.1)
            assert values["b"] == np.asarray(1 / 3, ml_dtypes.bfloat16).astype(np.float32)
            assert [values[n] for n in "defgh"] == [0.1, -7, -(1 << 62), (1 << 32) - 1, True]
            assert (values["k"], values["m"]) == ((1 << 64) - 1, 65535)
        assert [values["c"] for _, _, values in seen] == [np.float32(0.1), 3.0, -2.5]
        for wrong in ((70000.0, 0.0, 0.0), (0.0, 3.4e38, 1e39), (0.0, 3.4e38, 0.0)):
            with pytest.raises(ScalarArgument):
                artifact(y, *wrong, 0.1, -7, 1, 1, True, 1, 1)


def test_builds_follow_the_layout_not_the_shape(monkeypatch):
    plan = intent.compile(softmax.softmax, "cutile").plan
    artifact = intent.compile(softmax.softmax, "cutile", plan=plan)
    with recording(monkeypatch) as (torch, _, builds):
        for n in (32, 48, 24, 40):
            artifact(torch.empty(5, n), torch.empty(5, n))
        assert len(builds) == 2
        odd = torch.empty(5 * 32 + 1)[1:]
        odd.shape, odd._stride = (5, 32), (32, 1)
        artifact(odd, torch.empty(5, 32))
        told = [
            {signature.parameters[i].emitted for i in layout.divisible} for _, signature, layout, _ in builds
        ]
        assert {"x_stride_0", "y_stride_0", "N"} <= told[0]
        assert told[1] == set()
        aligned = [
            {signature.parameters[i].emitted for i in layout.aligned} for _, signature, layout, _ in builds
        ]
        assert aligned == [{"x", "y"}, {"x", "y"}, {"y"}]
        for text, signature, layout, _ in builds:
            assert "x_stride_1: ct.Constant[int]" in build.specialised(text, signature, layout)


def test_arrays_that_run_backwards_get_a_text_without_tiles(monkeypatch):
    artifact = intent.compile(matmul.matmul_bf16, "cutile")
    with recording(monkeypatch) as (torch, _, builds):
        half = torch.bfloat16
        a, b, c = (torch.empty(256, 256, dtype=half) for _ in range(3))
        artifact(a, b, c)
        b._stride = (-256, 1)
        artifact(a, b, c)
        tiled, plain = (text for text, *_ in builds)
        assert "ct.load(" in tiled
        assert "ct.load(" not in plain


def test_a_driver_that_does_not_know_tile_ir_is_one_clear_error(monkeypatch):
    artifact = intent.compile(pointwise.add, "cutile")

    def refused(*_):
        raise driver.DriverError("cuModuleLoadData: device kernel image is invalid")

    with recording(monkeypatch) as (torch, _, _):
        monkeypatch.setattr(driver.Device, "load", refused)
        with pytest.raises(NoDevice, match=r"image is invalid; .*driver of CUDA 13"):
            artifact(*(torch.empty(8) for _ in range(3)))


def test_a_device_must_be_cuda(monkeypatch):
    with pytest.raises(NoDevice, match="no CUDA device"):
        launch.CuTileLauncher(PROVIDER.serialize(whole.add()), "cpu")


@pytest.mark.parametrize(
    ("knobs", "blocks"),
    [((("persistent", 1),), 132), ((("persistent", 2),), 264), ((("num_ctas", 2), ("persistent", 1)), 66)],
)
def test_blocks_that_take_instances_in_turn_fill_the_device(monkeypatch, knobs, blocks):
    plan = replace(intent.compile(matmul.matmul_bf16, "cutile").plan, knobs=knobs)
    artifact = intent.compile(matmul.matmul_bf16, "cutile", plan=plan)
    with recording(monkeypatch) as (torch, seen, _):
        for n in (2560, 128):
            artifact(*(torch.empty(n, n, dtype=torch.bfloat16) for _ in range(3)))
        assert [grid[:3] for grid, _, _ in seen] == [(blocks, 1, 1), (artifact._latest.length, 1, 1)]
        assert artifact._latest.length < blocks
