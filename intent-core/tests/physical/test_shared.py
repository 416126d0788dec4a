"""The rule split-reduction: what instances that share a reduction may leave, read and do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import intent
import intent.language as I
import intent.physical as ph
from intent.construct import GroupPlan, Plan, analyze, construct, serial
from intent.frontend import lower
from intent.physical.verify import problems
from intent.reference import physical
from intent.types.dtypes import I32, INDEX
from intent.types.extent import const

PARTS = 3


@intent.kernel
def row_sums(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.sum(x[...], axis=1)


@pytest.fixture(scope="module")
def shared() -> ph.Program:
    kernel = lower(row_sums)
    plan = GroupPlan(instance=(("axis_M", 4),), inner=(("axis_N", serial(8)),), split=("axis_N", PARTS))
    program = construct(kernel, Plan(groups=(plan,)), analyze(kernel))
    assert problems(program, kernel) == {}
    return program


def at_root(program: ph.Program, edit) -> ph.Program:
    """The program with ``edit(op)``, a tuple, in place of each operation of its body."""
    (segment,) = program.segments
    ops = tuple(new for op in segment.body.ops for new in edit(op))
    return replace(program, segments=(replace(segment, body=replace(segment.body, ops=ops)),))


def in_ending(program: ph.Program, edit) -> ph.Program:
    """The same for the branch of the last instance."""

    def inside(op: ph.Op) -> tuple[ph.Op, ...]:
        if not isinstance(op, ph.If):
            return (op,)
        ops = tuple(new for inner in op.then.ops for new in edit(inner))
        return (replace(op, then=replace(op.then, ops=ops)),)

    return at_root(program, inside)


def only(node, change, **test):
    """An edit of the operations of one class."""

    def edit(op: ph.Op) -> tuple[ph.Op, ...]:
        fits = isinstance(op, node) and all(getattr(op, k) == v for k, v in test.items())
        return change(op) if fits else (op,)

    return edit


def role(op: ph.Op) -> str:
    return getattr(getattr(op, "target", None), "role", "")


def ahead_of_ending(*made: ph.Op):
    return only(ph.If, lambda op: (*made, op))


def fresh(value: int, dtype=INDEX, number: int = 0) -> ph.Constant:
    result = ph.Fragment(id=90_000 + number, dtype=dtype)
    return ph.Constant(id=91_000 + number, results=(result,), value=value)


def moved_out(program: ph.Program) -> ph.Program:
    """Every instance stores what it knows as if it were the whole."""
    (ending,) = (op for op in program.segments[0].body.ops if isinstance(op, ph.If))
    return at_root(
        program, only(ph.If, lambda op: (replace(op, then=replace(op.then, ops=())), *ending.then.ops))
    )


def with_arrival(**changes):
    return lambda p: at_root(p, only(ph.Atomic, lambda op: (replace(op, **changes),)))


def with_left(change):
    def edit(op: ph.Op) -> tuple[ph.Op, ...]:
        return change(op) if isinstance(op, ph.Store) and role(op) == "partial" else (op,)

    return lambda p: at_root(p, edit)


def swapped(op: ph.Store) -> tuple[ph.Op, ...]:
    team, part, *lanes = op.coordinates
    return (replace(op, coordinates=(part, team, *lanes)),)


def reset_to(value: int):
    def change(op: ph.Store) -> tuple[ph.Op, ...]:
        made = fresh(value, I32)
        return (made, replace(op, value=made.result)) if role(op) == "arrival" else (op,)

    return lambda p: in_ending(p, only(ph.Store, change))


def twice(program: ph.Program) -> ph.Program:
    return at_root(
        program,
        only(ph.Atomic, lambda op: (op, replace(op, id=99_000, results=(replace(op.result, id=99_001),)))),
    )


def of_another_team(program: ph.Program) -> ph.Program:
    zero = fresh(0)

    def change(op: ph.Load) -> tuple[ph.Op, ...]:
        return (zero, replace(op, coordinates=(zero.result, *op.coordinates[1:])))

    return in_ending(program, only(ph.Load, change))


def unfenced(program: ph.Program) -> ph.Program:
    """What the others left is read before a fence."""
    return in_ending(program, lambda op: () if isinstance(op, ph.Fence) and role(op) == "partial" else (op,))


def left_unfenced(program: ph.Program) -> ph.Program:
    return at_root(program, lambda op: () if isinstance(op, ph.Fence) and role(op) == "partial" else (op,))


def short_slices(program: ph.Program) -> ph.Program:
    """Slices for one instance less."""
    (old,) = (b for b in program.workspace if b.role == "partial")
    new = replace(old, shape=(old.shape[0], const(PARTS - 1), *old.shape[2:]))

    def swap(op: ph.Op) -> tuple[ph.Op, ...]:
        for name in ("target", "source", "buffer"):
            if getattr(op, name, None) == old:
                return (replace(op, **{name: new}),)
        return (op,)

    program = replace(program, workspace=tuple(new if b == old else b for b in program.workspace))
    return in_ending(at_root(program, swap), swap)


EDITS = {
    "every instance writes": moved_out,
    "counted relaxed": with_arrival(order="relaxed"),
    "counted within the instance": with_arrival(sharing="instance"),
    "counted twice": twice,
    "counted by another kind": with_arrival(kind="max"),
    "slices in each other's place": with_left(swapped),
    "left twice": with_left(lambda op: (op, replace(op, id=99_002))),
    "left nowhere": with_left(lambda op: ()),
    "set back to one": reset_to(1),
    "never set back": lambda p: in_ending(
        p, lambda op: () if isinstance(op, ph.Store) and role(op) == "arrival" else (op,)
    ),
    "read of another team": of_another_team,
    "read before a fence": unfenced,
    "left without a fence": left_unfenced,
    "too few slices": short_slices,
    "no parts": lambda p: replace(p, segments=(replace(p.segments[0], parts=1),)),
}


@pytest.mark.rejects
@pytest.mark.parametrize("edit", EDITS.values(), ids=[name.replace(" ", "-") for name in EDITS])
def test_split_reduction_rejects(shared, edit):
    assert "split-reduction" in problems(edit(shared))


def test_every_launch_leaves_the_counts_as_it_found_them(shared):
    """Two launches on the same workspace give the same."""
    x = np.random.default_rng(0).normal(size=(9, 50)).astype(np.float32)
    for order in (None, np.random.default_rng(1)):
        y = np.full(9, np.nan, np.float32)
        physical.execute(shared, {"x": x, "y": y}, {}, {"M": 9, "N": 50}, order=order)
        assert np.allclose(y, x.sum(axis=1), atol=1e-4)
