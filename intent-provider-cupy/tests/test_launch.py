"""Launches up to the driver's call, on stand-ins for torch and for the driver; builds are real."""

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
from intent.diagnostics import CapabilityError, ScalarArgument
from intent.provider import BoundView, Invocation, Source
from intent_provider_cupy import launch
from intent_provider_cupy.emit import emit
from intent_provider_cupy.emit.interface import Signature
from intent_testkit.bench.stand_in import Driver, gpu
from intent_testkit.kernels import pointwise


@intent.kernel
def numbers(
    y: I.Out[I.f32, ("N",)], a: I.f16, b: I.bf16, c: I.f32, d: I.f64, e: I.i8, f: I.i64, g: I.u32, h: I.bool
):
    total = I.cast(a, I.f64) + I.cast(b, I.f64) + I.cast(c, I.f64) + d
    whole = I.cast(e, I.f64) + I.cast(f, I.f64) + I.cast(g, I.f64)
    y[...] = I.full(y.shape, I.cast(total + whole + I.select(h, 1.0, 0.0), I.f32), I.f32)


@intent.kernel
def prefixes_both_ways(x: I.In[I.i32, ("M", "M")], y: I.Out[I.i32, ("M", "M")]):
    sums, products = I.cumsum(x[...], axis=1), I.cumprod(x[...], axis=1)
    y[...] = sums + I.transpose(sums) + products + I.transpose(products)


@contextmanager
def recording(index="i"):
    """Stand-ins whose driver keeps (grid and block and shared bytes, stream, arguments by name) of each launch.

    The last is the signature that launches had; ``index`` is how index arguments are read.
    """
    seen: list[tuple] = []
    signatures: list[Signature] = []

    def emitted(program, shared):
        made = emit(program, shared)
        signatures.append(made.signature)
        return made

    def launched(config, pointers):
        grid = struct.unpack_from("7I4xQ", config)
        codes = {p.emitted: index if p.index else code(p) for p in signatures[-1].parameters}
        places = (ctypes.c_void_p * len(codes)).from_address(pointers)
        values = {
            name: struct.unpack(kind, ctypes.string_at(place, struct.calcsize(kind)))[0]
            for (name, kind), place in zip(codes.items(), places, strict=True)
        }
        seen.append((grid[:-1], grid[-1], values))

    driver = Driver(seen=launched)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("INTENT_EXECUTION", raising=False)
        patch.setattr(launch, "emit", emitted)
        with gpu(driver) as (torch, _):
            yield torch, driver, seen, signatures


def code(parameter):
    if parameter.kind in ("view", "buffer"):
        return "Q"
    kinds = {"f16": "e", "bf16": "H", "f32": "f", "f64": "d", "i8": "b", "i64": "q", "u32": "I", "bool": "?"}
    return kinds[parameter.dtype]


def test_what_the_driver_gets():
    artifact = intent.compile(pointwise.add, "cupy")
    with recording() as (torch, driver, seen, signatures):
        x, y, z = (torch.empty(1000) for _ in range(3))
        artifact(x, y, z)
        torch.handles[0] = 48
        artifact(x, z, y)
        artifact.prepare(y, x, z)()
        signature = signatures[-1]
        expected = (artifact._latest.length, 1, 1, signature.threads, 1, 1, signature.shared_bytes)
        assert [grid for grid, _, _ in seen] == [expected] * 3
        assert [stream for _, stream, _ in seen] == [16, 48, 48]
        a, b, c = x.data_ptr(), y.data_ptr(), z.data_ptr()
        passed = [tuple(v for v in values.values() if v >= a) for _, _, values in seen]
        assert passed == [(a, b, c), (a, c, b), (b, a, c)]
        assert all(values["N"] == 1000 for _, _, values in seen)
        assert all(v == 1 for _, _, values in seen for name, v in values.items() if "stride" in name)
        assert driver.loaded == 1


def test_scalars_of_every_kind():
    artifact = intent.compile(numbers, "cupy")
    with recording() as (torch, _, seen, signatures):
        y = torch.empty(5)
        for c in (0.1, 3, np.float64(-2.5)):
            artifact(y, 0.1, 1 / 3, c, 0.1, -7, -(1 << 62), (1 << 32) - 1, True)
        for _, _, values in seen:
            assert values["a"] == np.float16(0.1)
            assert values["b"] == np.asarray(1 / 3, ml_dtypes.bfloat16).view(np.uint16)
            assert [values[n] for n in "defgh"] == [0.1, -7, -(1 << 62), (1 << 32) - 1, True]
        assert [values["c"] for _, _, values in seen] == [np.float32(0.1), 3.0, -2.5]
        for wrong in ((70000.0, 0.0, 0.0), (0.0, 3.4e38, 1e39), (0.0, 3.4e38, 0.0)):
            with pytest.raises(ScalarArgument):
                artifact(y, *wrong, 0.1, -7, 0, 0, True)
        assert len(seen) == 3


def test_layouts_are_built_apart_and_starts_are_not_mixed_up():
    artifact = intent.compile(pointwise.add, "cupy")
    with recording() as (torch, driver, seen, signatures):
        wide = [torch.empty(1200) for _ in range(3)]
        for begin, size in ((0, 1200), (1, 1199), (8, 1192), (0, 1200), (2, 1198), (1, 1199)):
            args = [t[begin:] for t in wide]
            artifact(*args)
            values = seen[-1][2]
            assert [values[n] for n in "xyz"] == [t.data_ptr() for t in args]
            assert values["N"] == size
        assert driver.loaded == 2  # wide accesses are proven, or they are not


def test_indices_that_do_not_fit_32_bits_are_passed_in_64():
    artifact = intent.compile(pointwise.add, "cupy")
    with recording(index="q") as (torch, _, seen, _):
        artifact(*(torch.empty_strided((3,), (1 << 33,), torch.float32, "cuda:0") for _ in range(3)))
    values = seen[0][2]
    assert values["N"] == 3
    assert {v for name, v in values.items() if "stride" in name} == {1 << 33}


def test_buffers_of_the_workspace_lie_apart_and_aligned():
    artifact = intent.compile(prefixes_both_ways, "cupy")
    with recording() as (torch, _, seen, signatures):
        x, y = (torch.empty(4000, 4000, dtype=torch.int32) for _ in range(2))
        artifact(x, y)
    buffers = sorted(seen[0][2][p.emitted] for p in signatures[-1].parameters if p.kind == "buffer")
    assert len(buffers) > 1
    assert all(address % 128 == 0 for address in buffers)
    assert len({*buffers, x.data_ptr(), y.data_ptr()}) == len(buffers) + 2


def test_too_much_shared_memory_is_a_capability_error(monkeypatch):
    artifact = intent.compile(pointwise.add, "cupy")
    with recording() as (torch, _, seen, _):
        within = launch.emit

        def greedy(program, shared):
            made = within(program, shared)
            return replace(made, signature=replace(made.signature, shared_bytes=1 << 20))

        monkeypatch.setattr(launch, "emit", greedy)
        with pytest.raises(CapabilityError, match="1048576 bytes"):
            artifact(*(torch.empty(64) for _ in range(3)))
        assert not seen


def test_a_launcher_can_be_called_without_a_binding():
    """What the runtime does for a launch that it does not keep."""
    artifact = intent.compile(pointwise.add, "cupy")
    with recording() as (torch, _, seen, signatures):
        artifact(*(torch.empty(64) for _ in range(3)))
        launcher = launch.CuPyLauncher(_source(artifact), "cuda:0")
        assert launcher.assumes == {"N"}
        launcher(_invocation(64, artifact._latest.length))
    (before, _, first), (after, stream, second) = seen
    assert before == after
    assert stream == 7
    assert second == {**first, "x": 1 << 20, "y": 2 << 20, "z": 3 << 20}


def _invocation(size, length):
    views = {
        name: BoundView(
            name=name,
            pointer=(k + 1) << 20,
            shape=(size,),
            strides=(1,),
            dtype="f32",
            device="cuda:0",
            array=None,
        )
        for k, name in enumerate("xyz")
    }
    return Invocation(views=views, scalars={}, extents={"N": size}, length=length, stream=7)


def _source(artifact):
    emitted = emit(artifact.program)
    return Source(text=emitted.text, entry=emitted.entry, suffix=".cu", program=artifact.program)
