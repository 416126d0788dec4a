"""The provider ``reference``, through the registry and through a compiled artifact."""

from __future__ import annotations

import time

import numpy as np
import pytest

import intent
import intent.language as I
from intent.diagnostics import CompilerFault, NoDevice
from intent.kir.pointwise import FUNCTIONS
from intent.provider import BoundView, Invocation, registry
from intent.types.dtypes import F32


@intent.kernel
def softmax(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    value = x[...]
    e = I.exp(value - I.reduce.max(value, axis=1)[:, None])
    y[...] = e / I.reduce.sum(e, axis=1)[:, None]


def provider():
    return registry().get("reference")


def increment(b):
    x, y = b.view("x", F32, (3,)), b.view("y", F32, (3,), "out")
    return b.program(3, lambda i: b.store(y, b.pw("add", b.load(x, i), b.const(1.0, F32)), i))


def bound(name, array):
    strides = tuple(s // array.itemsize for s in array.strides)
    return BoundView(
        name=name,
        pointer=array.ctypes.data,
        shape=array.shape,
        strides=strides,
        dtype="f32",
        device="cpu",
        array=array,
    )


def test_it_can_do_everything_without_a_gpu():
    capabilities = provider().capabilities
    assert provider().available() is None
    assert not capabilities.needs_gpu
    assert not capabilities.power_of_two
    assert capabilities.functions == set(FUNCTIONS)
    assert ("compare_exchange", "bf16") in capabilities.atomics


def test_its_source_is_the_programs_text_and_its_launcher_runs_it(assemble):
    program = increment(assemble)
    source = provider().serialize(program)
    assert "store target=@y" in source.text
    assert provider().build(source, "cpu").listing == source.text
    x, y = np.arange(3, dtype=np.float32), np.zeros(3, np.float32)
    for launcher in (provider().emulate(source), provider().load(source, "cpu")):
        y[...] = 0
        launcher(Invocation(views={"x": bound("x", x), "y": bound("y", y)}, scalars={}, extents={}, length=3))
        assert y.tolist() == [1, 2, 3]


def test_other_devices_are_refused(assemble):
    source = provider().serialize(increment(assemble))
    with pytest.raises(NoDevice):
        provider().load(source, "cuda:0")


def test_a_fault_of_a_program_names_the_access(assemble):
    b = assemble
    y = b.view("y", F32, (3,), "out")
    source = provider().serialize(b.program(4, lambda i: b.store(y, b.const(0.0, F32), i)))
    views = {"y": bound("y", np.zeros(3, np.float32))}
    with pytest.raises(CompilerFault, match="store to 'y' at coordinate 3"):
        provider().emulate(source)(Invocation(views=views, scalars={}, extents={}, length=4))


def test_large_softmax_takes_under_two_seconds():
    artifact = intent.compile(softmax, provider="reference")
    x = np.random.default_rng(0).normal(size=(4096, 4096)).astype(np.float32)
    y = np.zeros_like(x)
    begin = time.process_time()  # other work on the machine does not count
    artifact(x, y)
    seconds = time.process_time() - begin
    e = np.exp(x[::97].astype(np.float64) - x[::97].max(axis=1, keepdims=True))
    np.testing.assert_allclose(y[::97], e / e.sum(axis=1, keepdims=True), rtol=1e-5)
    assert seconds < 2, seconds
