"""Branches that the arguments of a launch decide: what they need is asked only where they are taken."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def one_side_needs(n: I.i32, x: I.In[I.f32, ("N",)], z: I.In[I.f32, ("M",)], y: I.Out[I.f32, ("N",)]):
    """Adding wants equal extents, the other side does not."""
    if n == 1:
        y[...] = x[...] + z[...]
    else:
        y[...] = x[...] * 2


@intent.kernel
def part_where_given(n: I.i64, x: I.In[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    """A subregion that lies inside only where its branch is taken."""
    y[...] = x[...]
    if n > 0:
        y[0:n] = x[0:n] * 3


@intent.kernel
def flag_decides(
    flag: I.bool, x: I.In[I.i32, ("M", "N")], z: I.In[I.i32, ("K",)], y: I.Out[I.i32, ("M", "N")]
):
    held = x[...] + 1
    if flag:
        held = held * z[0 : x.shape[1]][None, :]
    y[...] = held
