"""Kernels that tell a right compiler from one that is wrong in a single place (docs/mutants.md)."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def promised_where_asked(
    ok: I.In[I.i32, ("N",)], at: I.In[I.i64, ("N",)], x: I.In[I.f32, ("K",)], y: I.InOut[I.f32, ("N",)]
):
    """The promise is made where the condition holds; elsewhere the index is garbage."""
    N = ok.shape[0]
    for i in I.parallel(I.domain(0, N)):
        if ok[i] > 0:
            j = I.cast(at[i], I.index)
            I.assume_in_bounds(j, x, 0)
            y[i] = x[j] + 1.0


@intent.kernel
def promised_in_a_branch(
    flag: I.i32, where: I.i64, x: I.In[I.i32, ("K",)], y: I.InOut[I.i32, ("M",)], z: I.Out[I.i32, ("M",)]
):
    """A branch that the whole launch takes or not, with loops inside; garbage where it is not taken."""
    M = y.shape[0]
    j = I.cast(where, I.index)
    if flag > 0:
        I.assume_in_bounds(j, x, 0)
        for k in range(M):
            y[k] = y[k] + x[j] * I.cast(k, I.i32)
    total = I.cast(0, I.i32)
    if flag > 0:
        I.assume_in_bounds(j, x, 0)
        for k in range(M):
            total = total + x[j] - I.cast(k, I.i32)
    z[...] = I.full((M,), 1, I.i32) * total


@intent.kernel
def promised_in_a_loop(
    n: I.i64, where: I.i64, x: I.In[I.i32, ("K",)], y: I.Out[I.i32, ("M",)], z: I.InOut[I.i32, ("M",)]
):
    """Loops that may make no pass; the promise is made inside of them."""
    M = y.shape[0]
    j = I.cast(where, I.index)
    total = I.cast(1, I.i32)
    for k in range(I.cast(n, I.index)):
        I.assume_in_bounds(j, x, 0)
        total = total * 3 + x[j] + I.cast(k, I.i32)
    y[...] = I.full((M,), 1, I.i32) * total
    for i in I.parallel(I.domain(0, M)):
        for _k in range(I.cast(n, I.index)):
            I.assume_in_bounds(j, x, 0)
            z[i] = z[i] * 2 + x[j]


@intent.kernel
def endless_elsewhere(step: I.i32, y: I.InOut[I.i32, ("N",)]):
    """A loop that would not end where the branch is not taken."""
    v = I.cast(1, I.i32)
    if step > 0:
        while v < 10:
            v = v + step
    y[...] = y[...] + v


@intent.kernel
def turned_after_a_branch(
    flag: I.i32, x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)], z: I.Out[I.i32, ("N",)]
):
    """One side of a branch writes what everybody reads afterwards, from the other end."""
    N = x.shape[0]
    if flag > 0:
        y[...] = x[...] * 3
    back = N - 1 - I.indices(I.domain(0, N))
    z[...] = I.gather(y[...], index=(back,))


@intent.kernel
def added_then_raised(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("K",)]):
    """Atomics of two kinds: every sum comes before every maximum."""
    N = x.shape[0]
    K = y.shape[0]
    for i in I.parallel(I.domain(0, N)):
        I.atomic.add(y[i % K], x[i])
    for i in I.parallel(I.domain(0, N)):
        I.atomic.max(y[(i * 2 + 1) % K], x[i])


@intent.kernel
def written_again_elsewhere(n: I.i64, x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    """Writes of the same elements by other lanes, in front of a loop that may make no pass, in it and after it."""
    N = x.shape[0]
    line = I.indices(I.domain(0, N))
    y[...] = x[...]
    for t in range(I.cast(n, I.index)):
        I.scatter_unique(y, index=((line + t) % N,), value=x[...] * 2)
    I.scatter_unique(y, index=(N - 1 - line,), value=x[...] + 1)


@intent.kernel
def rows_against_columns(x: I.In[I.i32, ("N", "N")], y: I.Out[I.i32, ("N",)]):
    """Points and what each of them sums over are one domain."""
    line = I.domain(0, x.shape[0])
    for i in I.parallel(line):
        y[i] = I.reduce.sum(x[i, line] * x[line, i] + x[i, i], axis=0)


@intent.kernel
def carried_diagonal(x: I.In[I.i32, ("N", "N")], y: I.Out[I.i32, ("N", "N")]):
    """A carried matrix whose diagonal every pass adds to its rows."""
    N = x.shape[0]
    line = I.indices(I.domain(0, N))
    m = x[...]
    for _k in range(3):
        d = I.gather(m, index=(line, line))
        m = m * 2 + d[None, :] - d[:, None] * 3
    y[...] = m


@intent.kernel
def points_where_asked(ok: I.In[I.i32, ("M",)], x: I.In[I.i32, ("M", "N")], y: I.InOut[I.i32, ("M", "N")]):
    """Points below a condition that differs between the points around it."""
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        if ok[i] > 0:
            for j in I.parallel(I.domain(0, N)):
                y[i, j] = x[i, j] * 2 + 1


@intent.kernel
def all_into_one(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("K",)]):
    """Every element collides with every other: the coordinate knows nothing of who writes."""
    N = x.shape[0]
    I.scatter_reduce(y, index=I.full((N,), 0, I.index), value=x[...] + 1, combine=I.add)


@intent.kernel
def steps_to_the_end(end: I.In[I.i64, (1,)], y: I.InOut[I.i32, ("N",)]):
    """A domain whose end is read, and whose steps end there."""
    for i in I.parallel(I.domain(0, I.cast(end[0], I.index), 2)):
        I.atomic.add(y[i], 1)


@intent.kernel
def sums_between_writes(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)], z: I.Out[I.i32, (4,)]):
    """What is read has to be read after the write of the same pass, however little it follows the loop."""
    for t in range(4):
        y[...] = y[...] * 2 + x[...]
        z[t] = I.reduce.sum(y[...], axis=0)


@intent.kernel
def added_from_itself(y: I.InOut[I.i32, ("N",)]):
    """What is added is what stood there before all sums, whatever is combined first."""
    N = y.shape[0]
    i = I.indices(I.domain(0, N))
    I.scatter_reduce(y, index=(i * 2 + 1) % N, value=y[N - 1 - i], combine=I.add)


@intent.kernel
def added_where_they_meet(k: I.In[I.i32, ("P",)], y: I.InOut[I.i32, ("N",)]):
    """What is read stands where it is added, and lanes that read one element meet there."""
    I.scatter_reduce(y, index=(k[...],), value=y[k[...]], combine=I.add)


@intent.kernel
def rows_of_pairs(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M",)], z: I.Out[I.i32, ("M", "N")]):
    """Places of a row are quotients by its length, which may be zero while rows are summed."""
    M, N = x.shape
    pairs = I.reshape(I.reshape(I.join(x[...], x[...] * 10), (M * N * 2,)), (M, N, 2))
    y[...] = I.reduce.sum(pairs, axis=(1, 2))
    z[...] = pairs[:, :, 1]
