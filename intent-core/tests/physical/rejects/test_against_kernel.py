"""Rules that look at a program beside its kernel: each rejects one small edit of a legal program, and only it does.

Every edited program gives a wrong output, or is stopped, when it is run.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from program_edits import (
    constant,
    definition,
    edited,
    fresh,
    made,
    only,
    operations,
    replaced,
)

import intent
import intent.language as I
import intent.physical as ph
from intent.construct import serial
from intent.diagnostics import CompilerFault, VerificationError
from intent.physical.verify import RULES, problems, verify
from intent.types import dtypes
from intent.types.extent import symbol

M, N = symbol("M"), symbol("N")


@intent.kernel
def scaled(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    y[...] = x[...] * 3.0


@intent.kernel
def both(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")], z: I.Out[I.f32, ("M", "N")]):
    y[...] = x[...] * 3.0
    z[...] = x[...] + 1.0


@intent.kernel
def row_sums(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M",)]):
    y[...] = I.reduce.sum(x[...], axis=1)


@intent.kernel
def symmetric(x: I.In[I.f32, ("M", "M")], y: I.Out[I.f32, ("M", "M")]):
    y[...] = x[...] + I.transpose(x[...])


@intent.kernel
def running(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)]):
    for i in I.domain(1, x.shape[0]):
        y[i] = y[i - 1] + x[i]


@intent.kernel
def twice(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    y[...] = x[...]
    y[...] = x[...] * 2.0


@intent.kernel
def shifted(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    i = I.indices(I.domain(0, x.shape[0]))
    y[...] = I.gather(x, index=i - 1, valid=i > 0, fill=7.0)


@intent.kernel
def positives(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)]):
    i = I.indices(I.domain(0, x.shape[0]))
    I.scatter_unique(y, index=i, value=x[...], valid=x[...] > 0.0)


@intent.kernel
def counted(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("K",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        I.atomic.add(y[i % y.shape[0]], x[i] + 1)


@intent.kernel
def collected(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("K",)]):
    i = I.indices(I.domain(0, x.shape[0]))
    I.scatter_reduce(y, index=i % y.shape[0], value=x[...] + 1, combine=I.add)


@intent.fn
def moment(rows, at):
    return I.record(total=I.reduce.sum(rows * I.cast(at, I.f32), axis=0))


@intent.fn
def joined(a, b):
    return I.record(total=a.total + b.total)


@intent.kernel
def weighted(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, (1,)]):
    axis = I.domain(0, x.shape[0])
    found = I.region_fold(
        source=(x[...], I.indices(axis)),
        axis=0,
        summarize=moment,
        combine=joined,
        identity=I.record(total=I.cast(0.0, I.f32)),
    )
    y[0] = found.total


@intent.kernel
def rows_by_buffer(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    for i in I.domain(0, M):
        held = I.buffer((N,), I.f32, init=1.0)
        for j in I.domain(0, N):
            held[j] = held[j] + x[i, j]
        for j in I.domain(0, N):
            y[i, j] = held[N - 1 - j]


def drop_a_store(p):
    return edited(p, lambda op: () if isinstance(op, ph.Store) and op.target.name == "z" else None)


def another_function(p):
    return edited(p, lambda op: replace(op, fn="add") if _is(op, "mul", dtypes.F32) else None)


def _is(op, fn, dtype):
    return isinstance(op, ph.Pointwise) and op.fn == fn and op.result.dtype is dtype


def narrower_mask(p):
    """The rows' mask tests against M - 1."""
    bound = ph.LaunchValue(id=300_000, results=(fresh(dtypes.INDEX),), extent=M - 1)
    (store,) = operations(p, ph.Store)
    rows = store.coordinates[0]

    def change(op):
        if isinstance(op, ph.Pointwise) and op.fn == "lt" and op.operands[0] == rows:
            return bound, replace(op, operands=(rows, bound.result))
        return None

    return edited(p, change)


def overlapping_blocks(p):
    """Blocks of four rows begin at every third row."""
    three = constant(3, dtypes.INDEX)
    first = operations(p, ph.Pointwise, fn="mul")[0]
    return only(p, first, lambda op: (three, replace(op, operands=(op.operands[0], three.result))))


def plain_update(p):
    """The atomic becomes a read, a sum and a write."""
    (atomic,) = operations(p, ph.Atomic)
    old, new = fresh(dtypes.I32, atomic.dims, 1), fresh(dtypes.I32, atomic.dims, 2)
    access = {"coordinates": atomic.coordinates, "valid": atomic.valid, "proofs": atomic.proofs}
    read = ph.Load(id=300_001, results=(old,), source=atomic.target, **access)
    total = ph.Pointwise(id=300_002, results=(new,), fn="add", operands=(old, *atomic.operands))
    write = ph.Store(
        id=300_003, target=atomic.target, value=new, dims=atomic.dims, origin=atomic.origin, **access
    )
    return only(p, atomic, lambda op: (read, total, write))


def an_instance_per_pass(p):
    """The passes of the ordered loop become program instances."""
    (segment,) = p.segments
    loop = next(op for op in segment.body.ops if isinstance(op, ph.Loop))
    (local,) = segment.body.args
    one = constant(1, dtypes.INDEX)
    point = fresh(dtypes.INDEX, number=1)
    shift = ph.Pointwise(id=300_000, results=(point,), fn="add", operands=(local, one.result))
    inside = tuple(replaced(op, {loop.body.args[0]: point}) for op in loop.body.ops)
    ops = tuple(o for op in segment.body.ops for o in ((one, shift, *inside) if op is loop else (op,)))
    axis = ph.SegmentAxis(label="i", extent=N - 1, block=1)
    body = replace(segment.body, ops=ops)
    return replace(p, segments=(replace(segment, axes=(axis,), length=N - 1, body=body),))


def exchanged_stores(p):
    """The first write comes after the second."""
    first, second = operations(p, ph.Store)
    return edited(p, lambda op: () if op.id == first.id else (op, first) if op.id == second.id else None)


def another_fill(p):
    (load,) = operations(p, ph.Load)
    nothing = constant(0.0, dtypes.F32)
    return only(p, load, lambda op: (nothing, replace(op, fill=nothing.result)))


def unmasked_read(p):
    (load,) = operations(p, ph.Load)
    always = constant(True, dtypes.BOOL)
    return only(p, load, lambda op: (always, replace(op, valid=always.result)))


def unmasked_write(p):
    (store,) = operations(p, ph.Store)
    always = constant(True, dtypes.BOOL)
    return only(p, store, lambda op: (always, replace(op, valid=always.result)))


def transposed_read(p):
    plain, turned = operations(p, ph.Load)
    return edited(p, lambda op: replace(op, coordinates=plain.coordinates) if op.id == turned.id else None)


def shorter_loop(p):
    (loop,) = operations(p, ph.Loop)
    one, end = constant(1, dtypes.INDEX), fresh(dtypes.INDEX, number=1)
    less = ph.Pointwise(id=300_000, results=(end,), fn="sub", operands=(loop.end, one.result))
    return only(p, loop, lambda op: (one, less, replace(op, end=end)))


def longer_steps(p):
    (loop,) = operations(p, ph.Loop)
    two = constant(16, dtypes.INDEX)
    return only(p, loop, lambda op: (two, replace(op, step=two.result)))


def another_kind(p):
    return edited(p, lambda op: replace(op, kind="max") if isinstance(op, ph.Reduce) else None)


def local_coordinates(p):
    """Inside a slice the coordinate counts from the slice's beginning."""
    (cast,) = operations(p, ph.Cast)
    lane = next(v for v in definition(p, cast.value).operands if v.dims)
    return only(p, cast, lambda op: replace(op, value=lane))


def another_atomic(p):
    return edited(p, lambda op: replace(op, kind="max") if isinstance(op, ph.Atomic) else None)


def another_first_value(p):
    filled = next(s for s in operations(p, ph.Store) if isinstance(s.target, ph.Buffer))
    zero = constant(0.0, dtypes.F32)
    return only(p, filled, lambda op: (zero, replace(op, value=zero.result)))


def one_buffer_for_all_passes(p):
    """Allocation and first value move in front of the loop over rows."""
    outer = next(op for s in p.segments for op in s.body.ops if isinstance(op, ph.Loop))
    at = next(k for k, op in enumerate(outer.body.ops) if isinstance(op, ph.Loop))
    ahead = outer.body.ops[: at + 1]
    rest = replace(outer, body=replace(outer.body, ops=outer.body.ops[at + 1 :]))
    return only(p, outer, lambda op: (*ahead, rest))


def forgotten_condition(p):
    return replace(p, conditions=())


@intent.kernel
def added(a: I.In[I.f32, ("M",)], b: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("M",)]):
    y[...] = a[...] + b[...]


ROWS = {"M": 7, "N": 21}
LINE = {"N": 21}
CASES = {
    "effect-covered": (both, {}, drop_a_store, ROWS),
    "ownership-complete": (scaled, {}, narrower_mask, ROWS),
    "effect-values": (scaled, {}, another_function, ROWS),
    "conflicts-resolved": (scaled, {}, overlapping_blocks, ROWS),
    "conflicts-resolved:collision": (collected, {}, plain_update, {"N": 21, "K": 3}),
    "ordered-instances": (running, {"inner": serial()}, an_instance_per_pass, LINE),
    "effect-order": (twice, {}, exchanged_stores, LINE),
    "access-fill": (shifted, {}, another_fill, LINE),
    "access-inside": (shifted, {"block": 1}, unmasked_read, LINE),
    "access-validity": (positives, {"block": 1}, unmasked_write, LINE),
    "coordinate-relation": (symmetric, {}, transposed_read, {"M": 7}),
    "narrowing-subset": (row_sums, {}, shorter_loop, {"M": 7, "N": 17}),
    "member-traversal": (row_sums, {}, longer_steps, ROWS),
    "structured-faithful": (row_sums, {}, another_kind, ROWS),
    "region-segments": (weighted, {}, local_coordinates, LINE),
    "atomic-faithful": (counted, {}, another_atomic, {"N": 21, "K": 3}),
    "buffer-initial": (rows_by_buffer, {"inner": serial()}, another_first_value, {"M": 3, "N": 5}),
    "buffer-scope": (rows_by_buffer, {"inner": serial()}, one_buffer_for_all_passes, {"M": 3, "N": 5}),
    "interface-faithful": (added, {}, forgotten_condition, {"M": 5, "N": 3}),
}


def test_every_rule_on_kernels_has_an_edit():
    named = {rule.split(":")[0] for rule in CASES}
    assert named == {name for name, rule in RULES.items() if rule.needs_kernel}


@pytest.mark.rejects
@pytest.mark.parametrize("rule", CASES)
def test_rejects(rule, arguments):
    source, layout, edit, extents = CASES[rule]
    before = made(source, **layout)
    assert problems(before.program, before.kernel) == {}
    after = edit(before.program)
    found = problems(after, before.kernel)
    assert list(found) == [rule.split(":")[0]], found
    with pytest.raises(VerificationError) as caught:
        verify(after, before.kernel)
    assert caught.value.rule == rule.split(":")[0]
    given = arguments(before.kernel, **extents)
    assert _goes_wrong(before, after, given)


def _goes_wrong(before, after, given):
    """Whether running the edited program gives other outputs, or is stopped."""
    wanted = before.meaning(given) if len(after.conditions) == len(before.program.conditions) else None
    try:
        seen = before.run(after, given)
    except (CompilerFault, IndexError, ValueError):
        return True
    assert wanted is not None, "a launch that breaks its conditions went through"
    return any(not np.allclose(seen[name], wanted[name], equal_nan=True) for name in wanted)
