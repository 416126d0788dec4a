"""Ordered control: while, break, continue, early return, nested loops and carries of several kinds."""

from __future__ import annotations

import intent
import intent.language as I


@intent.kernel
def collatz(x: I.In[I.i64, ("N",)], y: I.Out[I.i32, ("N",)]):
    N = x.shape[0]
    for i in I.parallel(I.domain(0, N)):
        n = x[i]
        steps = I.cast(0, I.i32)
        while n > 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps = steps + 1
        y[i] = steps


@intent.kernel
def gcd(a: I.In[I.i64, ("N",)], b: I.In[I.i64, ("N",)], y: I.Out[I.i64, ("N",)]):
    N = a.shape[0]
    for i in I.parallel(I.domain(0, N)):
        p = a[i]
        q = b[i]
        while q != 0:
            p, q = q, p % q
        y[i] = p


@intent.kernel
def first_index(x: I.In[I.i32, ("M", "N")], wanted: I.i32, y: I.Out[I.i64, ("M",)]):
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        found = I.cast(-1, I.i64)
        for j in range(N):
            if x[i, j] == wanted:
                found = I.cast(j, I.i64)
                break
        y[i] = found


@intent.kernel
def sum_of_positive(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M",)]):
    M, N = x.shape
    for i in I.parallel(I.domain(0, M)):
        total = I.cast(0, I.i32)
        for j in range(N):
            if x[i, j] < 0:
                continue
            total = total + x[i, j]
        y[i] = total


@intent.kernel
def early_return(n: I.i32, x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)], z: I.InOut[I.f32, ("N",)]):
    y[...] = x[...] * 2.0
    if n < 0:
        return
    z[...] = x[...] + 1.0


@intent.kernel
def return_inside_loop(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)], done: I.InOut[I.i32, ()]):
    N = x.shape[0]
    for j in range(N):
        if x[j] == 0:
            return
        y[j] = x[j]
    done[...] = I.cast(1, I.i32)


@intent.kernel
def skipped_points(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)]):
    N = x.shape[0]
    for i in I.parallel(I.domain(0, N)):
        if x[i] % 3 == 0:
            continue
        y[i] = x[i] * 10


@intent.kernel
def bisection(
    low: I.f64, high: I.f64, x: I.In[I.f64, ("N",)], y: I.Out[I.f64, ("N",)], count: I.Out[I.i32, ("N",)]
):
    N = x.shape[0]
    for i in I.parallel(I.domain(0, N)):
        a = low
        b = high
        steps = I.cast(0, I.i32)
        while (b - a) > 1e-9 and steps < 100:
            m = 0.5 * (a + b)
            if m * m < x[i]:
                a = m
            else:
                b = m
            steps = steps + 1
        y[i] = 0.5 * (a + b)
        count[i] = steps


@intent.kernel
def until_converged(
    a: I.In[I.f64, ("N", "N")], b: I.In[I.f64, ("N",)], y: I.Out[I.f64, ("N",)], steps: I.Out[I.i32, ()]
):
    """Jacobi iteration on a matrix with a heavy diagonal; the stop depends on the whole vector."""
    N = b.shape[0]
    i = I.indices(I.domain(0, N))
    m = a[...]
    diagonal = a[i, i]
    state = I.zeros((N,), I.f64)
    change = I.cast(1.0, I.f64)
    n = I.cast(0, I.i32)
    while change > 1e-12 and n < 200:
        following = (b[...] - I.matvec(m, state) + diagonal * state) / diagonal
        change = I.reduce.max(I.abs(following - state), axis=0)
        state = following
        n = n + 1
    y[...] = state
    steps[...] = n


@intent.kernel
def nested_break(x: I.In[I.i32, ("M", "N")], limit: I.i32, y: I.Out[I.i32, ("M",)]):
    """The number of rows' elements taken until a row's sum passes the limit; the outer loop stops after a zero row."""
    M, N = x.shape
    out = I.zeros((M,), I.i32)
    rows = I.indices(I.domain(0, M))
    for i in range(M):
        total = I.cast(0, I.i32)
        taken = I.cast(0, I.i32)
        for j in range(N):
            if total > limit:
                break
            total = total + x[i, j]
            taken = taken + 1
        out = I.select(rows == i, taken, out)
        if total == 0:
            break
    y[...] = out


@intent.kernel
def tensor_state(x: I.In[I.f32, ("T", "N")], y: I.Out[I.f32, ("N",)]):
    """A carry read shifted in every step: a ring that turns and adds."""
    T, N = x.shape
    state = I.zeros((N,), I.f32)
    i = I.indices(I.domain(0, N))
    for t in range(T):
        turned = state[(i + 1) % N]
        state = turned * 0.5 + x[t, :]
    y[...] = state


@intent.kernel
def matrix_power(a: I.In[I.i64, ("N", "N")], n: I.i32, y: I.Out[I.i64, ("N", "N")]):
    N = a.shape[0]
    i = I.indices(I.domain(0, N))
    m = I.cast(i[:, None] == i[None, :], I.i64)
    for _ in range(n):
        m = I.matmul(m, a[...])
    y[...] = m


@intent.kernel
def swap_carries(x: I.In[I.i32, ("N",)], n: I.i32, y: I.Out[I.i32, ("N",)], z: I.Out[I.i32, ("N",)]):
    a = x[...]
    b = a * 0 + 7
    for _ in range(n):
        a, b = b + 1, a
    y[...] = a
    z[...] = b


@intent.kernel
def conditional_state(x: I.In[I.f32, ("T", "D")], gate: I.In[I.i32, ("T",)], y: I.Out[I.f32, ("D",)]):
    T, D = x.shape
    state = I.zeros((D,), I.f32)
    for t in range(T):
        if gate[t] > 0:
            state = state + x[t, :]
        elif gate[t] < 0:
            state = I.zeros((D,), I.f32)
    y[...] = state


@intent.kernel
def levenshtein(a: I.In[I.i32, ("M",)], b: I.In[I.i32, ("N",)], y: I.Out[I.i32, ()]):
    """Edit distance with one row of state, read at the neighbour to the left."""
    M = a.shape[0]
    N = b.shape[0]
    columns = I.domain(0, N + 1)
    row = I.buffer((N + 1,), I.i32)
    for j in columns:
        row[j] = I.cast(j, I.i32)
    for i in range(M):
        diagonal = row[0]
        row[0] = I.cast(i, I.i32) + 1
        for j in range(N):
            above = row[j + 1]
            cost = I.select(a[i] == b[j], 0, 1)
            best = I.minimum(I.minimum(above, row[j]) + 1, diagonal + I.cast(cost, I.i32))
            row[j + 1] = best
            diagonal = above
    y[...] = row[N]
