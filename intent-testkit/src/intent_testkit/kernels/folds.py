"""Region folds: summaries of contiguous slices, merged in order."""

from __future__ import annotations

import intent
import intent.language as I


@intent.fn
def attend(kv, q, scale):
    """Unnormalised attention of every row of q over a slice of keys and values."""
    logits = I.matmul(q, kv.k, transpose_rhs=True) * scale
    peak = I.reduce.max(logits, axis=1)
    safe = I.select(peak == -I.inf, 0.0, peak)
    weights = I.exp(logits - safe[:, None])
    return I.record(peak=peak, total=I.reduce.sum(weights, axis=1), out=I.matmul(weights, kv.v))


@intent.fn
def merge(a, b):
    peak = I.maximum(a.peak, b.peak)
    safe = I.select(peak == -I.inf, 0.0, peak)
    left = I.exp(a.peak - safe)
    right = I.exp(b.peak - safe)
    return I.record(
        peak=peak,
        total=a.total * left + b.total * right,
        out=a.out * left[:, None] + b.out * right[:, None],
    )


@intent.fn
def attend_causally(kv, q, rows, scale):
    logits = I.matmul(q, kv.k, transpose_rhs=True) * scale
    logits = I.mask(logits, kv.at[None, :] <= rows[:, None], -I.inf)
    peak = I.reduce.max(logits, axis=1)
    safe = I.select(peak == -I.inf, 0.0, peak)
    weights = I.exp(logits - safe[:, None])
    return I.record(peak=peak, total=I.reduce.sum(weights, axis=1), out=I.matmul(weights, kv.v))


@intent.kernel
def attention(
    q: I.In[I.f32, ("M", "D")],
    k: I.In[I.f32, ("N", "D")],
    v: I.In[I.f32, ("N", "E")],
    y: I.Out[I.f32, ("M", "E")],
    SCALE: I.Constexpr[float],
):
    M = q.shape[0]
    E = v.shape[1]
    start = I.record(peak=I.full((M,), -I.inf, I.f32), total=I.zeros((M,), I.f32), out=I.zeros((M, E), I.f32))
    s = I.region_fold(
        source=I.record(k=k[...], v=v[...]),
        axis=0,
        summarize=attend,
        combine=merge,
        identity=start,
        operands=(q[...], SCALE),
    )
    y[...] = s.out / s.total[:, None]


@intent.kernel
def causal_attention(
    q: I.In[I.f32, ("N", "D")],
    k: I.In[I.f32, ("N", "D")],
    v: I.In[I.f32, ("N", "E")],
    y: I.Out[I.f32, ("N", "E")],
    SCALE: I.Constexpr[float],
):
    N = q.shape[0]
    E = v.shape[1]
    axis = I.domain(0, N)
    start = I.record(peak=I.full((N,), -I.inf, I.f32), total=I.zeros((N,), I.f32), out=I.zeros((N, E), I.f32))
    s = I.region_fold(
        source=I.record(k=k[axis, :], v=v[axis, :], at=I.indices(axis)),
        axis=0,
        summarize=attend_causally,
        combine=merge,
        identity=start,
        operands=(q[...], I.indices(I.domain(0, N)), SCALE),
    )
    y[...] = s.out / s.total[:, None]


@intent.fn
def affine(first, second):
    return I.record(a=first.a * second.a, b=second.a * first.b + second.b)


@intent.fn
def affine_of(part):
    later = I.cumprod(part.a, axis=0, inclusive=False, reverse=True)
    return I.record(a=I.reduce.prod(part.a, axis=0), b=I.reduce.sum(part.b * later, axis=0))


@intent.kernel
def compose_all(
    a: I.In[I.f64, ("T", "D")],
    b: I.In[I.f64, ("T", "D")],
    scale: I.Out[I.f64, ("D",)],
    shift: I.Out[I.f64, ("D",)],
):
    D = a.shape[1]
    whole = I.region_fold(
        source=I.record(a=a[...], b=b[...]),
        axis=0,
        summarize=affine_of,
        combine=affine,
        identity=I.record(a=I.full((D,), 1.0, I.f64), b=I.zeros((D,), I.f64)),
    )
    scale[...] = whole.a
    shift[...] = whole.b


@intent.fn
def hash_of(part):
    """A polynomial hash of a slice with the power of the base that its length makes."""
    base = I.zeros(part.shape, I.u64) + 31
    powers = I.cumprod(base, axis=0, inclusive=False, reverse=True)
    return I.record(value=I.reduce.sum(part * powers, axis=0), power=I.reduce.prod(base, axis=0))


@intent.fn
def hash_join(a, b):
    return I.record(value=a.value * b.power + b.value, power=a.power * b.power)


@intent.kernel
def rolling_hash(x: I.In[I.u64, ("N",)], y: I.Out[I.u64, ()]):
    zero = I.record(value=I.cast(0, I.u64), power=I.cast(1, I.u64))
    y[...] = I.region_fold(source=x[...], axis=0, summarize=hash_of, combine=hash_join, identity=zero).value


@intent.fn
def runs_by_row(part):
    return I.record(
        changes=I.reduce.sum(I.cast(part.value != part.before, I.i64), axis=1),
        members=I.reduce.sum(I.cast(part.value == part.value, I.i64), axis=1),
    )


@intent.fn
def runs_join(a, b):
    return I.record(changes=a.changes + b.changes, members=a.members + b.members)


@intent.kernel
def count_changes(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i64, ("M",)], n: I.Out[I.i64, ("M",)]):
    M, N = x.shape
    columns = I.indices(I.domain(0, N))
    rows = I.indices(I.domain(0, M))
    before = I.gather(x, index=(rows[:, None], columns[None, :] - 1), valid=columns[None, :] > 0, fill=-1)
    zero = I.record(changes=I.zeros((M,), I.i64), members=I.zeros((M,), I.i64))
    s = I.region_fold(
        source=I.record(value=x[...], before=before),
        axis=1,
        summarize=runs_by_row,
        combine=runs_join,
        identity=zero,
    )
    y[...] = s.changes
    n[...] = s.members


@intent.fn
def moments_of(part):
    """Count, mean and squared deviation of a slice's members (two passes over the slice)."""
    n = I.reduce.sum(I.full(part.shape, 1.0, I.f32), axis=1)
    mean = I.reduce.sum(part, axis=1) / I.maximum(n, 1.0)
    away = part - mean[:, None]
    return I.record(n=n, mean=mean, m2=I.reduce.sum(away * away, axis=1))


@intent.fn
def moments_join(a, b):
    n = a.n + b.n
    safe = I.maximum(n, 1.0)
    delta = b.mean - a.mean
    return I.record(n=n, mean=a.mean + delta * b.n / safe, m2=a.m2 + b.m2 + delta * delta * a.n * b.n / safe)


@intent.kernel
def moments_by_slices(x: I.In[I.f32, ("M", "N")], mean: I.Out[I.f32, ("M",)], variance: I.Out[I.f32, ("M",)]):
    M = x.shape[0]
    zero = I.record(n=I.zeros((M,), I.f32), mean=I.zeros((M,), I.f32), m2=I.zeros((M,), I.f32))
    s = I.region_fold(source=x[...], axis=1, summarize=moments_of, combine=moments_join, identity=zero)
    mean[...] = s.mean
    variance[...] = s.m2 / I.maximum(s.n, 1.0)


@intent.kernel
def ragged_attention(
    q: I.In[I.f32, ("G", "D")],
    k: I.In[I.f32, ("N", "D")],
    v: I.In[I.f32, ("N", "E")],
    offsets: I.In[I.i32, ("P",)],
    y: I.Out[I.f32, ("G", "E")],
):
    G, D = q.shape
    N = k.shape[0]
    E = v.shape[1]
    tokens = I.domain(0, N)
    for g in I.parallel(I.domain(0, G)):
        span = tokens[I.cast(offsets[g], I.index) : I.cast(offsets[g + 1], I.index)]
        start = I.record(
            peak=I.full((1,), -I.inf, I.f32), total=I.zeros((1,), I.f32), out=I.zeros((1, E), I.f32)
        )
        s = I.region_fold(
            source=I.record(k=k[span, :], v=v[span, :]),
            axis=0,
            summarize=attend,
            combine=merge,
            identity=start,
            operands=(I.reshape(q[g, :], (1, D)), 1.0),
        )
        y[g, :] = I.select(s.total[0] > 0.0, s.out[0, :] / s.total[0], 0.0)


@intent.fn
def plus(a, b):
    return a + b


@intent.fn
def total(part):
    return I.reduce.sum(part, axis=0)


@intent.fn
def totals(part):
    return I.reduce.sum(part, axis=1)


@intent.fn
def twice_by_a_fold(part):
    return I.region_fold(source=part * 2.0, axis=0, summarize=total, combine=plus, identity=0.0)


@intent.fn
def squares_of_rows(part):
    rows = I.region_fold(source=part, axis=1, summarize=totals, combine=plus, identity=0.0)
    return I.reduce.sum(rows * rows, axis=0)


@intent.kernel
def folds_in_folds(x: I.In[I.f32, ("M", "N")], twice: I.Out[I.f32, ("M",)], squares: I.Out[I.f32, ()]):
    for m in I.parallel(I.domain(0, x.shape[0])):
        twice[m] = I.region_fold(
            source=x[m, :], axis=0, summarize=twice_by_a_fold, combine=plus, identity=0.0
        )
    squares[...] = I.region_fold(source=x[...], axis=0, summarize=squares_of_rows, combine=plus, identity=0.0)


@intent.fn
def running(part, state):
    return I.cumsum(part, axis=0) + state


@intent.fn
def total_by_a_scan(part):
    _, last = I.region_scan(
        source=part, axis=0, summarize=total, combine=plus, identity=0.0, initial_state=1.0,
        apply=plus, emit=running,
    )  # fmt: skip
    return last - 1.0


@intent.fn
def running_by_a_scan(part, state):
    outputs, _ = I.region_scan(
        source=part, axis=0, summarize=total, combine=plus, identity=0.0, initial_state=state,
        apply=plus, emit=running,
    )  # fmt: skip
    return outputs * 2.0


@intent.kernel
def scans_in_scans(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], last: I.Out[I.f32, ("M",)]):
    for m in I.parallel(I.domain(0, x.shape[0])):
        outputs, state = I.region_scan(
            source=x[m, :], axis=0, summarize=total_by_a_scan, combine=plus, identity=0.0,
            initial_state=3.0, apply=plus, emit=running_by_a_scan,
        )  # fmt: skip
        y[m, :] = outputs
        last[m] = state
