"""Colliding writes that no single atomic performs: by compare-and-swap, by owners, or in order."""

from __future__ import annotations

import intent
import intent.language as I


@intent.fn
def farther(old, new):
    return I.select(I.abs(new) > I.abs(old), new, old)


@intent.fn
def either(old, new):
    return old | new


@intent.fn
def product(old, new):
    return old * new


@intent.kernel
def collide_bytes(x: I.In[I.i8, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.i8, ("K",)]):
    """Neighbours of a byte in its word are written at the same time."""
    I.scatter_reduce(y, index=at[...], value=x[...], combine=I.add)


@intent.kernel
def collide_bools(x: I.In[I.bool, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.bool, ("K",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        I.scatter_reduce(y, index=at[i], value=x[i], combine=either, valid=at[i] > 0)


@intent.kernel
def collide_halves(x: I.In[I.f16, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.f16, ("K",)]):
    """Neither sign nor ties: the value farthest from zero is kept."""
    for i in I.parallel(I.domain(0, x.shape[0])):
        I.scatter_reduce(y, index=at[i], value=x[i], combine=farther)


@intent.kernel
def collide_words(x: I.In[I.u64, ("M", "N")], at: I.In[I.i32, ("M", "N")], y: I.InOut[I.u64, ("K",)]):
    I.scatter_reduce(y, index=at[...], value=x[...], combine=product, valid=x[...] % 3 != 0)


@intent.kernel
def collide_in_rows(x: I.In[I.i16, ("M", "N")], at: I.In[I.i32, ("M", "N")], y: I.InOut[I.i16, ("M", "K")]):
    """Every point has a row of its own, so that rows need no atomics."""
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        for j in I.parallel(I.domain(0, N)):
            I.scatter_reduce(y, index=(i, at[i, j]), value=x[i, j], combine=product)


@intent.kernel
def collide_then_read(
    x: I.In[I.u8, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.u8, ("K",)], z: I.Out[I.u8, ("K",)]
):
    """What is read afterwards has every value; what is written afterwards has been read."""
    I.scatter_reduce(y, index=at[...], value=x[...], combine=I.maximum)
    z[...] = y[...]
    I.scatter_reduce(y, index=at[...], value=x[...], combine=either)


@intent.kernel
def collide_twice(x: I.In[I.i32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("K",)]):
    """Two statements whose collisions do not commute: all of the first come before any of the second."""
    I.scatter_reduce(y, index=at[...], value=x[...], combine=I.add)
    I.scatter_reduce(y, index=at[...], value=x[...], combine=I.maximum)


@intent.kernel
def collide_in_turn(x: I.In[I.i32, ("N",)], at: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("K",)]):
    """Atomics of two statements, the second of another kind."""
    I.atomic.max(y[at[...]], x[...])
    I.atomic.add(y[at[...]], x[...])
