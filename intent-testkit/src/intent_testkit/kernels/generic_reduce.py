"""Reductions with an author's combine over scalars, tuples and records."""

from __future__ import annotations

import intent
import intent.language as I


@intent.fn
def larger_magnitude(a, b):
    return I.select(I.abs(a) >= I.abs(b), a, b)


@intent.fn
def exclusive_or(a, b):
    return a ^ b


@intent.fn
def merge_moments(a, b):
    n = a.n + b.n
    safe = I.maximum(n, 1.0)
    delta = b.mean - a.mean
    return I.record(
        n=n,
        mean=a.mean + delta * b.n / safe,
        m2=a.m2 + b.m2 + delta * delta * a.n * b.n / safe,
    )


@intent.fn
def merge_log_sum(a, b):
    peak = I.maximum(a[0], b[0])
    scale_a = I.select(a[0] == -I.inf, 0.0, I.exp(a[0] - peak))
    scale_b = I.select(b[0] == -I.inf, 0.0, I.exp(b[0] - peak))
    return (peak, a[1] * scale_a + b[1] * scale_b)


@intent.fn
def later_if_larger(a, b):
    take_b = (b.value > a.value) | ((b.value == a.value) & (b.where < a.where))
    return I.record(value=I.select(take_b, b.value, a.value), where=I.select(take_b, b.where, a.where))


@intent.fn
def keyed(a, b, key, salt):
    return a ^ b ^ key ^ salt


@intent.kernel
def keyed_parity(
    x: I.In[I.i64, ("M", "N")],
    key: I.In[I.i64, ("M",)],
    salt: I.i64,
    total: I.Out[I.i64, ("M",)],
    prefix: I.Out[I.i64, ("M", "N")],
):
    v, k = x[...], key[...]
    total[...] = I.reduce(v, axis=1, identity=k ^ salt, combine=keyed, combine_operands=(k, salt))
    prefix[...] = I.scan(v, axis=1, identity=k ^ salt, combine=keyed, combine_operands=(k, salt))


@intent.kernel
def signed_peak(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce(x[...], axis=1, identity=0.0, combine=larger_magnitude)


@intent.kernel
def parity(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M",)]):
    y[...] = I.reduce(x[...], axis=1, identity=0, combine=exclusive_or)


@intent.kernel
def welford(x: I.In[I.f32, ("M", "N")], mean: I.Out[I.f32, ("M",)], variance: I.Out[I.f32, ("M",)]):
    v = x[...]
    each = I.record(n=I.full(v.shape, 1.0, I.f32), mean=v, m2=I.zeros(v.shape, I.f32))
    zero = I.record(n=0.0, mean=0.0, m2=0.0)
    total = I.reduce(each, axis=1, identity=zero, combine=merge_moments)
    mean[...] = total.mean
    variance[...] = total.m2 / I.maximum(total.n, 1.0)


@intent.kernel
def log_sum_exp(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    v = x[...]
    peak, total = I.reduce(
        (v, I.full(v.shape, 1.0, I.f32)), axis=1, identity=(-I.inf, 0.0), combine=merge_log_sum
    )
    y[...] = peak + I.log(total)


@intent.kernel
def argmax_record(x: I.In[I.f32, ("M", "N")], value: I.Out[I.f32, ("M",)], where: I.Out[I.i64, ("M",)]):
    M, N = x.shape
    columns = I.cast(I.indices(I.domain(0, N)), I.i64)
    pairs = I.record(value=x[...], where=columns[None, :] + I.zeros((M, N), I.i64))
    best = I.reduce(
        pairs, axis=1, identity=I.record(value=-I.inf, where=9223372036854775807), combine=later_if_larger
    )
    value[...] = best.value
    where[...] = best.where


@intent.kernel
def norms_of_columns(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("N",)]):
    v = x[...]
    y[...] = I.sqrt(I.reduce(v * v, axis=0, identity=0.0, combine=I.add))


@intent.fn
def divisor(a, b):
    """The greatest common divisor; zero is the identity."""
    while b != 0:
        a, b = b, a % b
    return a


@intent.fn
def divisor_of(part):
    return I.reduce(part, axis=0, identity=0, combine=divisor)


@intent.kernel
def common_divisors(
    x: I.In[I.i64, ("M", "N")],
    y: I.Out[I.i64, ("M",)],
    later: I.Out[I.i64, ("M", "N")],
    folded: I.Out[I.i64, ("M",)],
):
    for m in I.parallel(I.domain(0, x.shape[0])):
        row = x[m, :]
        y[m] = I.reduce(row, axis=0, identity=0, combine=divisor)
        later[m, :] = I.scan(row, axis=0, identity=0, combine=divisor, reverse=True)
        folded[m] = I.region_fold(source=row, axis=0, summarize=divisor_of, combine=divisor, identity=0)
