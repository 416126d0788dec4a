"""Index relations, reads, writes, buffers."""

from __future__ import annotations

import numpy as np
import pytest

from intent import kir
from intent.diagnostics import ArgumentDType, ArgumentRank, CompilerFault, ExtentMismatch, LaunchCondition
from intent.reference.logical import Adversary, evaluate
from intent.types import extent
from intent.types.dtypes import BF16, BOOL, F32, I32, INDEX


def relation(coordinates, axes):
    return kir.Relation(coordinates=tuple(coordinates), axes=tuple(axes))


VIEWS = {
    "contiguous": lambda a: a.copy(),
    "transposed": lambda a: np.ascontiguousarray(a.T).T,
    "flipped": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "strided": lambda a: np.repeat(np.repeat(a, 2, 0), 3, 1)[::2, ::3],
}


@pytest.mark.parametrize("layout", VIEWS)
def test_any_strides(build, layout):
    x, y = build.view("x", F32, ("M", "N")), build.view("y", F32, ("N", "M"), "out")
    value = build.load(x)
    turned = build.op(kir.Transpose, (F32, y.shape), value=value, permutation=(1, 0))
    build.store(y, turned)
    data = np.arange(35, dtype=np.float32).reshape(5, 7)
    out = VIEWS[layout](np.zeros((7, 5), np.float32))
    build.run(VIEWS[layout](data), out)
    assert (out == data.T).all()


def test_broadcast_input_view(build):
    x, y = build.view("x", F32, ("M", "N")), build.view("y", F32, ("M", "N"), "out")
    build.store(y, build.load(x))
    out = np.zeros((3, 4), np.float32)
    build.run(np.broadcast_to(np.arange(4, dtype=np.float32), (3, 4)), out)
    assert (out == np.arange(4)).all()


@pytest.mark.parametrize("axes", [((0,), (1,)), ((1,), (0,))])
def test_outer_indexing_by_index_tensors(apply_op, axes):
    x = np.arange(35, dtype=np.float32).reshape(5, 7)
    rows, cols = np.array([4, 0, 4]), np.array([6, 1])
    shape = (3, 2) if axes[0] == (0,) else (2, 3)

    def make(b, v, r, c):
        r, c = (b.op(kir.Cast, (INDEX, i.shape), value=i) for i in (r, c))
        return b.op(kir.Gather, (F32, shape), source=v, relation=relation((r, c), axes))

    expected = x[np.ix_(rows, cols)]
    assert (
        apply_op(make, [(F32, shape)], x, rows, cols) == (expected if shape == (3, 2) else expected.T)
    ).all()


def test_joint_indexing_and_transposed_coordinates(apply_op):
    x = np.arange(35, dtype=np.float32).reshape(5, 7)
    rows, cols = np.array([[4, 0, 4], [1, 2, 3]]), np.array([[6, 1], [0, 2], [3, 3]])

    def make(b, v, r, c):
        r, c = (b.op(kir.Cast, (INDEX, i.shape), value=i) for i in (r, c))
        return b.op(kir.Gather, (F32, (2, 3)), source=v, relation=relation((r, c), ((0, 1), (1, 0))))

    assert (apply_op(make, [(F32, (2, 3))], x, rows, cols) == x[rows, cols.T]).all()


def test_out_of_range_and_negative_coordinates_read_the_fill(build):
    x, i = build.view("x", F32, ("N",)), build.view("i", I32, ("K",))
    y, z = (build.view(n, F32, ("K",), "out") for n in "yz")
    index = build.op(kir.Cast, (INDEX, i.shape), value=build.load(i))
    build.store(y, build.load(x, relation([index], [(0,)]), i.shape))
    zero = build.op(kir.Broadcast, (INDEX, i.shape), value=build.const(0), axes=())
    valid = build.pw("ge", index, zero, dtype=BOOL)
    where = relation([index], [(0,)])
    build.store(z, build.load(x, where, i.shape, valid=valid, fill=build.const(-7.0, F32)))
    indices = np.array([0, 4, 5, -1, -5, 3], np.int32)
    y, z = np.ones(6, np.float32), np.ones(6, np.float32)
    build.run(np.arange(10, 15, dtype=np.float32), indices, y, z)
    assert y.tolist() == [10, 14, 0, 0, 0, 13]
    assert z.tolist() == [10, 14, -7, -7, -7, 13]


@pytest.mark.parametrize("masked", [False, True])
def test_out_of_range_writes_are_dropped(build, masked):
    v, i = build.view("v", F32, ("K",)), build.view("i", I32, ("K",))
    m, y = build.view("m", BOOL, ("K",)), build.view("y", F32, ("N",), "out")
    index = build.op(kir.Cast, (INDEX, i.shape), value=build.load(i))
    valid = build.load(m) if masked else None
    build.store(y, build.load(v), relation([index], [(0,)]), valid=valid)
    out = np.full(5, -1, np.float32)
    mask = np.array([1, 1, 0, 1, 1, 1], bool)
    indices = np.array([0, 4, 2, -1, 5, 3], np.int32)
    build.run(np.arange(10, 16, dtype=np.float32), indices, mask, out)
    assert out.tolist() == [10, -1, -1 if masked else 12, 15, 11]


@pytest.mark.parametrize("step", [1, 2, 3])
def test_windows_and_steps(build, step):
    x, y = build.view("x", F32, (11,)), build.view("y", F32, (3,), "out")
    build.store(y, build.load(x, relation([build.iota(3, 2, step)], [(0,)]), (3,)))
    out = np.zeros(3, np.float32)
    build.run(np.arange(11, dtype=np.float32), out)
    assert out.tolist() == [2, 2 + step, 2 + 2 * step]


def test_a_read_is_a_snapshot(build):
    x = build.view("x", F32, ("N",), "inout")
    size = extent.symbol("N") - 1
    low, high = build.iota(size), build.iota(size, 1)
    value = build.load(x, relation([low], [(0,)]), (size,))
    build.store(x, value, relation([high], [(0,)]))
    data = np.arange(6, dtype=np.float32)
    build.run(data)
    assert data.tolist() == [0, 0, 1, 2, 3, 4]


def test_point_reads_and_writes(build):
    x, y = build.view("x", F32, ("M", "N")), build.view("y", F32, (), "out")
    build.store(y, build.load(x, relation([build.const(1), build.const(2)], [(), ()]), ()))
    out = np.zeros((), np.float32)
    build.run(np.arange(6, dtype=np.float32).reshape(2, 3), out)
    assert out == 5


@pytest.mark.parametrize("seed", [None, 0])
def test_buffers_are_fresh_and_uninitialised_ones_hold_garbage(build, seed):
    y, z = (build.view(n, F32, (4,), "out") for n in "yz")
    plain = kir.Buffer(id=1, name="a", dtype=F32, shape=(extent.const(4),))
    filled = kir.Buffer(id=2, name="b", dtype=F32, shape=(extent.const(4),))
    build.op(kir.BufferAlloc, buffer=plain)
    build.op(kir.BufferAlloc, buffer=filled, init=build.const(2.5, F32))
    build.store(y, build.load(plain))
    build.store(z, build.load(filled))
    y, z = np.zeros(4, np.float32), np.zeros(4, np.float32)
    build.run(y, z, adversary=None if seed is None else Adversary(np.random.default_rng(seed)))
    assert z.tolist() == [2.5] * 4
    assert not (y == 0).any()
    assert seed is not None or np.isnan(y).all()


def test_join_reshape_broadcast(apply_op):
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(10, 16, dtype=np.float32).reshape(2, 3)

    def make(k, x, y):
        joined = k.op(kir.Join, (F32, (2, 3, 2)), lhs=x, rhs=y)
        return k.op(kir.Reshape, (F32, (2, 6)), value=joined)

    assert apply_op(make, [(F32, (2, 6))], a, b).tolist() == [[0, 10, 1, 11, 2, 12], [3, 13, 4, 14, 5, 15]]
    wide = apply_op(
        lambda k, x: k.op(kir.Broadcast, (F32, (2, 4, 3)), value=x, axes=(0, 2)), [(F32, (2, 4, 3))], a
    )
    assert (wide == a[:, None, :].repeat(4, axis=1)).all()


@pytest.mark.parametrize(("m", "n"), [(1, 5), (5, 5), (5, 1), (1, 0), (0, 1)])
def test_run_time_size_one_broadcast(build, m, n):
    x, y, z = (
        build.view("x", BF16, ("M",)),
        build.view("y", BF16, ("N",)),
        build.view("z", BF16, ("K",), "out"),
    )
    shape = (extent.broadcast(x.shape[0], y.shape[0]),)
    a, b = (build.op(kir.Broadcast, (BF16, shape), value=build.load(v), axes=(0,)) for v in (x, y))
    build.store(z, build.pw("add", a, b))
    k = max(m, n) if 0 not in (m, n) else 0
    left, right = np.arange(m).astype(BF16.numpy), (10 * np.arange(n)).astype(BF16.numpy)
    out = np.zeros(k, BF16.numpy)
    build.run(left, right, out)
    assert (out == left + right).all()


def test_arguments_are_checked(build):
    x, y = build.view("x", F32, ("N",)), build.view("y", F32, ("N",), "out")
    build.store(y, build.load(x))
    kernel = build.kernel(
        conditions=(kir.Condition(kind="at_least", lhs=x.shape[0], rhs=extent.const(2), reason="the test"),)
    )
    good = np.zeros(3, np.float32)
    with pytest.raises(ArgumentDType):
        evaluate(kernel, [np.zeros(3), good])
    with pytest.raises(ArgumentRank):
        evaluate(kernel, [np.zeros((3, 1), np.float32), good])
    with pytest.raises(ExtentMismatch):
        evaluate(kernel, [np.zeros(4, np.float32), good])
    with pytest.raises(LaunchCondition):
        evaluate(kernel, [good[:1], good[:1]])
    evaluate(kernel, [good, good.copy()])


def test_wrong_types_are_found(build):
    y = build.view("y", F32, (1,), "out")
    wrong = build.op(kir.Pointwise, (F32, ()), fn="add", operands=(build.const(1, I32), build.const(2, I32)))
    build.store(y, build.op(kir.Broadcast, (F32, (1,)), value=wrong, axes=()))
    with pytest.raises(CompilerFault, match="computed as int32"):
        build.run(np.zeros(1, np.float32))
