"""Operations in several segments of one launch and under two instance axes: corners of the table of coverage."""

from __future__ import annotations

import intent
import intent.language as I


@intent.fn
def plus(a, b):
    return a + b


@intent.fn
def exclusive_or(a, b):
    return a ^ b


@intent.fn
def rows_of(part):
    return I.reduce.sum(part, axis=1)


@intent.fn
def after(part, state):
    return I.cumsum(part, axis=1) + state[:, None]


@intent.fn
def before_of(a, b):
    return I.record(a=a.a * b.a, b=b.a * a.b + b.b)


@intent.kernel
def structures_apart(
    a: I.In[I.i32, ("M", "N")],
    b: I.In[I.i32, ("N", "M")],
    c: I.In[I.i32, ("K",)],
    folded: I.Out[I.i32, ("M",)],
    prefixes: I.Out[I.i32, ("M", "N")],
    parity: I.Out[I.i32, ("N",)],
    affine: I.Out[I.i32, ("N", "M")],
    picked: I.Out[I.i32, ("K", 2)],
    flat: I.Out[I.i32, ("L",)],
    words: I.Out[I.u32, ("K",)],
    counts: I.Out[I.i32, (5,)],
    product: I.Out[I.i32, ("M", "M")],
):
    """Every output is a segment of its own."""
    M, N = a.shape
    K = c.shape[0]
    zero = I.zeros((M,), I.i32)
    folded[...] = I.region_fold(source=a[...], axis=1, summarize=rows_of, combine=plus, identity=zero)
    outputs, _ = I.region_scan(
        source=a[...],
        axis=1,
        summarize=rows_of,
        combine=plus,
        identity=zero,
        initial_state=zero,
        apply=plus,
        emit=after,
    )
    prefixes[...] = outputs
    parity[...] = I.reduce(a[...], axis=0, identity=0, combine=exclusive_or)
    steps = I.scan(
        I.record(a=b[...] % 3 + 1, b=b[...]), axis=0, identity=I.record(a=1, b=0), combine=before_of
    )
    affine[...] = steps.b
    v = c[...]
    shifted = I.gather(v + 1, index=K - 1 - I.indices(I.domain(0, K)))
    picked[...] = I.join(shifted, v)
    flat[...] = I.reshape(I.transpose(a[...]), (M * N,))
    words[...] = I.random.bits(I.cast(c[...], I.i64), I.indices(I.domain(0, K)))
    counts[...] = I.histogram(c[...] % 5, bins=5)
    product[...] = I.contract(a[...], b[...], reduce=((1, 0),), acc_dtype=I.i32)


@intent.kernel
def effects_apart(
    x: I.In[I.i32, ("N",)],
    z: I.In[I.i32, ("M", "K")],
    total: I.InOut[I.i32, ("K",)],
    mixed: I.InOut[I.i32, ("K",)],
    sums: I.InOut[I.i32, ("K",)],
    turned: I.Out[I.i32, ("M", "K")],
    longest: I.Out[I.i32, ("N",)],
    chosen: I.Out[I.i32, ("M",)],
):
    """Atomics, colliding writes, buffers, loops and branches, each in a segment of its own."""
    N = x.shape[0]
    M, K = z.shape
    for i in I.parallel(I.domain(0, N)):
        I.atomic.add(total[i % K], x[i])
    places = I.indices(I.domain(0, N)) % K
    I.scatter_reduce(sums, index=places, value=x[...], combine=I.add)
    I.scatter_reduce(mixed, index=places, value=x[...], combine=exclusive_or)
    for i in I.parallel(I.domain(0, M)):
        row = I.buffer((K,), I.i32)
        row[...] = z[i, :]
        turned[i, :] = row[K - 1 - I.indices(I.domain(0, K))] - row[...]
    for i in I.parallel(I.domain(0, N)):
        n = I.abs(x[i])
        steps = I.cast(0, I.i32)
        while n > 0:
            n = n // 2
            steps = steps + 1
        longest[i] = steps
    for i in I.parallel(I.domain(0, M)):
        best = I.cast(0, I.i32)
        for j in range(K):
            if z[i, j] > best:  # noqa: PLR1730 - the branch is the point
                best = z[i, j]
        chosen[i] = best


@intent.kernel
def packed_apart(
    a: I.In[I.u8, ("M", "G", 4)],
    a_scale: I.In[I.u8, ("M", "G")],
    b: I.In[I.u8, ("G", 4, "N")],
    b_scale: I.In[I.u8, ("N", "G")],
    s: I.In[I.f32, ("M", "S")],
    at: I.In[I.i64, ("M", "S")],
    d: I.In[I.f32, ("K", "N")],
    c: I.Out[I.f32, ("M", "N")],
    e: I.Out[I.f32, ("M", "N")],
):
    """A microscaled and a sparse product, one segment each."""
    c[...] = I.scaled_matmul(
        a[...],
        a_scale[...],
        b[...],
        b_scale[...],
        lhs_format=I.e4m3,
        rhs_format=I.e4m3,
        group_size=4,
        acc_dtype=I.f32,
    )
    e[...] = I.sparse_matmul(
        s[...], I.cast(at[...], I.index), d[...], format=I.sparse.one_of_two(1, d.shape[0]), acc_dtype=I.f32
    )


@intent.kernel
def middle_parity(x: I.In[I.i32, ("A", "B", "C")], y: I.Out[I.i32, ("A", "C")]):
    """A reduction with a combine of its own between two free axes."""
    y[...] = I.reduce(x[...], axis=1, identity=0, combine=exclusive_or)


@intent.kernel
def folds_of_columns(
    x: I.In[I.i32, ("A", "N", "C")], y: I.Out[I.i32, ("A", "C")], last: I.Out[I.i32, ("A", "C")]
):
    """A fold and a region scan in the middle axis, under two instance axes."""
    A, _, C = x.shape
    zero = I.zeros((A, C), I.i32)
    y[...] = I.region_fold(source=x[...], axis=1, summarize=rows_of, combine=plus, identity=zero)
    last[...] = I.region_fold(source=x[...] * 2, axis=1, summarize=rows_of, combine=plus, identity=zero)


@intent.kernel
def plane_of_effects(
    x: I.In[I.i32, ("M", "N")],
    low: I.InOut[I.i32, ("M",)],
    sums: I.InOut[I.i64, ("N",)],
    digits: I.Out[I.i32, ("M", "N", 4)],
    steps: I.Out[I.i32, ("M", "N")],
):
    """Two parallel axes around a buffer, a while, a branch and atomics."""
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        for j in I.parallel(I.domain(0, N)):
            I.atomic.min(low[i], x[i, j])
            I.scatter_reduce(sums, index=(j,), value=I.cast(x[i, j], I.i64), combine=I.add)
            places = I.buffer((4,), I.i32, init=0)
            n = I.abs(x[i, j]) % 625
            k = I.cast(0, I.index)
            while n > 0:
                if n % 5 != 2:
                    places[k] = n % 5
                n = n // 5
                k = k + 1
            digits[i, j, :] = places[...]
            steps[i, j] = I.cast(k, I.i32)


@intent.kernel
def plane_of_claims(x: I.In[I.i32, ("M", "N")], slots: I.InOut[I.i32, ("K",)]):
    """Compare and swap under two parallel axes: the slot is taken by the one value that it may have."""
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        for j in I.parallel(I.domain(0, N)):
            I.atomic.compare_exchange(slots[x[i, j]], -1, x[i, j])


@intent.kernel
def claims_and_more(x: I.In[I.i32, ("N",)], slots: I.InOut[I.i32, ("K",)], y: I.Out[I.i32, ("N",)]):
    """Compare and swap in one segment, something else in another."""
    N = x.shape[0]
    for i in I.parallel(I.domain(0, N)):
        I.atomic.compare_exchange(slots[x[i]], -1, x[i])
    y[...] = x[...] * 3


@intent.kernel
def atomic_copy(
    x: I.InOut[I.i32, ("M", "N")],
    y: I.InOut[I.i32, ("M", "N")],
    z: I.In[I.i32, ("M", "N")],
    w: I.Out[I.i32, ("M", "N")],
):
    """Atomic loads and stores of elements that nobody else touches, and a segment that is not atomic."""
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        for j in I.parallel(I.domain(0, N)):
            v = I.atomic.load(x[i, j], order="acquire")
            I.atomic.store(y[i, j], v * 2, order="release")
    w[...] = z[...] - 1


@intent.kernel
def tensors_in_buffers(x: I.In[I.i32, ("A", "M", "N")], y: I.Out[I.i32, ("A", "M", "N")]):
    """A tensor kept in a buffer of every point, read transposed against itself and overwritten."""
    A, M, N = x.shape
    for a in I.parallel(I.domain(0, A)):
        kept = I.buffer((M, N), I.i32)
        kept[...] = x[a, :, :] * 3
        kept[0, :] = kept[M - 1, :] + 1
        total = I.reduce.sum(kept[...], axis=0)
        y[a, :, :] = kept[...] + total[None, :]


@intent.kernel
def promised_gather(
    at: I.In[I.i64, ("M", "K")], x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("M", "K")], z: I.Out[I.i32, ("N",)]
):
    """Coordinates that the author promises to be inside."""
    i = I.cast(at[...], I.index)
    I.assume_in_bounds(i, x, 0)
    y[...] = x[i] + 1
    z[...] = x[...] * 2


@intent.kernel
def plane_of_sums(
    x: I.In[I.i32, ("M", "N")],
    sums: I.InOut[I.i32, ("K",)],
    most: I.InOut[I.i32, ("K",)],
    bits: I.Out[I.u32, ("M", "N")],
):
    """Colliding writes under two parallel axes, and the bits of a tensor of rank two."""
    M, N = x.shape
    K = sums.shape[0]
    for i in I.parallel(I.domain(0, M)):
        for j in I.parallel(I.domain(0, N)):
            I.scatter_reduce(sums, index=((i + j) % K,), value=x[i, j], combine=I.add)
            I.atomic.max(most[(i * 2 + j) % K], x[i, j])
    bits[...] = I.bitcast(x[...], I.u32)


@intent.kernel
def mixed_by_points(x: I.In[I.i32, ("M", "N")], mixed: I.InOut[I.i32, ("K",)]):
    """A colliding write that no atomic performs, under two parallel axes."""
    M, N = x.shape
    K = mixed.shape[0]
    for i in I.parallel(I.domain(0, M)):
        for j in I.parallel(I.domain(0, N)):
            I.scatter_reduce(mixed, index=((i + j) % K,), value=x[i, j], combine=exclusive_or)


@intent.kernel
def uniform_while(n: I.i32, x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    """A while that no point takes part in."""
    factor = I.cast(1, I.i32)
    k = n
    while k > 0:
        factor = factor * 3 % 101
        k = k - 1
    y[...] = x[...] * factor
