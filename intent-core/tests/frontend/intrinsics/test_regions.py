"""Region folds and scans: schemas, captures, opaque slice extents."""

import pytest

import intent
import intent.language as I
from intent.diagnostics import ImpureHelper, InvalidAxis, SchemaMismatch, SliceExtentObserved, WrongKind
from intent.kir import Contract, RegionFold, RegionScan
from intent.kir.walk import walk


@intent.fn
def summarize(keys, values, coordinates, queries, query_coordinates, scale, causal):
    scores = I.contract(queries, keys, reduce=((1, 1),), acc_dtype=I.f32) * (scale * I.LOG2E)
    valid = I.full(scores.shape, fill=True, dtype=I.bool)
    if causal:
        valid = query_coordinates[:, None] >= coordinates[None, :]
    masked = I.select(valid, scores, -I.inf)
    some = I.reduce.any(valid, axis=1, identity=False)
    maximum = I.select(some, I.reduce.max(masked, axis=1, identity=-I.inf), 0.0)
    weights = I.select(valid, I.exp2(masked - maximum[:, None]), 0.0)
    return I.record(
        valid=some,
        maximum=maximum,
        denominator=I.reduce.sum(weights, axis=1, identity=0.0),
        accumulator=I.contract(weights, I.cast(values, I.f32), reduce=((1, 0),), acc_dtype=I.f32),
    )


@intent.fn
def merge(lhs, rhs):
    maximum = I.select(lhs.valid, lhs.maximum, rhs.maximum)
    maximum = I.select(rhs.valid, I.maximum(maximum, rhs.maximum), maximum)
    left = I.select(lhs.valid, I.exp2(I.select(lhs.valid, lhs.maximum, maximum) - maximum), 0.0)
    right = I.select(rhs.valid, I.exp2(I.select(rhs.valid, rhs.maximum, maximum) - maximum), 0.0)
    return I.record(
        valid=lhs.valid | rhs.valid,
        maximum=maximum,
        denominator=left * lhs.denominator + right * rhs.denominator,
        accumulator=left[:, None] * lhs.accumulator + right[:, None] * rhs.accumulator,
    )


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
            source=(k[head, columns, :], v[head, columns, :], I.indices(columns)),
            axis=0,
            summarize=summarize,
            combine=merge,
            identity=I.record(
                valid=I.full((Q,), fill=False, dtype=I.bool),
                maximum=I.full((Q,), fill=0.0, dtype=I.f32),
                denominator=I.zeros((Q,), dtype=I.f32),
                accumulator=I.zeros((Q, V), dtype=I.f32),
            ),
            operands=(q[head, rows, :], I.indices(rows), scale, CAUSAL),
        )
        safe = I.select(summary.valid, summary.denominator, 1.0)
        y[head, rows, :] = I.cast(summary.accumulator / safe[:, None], I.f16)


@pytest.mark.parametrize("causal", [False, True])
def test_attention_as_a_region_fold(lowered, causal):
    kernel = lowered(attention, CAUSAL=causal)
    (op,) = [op for op in walk(kernel.body) if isinstance(op, RegionFold)]
    assert [str(r.shape) for r in op.results] == ["(Q,)", "(Q,)", "(Q,)", "(Q, V)"]
    assert [r.dtype.name for r in op.results] == ["bool", "f32", "f32", "f32"]
    assert [v.dtype.name for v in op.captures] == ["f16", "index", "f32"]
    assert op.summarize.args[0].shape[0] is op.slice_extent
    assert op.summarize.args[2].shape == (op.slice_extent,)
    assert not op.slice_extent.launch_visible
    assert [type(o) for o in op.summarize.ops].count(Contract) == 2


@intent.fn
def slice_sum(part):
    return I.reduce.sum(part, axis=0)


@intent.fn
def plus(a, b):
    return a + b


@intent.fn
def running(part, state):
    return I.cumsum(part, axis=0) + state


@intent.kernel
def running_sum(x: I.In[I.f32, ("T", "D")], y: I.Out[I.f32, ("T", "D")], last: I.Out[I.f32, ("D",)]):
    outputs, final = I.region_scan(
        source=x[...], axis=0, summarize=slice_sum, combine=plus, identity=0.0,
        initial_state=I.zeros((x.shape[1],), I.f32), apply=plus, emit=running,
    )  # fmt: skip
    y[...] = outputs
    last[...] = final


@intent.fn
def two_outputs(part, state):
    return I.record(plain=part + state, turned=I.transpose(part))


@intent.kernel
def turned_outputs(x: I.In[I.f32, ("T", "D")], y: I.Out[I.f32, ("T", "D")], z: I.Out[I.f32, ("D", "T")]):
    outputs, _ = I.region_scan(
        source=x[...], axis=0, summarize=slice_sum, combine=plus, identity=0.0,
        initial_state=I.zeros((x.shape[1],), I.f32), apply=plus, emit=two_outputs,
    )  # fmt: skip
    y[...] = outputs.plain
    z[...] = outputs.turned


def test_region_scan_gives_outputs_and_the_final_state(one):
    op = one(running_sum, RegionScan)
    assert (op.outputs, op.output_axis) == (1, 0)
    assert [str(r.shape) for r in op.results] == ["(T, D)", "(D,)"]
    assert op.emit.yields[0].shape[0] is op.slice_extent
    assert str(op.identity[0].shape) == "(D,)"


@intent.fn
def running_scaled(part, state, factor):
    return (I.cumsum(part, axis=0) + state) * factor / factor


@intent.kernel
def operands_for_emit_only(x: I.In[I.f32, ("T",)], factor: I.f32, y: I.Out[I.f32, ("T",)]):
    y[...], _ = I.region_scan(
        source=x[...],
        axis=0,
        summarize=slice_sum,
        combine=plus,
        identity=0.0,
        initial_state=I.cast(0.0, I.f32),
        apply=plus,
        emit=running_scaled,
        operands=(factor,),
    )


def test_a_summarizer_without_parameters_for_operands_is_given_none(one):
    op = one(operands_for_emit_only, RegionScan)
    assert [v.name for v in op.captures] == ["factor"]
    assert len(op.summarize.args) == 2


def test_outputs_with_the_slice_axis_at_different_places(lowered):
    kernel = lowered(turned_outputs)
    (op,) = [op for op in walk(kernel.body) if isinstance(op, RegionScan)]
    assert op.output_axis == 0
    assert [str(r.shape) for r in op.results[:2]] == ["(T, D)", "(T, D)"]


@intent.fn
def pairwise(part):
    return I.reduce.sum(I.reshape(part, (part.shape[0], 2, part.shape[1] // 2)), axis=(0, 1))


@intent.kernel
def reshapes_beside_the_slice(x: I.In[I.f32, ("N", "D")], y: I.Out[I.f32, ("E",)]):
    y[...] = I.region_fold(
        source=x[...], axis=0, summarize=pairwise, combine=plus, identity=I.zeros((x.shape[1] // 2,), I.f32)
    )


def test_a_reshape_beside_the_slice_axis_is_a_condition_on_the_rest(lowered):
    conditions = {(str(c.lhs), str(c.rhs)) for c in lowered(reshapes_beside_the_slice).conditions}
    assert ("D", "2*floordiv(D, 2)") in conditions


# -- refusals


@intent.fn
def mean_of_slice(part):
    return I.reduce.sum(part, axis=0) / I.cast(part.shape[0], I.f32)


@intent.fn
def local_positions(part):
    return I.reduce.sum(I.cast(I.indices(I.domain(0, part.shape[0])), I.f32) * part, axis=0)


@intent.fn
def position_of_largest(part):
    value, index = I.arg_reduce.max(part, axis=0)
    return value + I.cast(index, I.f32)


@intent.fn
def whole_slice(part):
    return part


@intent.fn
def against_another_axis(part, other):
    return I.reduce.sum(part * other, axis=0)


@intent.fn
def random_sum(part):
    return I.reduce.sum(part, axis=0) + I.random.uniform(1, 2)


@intent.fn
def half(part):
    return I.cast(I.reduce.sum(part, axis=0), I.f16)


@intent.kernel
def observes_the_extent(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.region_fold(source=x[...], axis=0, summarize=mean_of_slice, combine=plus, identity=0.0)


@intent.kernel
def observes_positions(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.region_fold(source=x[...], axis=0, summarize=local_positions, combine=plus, identity=0.0)


@intent.kernel
def observes_arg_reduce(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.region_fold(source=x[...], axis=0, summarize=position_of_largest, combine=plus, identity=0.0)


@intent.kernel
def summary_is_the_slice(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.region_fold(source=x[...], axis=0, summarize=whole_slice, combine=plus, identity=0.0)


@intent.kernel
def compares_with_a_fixed_axis(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.region_fold(
        source=x[...], axis=0, summarize=against_another_axis, combine=plus, identity=0.0, operands=(x[...],)
    )


@intent.kernel
def draws(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.region_fold(source=x[...], axis=0, summarize=random_sum, combine=plus, identity=0.0)


@intent.kernel
def summary_of_another_dtype(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.region_fold(source=x[...], axis=0, summarize=half, combine=plus, identity=I.cast(0.0, I.f32))


@intent.kernel
def another_axis(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.region_fold(source=x[...], axis=1, summarize=slice_sum, combine=plus, identity=0.0)


@intent.kernel
def builtin_summarizer(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[()] = I.region_fold(source=x[...], axis=0, summarize=I.add, combine=plus, identity=0.0)


@intent.kernel
def output_without_the_slice_axis(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...], _ = I.region_scan(
        source=x[...],
        axis=0,
        summarize=slice_sum,
        combine=plus,
        identity=0.0,
        initial_state=I.cast(0.0, I.f32),
        apply=plus,
        emit=running_total_only,
    )


@intent.fn
def running_total_only(part, state):
    return state + I.reduce.sum(part, axis=0)


@pytest.mark.parametrize(
    ("kernel", "error"),
    [
        (observes_the_extent, SliceExtentObserved),
        (observes_positions, SliceExtentObserved),
        (observes_arg_reduce, SliceExtentObserved),
        (summary_is_the_slice, SliceExtentObserved),
        (compares_with_a_fixed_axis, SliceExtentObserved),
        (draws, ImpureHelper),
        (summary_of_another_dtype, SchemaMismatch),
        (another_axis, InvalidAxis),
        (builtin_summarizer, WrongKind),
        (output_without_the_slice_axis, SchemaMismatch),
    ],
    ids=lambda p: getattr(p, "name", None) or p.__name__,
)
def test_refused(refused, kernel, error):
    refused(kernel, error)
