"""Gathers, scatters, buffers, promises, atomics, random numbers, histograms, ragged relations."""

import pytest

import intent
import intent.language as I
from intent.diagnostics import (
    InvalidOrder,
    NotConstexpr,
    ShapeMismatch,
    WriteToReadOnly,
    WrongDType,
    WrongKind,
    WrongRank,
)
from intent.kir import (
    AssumeInBounds,
    Atomic,
    BufferAlloc,
    Gather,
    Histogram,
    Load,
    Pointwise,
    RandomBits,
    ScatterReduce,
    Store,
)
from intent.kir.walk import walk


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
    z[...] = I.gather(x[...] * 2.0, index=(rows, columns), valid=keep, fill=fill)


@intent.kernel
def plain_gather(x: I.In[I.f32, ("M", "N")], rows: I.In[I.i64, ("K",)], y: I.Out[I.f32, ("K", "N")]):
    y[...] = I.gather(x, index=(rows, slice(None)))


@intent.kernel
def scatters(
    y: I.InOut[I.f32, ("M",)], i: I.In[I.i32, ("K",)], v: I.In[I.f32, ("K",)], ok: I.In[I.bool, ("K",)]
):
    I.scatter_unique(y, index=i, value=v, valid=ok)
    I.scatter_reduce(y, index=i, value=v, combine=I.maximum)
    I.scatter_reduce(y, index=i, value=1.0, combine=larger_magnitude)


@intent.fn
def larger_magnitude(old, new):
    return I.select(I.abs(new) > I.abs(old), new, old)


@intent.kernel
def buffers(x: I.In[I.f32, ("M",)], y: I.Out[I.f32, ("M",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        state = I.buffer((4,), I.f32, init=0.0)
        rows = I.buffer((2, 4), I.f32, init=I.full((4,), 1.0, I.f32))
        I.store(state, index=0, value=x[i])
        y[i] = I.mutable_load(state, index=(0,)) + rows[0, 1]


@intent.kernel
def promises(x: I.In[I.f32, ("M",)], i: I.In[I.i32, ("K",)], y: I.Out[I.f32, ("K",)]):
    for k in I.parallel(I.domain(0, i.shape[0])):
        place = i[k]
        I.assume_in_bounds(place, x, axis=0)
        y[k] = x[place]


@intent.kernel
def atomics(c: I.InOut[I.i32, ("M",)], old: I.Out[I.i32, ("N",)], won: I.Out[I.bool, ("N",)]):
    for i in I.parallel(I.domain(0, old.shape[0])):
        old[i] = I.atomic.add(c[0], 1, order="acq_rel")
        I.atomic.store(c, index=1, value=I.atomic.load(c[2], order="acquire"), order="release")
        swapped = I.atomic.compare_exchange(c, index=(3,), expected=0, desired=I.cast(i, I.i32))
        won[i] = swapped.success & (swapped.old_value == 0)
        I.atomic.or_(c[4], 8)


@intent.kernel
def randoms(seed: I.u32, y: I.Out[I.f32, ("N",)], z: I.Out[I.u32, ()]):
    y[...] = I.random.uniform(seed, I.indices(I.domain(0, y.shape[0])))
    z[()] = I.random.bits(1, logical_counter=7)


@intent.kernel
def counts(x: I.In[I.u8, ("N",)], y: I.Out[I.i32, (256,)], z: I.Out[I.u64, ("B",)]):
    y[...] = I.histogram(x, bins=256)
    z[...] = I.histogram(x, bins=z.shape[0], valid=x < 3, count_dtype=I.u64)


@intent.kernel
def ragged_sums(
    x: I.In[I.f32, ("R", "D")], offsets: I.In[I.i32, ("G1",)], members: I.In[I.i32, ("R",)],
    y: I.Out[I.f32, ("G", "D")],
):  # fmt: skip
    groups = I.ragged(
        outer=I.domain(0, y.shape[0]), members=I.domain(0, x.shape[0]), offsets=offsets, indices=members
    )
    for g in I.parallel(groups.outer):
        rows = I.members(groups[g])
        y[g, :] = I.reduce.sum(x[rows, :], axis=0)


def test_a_gather_of_a_view_is_a_load_with_validity(lowered):
    ops = list(walk(lowered(gathers).body))
    (load,) = [op for op in ops if isinstance(op, Load) and op.valid is not None]
    assert load.fill is not None
    assert str(load.result.shape) == "(K, N)"


def test_a_fill_with_axes_is_selected_afterwards(lowered):
    ops = list(walk(lowered(gathers).body))
    (gather,) = [op for op in ops if isinstance(op, Gather)]
    assert gather.fill.shape == ()
    assert any(isinstance(op, Pointwise) and op.fn == "select" and gather.result in op.operands for op in ops)


def test_without_validity_there_is_no_fill(lowered):
    loads = [op for op in lowered(plain_gather).body.ops if isinstance(op, Load) and op.source.name == "x"]
    assert [(op.valid, op.fill) for op in loads] == [(None, None)]


def test_scatters(lowered):
    kernel = lowered(scatters)
    (store,) = [op for op in kernel.body.ops if isinstance(op, Store)]
    assert store.uniqueness == "assumed"
    assert store.valid is not None
    first, second = [op for op in kernel.body.ops if isinstance(op, ScatterReduce)]
    assert (first.kind, first.combine) == ("max", None)
    assert second.kind is None
    assert len(second.combine.args) == 2
    assert [a.kind for a in kernel.assumptions] == ["unique"]


def test_buffers_are_allocated_where_they_are_written(lowered):
    kernel = lowered(buffers)
    loop = kernel.body.ops[-1]
    allocations = [op for op in loop.body.ops if isinstance(op, BufferAlloc)]
    assert [op.init.shape == () for op in allocations] == [True, False]
    assert allocations[1].init.shape == allocations[1].buffer.shape


def test_a_promise_covers_the_reads_after_it(lowered):
    kernel = lowered(promises)
    ops = list(walk(kernel.body))
    assert len([op for op in ops if isinstance(op, AssumeInBounds)]) == 1
    assert [op.assumed for op in ops if isinstance(op, Load) and op.source.name == "x"] == [(True,)]
    assert [a.kind for a in kernel.assumptions] == ["in_bounds"]


def test_atomics_in_both_spellings(lowered):
    found = [op for op in walk(lowered(atomics).body) if isinstance(op, Atomic)]
    assert [(op.kind, op.order, len(op.operands), [r.dtype.name for r in op.results]) for op in found] == [
        ("add", "acq_rel", 1, ["i32"]),
        ("load", "acquire", 0, ["i32"]),
        ("store", "release", 1, []),
        ("compare_exchange", "relaxed", 2, ["i32", "bool"]),
        ("or", "relaxed", 1, ["i32"]),
    ]


def test_random_numbers_take_64_bit_counters(lowered):
    ops = [op for op in lowered(randoms).body.ops if isinstance(op, RandomBits)]
    assert [str(op.result.shape) for op in ops] == ["(N,)", "()"]
    assert all(v.dtype is I.i64 for op in ops for v in (op.seed, op.counter))


def test_uniform_is_24_bits_times_a_power_of_two(ops):
    found = ops(randoms)
    place = found.index("randombits u32[N]")
    steps = [f for f in found[place + 1 :] if not f.startswith("broadcast")]
    assert steps[:3] == ["shr u32[N]", "cast f32[N]", "mul f32[N]"]


def test_histograms(lowered):
    first, second = [op for op in lowered(counts).body.ops if isinstance(op, Histogram)]
    assert (first.result.dtype.name, str(first.result.shape), first.valid) == ("i32", "(256,)", None)
    assert (second.result.dtype.name, str(second.result.shape)) == ("u64", "(B,)")
    assert second.valid is not None


def test_ragged_groups_expand_to_subregions_and_gathers(lowered):
    kernel = lowered(ragged_sums)
    first = kernel.conditions[0]
    assert (first.kind, {str(first.lhs), str(first.rhs)}) == ("equal", {"G1", "G + 1"})
    (domain,) = [d for d in kernel.domains if d.parent is not None]
    loads = [op for op in walk(kernel.body) if isinstance(op, Load)]
    assert [op.source.name for op in loads] == ["offsets", "offsets", "members", "x"]
    assert domain.parent is not None


# -- refusals


@intent.kernel
def numbers_as_validity(x: I.In[I.f32, ("M",)], i: I.In[I.i32, ("K",)], y: I.Out[I.f32, ("K",)]):
    y[...] = I.gather(x, index=i, valid=i)


@intent.kernel
def validity_that_enlarges(
    x: I.In[I.f32, ("M",)], ok: I.In[I.bool, ("K", "K")], i: I.In[I.i32, ("K",)], y: I.Out[I.f32, ("K",)]
):
    y[...] = I.gather(x, index=i, valid=ok)


@intent.kernel
def too_many_indices(x: I.In[I.f32, ("M",)], y: I.Out[I.f32, ()]):
    y[()] = I.gather(x, index=(0, 0))


@intent.kernel
def fill_of_another_dtype(x: I.In[I.f32, ("M",)], ok: I.bool, s: I.f16, y: I.Out[I.f32, ()]):
    y[()] = I.gather(x, index=0, valid=ok, fill=s)


@intent.kernel
def store_to_an_input(x: I.In[I.f32, ("M",)]):
    I.store(x, index=0, value=1.0)


@intent.kernel
def store_to_a_tensor(x: I.In[I.f32, ("M",)]):
    I.store(x[...], index=0, value=1.0)


@intent.kernel
def value_of_another_dtype(x: I.In[I.f16, ("M",)], y: I.Out[I.f32, ("M",)]):
    I.scatter_unique(y, index=I.domain(0, x.shape[0]), value=x)


@intent.kernel
def acquire_on_a_store(c: I.InOut[I.i32, (1,)]):
    I.atomic.store(c[0], 1, order="acquire")


@intent.kernel
def misspelt_order(c: I.InOut[I.i32, (1,)]):
    I.atomic.add(c[0], 1, order="relaxd")


@intent.kernel
def sequential_order(c: I.InOut[I.i32, (1,)]):
    I.atomic.add(c[0], 1, order="seq_cst")


@intent.kernel
def bits_of_floats(c: I.InOut[I.f32, (1,)]):
    I.atomic.xor(c[0], 1.0)


@intent.kernel
def atomic_on_an_input(c: I.In[I.i32, (1,)], y: I.Out[I.i32, ()]):
    y[()] = I.atomic.add(c[0], 1)


@intent.kernel
def atomic_on_a_value(c: I.InOut[I.i32, (1,)]):
    I.atomic.add(c[0] + 1, 1)


@intent.kernel
def histogram_of_floats(x: I.In[I.f32, ("N",)], y: I.Out[I.i32, (4,)]):
    y[...] = I.histogram(x, bins=4)


@intent.kernel
def counter_of_floats(x: I.In[I.f32, ("N",)], y: I.Out[I.u32, ("N",)]):
    y[...] = I.random.bits(1, x)


@intent.kernel
def runtime_axis(x: I.In[I.f32, ("N",)], k: I.i32, y: I.Out[I.f32, ("N",)]):
    I.assume_in_bounds(k, x, axis=k)
    y[...] = x[...]


@intent.kernel
def offsets_of_rank_two(x: I.In[I.f32, ("N",)], o: I.In[I.i32, ("G", 2)], y: I.Out[I.f32, ("G",)]):
    groups = I.ragged(outer=I.domain(0, y.shape[0]), members=I.domain(0, x.shape[0]), offsets=o)
    for g in I.parallel(groups.outer):
        y[g] = I.reduce.sum(x[groups[g]], axis=0)


@intent.kernel
def members_of_a_number(x: I.In[I.f32, ("N",)], o: I.In[I.i32, ("G",)], y: I.Out[I.f32, ("N",)]):
    groups = I.ragged(outer=I.domain(0, o.shape[0] - 1), members=I.domain(0, x.shape[0]), offsets=o)
    for g in I.parallel(groups.outer):
        for m in I.parallel(I.members(g)):
            y[m] = x[m]


@intent.kernel
def groups_as_a_domain(x: I.In[I.f32, ("N",)], o: I.In[I.i32, ("G",)], y: I.Out[I.f32, ("N",)]):
    groups = I.ragged(outer=I.domain(0, o.shape[0] - 1), members=I.domain(0, x.shape[0]), offsets=o)
    for g in I.parallel(groups):
        y[groups[g]] = x[groups[g]]


def test_what_to_write_for_groups(refused):
    assert "groups[g]" in refused(members_of_a_number, WrongKind).fix
    assert "groups.outer" in refused(groups_as_a_domain, WrongKind).fix


@pytest.mark.parametrize(
    ("kernel", "error"),
    [
        (numbers_as_validity, WrongDType),
        (validity_that_enlarges, ShapeMismatch),
        (too_many_indices, WrongRank),
        (fill_of_another_dtype, WrongDType),
        (store_to_an_input, WriteToReadOnly),
        (store_to_a_tensor, WrongKind),
        (value_of_another_dtype, WrongDType),
        (acquire_on_a_store, InvalidOrder),
        (misspelt_order, InvalidOrder),
        (bits_of_floats, WrongDType),
        (atomic_on_an_input, WriteToReadOnly),
        (atomic_on_a_value, WrongKind),
        (histogram_of_floats, WrongDType),
        (counter_of_floats, WrongDType),
        (runtime_axis, NotConstexpr),
        (offsets_of_rank_two, WrongRank),
    ],
    ids=lambda p: getattr(p, "name", None) or p.__name__,
)
def test_refused(refused, kernel, error):
    refused(kernel, error)


def test_a_misspelt_order_is_corrected(refused):
    assert "relaxed" in refused(misspelt_order, InvalidOrder).fix


def test_an_order_of_another_language_is_answered_with_the_strongest(refused):
    assert "acq_rel" in refused(sequential_order, InvalidOrder).fix
