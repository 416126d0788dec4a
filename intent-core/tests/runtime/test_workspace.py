from __future__ import annotations

import gc

import numpy as np

import intent
import intent.language as I
from intent.construct import GroupPlan, Plan, serial
from intent.runtime.libraries import NumpyLibrary
from intent.runtime.workspace import Workspace, allocate, layout
from intent.runtime.workspace_pool import Workspaces
from intent.types.extent import Symbol


@intent.kernel
def total(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ()]):
    y[...] = I.reduce.sum(x[...], axis=0)


SHARED = intent.compile(
    total,
    provider="reference",
    plan=Plan(groups=(GroupPlan(inner=(("axis_N", serial(8)),), split=("axis_N", 3)),)),
)


def test_the_memory_of_a_workspace_lives_as_long_as_its_view():
    bound = allocate(Workspace(size=1000, offsets={1: 0}), NumpyLibrary(), "cpu")
    gc.collect()
    owner = bound.array
    while owner.base is not None:
        owner = owner.base
    assert isinstance(owner, np.ndarray)
    assert owner.flags.owndata
    assert owner.ctypes.data <= bound.pointer
    assert bound.pointer + 1000 <= owner.ctypes.data + owner.nbytes


def test_a_workspace_begins_at_an_aligned_address():
    for size in (0, 1, 127, 128, 4097):
        bound = allocate(Workspace(size=size, offsets={1: 0}), NumpyLibrary(), "cpu")
        assert bound.pointer % 128 == 0
        assert bound.array.nbytes == size


def test_counts_of_arrivals_come_first_and_begin_as_zero():
    program = SHARED.program
    space = layout(program, {Symbol("N"): 100}, 3)
    counts = next(b for b in program.workspace if b.role == "arrival")
    assert space.offsets[counts.id] == 0
    assert space.zeroed == counts.dtype.bytes
    for _ in range(20):
        assert not bytes(allocate(space, NumpyLibrary(), "cpu").array[: space.zeroed]).strip(b"\0")


def test_workspaces_with_other_counts_do_not_share_memory():
    """What was a partial state of one must not become a count of the other."""
    spaces = Workspaces()
    few, many = (Workspace(size=1024, offsets={1: 0}, zeroed=n) for n in (4, 64))
    first = spaces.get(few, NumpyLibrary(), "cpu", 0)
    first.array[4:] = 7
    second = spaces.get(many, NumpyLibrary(), "cpu", 0)
    assert not second.array[:64].any()
    assert spaces.get(few, NumpyLibrary(), "cpu", 0) is first


def test_a_large_workspace_is_kept_where_some_of_it_has_to_be_zero():
    spaces, large = Workspaces(), 65 << 20
    for zeroed, kept in ((0, False), (4, True)):
        space = Workspace(size=large, offsets={1: 0}, zeroed=zeroed)
        first = spaces.get(space, NumpyLibrary(), "cpu", 0)
        assert (spaces.get(space, NumpyLibrary(), "cpu", 0) is first) == kept


@intent.kernel
def ends_of_rows(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)]):
    """One of the buffers has no elements where N is 3."""
    N = x.shape[0]
    steps = I.buffer((N - 1,), I.i32)
    wide = I.buffer((N - 3,), I.i32)
    for i in I.parallel(range(1, N)):
        steps[i - 1] = x[i] - x[i - 1]
    for i in I.parallel(range(3, N)):
        wide[i - 3] = x[i] - x[i - 3]
    for i in I.parallel(range(3, N)):
        y[i] = steps[N - 1 - i] * 10 + wide[N - 1 - i]


def test_a_buffer_may_have_no_elements():
    artifact = intent.compile(ends_of_rows, provider="reference")
    for n in (3, 4, 6):
        x = np.arange(n, dtype=np.int32) ** 2
        y = np.full_like(x, -1)
        artifact(x, y)
        assert np.array_equal(y[3:], np.diff(x)[: n - 3][::-1] * 10 + (x[3:] - x[: n - 3])[::-1])


@intent.kernel
def eliminated(a: I.InOut[I.f64, ("N", "N")], b: I.InOut[I.f64, ("N", "R")]):
    """The compiler's own buffers hold what lies below a row: at most N - 1 rows, which is -1 where N is 0."""
    N = a.shape[0]
    line = I.domain(0, N)
    for k in range(N):
        below = line[k + 1 : N]
        factors = a[below, k] / a[k, k]
        b[below, :] = b[below, :] - I.outer(factors, b[k, :])
        a[below, :] = a[below, :] - I.outer(factors, a[k, :])


def test_what_is_left_of_an_empty_axis_takes_no_memory():
    artifact = intent.compile(eliminated, provider="reference")
    program = artifact.program
    assert any("N - 1" in str(b.shape) or "N*R - R" in str(b.shape) for b in program.workspace)
    for n, r in ((0, 3), (1, 2), (3, 1000)):
        space = layout(program, {Symbol("N"): n, Symbol("R"): r}, 1)
        assert all(0 <= offset <= space.size for offset in space.offsets.values())
    artifact(np.zeros((0, 0)), np.zeros((0, 3)))
