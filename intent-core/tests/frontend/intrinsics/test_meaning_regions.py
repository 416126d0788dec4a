"""What region folds and scans compute, against plain numpy."""

import numpy as np
import pytest

import intent
import intent.language as I


def f32(*shape):
    return np.full(shape, 7, np.float32)


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
def affine(first, second):
    return I.record(scale=first.scale * second.scale, shift=second.scale * first.shift + second.shift)


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


@intent.fn
def last_product(x, at):
    return (I.reduce.prod(x, axis=1), I.cast(I.reduce.max(at, axis=0), I.i32))


@intent.fn
def both(a, b):
    return (a[0] * b[0], I.maximum(a[1], b[1]))


@intent.fn
def applied(p, s):
    return (s[0] * p[0], I.maximum(s[1], p[1]))


@intent.fn
def products(x, at, state):
    return I.cumprod(x, axis=1) * state[0][:, None]


@intent.kernel
def columns(
    x: I.In[I.i64, ("M", "N")],
    first: I.In[I.i64, ("M",)],
    y: I.Out[I.i64, ("M", "N")],
    last: I.Out[I.i64, ("M",)],
    at: I.Out[I.i32, ()],
):
    M, N = x.shape
    made, state = I.region_scan(
        source=(x[...], I.indices(I.domain(0, N))),
        axis=1,
        summarize=last_product,
        combine=both,
        identity=(I.full((M,), 1, I.i64), -1),
        initial_state=(first[...], -1),
        apply=applied,
        emit=products,
    )
    y[...] = made
    last[...] = state[0]
    at[()] = state[1]


@pytest.mark.parametrize("length", [0, 1, 6])
def test_coordinates_beside_a_component_of_higher_rank(run, length):
    """Coordinates have one axis, which is the source's wherever that stands in the others."""
    x = np.random.default_rng(0).integers(-2, 3, (3, length))
    first = np.array([1, 2, 3])
    got = run(columns, x=x, first=first, y=x, last=first, at=np.zeros((), np.int32))
    assert got["y"].tolist() == (x.cumprod(axis=1) * first[:, None]).tolist()
    assert got["last"].tolist() == (x.prod(axis=1) * first).tolist()
    assert got["at"] == length - 1
