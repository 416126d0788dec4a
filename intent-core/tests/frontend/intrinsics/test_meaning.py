"""What the intrinsics compute: lowered kernels through the logical evaluator against plain numpy."""

import itertools

import numpy as np
import pytest

import intent
import intent.language as I
from intent.reference.logical import evaluate
from intent.reference.logical.choices import Adversary


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture(params=["plain", "adversary 1", "adversary 2"])
def choices(request):
    """What the evaluator chooses where the language leaves it open: orders, trees, slices."""
    if request.param == "plain":
        return None
    return Adversary(np.random.default_rng(int(request.param[-1])))


@pytest.fixture
def run(lowered, choices):
    """``run(kernel, **arguments)``: a copy of every Out and InOut argument after the kernel."""

    def call(kernel, constexprs=None, **arguments):
        made = lowered(kernel, **(constexprs or {}))
        held = {name: np.array(v) if isinstance(v, np.ndarray) else v for name, v in arguments.items()}
        evaluate(made, [held[p.name] for p in made.params], choices)
        return {v.name: held[v.name] for v in made.views if v.mode != "in"}

    return call


def f32(*shape):
    return np.full(shape, 7, np.float32)


# -- reductions and scans


@intent.kernel
def positions(
    x: I.In[I.f32, ("A", "B", "C")], v: I.Out[I.f32, ("B",)], p: I.Out[I.i64, ("B",)], q: I.Out[I.i64, ("B",)]
):
    value, index = I.arg_reduce.max(x, axis=(0, 2))
    v[...] = value
    p[...] = I.cast(index, I.i64)
    q[...] = I.cast(I.arg_reduce.min(x, axis=(0, -1))[1], I.i64)


def test_positions_count_in_the_reduced_axes_row_major(run, rng):
    x = rng.integers(0, 4, (3, 5, 4)).astype(np.float32)
    x[1, 2, 3] = np.nan
    got = run(positions, x=x, v=f32(5), p=np.zeros(5, np.int64), q=np.zeros(5, np.int64))
    flat = x.transpose(1, 0, 2).reshape(5, 12)
    np.testing.assert_array_equal(got["p"], flat.argmax(1))
    np.testing.assert_array_equal(got["q"], flat.argmin(1))
    np.testing.assert_array_equal(got["v"], flat[np.arange(5), flat.argmax(1)])


@intent.fn
def welford(a, b):
    n = a.n + b.n
    delta = b.mean - a.mean
    share = I.select(n > 0.0, b.n / I.maximum(n, 1.0), 0.0)
    return I.record(n=n, mean=a.mean + delta * share, m2=a.m2 + b.m2 + delta * delta * a.n * share)


@intent.kernel
def variance(x: I.In[I.f32, ("M", "N")], mean: I.Out[I.f32, ("M",)], var: I.Out[I.f32, ("M",)]):
    stats = I.reduce(
        I.record(n=1.0, mean=x[...], m2=0.0),
        axis=1,
        identity=I.record(n=I.cast(0.0, I.f32), mean=I.cast(0.0, I.f32), m2=I.cast(0.0, I.f32)),
        combine=welford,
    )
    mean[...] = stats.mean
    var[...] = stats.m2 / I.maximum(stats.n, 1.0)


@pytest.mark.parametrize("n", [0, 1, 2, 13])
def test_generic_reduce_of_a_record(run, rng, n):
    x = rng.normal(size=(3, n)).astype(np.float32)
    got = run(variance, x=x, mean=f32(3), var=f32(3))
    np.testing.assert_allclose(got["mean"], x.mean(1) if n else np.zeros(3), atol=1e-5)
    np.testing.assert_allclose(got["var"], x.var(1) if n else np.zeros(3), atol=1e-5)


@intent.fn
def weighted(a, b, weight):
    return (a / weight + b / weight) * weight


@intent.kernel
def slice_operands(x: I.In[I.f32, ("M", "N")], w: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = I.reduce(x, axis=0, identity=0.0, combine=weighted, combine_operands=(w[...],))


def test_operands_of_a_slice(run, rng):
    x, w = rng.normal(size=(4, 3)).astype(np.float32), np.array([1, 2, 4], np.float32)
    np.testing.assert_allclose(run(slice_operands, x=x, w=w, y=f32(3))["y"], x.sum(0), rtol=1e-5)


@intent.fn
def affine(first, second):
    return I.record(scale=first.scale * second.scale, shift=second.scale * first.shift + second.shift)


@intent.kernel
def recurrence(
    a: I.In[I.f32, ("T", "D")],
    b: I.In[I.f32, ("T", "D")],
    y: I.Out[I.f32, ("T", "D")],
    z: I.Out[I.f32, ("T", "D")],
):
    pair = I.record(scale=a[...], shift=b[...])
    one = I.record(scale=I.full((a.shape[1],), 1.0, I.f32), shift=0.0)
    y[...] = I.scan(pair, axis=0, identity=one, combine=affine).shift
    z[...] = I.scan(pair, axis=0, identity=one, combine=affine, inclusive=False, reverse=True).shift


def test_a_scan_of_a_product_that_does_not_commute(run, rng):
    a, b = rng.normal(size=(2, 6, 2)).astype(np.float32)
    got = run(recurrence, a=a, b=b, y=f32(6, 2), z=f32(6, 2))
    state, forward = np.zeros(2), []
    for t in range(6):
        state = a[t] * state + b[t]
        forward.append(state)
    # Reverse is flip, scan, flip; exclusive: the prefix before the element.
    state, backward = np.zeros(2), {}
    for t in reversed(range(6)):
        backward[t] = state
        state = a[t] * state + b[t]
    np.testing.assert_allclose(got["y"], forward, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(got["z"], [backward[t] for t in range(6)], rtol=1e-4, atol=1e-5)


@intent.kernel
def prefixes(
    x: I.In[I.i16, ("N",)], y: I.Out[I.i32, ("N",)], z: I.Out[I.i16, ("N",)], p: I.Out[I.i32, ("N",)]
):
    y[...] = I.cumsum(x, axis=0, reverse=True)
    z[...] = I.cummin(x, axis=-1)
    p[...] = I.cumprod(x, axis=0, inclusive=False)


def test_builtin_scans(run):
    x = np.array([3, -1, 4, -1, 5], np.int16)
    got = run(prefixes, x=x, y=np.zeros(5, np.int32), z=np.zeros(5, np.int16), p=np.zeros(5, np.int32))
    np.testing.assert_array_equal(got["y"], x[::-1].cumsum()[::-1])
    np.testing.assert_array_equal(got["z"], np.minimum.accumulate(x))
    np.testing.assert_array_equal(got["p"], [1, 3, -3, -12, 12])


# -- contractions


@intent.kernel
def pairs(
    a: I.In[I.f64, ("B", "M", "K", "L")],
    b: I.In[I.f64, ("L", "K", "N", "B")],
    y: I.Out[I.f64, ("B", "M", "N")],
):
    y[...] = I.contract(a, b, reduce=((2, 1), (-1, 0)), batch=((0, 3),))


def test_contract_with_two_pairs_and_a_batch(run, rng):
    a, b = rng.normal(size=(2, 3, 4, 5)), rng.normal(size=(5, 4, 6, 2))
    got = run(pairs, a=a, b=b, y=np.zeros((2, 3, 6)))["y"]
    np.testing.assert_allclose(got, np.einsum("bmkl,lknb->bmn", a, b))


@intent.kernel
def products(
    a: I.In[I.f64, ("B", 1, "M", "K")], b: I.In[I.f64, ("H", "N", "K")], v: I.In[I.f64, ("K",)],
    y: I.Out[I.f64, ("B", "H", "M", "N")], z: I.Out[I.f64, ("B", 1, "M")], w: I.Out[I.f64, ("H", "N")],
    o: I.Out[I.f64, ("K", "K")], t: I.Out[I.f64, ("H", "M", "N")],
):  # fmt: skip
    y[...] = I.matmul(a, b, transpose_rhs=True)
    z[...] = I.matvec(a, v)
    w[...] = I.vecmat(v, b, transpose=True)
    o[...] = I.outer(v, v) * I.dot(v, v)
    t[...] = I.matmul(a[0, 0], b, transpose_rhs=True)


def test_named_products(run, rng):
    a, b, v = rng.normal(size=(2, 1, 3, 4)), rng.normal(size=(5, 6, 4)), rng.normal(size=4)
    empty = {"y": (2, 5, 3, 6), "z": (2, 1, 3), "w": (5, 6), "o": (4, 4), "t": (5, 3, 6)}
    got = run(products, a=a, b=b, v=v, **{name: np.zeros(shape) for name, shape in empty.items()})
    np.testing.assert_allclose(got["y"], a @ b.transpose(0, 2, 1))
    np.testing.assert_allclose(got["z"], a @ v)
    np.testing.assert_allclose(got["w"], b @ v)
    np.testing.assert_allclose(got["o"], np.outer(v, v) * (v @ v))
    np.testing.assert_allclose(got["t"], a[0, 0] @ b.transpose(0, 2, 1))


@intent.kernel
def sparse(
    a: I.In[I.f32, ("M", "KC")],
    p: I.In[I.i8, ("M", "G")],
    q: I.In[I.i8, ("M", "G")],
    b: I.In[I.f32, ("K", "N")],
    y: I.Out[I.f32, ("M", "N")],
):
    y[...] = I.sparse_contract(
        a[...],
        I.record(first=I.cast(p, I.index), second=I.cast(q, I.index)),
        b[...],
        format=I.sparse.two_of_four(compression_axis=1, logical_extent=b.shape[0]),
        acc_dtype=I.f32,
    )


def test_two_of_four(run, rng):
    dense = np.zeros((3, 8), np.float32)
    first, second = np.array([[0, 1], [2, 0], [1, 1]], np.int8), np.array([[3, 2], [3, 1], [2, 3]], np.int8)
    values = rng.normal(size=(3, 4)).astype(np.float32)
    for row in range(3):
        for group in range(2):
            dense[row, 4 * group + first[row, group]] = values[row, 2 * group]
            dense[row, 4 * group + second[row, group]] = values[row, 2 * group + 1]
    b = rng.normal(size=(8, 5)).astype(np.float32)
    got = run(sparse, a=values, p=first, q=second, b=b, y=f32(3, 5))["y"]
    np.testing.assert_allclose(got, dense @ b, rtol=1e-5)


@intent.kernel
def scaled(
    a: I.In[I.u8, ("M", "G", 2)], sa: I.In[I.u8, ("M", "G")], b: I.In[I.f8e4m3fn, ("G", 4, "N")],
    sb: I.In[I.u8, ("N", "G")], y: I.Out[I.f32, ("M", "N")],
):  # fmt: skip
    y[...] = I.scaled_matmul(
        a, sa, b, sb, lhs_format=I.e2m1, rhs_format=I.e4m3, group_size=4, acc_dtype=I.f32
    )


def test_scaled_matmul(run, rng):
    table = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
    codes = rng.integers(0, 16, (3, 2, 4))
    packed = (codes[..., 0::2] | codes[..., 1::2] << 4).astype(np.uint8)
    b = rng.integers(-4, 5, (2, 4, 5)).astype(I.f8e4m3fn.numpy)
    sa, sb = rng.integers(126, 129, (3, 2)).astype(np.uint8), rng.integers(126, 129, (5, 2)).astype(np.uint8)
    got = run(scaled, a=packed, sa=sa, b=b, sb=sb, y=f32(3, 5))["y"]
    left = table[codes] * 2.0 ** (sa.astype(float) - 127)[..., None]
    right = b.astype(float) * 2.0 ** (sb.astype(float).T - 127)[:, None, :]
    np.testing.assert_allclose(got, np.einsum("mgc,gcn->mn", left, right), rtol=1e-6)


# -- regions


@intent.fn
def summary_of(part, coordinates):
    return I.record(total=I.reduce.sum(part, axis=0), last=I.reduce.max(coordinates, axis=0))


@intent.fn
def joined(a, b):
    return I.record(total=a.total + b.total, last=I.maximum(a.last, b.last))


@intent.kernel
def folded(x: I.In[I.f32, ("T", "D")], y: I.Out[I.f32, ("D",)], n: I.Out[I.i64, ()]):
    axis = I.domain(0, x.shape[0])
    found = I.region_fold(
        source=(x[axis, :], I.indices(axis)), axis=0, summarize=summary_of, combine=joined,
        identity=I.record(total=I.zeros((x.shape[1],), I.f32), last=-1),
    )  # fmt: skip
    y[...] = found.total
    n[()] = I.cast(found.last, I.i64)


@pytest.mark.parametrize("n", [0, 1, 9])
def test_region_fold(run, rng, n):
    x = rng.normal(size=(n, 3)).astype(np.float32)
    got = run(folded, x=x, y=f32(3), n=np.array(0))
    np.testing.assert_allclose(got["y"], x.sum(0), rtol=1e-4, atol=1e-6)
    assert got["n"] == n - 1


@intent.fn
def decay_of(part, decay):
    gates = I.cumprod(I.full(part.shape, 1.0, I.f32) * decay, axis=0)
    return I.record(
        decay=I.reduce.prod(I.full(part.shape, 1.0, I.f32) * decay, axis=0),
        drift=last_state(part, gates, decay),
    )


@intent.fn
def last_state(part, gates, decay):
    tail = I.cumprod(I.full(part.shape, 1.0, I.f32) * decay, axis=0, inclusive=False, reverse=True)
    return I.reduce.sum(part * tail, axis=0) + 0.0 * I.reduce.sum(gates, axis=0)


@intent.fn
def then(a, b):
    return I.record(decay=a.decay * b.decay, drift=b.decay * a.drift + b.drift)


@intent.fn
def move(transition, state):
    return transition.decay * state + transition.drift


@intent.fn
def states(part, state, decay):
    def_scale = I.full(part.shape, 1.0, I.f32) * decay
    moved = I.scan(
        I.record(scale=def_scale, shift=part), axis=0, identity=I.record(scale=1.0, shift=0.0), combine=affine
    )
    return moved.scale * state + moved.shift


@intent.kernel
def filtered(
    x: I.In[I.f32, ("T", "D")], decay: I.f32, y: I.Out[I.f32, ("T", "D")], last: I.Out[I.f32, ("D",)]
):
    D = x.shape[1]
    outputs, final = I.region_scan(
        source=x[...],
        axis=0,
        summarize=decay_of,
        combine=then,
        identity=I.record(decay=I.full((D,), 1.0, I.f32), drift=I.zeros((D,), I.f32)),
        initial_state=I.full((D,), 0.5, I.f32),
        apply=move,
        emit=states,
        operands=(decay,),
    )
    y[...] = outputs
    last[...] = final


@pytest.mark.parametrize("n", [0, 1, 7])
def test_region_scan(run, rng, n):
    x = rng.normal(size=(n, 2)).astype(np.float32)
    got = run(filtered, x=x, decay=0.75, y=f32(n, 2), last=f32(2))
    state, wanted = np.full(2, 0.5), np.zeros((n, 2))
    for t in range(n):
        state = 0.75 * state + x[t]
        wanted[t] = state
    np.testing.assert_allclose(got["y"], wanted, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(got["last"], state, rtol=1e-4, atol=1e-6)


# -- memory


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


@intent.fn
def best_of(keys, coordinates, queries, offset):
    scores = I.contract(queries, keys, reduce=((1, 1),), acc_dtype=I.f32)
    shifted = scores + I.cast(queries.shape[0], I.f32) * 0.0
    return I.reduce.max(shifted + 0.0 * I.cast(coordinates + offset, I.f32)[None, :], axis=1)


@intent.fn
def larger(a, b):
    return I.maximum(a, b)


@intent.kernel
def ragged_scores(
    q: I.In[I.f32, ("R", "D")],
    offsets: I.In[I.i32, ("G1",)],
    k: I.In[I.f32, ("K", "D")],
    y: I.Out[I.f32, ("R",)],
):
    groups = I.ragged(
        outer=I.domain(0, offsets.shape[0] - 1), members=I.domain(0, q.shape[0]), offsets=offsets
    )
    columns = I.domain(0, k.shape[0])
    for g in I.parallel(groups.outer):
        rows = groups[g]
        queries = q[rows, :]
        y[rows] = I.region_fold(
            source=(k[columns, :], I.indices(columns)), axis=0, summarize=best_of, combine=larger, identity=-I.inf,
            operands=(queries, g),
        )  # fmt: skip


def test_a_region_fold_whose_operands_have_data_dependent_extents(run, rng):
    q, k = rng.normal(size=(6, 3)).astype(np.float32), rng.normal(size=(5, 3)).astype(np.float32)
    got = run(ragged_scores, q=q, offsets=np.array([0, 2, 2, 6], np.int32), k=k, y=f32(6))["y"]
    np.testing.assert_allclose(got, (q @ k.T).max(1), rtol=1e-5)


# -- attention, whole


def test_attention_as_a_region_fold(run, rng):
    q, k, v = (rng.normal(size=(2, n, d)).astype(np.float16) for n, d in ((5, 4), (7, 4), (7, 3)))
    y = run(attention, {"CAUSAL": True}, q=q, k=k, v=v, y=np.zeros((2, 5, 3), np.float16), scale=0.5)["y"]
    scores = np.einsum("hqd,hkd->hqk", q.astype(float), k.astype(float)) * 0.5
    scores = np.where(np.arange(5)[:, None] >= np.arange(7)[None, :], scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    wanted = np.einsum("hqk,hkd->hqd", weights / weights.sum(-1, keepdims=True), v.astype(float))
    np.testing.assert_allclose(y, wanted, atol=5e-3)


@intent.fn
def attend(keys, values, coordinates, queries, query_coordinates, scale, causal):
    scores = I.contract(queries, keys, reduce=((1, 1),), acc_dtype=I.f32) * (scale * I.LOG2E)
    valid = I.full(scores.shape, fill=True, dtype=I.bool)
    if causal:
        valid = query_coordinates[:, None] >= coordinates[None, :]
    masked = I.select(valid, scores, -I.inf)
    some = I.reduce.any(valid, axis=1, identity=False)
    maximum = I.select(some, I.reduce.max(masked, axis=1, identity=-I.inf), 0.0)
    weights = I.select(valid, I.exp2(masked - maximum[:, None]), 0.0)
    return I.record(
        valid=some, maximum=maximum, denominator=I.reduce.sum(weights, axis=1),
        accumulator=I.contract(weights, I.cast(values, I.f32), reduce=((1, 0),), acc_dtype=I.f32),
    )  # fmt: skip


@intent.fn
def merge(lhs, rhs):
    maximum = I.select(lhs.valid, lhs.maximum, rhs.maximum)
    maximum = I.select(rhs.valid, I.maximum(maximum, rhs.maximum), maximum)
    left = I.select(lhs.valid, I.exp2(I.select(lhs.valid, lhs.maximum, maximum) - maximum), 0.0)
    right = I.select(rhs.valid, I.exp2(I.select(rhs.valid, rhs.maximum, maximum) - maximum), 0.0)
    return I.record(
        valid=lhs.valid | rhs.valid, maximum=maximum,
        denominator=left * lhs.denominator + right * rhs.denominator,
        accumulator=left[:, None] * lhs.accumulator + right[:, None] * rhs.accumulator,
    )  # fmt: skip


@intent.kernel
def attention(
    q: I.In[I.f16, ("H", "Q", "D")], k: I.In[I.f16, ("H", "K", "D")], v: I.In[I.f16, ("H", "K", "V")],
    y: I.Out[I.f16, ("H", "Q", "V")], scale: I.f32, CAUSAL: I.Constexpr[bool],
):  # fmt: skip
    H, Q, D = q.shape
    V = v.shape[2]
    rows, columns = I.domain(0, Q), I.domain(0, k.shape[1])
    for head in I.parallel(I.domain(0, H)):
        summary = I.region_fold(
            source=(k[head, columns, :], v[head, columns, :], I.indices(columns)), axis=0, summarize=attend,
            combine=merge,
            identity=I.record(valid=False, maximum=0.0, denominator=0.0, accumulator=I.zeros((Q, V), I.f32)),
            operands=(q[head, rows, :], I.indices(rows), scale, CAUSAL),
        )  # fmt: skip
        safe = I.select(summary.valid, summary.denominator, 1.0)
        y[head, rows, :] = I.cast(summary.accumulator / safe[:, None], I.f16)
