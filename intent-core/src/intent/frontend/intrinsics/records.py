"""What block-quantized records mean, written in the language itself (no operation of the logical IR knows them)."""

from __future__ import annotations

import intent.language as I
from intent.language.definitions import fn
from intent.language.kinds import Value

__all__ = ["dot_q4_k_q8_k", "quantize_q8_k"]


@fn
def _pair(low: Value, high: Value) -> Value:
    return I.cast(low, I.u16) | (I.cast(high, I.u16) << 8)


@fn
def _six_bits(record: Value, group: Value, first: Value, shift: Value) -> Value:
    low, high = I.minimum(group, 3), I.maximum(group - 4, 0)
    upper = ((record[:, 12 + high] >> shift) & 15) | ((record[:, first + high] >> 6) << 4)
    return I.cast(I.select(group < 4, record[:, first + low] & 63, upper), I.i32)


@fn
def quantize_q8_k(values: Value) -> Value:
    """``I.quantize`` of f32[G, 256]: records u8[G, 292]."""
    count = values.shape[0]
    highest, lowest = I.reduce.max(values, axis=1), I.reduce.min(values, axis=1)
    extreme = I.select(highest > -lowest, highest, lowest)
    some = extreme != 0.0
    inverse = I.select(some, -127.0 / I.select(some, extreme, 1.0), 0.0)
    scale = I.select(some, 1.0 / I.select(some, inverse, 1.0), 0.0)
    nearest = I.minimum(I.maximum(I.round(values * inverse[:, None]), -128.0), 127.0)
    items = I.cast(nearest, I.i32)
    sums = I.reduce.sum(I.reshape(items, (count, 16, 16)), axis=2)
    place = I.indices(I.domain(0, 292))
    of_scale = I.bitcast(scale, I.u32)[:, None] >> I.cast(8 * I.minimum(place, 3), I.u32)
    of_items = I.bitcast(I.cast(items[:, I.minimum(I.maximum(place - 4, 0), 255)], I.i8), I.u8)
    behind = I.maximum(place - 260, 0)
    of_sums = sums[:, behind // 2] >> I.cast(behind % 2 * 8, I.i32)
    return I.select(place < 4, I.cast(of_scale, I.u8), I.select(place < 260, of_items, I.cast(of_sums, I.u8)))


@fn
def dot_q4_k_q8_k(lhs: Value, rhs: Value) -> Value:
    """``I.quantized_dot`` of u8[G, 144] and u8[G, 292]: an f32 scalar, records added in order."""
    count = lhs.shape[0]
    group, half = I.indices(I.domain(0, 8)), I.indices(I.domain(0, 16))
    element = I.indices(I.domain(0, 256))
    packed = lhs[:, 16 + element // 64 * 32 + element % 32]
    weights = I.cast((packed >> I.cast(element % 64 // 32 * 4, I.u8)) & 15, I.i32)
    items = I.cast(I.bitcast(rhs[:, 4 + element], I.i8), I.i32)
    products = I.reduce.sum(I.reshape(weights * items, (count, 8, 32)), axis=2)
    total = I.reduce.sum(_six_bits(lhs, group, 4, 0) * products, axis=1)
    halves = I.cast(I.bitcast(_pair(rhs[:, 260 + 2 * half], rhs[:, 261 + 2 * half]), I.i16), I.i32)
    sums = I.reduce.sum(I.reshape(halves, (count, 8, 2)), axis=2)
    offset = I.reduce.sum(_six_bits(lhs, group, 8, 4) * sums, axis=1)
    scale = I.cast(I.bitcast(_pair(lhs[:, 0], lhs[:, 1]), I.f16), I.f32)
    least = I.cast(I.bitcast(_pair(lhs[:, 2], lhs[:, 3]), I.f16), I.f32)
    low, high = I.cast(_pair(rhs[:, 0], rhs[:, 1]), I.u32), I.cast(_pair(rhs[:, 2], rhs[:, 3]), I.u32)
    outer = I.bitcast(low | (high << 16), I.f32)
    parts = outer * (scale * I.cast(total, I.f32) - least * I.cast(offset, I.f32))
    result = I.cast(0.0, I.f32)
    for record in I.domain(0, count):
        result = result + parts[record]
    return result
