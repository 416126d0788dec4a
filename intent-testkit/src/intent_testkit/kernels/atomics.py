"""Atomics: collisions, bit sets, old values, compare and swap, on views and on local buffers."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def column_sums_by_atomics(x: I.In[I.f32, ("M", "N")], y: I.InOut[I.f32, ("N",)]):
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        for j in I.parallel(I.domain(0, N)):
            I.atomic.add(y[j], x[i, j])


@intent.kernel
def count_points(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, (3,)]):
    N = x.shape[0]
    for i in I.parallel(I.domain(0, N)):
        I.atomic.add(y[0], 1)
        I.atomic.max(y[1], x[i])
        I.atomic.min(y[2], x[i])


@intent.kernel
def bit_sets(x: I.In[I.u32, ("N",)], y: I.InOut[I.u32, (3,)]):
    N = x.shape[0]
    for i in I.parallel(I.domain(0, N)):
        I.atomic.or_(y[0], x[i])
        I.atomic.and_(y[1], x[i])
        I.atomic.xor(y[2], x[i])


@intent.kernel
def tickets(x: I.In[I.i32, ("N",)], counter: I.InOut[I.i32, ()], taken: I.InOut[I.i32, ("N",)]):
    """Each selected point takes a different number; which one is not determined, that all are taken is."""
    N = x.shape[0]
    for i in I.parallel(I.domain(0, N)):
        if x[i] > 0:
            n = I.atomic.add(counter[()], 1)
            I.atomic.add(taken[I.cast(n, I.index)], 1)


@intent.kernel
def claim(x: I.In[I.i32, ("N",)], slots: I.InOut[I.i32, ("K",)], won: I.InOut[I.i32, ("K",)]):
    """Compare and swap from empty: every slot that anyone wants is won exactly once."""
    N = x.shape[0]
    for i in I.parallel(I.domain(0, N)):
        slot = I.cast(x[i], I.index)
        got = I.atomic.compare_exchange(slots[slot], -1, x[i])
        if got.success:
            I.atomic.add(won[slot], 1)


@intent.kernel
def exchange_all(
    x: I.In[I.i32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)], old: I.Out[I.i32, ("N",)]
):
    old[...] = I.atomic.exchange(y[at[...]], x[...])


@intent.kernel
def replace_threes(
    x: I.In[I.i32, ("N",)],
    at: I.In[I.i32, ("N",)],
    y: I.InOut[I.i32, ("N",)],
    old: I.Out[I.i32, ("N",)],
    done: I.Out[I.bool, ("N",)],
):
    got = I.atomic.compare_exchange(y[at[...]], 3, x[...])
    old[...] = got.old_value
    done[...] = got.success


@intent.kernel
def exchange_plane(
    x: I.In[I.i32, ("M", "N")],
    at: I.In[I.i32, ("N",)],
    y: I.InOut[I.i32, ("M", "N")],
    old: I.Out[I.i32, ("N", "M")],
    highest: I.Out[I.i32, ("M",)],
):
    """Old values read transposed and reduced."""
    M = x.shape[0]
    rows = I.indices(I.domain(0, M))
    o = I.atomic.exchange(y[rows[:, None], at[...][None, :]], x[...])
    old[...] = I.transpose(o)
    highest[...] = I.reduce.max(o, axis=1)


@intent.kernel
def load_and_store(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)], z: I.Out[I.i32, ("N",)]):
    N = x.shape[0]
    for i in I.parallel(I.domain(0, N)):
        v = I.atomic.load(y[i], order="acquire")
        I.atomic.store(y[i], v + x[i], order="release")
        z[i] = v


@intent.kernel
def counts_by_atomics(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", 4)]):
    """Atomics on a buffer that plain stores have filled."""
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        b = I.buffer((4,), I.i32, init=0)
        for j in I.parallel(I.domain(0, N)):
            I.atomic.add(b[I.cast(x[i, j], I.index)], 1)
        y[i, :] = b[...]


@intent.kernel
def ordered_tickets(x: I.In[I.i32, ("N",)], counter: I.InOut[I.i32, ()], y: I.Out[I.i32, ("N",)]):
    N = x.shape[0]
    for i in range(N):
        y[i] = I.atomic.add(counter[()], x[i], order="acq_rel")
