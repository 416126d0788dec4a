"""Segments, workspace slices and offsets of whole programs: proven, or left to the launch."""

from __future__ import annotations

import numpy as np
import pytest

import intent.physical as ph
from intent.physical.apart import claims, largest_offset, offsets_fit
from intent.proof import Proved
from intent.types import dtypes
from intent.types.extent import const, symbol

N, M = symbol("N"), symbol("M")


def segment(group, offset, *axes):
    length = const(1)
    for axis in axes:
        length = length * axis.programs
    return ph.Segment(group=group, axes=axes, length=length, offset=offset, body=ph.Region(args=(), ops=()))


def two_segments(second=None):
    rows = ph.SegmentAxis(label="rows", extent=N, block=4)
    columns = ph.SegmentAxis(label="columns", extent=M - 1, block=1)
    first = segment(0, const(0), rows)
    return first, segment(1, first.length if second is None else second, columns)


def program(*, segments=None, views=(), workspace=(), guards=()):
    segments = two_segments() if segments is None else segments
    return ph.Program(
        name="p", params=tuple(views), segments=segments, workspace=tuple(workspace), guards=tuple(guards)
    )


def about(found, word):
    (claimed,) = [c for c in claims(found) if word in c.subject]
    return claimed


def test_segments_one_after_the_other_are_apart():
    assert isinstance(about(program(), "programs of groups").outcome, Proved)


@pytest.mark.parametrize("offset", [const(0), N // 4, two_segments()[0].length - 1])
def test_segments_that_overlap_are_refuted(offset):
    outcome = about(program(segments=two_segments(offset)), "programs of groups").outcome
    assert type(outcome).__name__ == "Refuted"


def test_slices_of_programs_are_apart_and_inside():
    buffer = ph.Buffer(id=1, name="kept", dtype=dtypes.F32, shape=(N, const(4)))
    assert isinstance(about(program(workspace=[buffer]), "slices of 'kept'").outcome, Proved)


def view(shape, strides):
    return ph.View(name="x", dtype=dtypes.F32, shape=shape, mode="in", strides=strides)


def test_offsets_of_constant_extents_and_strides_are_decided_without_a_launch():
    small, large = view((const(64), const(64)), (64, 1)), view((const(1 << 16), const(1 << 16)), (1 << 16, 1))
    assert not about(program(views=[small]), "offsets into 'x'").at_launch
    assert about(program(views=[large]), "offsets into 'x'").at_launch


def test_a_guard_may_decide_offsets():
    column = view((N,), (7,))
    guard = ph.Guard(kind="at_most", extent=N, bound=4096)
    assert about(program(views=[column]), "offsets into 'x'").at_launch
    found = about(program(views=[column], guards=[guard]), "offsets into 'x'")
    assert [f.because for f in found.outcome.facts if "guard" in f.because] == ["guard N <= 4096"]


def test_the_launch_decides_by_shapes_and_strides():
    x = np.zeros((3, 5, 2), np.float32)[::-1, ::2]
    strides = [s // x.itemsize for s in x.strides]
    assert largest_offset(x.shape, strides) == (3 - 1) * 10 + (3 - 1) * 4 + 1
    assert largest_offset((0, 5), (5, 1)) == 4
    assert offsets_fit([((1 << 31,), (1,))])
    assert not offsets_fit([((3,), (1,)), (((1 << 31) + 1,), (1,))])
    assert not offsets_fit([((2, 2), (1 << 31, 1))])


def test_programs_that_construction_makes_have_these_proofs():
    from intent_testkit.cases import BY_NAME
    from intent_testkit.plans import Compiled

    several = 0
    for name in (
        "three_shapes",
        "effects_apart",
        "tensors_in_buffers",
        "layer_norm_statistics",
        "group_softmax",
    ):
        compiled = Compiled(BY_NAME[name])
        found = compiled.constructed(compiled.minimal(BY_NAME[name].extents[0]))
        for claimed in claims(found):
            several += 1
            assert claimed.outcome.proved or claimed.at_launch, claimed.subject
            assert claimed.at_launch == ("offsets" in claimed.subject and not claimed.outcome.proved)
    assert several > 10
