"""Forms that published programs use beside the plain ones: what they mean."""

import numpy as np
import pytest

import intent
import intent.language as I
from intent.diagnostics import ConditionNotScalar, MixedDTypes, SchemaMismatch
from intent.frontend import lower
from intent.kir import Contract, Reduce
from intent.kir.walk import walk
from intent.reference.logical import evaluate


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@intent.kernel
def first_above(
    x: I.In[I.f32, ("M", "N")], limit: I.f32, at: I.Out[I.i32, ("M",)], width: I.Out[I.i64, ("M",)]
):
    rows = I.domain(0, x.shape[0])
    _, position = I.arg_reduce.max(I.cast(x[...] > limit, I.f32), axis=1)
    at[...] = position + 1
    width[rows] = x.shape[1] - I.indices(rows)


def test_coordinates_and_extents_go_into_integer_elements(rng):
    x = rng.random((4, 6)).astype(np.float32)
    at, width = np.zeros(4, np.int32), np.zeros(4, np.int64)
    evaluate(lower(first_above), [x, 0.5, at, width])
    np.testing.assert_array_equal(at, (x > 0.5).argmax(1) + 1)
    np.testing.assert_array_equal(width, 6 - np.arange(4))


@intent.kernel
def index_into_floats(y: I.Out[I.f32, ("N",)]):
    y[...] = I.indices(I.domain(0, y.shape[0]))


@intent.kernel
def narrowed(x: I.In[I.i64, ("N",)], y: I.Out[I.i32, ("N",)]):
    y[...] = x[...]


@pytest.mark.parametrize("kernel", [index_into_floats, narrowed], ids=lambda k: k.name)
def test_other_dtypes_still_need_a_cast(kernel):
    with pytest.raises(MixedDTypes):
        lower(kernel)


@intent.kernel
def signs(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    values = x[...]
    y[...] = (-values if values < 0.0 else values) * I.cast(-1.0 if values < 1.0 else 2.0, I.f32)


def test_a_choice_by_a_tensor_selects_elements():
    x = np.array([-3, 0.5, 1, 2], np.float32)
    y = np.zeros(4, np.float32)
    evaluate(lower(signs), [x, y])
    np.testing.assert_array_equal(y, np.abs(x) * np.where(x < 1, -1, 2))


@intent.kernel
def tensor_statement(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    if x[...] < 0.0:
        y[...] = 0.0


def test_a_statement_still_needs_one_bool():
    with pytest.raises(ConditionNotScalar):
        lower(tensor_statement)


@intent.kernel
def ragged_shapes(x: I.In[I.f32, ("N",)], offsets: I.In[I.i32, ("G1",)], y: I.Out[I.f32, ("N",)]):
    groups = I.ragged(
        outer=I.domain(0, offsets.shape[0] - 1), members=I.domain(0, x.shape[0]), offsets=offsets
    )
    for group in I.parallel(groups.outer):
        members = groups[group]
        y[members] = x[members] + I.full((members,), 1.0, dtype=I.f32) + I.zeros((members,), I.f32)


def test_a_ragged_group_is_an_extent_of_a_shape(rng):
    x, y = rng.random(7).astype(np.float32), np.zeros(7, np.float32)
    evaluate(lower(ragged_shapes), [x, np.array([0, 3, 3, 7], np.int32), y])
    np.testing.assert_array_equal(y, x + 1)


@intent.kernel
def scaled_blocks(
    a: I.In[I.f8e4m3fn, ("M", "G", 16)],
    a_scale: I.In[I.f32, ("M", "G")],
    b: I.In[I.u8, ("G", 16, "N")],
    b_scale: I.In[I.f32, ("N", "G")],
    y: I.Out[I.f32, ("M", "N")],
):
    y[...] = I.scaled_matmul(
        a, a_scale, b, b_scale, lhs_format=I.e4m3, rhs_format=I.e4m3, group_size=16, acc_dtype=I.f32
    )


def test_float_scales_of_blocks(rng):
    f8 = I.f8e4m3fn.numpy
    a, b = rng.normal(size=(3, 2, 16)).astype(f8), rng.normal(size=(2, 16, 5)).astype(f8)
    sa, sb = rng.random((3, 2)).astype(np.float32), rng.random((5, 2)).astype(np.float32)
    y = np.zeros((3, 5), np.float32)
    evaluate(lower(scaled_blocks), [a, sa, b.view(np.uint8), sb, y])
    wide = a.astype(np.float64) * sa[:, :, None], b.astype(np.float64) * sb.T[:, None, :]
    np.testing.assert_allclose(y, np.einsum("mgc,gcn->mn", *wide), rtol=1e-5, atol=1e-5)


def test_float_scales_keep_the_products_of_one_group_at_a_time():
    kernel = lower(scaled_blocks)
    (product,) = [op for op in walk(kernel.body) if isinstance(op, Contract)]
    assert [str(e) for e in product.result.shape] == ["M", "N"]
    assert not any(isinstance(op, Reduce) for op in walk(kernel.body))


@intent.fn
def composed(a, b):
    return I.record(scale=b.scale * a.scale, state=b.scale * a.state + b.state)


@intent.fn
def mixed_up(a, b):
    return I.record(scale=b.scale + a.state, state=a.state)


@intent.kernel
def recurrence(
    s: I.In[I.f32, ("T",)], x: I.In[I.f32, ("T", "D", "E")], y: I.Out[I.f32, ("T", "D", "E")],
    p: I.Out[I.f32, ("T",)], last: I.Out[I.f32, ("D", "E")], total: I.Out[I.f32, ()],
):  # fmt: skip
    empty = I.record(scale=I.cast(1.0, I.f32), state=I.zeros((x.shape[1], x.shape[2]), I.f32))
    states = I.scan(I.record(scale=s[...], state=x[...]), axis=0, identity=empty, combine=composed)
    y[...] = states.state
    p[...] = states.scale
    whole = I.reduce(I.record(scale=s[...], state=x[...]), axis=0, identity=empty, combine=composed)
    last[...] = I.full((x.shape[1], x.shape[2]), 0.0, I.f32) * whole.state
    total[()] = whole.scale


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_components_of_different_rank_align_on_the_axis_of_the_scan(rng, steps):
    s, x = rng.random(steps).astype(np.float32), rng.random((steps, 3, steps or 2)).astype(np.float32)
    y, p = np.zeros_like(x), np.zeros_like(s)
    last, total = np.ones(x.shape[1:], np.float32), np.ones((), np.float32)
    evaluate(lower(recurrence), [s, x, y, p, last, total])
    state = np.zeros(x.shape[1:], np.float32)
    for t in range(steps):
        state = s[t] * state + x[t]
        np.testing.assert_allclose(y[t], state, rtol=1e-5)
    np.testing.assert_allclose(p, np.cumprod(s), rtol=1e-5)
    np.testing.assert_allclose(total, np.prod(s), rtol=1e-5)


@intent.kernel
def higher_into_lower(s: I.In[I.f32, ("T",)], x: I.In[I.f32, ("T", "D")], y: I.Out[I.f32, ("T",)]):
    empty = I.record(scale=I.cast(1.0, I.f32), state=I.cast(0.0, I.f32))
    y[...] = I.scan(I.record(scale=s[...], state=x[...]), axis=0, identity=empty, combine=mixed_up).scale


def test_a_component_of_lower_rank_depends_on_no_higher_one():
    with pytest.raises(SchemaMismatch):
        lower(higher_into_lower)


@intent.fn
def weighted(a, b):
    return I.record(w=a.w + b.w, wx=a.wx + b.wx)


@intent.kernel
def weights_of_columns(
    w: I.In[I.f32, ("N",)], x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)], s: I.Out[I.f32, ()]
):
    parts = I.record(w=w[...], wx=w[...] * x[...])
    got = I.reduce(parts, axis=-1, identity=I.record(w=0.0, wx=0.0), combine=weighted)
    y[...] = got.wx / got.w
    s[()] = got.w


def test_a_negative_axis_is_that_of_each_component(rng):
    w, x = rng.random(4).astype(np.float32), rng.random((3, 4)).astype(np.float32)
    y, s = np.zeros(3, np.float32), np.zeros((), np.float32)
    evaluate(lower(weights_of_columns), [w, x, y, s])
    np.testing.assert_allclose(y, (w * x).sum(1) / w.sum(), rtol=1e-5)
    np.testing.assert_allclose(s, w.sum(), rtol=1e-5)


@intent.kernel
def winners(x: I.In[I.f16, ("M", "N")], low: I.Out[I.i64, ("M",)], pair: I.Out[I.i64, ("M",)]):
    low[...] = I.arg_reduce.max(x, axis=1, identity=I.cast(-65504, I.f16))[1]
    first = (I.cast(I.inf, I.f16), I.cast(7, I.i64))
    pair[...] = I.arg_reduce.min(x, axis=1, identity=first)[1]


def test_identities_of_positions(rng):
    x = rng.normal(size=(3, 5)).astype(np.float16)
    low, pair = np.zeros(3, np.int64), np.zeros(3, np.int64)
    evaluate(lower(winners), [x, low, pair])
    np.testing.assert_array_equal(low, x.argmax(1))
    np.testing.assert_array_equal(pair, x.argmin(1))


@intent.kernel
def visible_identity(x: I.In[I.f16, ("M", "N")], y: I.Out[I.i64, ("M",)]):
    y[...] = I.arg_reduce.max(x, axis=1, identity=0.0)[1]


@intent.kernel
def half_a_position(x: I.In[I.f16, ("M", "N")], y: I.Out[I.i64, ("M",)]):
    y[...] = I.arg_reduce.max(x, axis=1, identity=(-I.inf, I.cast(0.5, I.f32)))[1]


@pytest.mark.parametrize("kernel", [visible_identity, half_a_position], ids=lambda k: k.name)
def test_other_identities_of_positions_are_refused(kernel):
    with pytest.raises(SchemaMismatch):
        lower(kernel)
