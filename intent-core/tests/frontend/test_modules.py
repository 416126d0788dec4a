"""What kernels name through a module: ``somewhere.scaled(x)``."""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np

import intent.language as I
from intent.diagnostics import MutableCapture, TargetQuery, UnknownAttribute, UnsupportedSyntax
from intent.frontend import lower
from intent.language.definitions import fn, kernel

X = I.In[I.f32, ("N",)]
Y = I.Out[I.f32, ("N",)]


class Sign(I.Enum):
    PLUS = 1
    MINUS = 2


@fn
def scaled(x, sign=Sign.PLUS):
    if sign == Sign.MINUS:
        return x * -2.5
    return x * 2.5


def plain(x):
    return x


# As another file of the author's would make them.
deeper = ModuleType("deeper")
somewhere = ModuleType("somewhere")
vars(deeper).update(scaled=scaled)
vars(somewhere).update(
    Sign=Sign, scaled=scaled, plain=plain, deeper=deeper, SCALE=2.5, TABLE=[1.0, 2.0], WIDE=I.f64
)


@kernel
def helpers_and_constants(x: X, y: Y):
    y[0] = somewhere.scaled(x[0])
    y[1] = somewhere.scaled(x[1], sign=somewhere.Sign.MINUS)
    y[2] = somewhere.SCALE
    y[3] = somewhere.deeper.scaled(x[3]) + np.pi * 0.0
    y[4] = I.cast(I.cast(math.floor(math.e), somewhere.WIDE), I.f32)


def test_helpers_constants_and_dtypes_of_another_module(run):
    x, y = np.arange(5, dtype=np.float32), np.zeros(5, np.float32)
    made = run(helpers_and_constants, x, y)
    assert y.tolist() == [0.0, -2.5, 2.5, 7.5, 2.0]
    assert ("somewhere.SCALE", "2.5") in made.constexprs


def test_a_constant_is_what_it_is_when_the_kernel_is_compiled(monkeypatch):
    before = lower(helpers_and_constants)
    monkeypatch.setattr(somewhere, "SCALE", 3.0)
    assert lower(helpers_and_constants) != before


@kernel
def table(x: X, y: Y):
    y[0] = x[0] * somewhere.TABLE[0]


@kernel
def undecorated(x: X, y: Y):
    y[...] = somewhere.plain(x)


@kernel
def missing(x: X, y: Y):
    y[...] = x[...] * somewhere.SCALES


@kernel
def target(x: X, y: Y):
    y[...] = x[...] * np.version.version


@kernel
def host(x: X, y: Y):
    y[...] = np.float32(2.0) * x[...]


def test_what_a_kernel_cannot_see_of_a_module(refused):
    refused(table, MutableCapture, "somewhere.TABLE")
    refused(target, TargetQuery, "np.version")
    refused(host, UnsupportedSyntax, "np.float32")
    assert "@intent.fn" in str(refused(undecorated, MutableCapture, "somewhere.plain"))
    assert "did you mean SCALE" in str(refused(missing, UnknownAttribute, "somewhere.SCALES"))
