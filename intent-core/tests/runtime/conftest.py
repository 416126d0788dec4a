"""Kernels as logical IR, and a provider that records its launches and computes with numpy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from intent.diagnostics import BuildFailure
from intent.kir.parse import parse_kernel
from intent.physical.text import print_program
from intent.provider import Binary, Capabilities, Source
from intent.runtime.artifact import Artifact
from intent.runtime.options import CompileOptions

SCALE = """\
kernel scale
  view x: {dtype}[M, N] in{x}
  view y: {dtype}[M, N] {mode}{y}
  scalar factor: %0:factor {dtype}
  domain 0 rows
  domain 1 cols
{conditions}  body ^0(%0:factor {dtype}) {{
    %1 index = extent_value #0 extent=<0>
    %2 index = extent_value #1 extent=<1>
    %3:rows index[M] = iota #2 begin=%1 step=%2 domain=0
    %4:cols index[N] = iota #3 begin=%1 step=%2 domain=1
    %5:x {dtype}[M, N] = load #4 source=@x relation=[%3:rows(0), %4:cols(1)]
    %6 {dtype}[M, N] = broadcast #5 value=%0:factor axes=()
    %7:y {dtype}[M, N] = pointwise #6 fn=mul operands=(%5:x, %6)
    store #7 target=@y relation=[%3:rows(0), %4:cols(1)] value=%7:y
  }}
"""

COUNT = """\
kernel count
  view y: i64[N] out
  scalar n: %0:n i64
  domain 0 points
  body ^0(%0:n i64) {
    %1 index = extent_value #0 extent=<0>
    %2 index = extent_value #1 extent=<1>
    %3:points index[$n] = iota #2 begin=%1 step=%2 domain=0
    %4 i64[$n] = cast #3 value=%3:points
    store #4 target=@y relation=[%3:points(0)] value=%4
  }
"""

TWO = """\
kernel two
  view x: f32[N] in
  view a: f32[N] out
  view b: f32[2, N] out
  domain 0 points
  body ^0() {
    %1 index = extent_value #0 extent=<0>
    %2 index = extent_value #1 extent=<1>
    %3:points index[N] = iota #2 begin=%1 step=%2 domain=0
    %4:x f32[N] = load #3 source=@x relation=[%3:points(0)]
    store #4 target=@a relation=[%3:points(0)] value=%4:x
    store #5 target=@b relation=[%1(), %3:points(0)] value=%4:x
    store #6 target=@b relation=[%2(), %3:points(0)] value=%4:x
  }
"""


def scale_text(dtype="f32", mode="out", x="", y="", conditions=""):
    return SCALE.format(dtype=dtype, mode=mode, x=x, y=y, conditions=conditions)


class Toy:
    """A provider whose launcher records the invocation and multiplies with numpy."""

    name = "toy"
    version = "1"

    def __init__(self, *, needs_gpu=False, reason=None, grid_limit=1 << 40, failing=False):
        self.capabilities = Capabilities(
            dtypes=frozenset({"f32"}), needs_gpu=needs_gpu, grid_limit=grid_limit
        )
        self.reason, self.failing = reason, failing
        self.launches, self.builds, self.loaded = [], [], []

    def knobs(self):
        return {}

    def grid(self, length):
        return (length,)

    def serialize(self, program):
        return Source(text=print_program(program), entry=program.name, suffix=".txt", program=program)

    def build(self, source, target):
        return Binary(source=source, target=target, code=b"toy")

    def load(self, source, device):
        self.loaded.append(device)
        return self.emulate(source)

    def emulate(self, source):
        self.builds.append(source)
        if self.failing:
            raise BuildFailure("toy", target="cpu", log="no")

        def launch(invocation):
            self.launches.append(invocation)
            if {"x", "y"} <= set(invocation.views) and invocation.views["y"].device == "cpu":
                views = invocation.views
                views["y"].array[...] = views["x"].array * invocation.scalars.get("factor", 1)

        return launch

    def available(self):
        return self.reason


@pytest.fixture
def toy() -> Toy:
    return Toy()


@pytest.fixture
def make_toy() -> Callable[..., Toy]:
    return Toy


@pytest.fixture
def compiled():
    """``compiled(text, provider, plan=None)``: an artifact of a kernel in the logical IR's text form."""

    def make(text, provider, plan=None):
        return Artifact(parse_kernel(text), provider, options=CompileOptions(), plan=plan)

    return make


@pytest.fixture
def scale(compiled, toy):
    """``y = x * factor`` over f32[M, N], on the recording provider."""
    return compiled(scale_text(), toy)


@pytest.fixture
def kernels():
    """The kernels' texts; ``scale`` takes the parts that tests change."""
    return type("Kernels", (), {"scale": staticmethod(scale_text), "count": COUNT, "two": TWO})


@pytest.fixture
def x():
    return np.arange(12, dtype=np.float32).reshape(3, 4)
