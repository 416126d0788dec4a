"""Contractions of microscaled and of structured sparse data."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def scaled_e2m1(
    a: I.In[I.u8, ("M", "G", 16)],
    a_scale: I.In[I.u8, ("M", "G")],
    b: I.In[I.u8, ("G", 16, "N")],
    b_scale: I.In[I.u8, ("N", "G")],
    c: I.Out[I.f32, ("M", "N")],
):
    c[...] = I.scaled_contract(
        a[...],
        a_scale[...],
        b[...],
        b_scale[...],
        lhs_format=I.e2m1,
        rhs_format=I.e2m1,
        lhs_group_size=32,
        rhs_group_size=32,
        acc_dtype=I.f32,
    )


@intent.kernel
def scaled_mixed(
    a: I.In[I.u8, ("M", "G", "C")],
    a_scale: I.In[I.u8, ("M", "G")],
    b: I.In[I.u8, ("G", 8, "N")],
    b_scale: I.In[I.u8, ("N", "G")],
    c: I.Out[I.f64, ("M", "N")],
):
    c[...] = I.scaled_contract(
        a[...],
        a_scale[...],
        b[...],
        b_scale[...],
        lhs_format=I.e2m1,
        rhs_format=I.e4m3,
        lhs_group_size=8,
        rhs_group_size=8,
        acc_dtype=I.f64,
    )


@intent.kernel
def scaled_e4m3(
    a: I.In[I.u8, ("M", "G", 4)],
    a_scale: I.In[I.u8, ("M", "G")],
    b: I.In[I.u8, ("G", 4, "N")],
    b_scale: I.In[I.u8, ("N", "G")],
    c: I.Out[I.f16, ("M", "N")],
):
    c[...] = I.scaled_matmul(
        a[...],
        a_scale[...],
        b[...],
        b_scale[...],
        lhs_format=I.e4m3,
        rhs_format=I.e4m3,
        group_size=4,
        acc_dtype=I.f16,
    )


@intent.kernel
def sparse_two_of_four(
    a: I.In[I.f32, ("M", "S")],
    first: I.In[I.i64, ("M", "Q")],
    second: I.In[I.i64, ("M", "Q")],
    b: I.In[I.f32, ("K", "N")],
    c: I.Out[I.f32, ("M", "N")],
):
    places = I.record(first=I.cast(first[...], I.index), second=I.cast(second[...], I.index))
    c[...] = I.sparse_matmul(
        a[...], places, b[...], format=I.sparse.two_of_four(1, b.shape[0]), acc_dtype=I.f32
    )


@intent.kernel
def sparse_one_of_two(
    a: I.In[I.i8, ("B", "M", "S")],
    place: I.In[I.i32, ("B", "M", "S")],
    b: I.In[I.i8, ("B", "N", "K")],
    c: I.Out[I.i32, ("B", "M", "N")],
):
    c[...] = I.sparse_contract(
        a[...],
        I.cast(place[...], I.index),
        b[...],
        format=I.sparse.one_of_two(2, b.shape[2]),
        reduce=((2, 2),),
        batch=((0, 0),),
        acc_dtype=I.i32,
    )


@intent.kernel
def sparse_batches(
    a: I.In[I.f32, ("B", "S", "M")],
    place: I.In[I.i32, ("B", "S", "M")],
    b: I.In[I.f32, ("N", "K", "B")],
    c: I.Out[I.f32, ("B", "M", "N")],
):
    """Compressed along a middle axis; the batch axis stands last on the dense side."""
    c[...] = I.sparse_contract(
        a[...],
        I.cast(place[...], I.index),
        b[...],
        format=I.sparse.one_of_two(1, b.shape[1]),
        reduce=((1, 1),),
        batch=((0, 2),),
        acc_dtype=I.f32,
    )
