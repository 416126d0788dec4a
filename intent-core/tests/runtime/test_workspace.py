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
