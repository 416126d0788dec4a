"""Prefixes along an axis: builtin and the author's, either end, read where they stand or elsewhere."""

from __future__ import annotations

import intent
import intent.language as I


@intent.fn
def compose(first, second):
    """Affine maps ``v -> a * v + b`` one after the other; the order matters."""
    return I.record(a=first.a * second.a, b=second.a * first.b + second.b)


@intent.fn
def last_nonzero(a, b):
    return I.select(b != 0, b, a)


@intent.fn
def times(a, b):
    """2 x 2 matrices as tuples, row by row."""
    return (
        a[0] * b[0] + a[1] * b[2],
        a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2],
        a[2] * b[1] + a[3] * b[3],
    )


@intent.fn
def add_or_restart(a, b):
    """A running sum that starts again at a flag (segmented scan)."""
    return I.record(total=I.select(b.start, b.total, a.total + b.total), start=a.start | b.start)


@intent.kernel
def running_sum(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    y[...] = I.cumsum(x[...], axis=1)


@intent.kernel
def running_sum_of_columns(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    y[...] = I.cumsum(x[...], axis=0)


@intent.kernel
def running_sum_exclusive(x: I.In[I.i64, ("M", "N")], y: I.Out[I.i64, ("M", "N")]):
    y[...] = I.cumsum(x[...], axis=1, inclusive=False)


@intent.kernel
def running_sum_from_the_end(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    y[...] = I.cumsum(x[...], axis=-1, reverse=True)


@intent.kernel
def running_sum_exclusive_from_the_end(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    y[...] = I.cumsum(x[...], axis=1, inclusive=False, reverse=True)


@intent.kernel
def running_extremes(
    x: I.In[I.f32, ("M", "N")], high: I.Out[I.f32, ("M", "N")], low: I.Out[I.f32, ("M", "N")]
):
    high[...] = I.cummax(x[...], axis=1)
    low[...] = I.cummin(x[...], axis=1)


@intent.kernel
def running_product(x: I.In[I.i64, ("M", "N")], y: I.Out[I.i64, ("M", "N")]):
    y[...] = I.cumprod(x[...], axis=1)


@intent.kernel
def middle_axis(x: I.In[I.i32, ("B", "M", "N")], y: I.Out[I.i32, ("B", "M", "N")]):
    y[...] = I.cumsum(x[...], axis=1)


@intent.kernel
def affine_prefix(a: I.In[I.f64, ("M", "N")], b: I.In[I.f64, ("M", "N")], y: I.Out[I.f64, ("M", "N")]):
    maps = I.record(a=a[...], b=b[...])
    composed = I.scan(maps, axis=1, identity=I.record(a=1.0, b=0.0), combine=compose)
    y[...] = composed.a * 0.5 + composed.b


@intent.kernel
def affine_suffix(a: I.In[I.f64, ("M", "N")], b: I.In[I.f64, ("M", "N")], y: I.Out[I.f64, ("M", "N")]):
    maps = I.record(a=a[...], b=b[...])
    composed = I.scan(
        maps, axis=1, identity=I.record(a=1.0, b=0.0), combine=compose, inclusive=False, reverse=True
    )
    y[...] = composed.a * 0.5 + composed.b


@intent.kernel
def carry_forward(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    y[...] = I.scan(x[...], axis=1, identity=0, combine=last_nonzero)


@intent.kernel
def carry_backward(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    y[...] = I.scan(x[...], axis=1, identity=0, combine=last_nonzero, reverse=True)


@intent.kernel
def matrix_prefix(x: I.In[I.i32, ("N", 4)], y: I.Out[I.i32, ("N", 4)]):
    v = x[...]
    parts = (v[:, 0], v[:, 1], v[:, 2], v[:, 3])
    p, q, r, s = I.scan(parts, axis=0, identity=(1, 0, 0, 1), combine=times)
    y[:, 0] = p
    y[:, 1] = q
    y[:, 2] = r
    y[:, 3] = s


@intent.kernel
def segmented_sum(x: I.In[I.i32, ("N",)], start: I.In[I.bool, ("N",)], y: I.Out[I.i32, ("N",)]):
    items = I.record(total=x[...], start=start[...])
    summed = I.scan(items, axis=0, identity=I.record(total=0, start=False), combine=add_or_restart)
    y[...] = summed.total


@intent.kernel
def prefix_lookup(x: I.In[I.i32, ("M", "N")], at: I.In[I.i64, ("K",)], y: I.Out[I.i32, ("M", "K")]):
    y[...] = I.cumsum(x[...], axis=1)[:, at[...]]


@intent.kernel
def window_sums(x: I.In[I.i64, ("N",)], y: I.Out[I.i64, ("L",)], W: I.Constexpr[int]):
    N = x.shape[0]
    sums = I.cumsum(x[...], axis=0)
    y[...] = sums[W:N] - sums[0 : N - W]


@intent.kernel
def prefix_transposed(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("N", "M")]):
    y[...] = I.transpose(I.cumsum(x[...], axis=1))


@intent.kernel
def summed_area(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    y[...] = I.cumsum(I.cumsum(x[...], axis=1), axis=0)


@intent.kernel
def prefix_plus_transpose(x: I.In[I.i32, ("N", "N")], y: I.Out[I.i32, ("N", "N")]):
    s = I.cumsum(x[...], axis=1)
    y[...] = s + I.transpose(s)


@intent.kernel
def compact(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)], count: I.Out[I.i64, ()]):
    v = x[...]
    keep = v > 0
    place = I.cumsum(I.cast(keep, I.i64), axis=0, inclusive=False)
    I.scatter_unique(y, index=I.cast(place, I.index), value=v, valid=keep)
    count[...] = I.reduce.sum(I.cast(keep, I.i64), axis=0)


@intent.kernel
def softmax_of_prefix(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    s = I.cumsum(x[...], axis=1)
    e = I.exp(s - I.reduce.max(s, axis=1)[:, None])
    y[...] = e / I.reduce.sum(e, axis=1)[:, None]


@intent.kernel
def half_sums(x: I.In[I.f16, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    y[...] = I.cumsum(x[...], axis=1)
