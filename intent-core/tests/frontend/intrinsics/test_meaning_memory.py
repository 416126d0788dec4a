"""What reads, writes, atomics, buffers and random numbers do, against plain numpy."""

import itertools

import numpy as np

import intent
import intent.language as I


def f32(*shape):
    return np.full(shape, 7, np.float32)


@intent.kernel
def gathers(
    x: I.In[I.f32, ("M", "N")],
    rows: I.In[I.i32, ("K",)],
    keep: I.In[I.bool, ("K", 1)],
    fill: I.In[I.f32, ("N",)],
    y: I.Out[I.f32, ("K", "N")],
    z: I.Out[I.f32, ("K", "N")],
):
    columns = I.domain(0, x.shape[1])
    y[...] = I.gather(x, index=(rows, columns), valid=keep, fill=-1.0)
    z[...] = I.gather(x[...] * 2.0, index=(rows, slice(None)), valid=keep, fill=fill)


def test_gathers(run, rng):
    x, fill = rng.normal(size=(4, 3)).astype(np.float32), np.array([5, 6, 7], np.float32)
    rows, keep = np.array([3, -9, 0, 1000], np.int32), np.array([[True], [False], [True], [False]])
    got = run(gathers, x=x, rows=rows, keep=keep, fill=fill, y=f32(4, 3), z=f32(4, 3))
    safe = np.where(keep[:, 0], rows, 0)
    np.testing.assert_array_equal(got["y"], np.where(keep, x[safe], np.float32(-1)))
    np.testing.assert_array_equal(got["z"], np.where(keep, 2 * x[safe], fill))


@intent.fn
def larger_magnitude(old, new):
    return I.select(I.abs(new) > I.abs(old), new, old)


@intent.kernel
def scatters(
    y: I.InOut[I.f32, ("M",)], z: I.InOut[I.f32, ("M",)], u: I.InOut[I.f32, ("M",)], i: I.In[I.i32, ("K",)],
    v: I.In[I.f32, ("K",)], ok: I.In[I.bool, ("K",)],
):  # fmt: skip
    I.scatter_unique(y, index=i, value=v, valid=ok)
    I.scatter_reduce(z, index=i % 2, value=v, combine=I.add)
    I.scatter_reduce(u, index=i % 2, value=v, combine=larger_magnitude)


def test_scatters(run, rng):
    v, i = rng.normal(size=5).astype(np.float32), np.array([4, 1, 0, 3, 2], np.int32)
    ok = np.array([True, False, True, True, False])
    got = run(scatters, y=f32(6), z=f32(6), u=np.zeros(6, np.float32), i=i, v=v, ok=ok)
    wanted = f32(6)
    wanted[i[ok]] = v[ok]
    np.testing.assert_array_equal(got["y"], wanted)
    sums, largest = f32(6), np.zeros(6, np.float32)
    np.add.at(sums, i % 2, v)
    for place, value in zip(i % 2, v, strict=True):
        largest[place] = value if abs(value) > abs(largest[place]) else largest[place]
    np.testing.assert_allclose(got["z"], sums, rtol=1e-6)
    np.testing.assert_array_equal(got["u"], largest)


@intent.kernel
def atomics(c: I.InOut[I.i32, (5,)], old: I.Out[I.i32, ("N",)], won: I.Out[I.bool, ("N",)]):
    for i in I.parallel(I.domain(0, old.shape[0])):
        old[i] = I.atomic.add(c[0], 1, order="acq_rel")
        swapped = I.atomic.compare_exchange(c, index=(3,), expected=0, desired=I.cast(i, I.i32) + 1)
        won[i] = swapped.success
        I.atomic.or_(c[4], I.cast(1, I.i32) << I.cast(i, I.i32))
        I.atomic.max(c, index=1, value=I.cast(i, I.i32))


def test_atomics(run):
    got = run(
        atomics, c=np.array([10, 0, 0, 0, 0], np.int32), old=np.zeros(4, np.int32), won=np.zeros(4, bool)
    )
    assert sorted(got["old"]) == [10, 11, 12, 13]
    assert got["won"].sum() == 1
    assert got["c"][[0, 1, 4]].tolist() == [14, 3, 15]
    assert got["c"][3] == np.flatnonzero(got["won"])[0] + 1


@intent.kernel
def vector_atomics(c: I.InOut[I.i32, ("M",)], i: I.In[I.i32, ("K",)]):
    I.atomic.add(c[i], 1)


def test_an_atomic_over_an_index_tensor_runs_once_per_element(run):
    got = run(vector_atomics, c=np.zeros(3, np.int32), i=np.array([0, 2, 2, 0, 2], np.int32))["c"]
    assert got.tolist() == [2, 0, 3]


@intent.kernel
def counts(x: I.In[I.u8, ("N",)], y: I.Out[I.i32, (4,)], z: I.Out[I.u64, ("B",)]):
    y[...] = I.histogram(x % 4, bins=4)
    z[...] = I.histogram(x, bins=z.shape[0], valid=x < 3, count_dtype=I.u64)


def test_histograms(run, rng):
    x = rng.integers(0, 200, 50).astype(np.uint8)
    got = run(counts, x=x, y=np.zeros(4, np.int32), z=np.zeros(3, np.uint64))
    np.testing.assert_array_equal(got["y"], np.bincount(x % 4, minlength=4))
    np.testing.assert_array_equal(got["z"], np.bincount(x[x < 3], minlength=3))


@intent.kernel
def uniforms(seed: I.u64, y: I.Out[I.f32, ("N",)], z: I.Out[I.u32, ("N",)], h: I.Out[I.f16, ("N",)]):
    counters = I.indices(I.domain(0, y.shape[0]))
    y[...] = I.random.uniform(seed, counters)
    z[...] = I.random.bits(seed, logical_counter=I.cast(counters, I.u32))
    h[...] = I.random.uniform(seed, counters, dtype=I.f16)


def test_uniform_is_made_of_the_same_words(run):
    got = run(uniforms, seed=2**63 + 5, y=f32(9), z=np.zeros(9, np.uint32), h=np.zeros(9, np.float16))
    np.testing.assert_array_equal(got["y"], (got["z"] >> 8).astype(np.float32) * np.float32(2**-24))
    np.testing.assert_array_equal(got["h"], got["y"].astype(np.float16))
    assert len(set(got["z"].tolist())) == 9


@intent.kernel
def ragged_sums(
    x: I.In[I.f32, ("R", "D")], offsets: I.In[I.i32, ("G1",)], members: I.In[I.i32, ("R",)],
    y: I.Out[I.f32, ("G", "D")], z: I.Out[I.f32, ("G", "D")],
):  # fmt: skip
    source = I.domain(0, x.shape[0])
    groups = I.ragged(outer=I.domain(0, y.shape[0]), members=source, offsets=offsets, indices=members)
    plain = I.ragged(outer=I.domain(0, y.shape[0]), members=source, offsets=offsets)
    for g in I.parallel(groups.outer):
        y[g, :] = I.reduce.sum(x[I.members(groups[g]), :], axis=0)
        total = I.zeros((x.shape[1],), I.f32)
        for r in plain[g]:
            total = total + x[r, :]
        z[g, :] = total


def test_ragged_groups(run, rng):
    x = rng.normal(size=(6, 2)).astype(np.float32)
    offsets, members = np.array([0, 2, 2, 6], np.int32), np.array([5, 0, 3, 1, 2, 4], np.int32)
    got = run(ragged_sums, x=x, offsets=offsets, members=members, y=f32(3, 2), z=f32(3, 2))
    bounds = list(itertools.pairwise(offsets))
    np.testing.assert_allclose(got["y"], [x[members[a:b]].sum(0) for a, b in bounds], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(got["z"], [x[a:b].sum(0) for a, b in bounds], rtol=1e-5, atol=1e-6)


@intent.kernel
def enumerated(x: I.In[I.f32, ("N",)], begin: I.i32, y: I.Out[I.f32, ("N",)], e: I.Out[I.i64, ()]):
    axis = I.domain(0, x.shape[0])
    part = axis[begin:]
    y[...] = I.zeros((x.shape[0],), I.f32)
    for ordinal, i in I.enumerate(part):
        y[ordinal] = x[i]
    e[()] = I.cast(I.end(part), I.i64) * 10 + I.cast(begin, I.i64)


def test_enumerate_counts_from_zero_and_keeps_coordinates(run):
    got = run(enumerated, x=np.arange(5, dtype=np.float32), begin=2, y=f32(5), e=np.array(0))
    assert got["y"].tolist() == [2, 3, 4, 0, 0]
    assert got["e"] == 52


@intent.kernel
def buffered(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        best = I.buffer((2,), I.f32, init=-I.inf)
        for column in I.domain(0, x.shape[1]):
            value = x[row, column]
            if value > best[0]:
                best[1] = best[0]
                best[0] = value
            elif value > best[1]:
                I.store(best, index=1, value=value)
        y[row] = I.mutable_load(best, index=(1,))


def test_a_buffer_is_fresh_for_every_point(run, rng):
    x = rng.normal(size=(4, 6)).astype(np.float32)
    np.testing.assert_array_equal(run(buffered, x=x, y=f32(4))["y"], np.sort(x, axis=1)[:, -2])
