"""What the fuzzer found, as the smallest kernels that showed it. Each runs under many plans."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from intent_testkit.fuzz.judge import Options, judge
from intent_testkit.fuzz.reading import read
from intent_testkit.fuzz.report import report

MANY = Options(random_plans=9, adversaries=3)


@dataclass(frozen=True)
class Finding:
    about: str
    source: str
    extents: tuple[dict[str, int], ...]
    draws: dict[str, tuple[str, str]] = field(default_factory=dict)
    scalars: dict[str, int] = field(default_factory=dict)


FINDINGS = (
    Finding(
        "two instance axes of one class in the second segment shared a lane dim",
        """
@intent.kernel
def two_squares(x: I.In[I.f32, ("K", "K")], v: I.In[I.i32, ("K", "K")],
                y: I.Out[I.f32, ("K", "K")], w: I.Out[I.i32, ("K", "K")]):
    y[...] = x[...]
    w[...] = v[...]
""",
        ({"K": 5}, {"K": 4}),
    ),
    Finding(
        "a read held at its position read the rows of other instances",
        """
@intent.kernel
def old_rows(u: I.InOut[I.i8, ("N", "N")], y: I.Out[I.i8, ("N", "N")]):
    old = u[...]
    u[...] = I.reduce.max(u[...], axis=1)[:, None]
    y[...] = old
""",
        ({"N": 5}, {"N": 1}),
    ),
    Finding(
        "a branch with effects inside a loop was read beyond its home",
        """
@intent.kernel
def scan_of_carry(u: I.InOut[I.i8, ("N", "N", "M")], x: I.In[I.f32, ("N", "M", "N")]):
    c = I.full((u.shape[2], u.shape[0]), 1, I.f32)
    for k in range(u.shape[0]):
        if k == 2:
            break
        c = I.clamp(I.cumsum(c, axis=1) * x[k, :, :], -3.0, 3.0)
        u[k, :, :] = I.cast(I.transpose(c), I.i8)
""",
        ({"N": 4, "M": 3}, {"N": 1, "M": 2}),
    ),
    Finding(
        "two reductions by one combine shared its region",
        """
@intent.fn
def extremes(a, b):
    return I.record(low=I.minimum(a.low, b.low), high=I.maximum(a.high, b.high), total=a.total + b.total)


@intent.kernel
def twice_reduced(x: I.In[I.i64, ("M", "N", "M")], y: I.Out[I.i64, ("P", "M")], z: I.Out[I.i64, ("N", "M")]):
    r = I.reduce(I.record(low=x[...], high=x[...], total=x[...]), axis=0,
                 identity=I.record(low=9, high=-9, total=0), combine=extremes)
    y[...] = r.total
    z[...] = r.high
""",
        ({"M": 3, "N": 4, "P": 4}, {"M": 2, "N": 2, "P": 2}),
    ),
    Finding(
        "a fence of a buffer stood outside of the loop that allocates it",
        """
@intent.kernel
def buffer_in_loop(s: I.i32, x: I.In[I.f32, ("N", "M")], z: I.In[I.i32, ("N",)],
                   y: I.Out[I.f32, ("N", "M")], w: I.Out[I.i32, ("M", "N")]):
    N, M = x.shape
    if s > 2:
        return
    for i in range(N):
        b = I.buffer((M,), I.f32, init=0.0)
        I.scatter_unique(b, index=M - 1 - I.indices(I.domain(0, M)), value=x[i, :])
        y[i, :] = b[...]
    w[...] = z[...]
""",
        ({"N": 4, "M": 3}, {"N": 0, "M": 2}),
    ),
    Finding(
        "a carry that nothing needs read what another segment writes",
        """
@intent.kernel
def dead_carry(s: I.i32, u: I.InOut[I.i32, ("N", "N")], x: I.In[I.i32, ("K", "N", "N")],
               z: I.In[I.f32, ("K", "M", "N")], y: I.Out[I.f32, ("M", "N")]):
    N = u.shape[0]
    M = y.shape[0]
    for i in I.parallel(I.domain(0, N)):
        u[i, :] = I.minimum(u[i, :], 1)
    c = u[...]
    total = I.zeros((M, N), I.f32)
    for k in range(x.shape[0]):
        if k == 2:
            break
        if s > 0:
            c = c - x[k, :, :]
        total = total + z[k, :, :]
    y[...] = total
""",
        ({"N": 5, "M": 3, "K": 4}, {"N": 1, "M": 0, "K": 1}),
    ),
    Finding(
        "points whose control depends on them were laid out in lanes where their loop stays inside",
        """
@intent.kernel
def joined_points(s: I.i32, u: I.InOut[I.i32, ("M",)], v: I.InOut[I.f32, ("M",)], x: I.In[I.f32, ("M", "M")],
                  offsets: I.In[I.i32, ("P",)], y: I.Out[I.f32, ("N", "M")]):
    M = u.shape[0]
    N = y.shape[0]
    u[...] = u[...] + 1
    if s > 2:
        return
    b = I.buffer((M,), I.i32, init=u[...])
    for k in range(M):
        b[k] = b[k] + 1
    v[...] = I.cast(b[...] % 3, I.f32)
    axis = I.domain(0, M)
    for i in I.parallel(I.domain(0, N)):
        c = I.zeros((M,), I.f32)
        for k in axis[offsets[i]:offsets[i + 1]]:
            c = I.maximum(c, x[k, :])
        y[i, :] = c
""",
        ({"M": 5, "N": 3, "P": 4}, {"M": 1, "N": 1, "P": 2}),
        {"offsets": ("offsets", "M")},
    ),
    Finding(
        "a value wanted inside a branch was placed before it, but the fence it needs stood in the branch",
        """
@intent.kernel
def read_before_branch(s: I.i32, x: I.In[I.i8, ("M",)], u: I.InOut[I.i64, ("N", "N")],
                       y: I.Out[I.i8, ("N", "M")], z: I.Out[I.i64, ("N",)]):
    for k in range(u.shape[0]):
        u[k, :] = I.reduce.max(u[...], axis=0)
    low = I.reduce.min(u[...], axis=1)
    if s > 2:
        return
    y[...] = x[...]
    z[...] = low
""",
        ({"M": 3, "N": 4}, {"M": 0, "N": 1}),
    ),
    Finding(
        "a scan shared its lane with the validity of the gather that reads it",
        """
@intent.kernel
def valid_columns(x: I.In[I.i32, ("K", "K")], y: I.Out[I.i32, ("K", "K")]):
    K = x.shape[0]
    rows = I.indices(I.domain(0, K))
    columns = I.indices(I.domain(0, K))
    sums = I.cumsum(x[...], axis=1)
    y[...] = I.gather(sums, index=(rows[:, None], columns), valid=columns >= 1)
""",
        ({"K": 5}, {"K": 1}),
    ),
    Finding(
        "a buffer that only a dead carry needed was filled from what another segment writes",
        """
@intent.fn
def last(a, b):
    return I.select(b != 0, b, a)


@intent.kernel
def dead_buffer(u: I.InOut[I.i16, ("K",)], ids: I.In[I.i64, ("K",)], x: I.In[I.i64, ("N", "N")],
                z: I.In[I.f32, ("K",)], y: I.Out[I.i64, ("N", "N")]):
    I.scatter_unique(u, index=ids[...], value=I.cast(ids[...], I.i16))
    now = I.scan(u[...], axis=0, identity=0, combine=last, reverse=True)
    a = I.cast(I.reduce.sum(now, axis=0) % 3, I.f32)
    c = x[...]
    for k in range(u.shape[0]):
        a = I.clamp(a * 2.0 - z[k], -3.0, 3.0)
        c = I.transpose(c) + c
    y[...] = c
""",
        ({"K": 4, "N": 3}, {"K": 1, "N": 1}),
        {"ids": ("permutation", "K")},
    ),
    Finding(
        "extents that the launch requires to be equal were compared again at every element",
        """
@intent.kernel
def flattened_prefix(x: I.In[I.f32, ("N", "M")], y: I.Out[I.f32, ("P",)]):
    N, M = x.shape
    y[...] = I.cumsum(I.reshape(x[...], (N * M,)), axis=0)
""",
        ({"N": 5, "M": 3, "P": 15}, {"N": 1, "M": 1, "P": 1}),
    ),
    Finding(
        "a slice of what a view held was taken for the element that is overwritten",
        """
@intent.kernel
def shift_back(u: I.InOut[I.i32, ("N",)]):
    N = u.shape[0]
    old = u[...]
    u[0 : N - 1] = old[1:N]
""",
        ({"N": 7}, {"N": 1}),
    ),
    Finding(
        "parallel points overwrote what other points still needed from in front of the loop",
        """
@intent.kernel
def rows_before(u: I.InOut[I.i32, ("M", "N")], v: I.InOut[I.i32, ("M", "N")]):
    M = u.shape[0]
    old = u[...]
    for i in I.parallel(I.domain(1, M)):
        u[i, :] = old[i - 1, :]
    first = v[...]
    for i in I.parallel(I.domain(0, M)):
        v[i, :] = first[i, :] + first[0, :]
""",
        ({"M": 5, "N": 3}, {"M": 1, "N": 1}),
    ),
    Finding(
        "a read in front of a loop was made again in every pass that overwrites it",
        """
@intent.kernel
def twice_written(u: I.InOut[I.i64, ("K", "M")]):
    for i in range(u.shape[0]):
        row = u[i, :] + 3
        for _ in range(2):
            u[i, :] = row
""",
        ({"K": 3, "M": 4}, {"K": 1, "M": 1}),
    ),
    Finding(
        "a write by the same lanes was thought to meet the elements that they had read, at other coordinates",
        """
@intent.kernel
def last_row_first(u: I.InOut[I.i32, ("M", "M")], v: I.InOut[I.i32, ("M",)]):
    v[...] = u[u.shape[0] - 1, :]
    u[0, :] = v[...]
""",
        ({"M": 4}, {"M": 1}),
    ),
    Finding(
        "the final value of a loop was taken from where it had been computed for some of its elements only",
        """
@intent.kernel
def valid_rows(x: I.In[I.f64, (3, "M")], y: I.Out[I.f64, (3, "M")], z: I.Out[I.f64, ("M",)]):
    M = x.shape[1]
    c = x[...]
    n = I.cast(0, I.i32)
    while n < 2 and I.reduce.sum(I.cast(c > 0.0, I.i32), axis=(0, 1)) < 6:
        c = c + 1.0
        n = n + 1
    rows = I.indices(I.domain(0, 3))
    columns = I.indices(I.domain(0, M))
    y[...] = I.gather(c, index=((rows - 2)[:, None], columns[None, :]), valid=(rows >= 2)[:, None])
    z[...] = I.cummax(I.reduce.max(c, axis=0) + I.reduce.max(c, axis=0), axis=0)
""",
        ({"M": 3}, {"M": 1}),
    ),
    Finding(
        "a read held at its place was held in a group of statements without the buffer that it reads",
        """
@intent.kernel
def before_its_write(u: I.InOut[I.i64, ("M",)], x: I.In[I.i32, ("M",)], y: I.Out[I.i32, ("M",)]):
    M = x.shape[0]
    b = I.buffer((M,), I.i64, init=0)
    v = b[...]
    b[...] = u[...] + 1
    u[0] = I.reduce.min(v, axis=0)
    y[...] = x[...]
""",
        ({"M": 4}, {"M": 1}),
    ),
    Finding(
        "a loop was built whole, although what one of its values began with belonged to another group",
        """
@intent.kernel
def beside(u: I.InOut[I.f64, ("M",)], x: I.In[I.f64, ("M",)], y: I.Out[I.f64, ()]):
    M = x.shape[0]
    b = I.buffer((M,), I.f64)
    b[...] = x[...]
    c = I.cast(1, I.f64)
    for i in range(0, M, 2):
        if c > 2.0:
            continue
        c = c * b[i]
        u[i] = c
    d = I.cast(0, I.f64)
    for i in range(M):
        if i == 2:
            break
        d = d + x[i]
        c = c + c
    y[...] = d
""",
        ({"M": 5}, {"M": 1}),
    ),
)


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda f: f.about)
def test_findings_stay_fixed(finding):
    program = read(finding.source, *finding.extents, draws=finding.draws, scalars=finding.scalars)
    failure = judge(program, MANY)
    assert failure is None, report(failure)
