"""Rules that need nothing but the program: each rejects one small edit of a legal program, and only it does.

Every edited program gives a wrong output, or is stopped, when it is run; what the reference evaluator cannot show
stands in ``UNSHOWN`` with the reason.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from program_edits import constant, edited, made, only, operations, replaced

import intent
import intent.language as I
import intent.physical as ph
from intent.construct import serial
from intent.diagnostics import CompilerFault
from intent.physical.verify import RULES, problems
from intent.physical.verify.trial import execution
from intent.physical.verify.trial.inputs import Inputs
from intent.physical.verify.trial.machine import HANDLERS, Machine
from intent.physical.verify.trial.ring import Ring
from intent.physical.verify.trial.trial import targets_of
from intent.types import dtypes
from intent.types.extent import Symbol, const, dyn, symbol

UNSHOWN = {
    "dim-order": "the reference evaluator takes sizes from the lanes themselves, providers from the program's list",
    "segment-offsets": "the reference evaluator runs every segment by itself and looks up no segment of an id",
    "buffer-storage": "the reference evaluator has one kind of storage, and finds it without the program's list",
}


@intent.kernel
def scaled(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    y[...] = x[...] * 3.0


@intent.kernel
def row_sums(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.sum(x[...], axis=1)


@intent.kernel
def near_sums(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    rows, columns = I.indices(I.domain(0, x.shape[0])), I.indices(I.domain(0, x.shape[1]))
    y[...] = I.reduce.sum(I.select(columns[None, :] > rows[:, None] - 2, x[...], 0.0), axis=1)


@intent.kernel
def shifted(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    i = I.indices(I.domain(0, x.shape[0]))
    y[...] = I.gather(x, index=i - 1, valid=i > 0, fill=7.0)


@intent.kernel
def counted(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("K",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        I.atomic.add(y[i % y.shape[0]], x[i] + 1)


@intent.kernel
def turned(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    for i in I.domain(0, M):
        held = I.buffer((N,), I.f32)
        for j in I.domain(0, N):
            held[j] = x[i, j]
        for j in I.domain(0, N):
            y[i, j] = held[N - 1 - j]


@intent.kernel
def two_outputs(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)], z: I.Out[I.f32, ("K",)]):
    y[...] = x[...]
    z[...] = I.full((z.shape[0],), 1.0, I.f32)


def forgotten(p):
    """The operation that makes the stored value is left out."""
    (store,) = operations(p, ph.Store)
    return edited(p, lambda op: () if store.value in op.results else None)


def lost_lanes(p):
    (store,) = operations(p, ph.Store)
    flat = replace(store.value, dims=())
    return edited(
        p,
        lambda op: (
            replace(op, results=(flat,)) if store.value in op.results else replaced(op, {store.value: flat})
        ),
    )


def floor_of_floats(p):
    return edited(
        p,
        lambda op: (
            replace(op, fn="floordiv")
            if getattr(op, "fn", "") == "mul" and op.result.dtype.is_float
            else None
        ),
    )


def launched(extent):
    def edit(p):
        first = operations(p, ph.LaunchValue)[0]
        return only(p, first, lambda op: replace(op, extent=extent))

    return edit


def segment(**changes):
    return lambda p: replace(p, segments=(replace(p.segments[0], **changes), *p.segments[1:]))


def bound_of_lanes(p):
    (loop,), (store,) = operations(p, ph.Loop), operations(p, ph.Store)
    return only(p, loop, lambda op: replace(op, end=store.coordinates[0]))


def before_the_range(p):
    """The walk begins a block before the first place that there is."""
    (loop,) = operations(p, ph.Loop)
    early = constant(-8, dtypes.INDEX)
    return only(p, loop, lambda op: (early, replace(op, begin=early.result)))


def nothing_yielded(p):
    (loop,) = operations(p, ph.Loop)
    return only(p, loop, lambda op: replace(op, body=replace(op.body, yields=())))


def reduce(**changes):
    return lambda p: edited(p, lambda op: replace(op, **changes) if isinstance(op, ph.Reduce) else None)


def a_coordinate_less(p):
    (load,) = operations(p, ph.Load)
    less = {"coordinates": load.coordinates[:1], "proofs": load.proofs[:1]}
    return only(p, load, lambda op: replace(op, **less))


def unmasked(p):
    (load,) = operations(p, ph.Load)
    return only(p, load, lambda op: replace(op, valid=None, fill=None))


def one_column(p):
    (store,) = operations(p, ph.Store)
    zero = constant(0, dtypes.INDEX)
    there = (store.coordinates[0], zero.result)
    return only(p, store, lambda op: (zero, replace(op, coordinates=there, valid=None)))


def no_operands(p):
    return edited(p, lambda op: replace(op, operands=()) if isinstance(op, ph.Atomic) else None)


def dropped(node, buffers=False):
    def edit(p):
        return edited(
            p,
            lambda op: (
                () if isinstance(op, node) and (not buffers or isinstance(op.target, ph.Buffer)) else None
            ),
        )

    return edit


def one_too_many(p):
    """The instances that share a reduction wait for one more than there are."""
    found = next(op for op in operations(p, ph.Pointwise, fn="eq"))
    never = constant(3, dtypes.I32)
    return only(p, found, lambda op: (never, replace(op, operands=(op.operands[0], never.result))))


def two_sizes(p):
    """One name stands for two sizes."""
    return replace(p, dims=(*p.dims, replace(p.dims[0], size=2 * p.dims[0].size)))


ROWS, LINE = {"M": 7, "N": 21}, {"N": 21}
CASES = {
    "ssa-dominance": (scaled, {}, forgotten, ROWS),
    "dim-order": (scaled, {}, two_sizes, ROWS),
    "value-dims": (scaled, {}, lost_lanes, ROWS),
    "dtypes": (scaled, {}, floor_of_floats, ROWS),
    "interface": (scaled, {}, launched(symbol("Q")), ROWS),
    "launch-visible": (scaled, {}, launched(dyn(7)), ROWS),
    "segment-offsets": (two_outputs, {}, segment(offset=const(1)), {"N": 21, "K": 3}),
    "segment-lengths": (scaled, {}, segment(length=const(1)), ROWS),
    "uniform-control": (row_sums, {}, bound_of_lanes, ROWS),
    "narrowed-range": (near_sums, {"narrow": True}, before_the_range, ROWS),
    "region-schema": (row_sums, {}, nothing_yielded, ROWS),
    "structured-schema": (row_sums, {}, reduce(kind="any"), ROWS),
    "structured-dims": (row_sums, {}, reduce(dims=()), ROWS),
    "access-complete": (scaled, {}, a_coordinate_less, ROWS),
    "access-proof": (shifted, {"block": 1}, unmasked, LINE),
    "store-cover": (scaled, {}, one_column, ROWS),
    "atomic-schema": (counted, {}, no_operands, {"N": 21, "K": 3}),
    "buffer-allocation": (turned, {"inner": serial()}, dropped(ph.BufferAlloc), {"M": 3, "N": 5}),
    "buffer-storage": (turned, {"inner": serial()}, lambda p: replace(p, workspace=()), {"M": 3, "N": 5}),
    "buffer-first-write": (turned, {"inner": serial()}, dropped(ph.Store, buffers=True), {"M": 3, "N": 5}),
    "split-reduction": (row_sums, {"split": ("axis_N", 3)}, one_too_many, ROWS),
    "fenced": (turned, {"inner": serial()}, dropped(ph.Fence), {"M": 3, "N": 5}),
}


def test_every_rule_on_programs_has_an_edit():
    assert set(CASES) == {name for name, rule in RULES.items() if not rule.needs_kernel}


@pytest.mark.rejects
@pytest.mark.parametrize("rule", CASES)
def test_rejects(rule, arguments):
    source, layout, edit, extents = CASES[rule]
    before = made(source, **layout)
    assert problems(before.program, before.kernel) == {}
    after = edit(before.program)
    assert list(problems(after)) == [rule], problems(after)
    assert list(problems(after, before.kernel)) == [rule]
    if rule == "fenced":
        assert _with_late_stores(before, before.program) == _with_late_stores(before, None)
        assert _with_late_stores(before, after) != _with_late_stores(before, None)
    elif rule not in UNSHOWN:
        assert _goes_wrong(before, after, arguments(before.kernel, **extents))


def _goes_wrong(before, after, given):
    wanted = before.meaning(given)
    try:
        seen = before.run(after, given)
    except (CompilerFault, IndexError, KeyError, TypeError, ValueError):
        return True
    return any(not np.allclose(seen[name], wanted[name], equal_nan=True) for name in wanted)


def _with_late_stores(before, program):
    """What ``y`` holds when stores reach memory at fences only; with None the program as it is, stores at once."""
    inputs = Inputs({Symbol("M"): 3, Symbol("N"): 5}, "ordinals", ())
    run = program or before.program
    machine = Machine(run, inputs, Ring(infinite=False), targets_of(run, before.kernel))
    waiting = []

    def late(m, op):
        flat = m.contents(op.target)[0]
        kept = flat.copy()
        execution._store(m, op)
        changed = np.flatnonzero(flat != kept)
        waiting.append((flat, changed, flat[changed]))
        flat[:] = kept
        return ()

    def settle(m, op):
        for flat, where, what in waiting:
            flat[where] = what
        waiting.clear()
        return ()

    plain = {node: HANDLERS[node] for node in (ph.Store, ph.Fence)}
    if program is not None:
        HANDLERS.update({ph.Store: late, ph.Fence: settle})
    try:
        machine.run()
    finally:
        HANDLERS.update(plain)
    settle(machine, None)
    return machine.memory["y"].tolist()
