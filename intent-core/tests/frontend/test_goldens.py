"""The logical IR of whole kernels, one golden file each. ``INTENT_UPDATE_GOLDENS=1`` writes them anew."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

import intent.language as I
from intent.frontend import lower
from intent.kir.text import print_kernel
from intent.language.definitions import fn, kernel

GOLDENS = Path(__file__).parent / "goldens"


class Activation(I.Enum):
    NONE = 0
    GELU = 1


@fn
def gelu(v):
    return 0.5 * v * (1.0 + I.erf(v * 0.7071067811865476))


@kernel
def softmax(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        values = x[row, :]
        shifted = I.exp(values - I.reduce.max(values, axis=0))
        y[row, :] = shifted / I.reduce.sum(shifted, axis=0)


@kernel
def layer_norm(
    x: I.In[I.f32, ("M", "N")],
    w: I.In[I.f32, ("N",)],
    b: I.In[I.f32, ("N",)],
    y: I.Out[I.f32, ("M", "N")],
    eps: I.f32,
):
    n = I.cast(x.shape[1], I.f32)
    mean = I.reduce.sum(x, axis=1) / n
    centred = x - mean[:, None]
    variance = I.reduce.sum(centred * centred, axis=1) / n
    y[...] = centred * I.rsqrt(variance + eps)[:, None] * w + b


@kernel
def linear(
    a: I.In[I.bf16, ("M", "K")],
    b: I.In[I.bf16, ("K", "N")],
    bias: I.In[I.f32, ("N",)],
    y: I.Out[I.bf16, ("M", "N")],
    ACTIVATION: I.Constexpr[Activation] = Activation.GELU,
):
    acc = I.matmul(a, b, acc_dtype=I.f32) + bias
    if ACTIVATION == Activation.GELU:
        acc = gelu(acc)
    y[...] = I.cast(acc, I.bf16)


@kernel
def first_negative(x: I.In[I.f32, ("M", "N")], found: I.Out[I.i32, ("M",)], limit: I.i32):
    for row in I.parallel(I.domain(0, x.shape[0])):
        position = -1
        for column in range(limit):
            if x[row, column] >= 0.0:
                continue
            position = I.cast(column, I.i32)
            break
        found[row] = position


@kernel
def running(x: I.In[I.f32, ("N",)], state: I.InOut[I.f32, ("N",)], threshold: I.f32):
    total = 0.0
    count = 0
    for i in I.domain(0, x.shape[0]):
        if state[i] > threshold and x[i] > 0.0:
            total += x[i]
            count += 1
        else:
            total = 0.0
        state[i] = total + I.cast(count, I.f32)


KERNELS = (softmax, layer_norm, linear, first_negative, running)


@pytest.mark.parametrize("made", KERNELS, ids=[made.name for made in KERNELS])
def test_the_logical_program(made):
    path, text = GOLDENS / f"{made.name}.kir", print_kernel(lower(made, {}))
    if os.environ.get("INTENT_UPDATE_GOLDENS") == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text(), "set INTENT_UPDATE_GOLDENS=1 to accept the new text"


def test_the_same_source_gives_the_same_text():
    assert print_kernel(lower(running, {})) == print_kernel(lower(running, {}))


def test_specialisations_differ_only_in_what_they_select():
    plain = print_kernel(lower(linear, {"ACTIVATION": Activation.NONE}))
    assert "fn=erf" not in plain
    assert "fn=erf" in print_kernel(lower(linear, {}))


def test_softmax_lowers_within_ten_milliseconds():
    lower(softmax, {})
    best = min(_seconds() for _ in range(5))
    assert best < 0.010


def _seconds() -> float:
    start = time.perf_counter()
    lower(softmax, {})
    return time.perf_counter() - start


@kernel
def deeply_nested(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, (1,)]):
    a = 0.0
    for i in range(3):
        b = 0.0
        for j in range(3):
            c = 0.0
            for k in range(3):
                d = 0.0
                for m in range(3):
                    e = 0.0
                    for n in range(3):
                        f = 0.0
                        for p in range(3):
                            f = f + x[p] * x[m] + x[n] * x[i + j + k]
                        e = e + f
                    d = d + e
                c = c + d
            b = b + c
        a = a + b
    y[0] = a


def test_trial_passes_of_nested_loops_do_not_multiply():
    lower(deeply_nested, {})
    start = time.process_time()
    lower(deeply_nested, {})
    assert time.process_time() - start < 0.1
