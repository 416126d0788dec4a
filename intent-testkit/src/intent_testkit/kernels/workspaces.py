"""Buffers in front of parallel loops: shared in slices where points keep to their own, else in one instance."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def staged_points(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    """One loop writes what the next one reads at the same points."""
    N = x.shape[0]
    between = I.buffer((N,), I.f32)
    for i in I.parallel(I.domain(0, N)):
        between[i] = x[i] * 2
    for i in I.parallel(I.domain(0, N)):
        y[i] = between[i] + 1


@intent.kernel
def staged_backwards(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    """The next loop reads what other points wrote, so one instance does both."""
    N = x.shape[0]
    between = I.buffer((N,), I.i32)
    for i in I.parallel(I.domain(0, N)):
        between[i] = x[i] * 2
    for i in I.parallel(I.domain(0, N)):
        y[i] = between[N - 1 - i]


@intent.kernel
def begun_once(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "K")]):
    """Every owner gives its row the initial value, once, before an ordered loop adds to it."""
    M, N = x.shape
    K = y.shape[1]
    sums = I.buffer((M, K), I.i32, init=1)
    for i in I.parallel(I.domain(0, M)):
        for j in range(N):
            sums[i, j % K] = sums[i, j % K] + x[i, j]
    for i in I.parallel(I.domain(0, M)):
        for k in I.parallel(I.domain(0, K)):
            y[i, k] = sums[i, k] * 2


@intent.kernel
def begun_with_values(x: I.In[I.i32, ("M", "N")], w: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("M", "N")]):
    """Whole-tensor statements over a buffer that begins with a tensor."""
    held = I.buffer(x.shape, I.i32, init=x[...] * w[...][None, :])
    held[...] = held[...] + w[...][None, :]
    y[...] = held[...] * held[...]


@intent.kernel
def every_third(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)]):
    """Points that have no owner for every element of the initial value, so one instance runs them all."""
    N = x.shape[0]
    held = I.buffer((N,), I.i32, init=5)
    for i in I.parallel(I.domain(1, N, 3)):
        held[i] = held[i] + x[i - 1]
    for i in I.parallel(I.domain(1, N, 3)):
        y[i] = held[i] * y[i]


@intent.kernel
def staged_thirds(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)]):
    """Points that begin elsewhere and step over members, without an initial value."""
    N = x.shape[0]
    held = I.buffer((N,), I.i32)
    for i in I.parallel(I.domain(1, N, 3)):
        held[i] = x[i - 1] + 5
    for i in I.parallel(I.domain(1, N, 3)):
        y[i] = held[i] * y[i]


@intent.kernel
def rows_in_points(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    """A buffer of every outer point, shared by its inner ones."""
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        row = I.buffer((N,), I.i32, init=7)
        for j in I.parallel(I.domain(0, N)):
            row[j] = row[j] + x[i, j]
        for j in I.parallel(I.domain(0, N)):
            y[i, j] = row[j] * row[j]


@intent.kernel
def turned_in_memory(x: I.In[I.i32, ("N", "N")], y: I.Out[I.i32, ("N", "N")]):
    """The second loops walk the square the other way round: points meet in memory, not by their names."""
    N = x.shape[0]
    held = I.buffer((N, N), I.i32)
    for i in I.parallel(I.domain(0, N)):
        for j in I.parallel(I.domain(0, N)):
            held[i, j] = x[i, j] * 2
    for i in I.parallel(I.domain(0, N)):
        for j in I.parallel(I.domain(0, N)):
            y[j, i] = held[j, i] - I.cast(i, I.i32)


@intent.kernel
def counted_in_rows(at: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "K")], most: I.Out[I.i32, ("M",)]):
    """Collisions in a row of one's own, then its maximum."""
    M, N = at.shape
    K = y.shape[1]
    counts = I.buffer((M, K), I.i32, init=0)
    for i in I.parallel(I.domain(0, M)):
        for j in I.parallel(I.domain(0, N)):
            I.atomic.add(counts[i, at[i, j]], 1)
    y[...] = counts[...]
    most[...] = I.reduce.max(counts[...], axis=1)


@intent.kernel
def stages_in_a_chain(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)]):
    """Three loops and two buffers, the last loop in place."""
    N = x.shape[0]
    first = I.buffer((N,), I.f32)
    second = I.buffer((N,), I.f32, init=0.5)
    for i in I.parallel(I.domain(0, N)):
        first[i] = x[i] + y[i]
    for i in I.parallel(I.domain(0, N)):
        if first[i] > 0.0:
            second[i] = first[i]
    for i in I.parallel(I.domain(0, N)):
        y[i] = second[i] - first[i]


@intent.kernel
def one_counter(x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    """Every point shares one counter with an initial value, so one instance runs them all."""
    N = x.shape[0]
    taken = I.buffer((1,), I.i32, init=0)
    for _i in I.parallel(I.domain(0, N)):
        place = I.atomic.add(taken[0], 1)
        y[place] = 1


@intent.kernel
def filled_in_every_pass(x: I.In[I.i32, ("M", "N")], y: I.InOut[I.i32, ("M", "N")]):
    """Points of one instance read a buffer that the next of them fill again, and nothing else writes it."""
    M, N = x.shape
    y[:-1, :] += x[1:, :]
    for p in I.parallel(I.domain(0, M)):
        row = I.buffer((N,), I.i32, init=y[p, :])
        y[p, :] += row[...]
        y[p, :] -= row[N - 1 - I.indices(I.domain(0, N))]
