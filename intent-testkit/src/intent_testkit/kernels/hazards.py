"""Kernels on which other kernel languages gave wrong answers (docs/cases.md)."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def extremes_of_halves(
    x: I.In[I.bf16, ("M", "N")],
    high: I.Out[I.bf16, ("M",)],
    low: I.Out[I.bf16, ("M",)],
    first: I.Out[I.i64, ("M",)],
    last: I.Out[I.i64, ("M",)],
):
    v = x[...]
    high[...] = I.reduce.max(v, axis=1)
    low[...] = I.reduce.min(v, axis=1)
    _, i = I.arg_reduce.max(v, axis=1)
    _, j = I.arg_reduce.min(v, axis=1)
    first[...] = I.cast(i, I.i64)
    last[...] = I.cast(j, I.i64)


@intent.kernel
def padding_lanes(
    x: I.In[I.f32, ("M", "N")],
    high: I.Out[I.f32, ("M",)],
    low: I.Out[I.f32, ("M",)],
    product: I.Out[I.f32, ("M",)],
    every: I.Out[I.bool, ("M",)],
    peak: I.Out[I.f32, ("M",)],
    where: I.Out[I.i64, ("M",)],
):
    """All members are negative: a lane that holds zero, one or False wins one of these."""
    v = x[...]
    high[...] = I.reduce.max(v, axis=1)
    low[...] = I.reduce.min(-v, axis=1)
    product[...] = I.reduce.prod(v, axis=1)
    every[...] = I.reduce.all(v < 0.0, axis=1)
    best, i = I.arg_reduce.max(v, axis=1)
    peak[...] = best
    where[...] = I.cast(i, I.i64)


@intent.fn
def nearer_to_ten(a, b):
    return I.select(I.abs(a - 10.0) <= I.abs(b - 10.0), a, b)


@intent.kernel
def padding_lanes_generic(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    """The identity is far from ten; a lane of zeros would be nearer than some rows' members."""
    y[...] = I.reduce(x[...], axis=1, identity=I.inf, combine=nearer_to_ten)


@intent.kernel
def guarded_garbage(
    ok: I.In[I.i32, ("N",)], at: I.In[I.i64, ("N",)], x: I.In[I.f32, ("K",)], y: I.InOut[I.f32, ("N",)]
):
    """Reads and writes stand behind a condition; where it is false the index is garbage."""
    N = ok.shape[0]
    for i in I.parallel(I.domain(0, N)):
        if ok[i] > 0:
            y[i] = x[I.cast(at[i], I.index)] + 1.0


@intent.kernel
def guarded_row_offsets(rows: I.In[I.i64, ("R",)], x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("R", "N")]):
    """Shifted gathers in two axes, both of which may be far outside."""
    M, N = x.shape
    r = I.cast(rows[...], I.index)[:, None]
    c = I.indices(I.domain(0, N))[None, :] + r
    inside = (r >= 0) & (r < M) & (c >= 0) & (c < N)
    y[...] = I.gather(x, index=(r, c), valid=inside, fill=-5)


@intent.kernel
def coordinates_beyond_32_bits(
    begin: I.i64, base: I.In[I.i64, ("M",)], y: I.Out[I.i64, ("N",)], z: I.Out[I.i64, ("M", "N")]
):
    """Coordinates around and beyond 2**31, in program space and inside tensors."""
    N = y.shape[0]
    first = I.cast(begin, I.index)
    for i in I.parallel(I.domain(first, first + N)):
        y[i - first] = I.cast(i, I.i64) * 3
    far = I.indices(I.domain(0, N)) * 1073741827
    z[...] = base[...][:, None] + I.cast(far, I.i64)[None, :]


@intent.kernel
def floor_pairs(p: I.i64, n: I.i64, x: I.In[I.i64, ("N",)], y: I.Out[I.i64, (8,)], z: I.Out[I.i64, ("N", 4)]):
    """Division of literals, of scalars and of elements: one rule, folded or not. p is 7 and n is -7."""
    v = x[...]
    y[0] = 7 // -3
    y[1] = -7 % 3
    y[2] = p // -3
    y[3] = n % 3
    y[4] = p % -3
    y[5] = n // 3
    y[6] = n // -3
    y[7] = 7 % -3
    z[:, 0] = v // p
    z[:, 1] = v % n
    z[:, 2] = v // n
    z[:, 3] = v % p


@intent.fn
def halved(x, two):
    return x >> 1, x // two, I.cast(x, I.f64), x < two


@intent.kernel
def signed_and_unsigned_helper(
    s: I.In[I.i32, ("N",)],
    u: I.In[I.u32, ("N",)],
    s_shift: I.Out[I.i32, ("N",)],
    u_shift: I.Out[I.u32, ("N",)],
    s_half: I.Out[I.i32, ("N",)],
    u_half: I.Out[I.u32, ("N",)],
    s_wide: I.Out[I.f64, ("N",)],
    u_wide: I.Out[I.f64, ("N",)],
    s_less: I.Out[I.bool, ("N",)],
    u_less: I.Out[I.bool, ("N",)],
):
    """One helper, called with the same bits as signed and as unsigned."""
    a, b, c, d = halved(s[...], I.cast(2, I.i32))
    s_shift[...] = a
    s_half[...] = b
    s_wide[...] = c
    s_less[...] = d
    a, b, c, d = halved(u[...], I.cast(2, I.u32))
    u_shift[...] = a
    u_half[...] = b
    u_wide[...] = c
    u_less[...] = d


@intent.kernel
def matmul_beyond_tf32(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], c: I.Out[I.f32, ("M", "N")]):
    c[...] = I.matmul(a[...], b[...])


@intent.kernel
def small_and_special_f32(
    x: I.In[I.f32, ("N",)],
    y: I.In[I.f32, ("N",)],
    total: I.Out[I.f32, ("N",)],
    product: I.Out[I.f32, ("N",)],
    quotient: I.Out[I.f32, ("N",)],
    root: I.Out[I.f32, ("N",)],
    higher: I.Out[I.f32, ("N",)],
    sign: I.Out[I.u32, ("N",)],
):
    a = x[...]
    b = y[...]
    p = a * b
    total[...] = a + b
    product[...] = p
    quotient[...] = a / b
    root[...] = I.sqrt(I.abs(a))
    higher[...] = I.maximum(a, b)
    sign[...] = I.select(I.isnan(p), I.cast(2, I.u32), I.bitcast(p, I.u32) >> 31)


@intent.kernel
def small_and_special_f16(
    x: I.In[I.f16, ("N",)], y: I.In[I.f16, ("N",)], total: I.Out[I.f16, ("N",)], product: I.Out[I.f16, ("N",)]
):
    total[...] = x[...] + y[...]
    product[...] = x[...] * y[...]


@intent.kernel
def small_and_special_bf16(
    x: I.In[I.bf16, ("N",)],
    y: I.In[I.bf16, ("N",)],
    total: I.Out[I.bf16, ("N",)],
    product: I.Out[I.bf16, ("N",)],
):
    total[...] = x[...] + y[...]
    product[...] = x[...] * y[...]


@intent.kernel
def sums_of_bf16(x: I.In[I.bf16, ("M", "N")], wide: I.Out[I.f32, ("M",)], narrow: I.Out[I.bf16, ("N",)]):
    """Whole numbers whose sums a bf16 accumulator loses."""
    wide[...] = I.reduce.sum(x[...], axis=1)
    narrow[...] = I.cast(I.reduce.sum(x[...], axis=0), I.bf16)


@intent.kernel
def atomic_sums_f16(x: I.In[I.f16, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.f16, ("K",)]):
    N = x.shape[0]
    for i in I.parallel(I.domain(0, N)):
        I.atomic.add(y[at[i]], x[i])


@intent.kernel
def atomic_sums_bf16(x: I.In[I.bf16, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.bf16, ("K",)]):
    N = x.shape[0]
    for i in I.parallel(I.domain(0, N)):
        I.atomic.add(y[at[i]], x[i])


@intent.kernel
def atomic_extremes_f16(x: I.In[I.f16, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.f16, ("K",)]):
    N = x.shape[0]
    for i in I.parallel(I.domain(0, N)):
        I.atomic.max(y[at[i]], x[i])


@intent.kernel
def scatter_sums_f16(x: I.In[I.f16, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.f16, ("K",)]):
    I.scatter_reduce(y, index=at[...], value=x[...], combine=I.add)


@intent.kernel
def scatter_sums_bf16(x: I.In[I.bf16, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.bf16, ("K",)]):
    I.scatter_reduce(y, index=at[...], value=x[...], combine=I.add)


@intent.kernel
def histogram_of_valid(
    x: I.In[I.i32, ("N",)], ok: I.In[I.bool, ("N",)], y: I.Out[I.i32, ("K",)], total: I.Out[I.i32, ("K",)]
):
    """Values outside the bins are silenced by ``valid``; the tail of a block must count nowhere."""
    counts = I.histogram(x[...], bins=y.shape[0], valid=ok[...])
    y[...] = counts
    total[...] = I.cumsum(counts, axis=0)


@intent.kernel
def size_one_and_empty(
    x: I.In[I.f32, ("M", "N")],
    row: I.In[I.f32, ("P", "N")],
    y: I.Out[I.f32, ("M", "N")],
    most: I.Out[I.f32, ("M",)],
    total: I.Out[I.f32, ("N",)],
):
    """P is 1 or M: a row that stands for all rows, and reductions that may have no members."""
    v = x[...] + row[...]
    y[...] = v
    most[...] = I.reduce.max(v, axis=1)
    total[...] = I.reduce.sum(v, axis=0)


@intent.kernel
def overwrite_what_is_needed(x: I.InOut[I.f32, ("M", "N")]):
    """Every row becomes itself less the mean of the row above, read before any of them changes."""
    M, N = x.shape
    means = I.reduce.sum(x[...], axis=1) / I.cast(N, I.f32)
    x[1:M, :] = x[1:M, :] - means[0 : M - 1][:, None]


@intent.kernel
def alias_group(
    x: I.In[I.i32, ("N",), I.constraints(alias="g")], y: I.InOut[I.i32, ("N",), I.constraints(alias="g")]
):
    """Two views that may share elements in any way: x is read whole before y changes."""
    y[...] = x[...] * 2 + 1


@intent.kernel
def wide_domain(n: I.i64, step: I.i64, y: I.InOut[I.i64, ("K",)]):
    """A domain of many points (or one of few far apart), each of which counts itself."""
    K = y.shape[0]
    points = I.domain(0, I.cast(n, I.index), I.cast(step, I.index))
    for i in I.parallel(points):
        I.atomic.add(y[i % K], 1)


@intent.kernel
def far_rows_i8(x: I.In[I.i8, ("M", "N")], y: I.Out[I.i8, ("M", "N")]):
    y[...] = x[...] + 1


@intent.kernel
def far_rows_f64(x: I.In[I.f64, ("M", "N")], y: I.Out[I.f64, ("M", "N")]):
    y[...] = x[...] + 1.0


@intent.kernel
def far_scatter(at: I.In[I.i64, ("K",)], x: I.In[I.i32, ("K",)], y: I.InOut[I.i32, ("N",)]):
    I.scatter_unique(y, index=at[...], value=x[...])


@intent.kernel
def wide_square(n: I.i64, y: I.InOut[I.i64, ("K",)]):
    """A product of domains: n * n points."""
    side = I.domain(0, I.cast(n, I.index))
    for i in I.parallel(side):
        for j in I.parallel(side):
            I.atomic.add(y[(i + j) % y.shape[0]], 1)


@intent.kernel
def divided_by_largest(x: I.InOut[I.f32, ("N",)]):
    """A row that has to be held whole."""
    x[...] = x[...] / I.reduce.max(I.abs(x[...]), axis=0)
