"""Products whose rows data counts: tiles for them, and instances that share the rows of a point."""

from __future__ import annotations

import intent
import intent.language as I
from intent.construct import serial
from intent.frontend import lower
from intent.planning import default_plan
from intent.provider import Capabilities, MatrixTile, PlanTable, settings

WIDE = MatrixTile(rows=64, columns=256, least=256, tiles=64, knobs=settings(num_warps=8))
TARGET = Capabilities(
    dtypes=frozenset({"bf16", "i32", "f32"}),
    dot_dtypes=frozenset({("bf16", "f32")}),
    plans=PlanTable(matrix=(WIDE, MatrixTile(rows=128, columns=128))),
)


@intent.kernel
def grouped(
    x: I.In[I.bf16, ("N", "K")],
    w: I.In[I.bf16, ("G", "K", "E")],
    offsets: I.In[I.i32, ("P",)],
    y: I.InOut[I.bf16, ("N", "E")],
):
    axis = I.domain(0, x.shape[0])
    for g in I.parallel(I.domain(0, w.shape[0])):
        span = axis[I.cast(offsets[g], I.index) : I.cast(offsets[g + 1], I.index)]
        y[span, :] = I.cast(I.matmul(x[span, :], w[g, :, :], acc_dtype=I.f32), I.bf16)


def planned(rows: int, groups: int, columns: int):
    extents = {"N": rows * groups, "K": 512, "G": groups, "E": columns, "P": groups + 1}
    (group,) = default_plan(lower(grouped), TARGET, extents).groups
    return group


def test_many_rows_take_the_wide_tile_and_an_instance_each():
    group = planned(1024, 16, 4096)
    assert dict(group.instance) == {"axis": 1, "axis_E": 256}
    assert group.traversal("span") == serial(64)
    assert group.split == ("span", 16)


def test_few_rows_stay_with_one_instance():
    group = planned(100, 4, 256)
    assert dict(group.instance) == {"axis": 1, "axis_E": 128}
    assert group.traversal("span") == serial(128)
    assert group.split is None


def test_without_a_call_nothing_is_dealt_out():
    (group,) = default_plan(lower(grouped), TARGET, None).groups
    assert group.split is None
