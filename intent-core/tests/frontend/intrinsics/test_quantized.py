"""Block-quantized records: against a reference written byte by byte."""

import struct

import numpy as np
import pytest

import intent
import intent.language as I
from intent.diagnostics import ShapeMismatch, WrongDType, WrongKind
from intent.frontend import lower
from intent.reference.logical import evaluate


@intent.kernel
def records(x: I.In[I.f32, ("G", 256)], y: I.Out[I.u8, ("G", 292)]):
    y[...] = I.quantize(x, format=I.quant.q8_k)


@intent.kernel
def product(w: I.In[I.u8, ("N", "G", 144)], a: I.In[I.u8, ("G", 292)], y: I.Out[I.f32, ("N",)]):
    groups = I.domain(0, a.shape[0])
    for n in I.parallel(I.domain(0, w.shape[0])):
        y[n] = I.quantized_dot(
            w[n, groups, :], a, lhs_format=I.quant.q4_k, rhs_format=I.quant.q8_k, acc_dtype=I.f32
        )


def q8_k(block):
    """One record of 256 values."""
    f = np.float32
    extreme = block.max() if block.max() > -block.min() else block.min()
    if extreme == 0:
        return bytes(292)
    inverse = f(f(-127.0) / extreme)
    q = np.clip(np.rint((block * inverse).astype(f)), -128, 127).astype(np.int8)
    sums = q.astype(np.int64).reshape(16, 16).sum(1)
    return struct.pack("<f", f(1) / inverse) + q.tobytes() + struct.pack("<16h", *sums)


def q4_k_fields(record):
    """d, dmin, the eight scales and minima, the 256 weights."""
    d, least = struct.unpack("<ee", record[:4].tobytes())
    fields = []
    for r in (0, 1):
        first = [int(record[4 + 4 * r + i]) & 63 for i in range(4)]
        rest = [
            ((int(record[12 + t]) >> (4 * r)) & 15) | ((int(record[4 + 4 * r + t]) >> 6) << 4)
            for t in range(4)
        ]
        fields.append(np.array(first + rest))
    q = np.array(
        [(int(record[16 + 32 * (i // 64) + i % 32]) >> (0 if i % 64 < 32 else 4)) & 15 for i in range(256)]
    )
    return d, least, *fields, q


def dot(weights, activations):
    total = 0.0
    for w, a in zip(weights, activations, strict=True):
        d, least, scales, minima, q = q4_k_fields(w)
        outer = struct.unpack("<f", a[:4].tobytes())[0]
        x = np.frombuffer(a[4:260].tobytes(), np.int8).astype(np.int64)
        sums = np.array(struct.unpack("<16h", a[260:].tobytes()))
        s = (scales * (q * x).reshape(8, 32).sum(1)).sum()
        t = (minima * sums.reshape(8, 2).sum(1)).sum()
        total += outer * (d * s - least * t)
    return total


@pytest.mark.parametrize("count", [0, 1, 3])
def test_quantize(rng, count):
    x = (rng.normal(size=(count, 256)) * 3).astype(np.float32)
    if count > 1:
        x[1] = 0
        x[2, 7] = -np.abs(x[2]).max()
    y = np.ones((count, 292), np.uint8)
    evaluate(lower(records), [x, y])
    for block, record in zip(x, y, strict=True):
        assert record.tobytes() == q8_k(block)


@pytest.mark.parametrize("count", [0, 1, 4])
def test_dot(rng, count):
    w = rng.integers(0, 256, (2, count, 144), dtype=np.uint8)
    w[..., 1] &= 0x3B  # finite scales
    w[..., 3] &= 0x3B
    x = rng.normal(size=(count, 256)).astype(np.float32)
    a = np.frombuffer(b"".join(map(q8_k, x)), np.uint8).reshape(count, 292)
    y = np.ones(2, np.float32)
    evaluate(lower(product), [w, a, y])
    np.testing.assert_allclose(y, [dot(row, a) for row in w], rtol=2e-5)


@intent.kernel
def other_format(x: I.In[I.f32, ("G", 256)], y: I.Out[I.u8, ("G", 144)]):
    y[...] = I.quantize(x, format=I.quant.q4_k)


@intent.kernel
def other_dtype(x: I.In[I.f16, ("G", 256)], y: I.Out[I.u8, ("G", 292)]):
    y[...] = I.quantize(x, format=I.quant.q8_k)


@intent.kernel
def other_width(x: I.In[I.f32, ("G", 128)], y: I.Out[I.u8, ("G", 292)]):
    y[...] = I.quantize(x, format=I.quant.q8_k)


@intent.kernel
def other_accumulator(w: I.In[I.u8, ("G", 144)], a: I.In[I.u8, ("G", 292)], y: I.Out[I.f64, ()]):
    y[()] = I.quantized_dot(w, a, lhs_format=I.quant.q4_k, rhs_format=I.quant.q8_k, acc_dtype=I.f64)


@pytest.mark.parametrize(
    ("kernel", "error"),
    [
        (other_format, WrongKind),
        (other_dtype, WrongDType),
        (other_width, ShapeMismatch),
        (other_accumulator, WrongKind),
    ],
    ids=lambda p: getattr(p, "name", None) or p.__name__,
)
def test_refused(refused, kernel, error):
    refused(kernel, error)
