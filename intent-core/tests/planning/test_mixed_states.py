"""States whose products are of several sorts: the plan has what all of them can have."""

from __future__ import annotations

import pytest

import intent
import intent.language as I
from intent.construct import analyze
from intent.frontend import lower
from intent.planning import default_plan
from intent.provider import Capabilities, MatrixTile, PlanTable

NARROW, WIDE = ("bf16", "f32"), ("f32", "f32")
TABLE = PlanTable(
    matrix=(MatrixTile(rows=16, columns=256, summed=64, whole=64),),
    exact=MatrixTile(rows=64, columns=128, summed=32, whole=32),
    state_slice=8,
    states=1,
)


@intent.fn
def outer_of(part):
    return I.matmul(part.k, part.v, transpose_lhs=True, acc_dtype=I.f32)


@intent.fn
def plus(a, b):
    return a + b


@intent.fn
def emitted(part, state):
    """The second sum has no column of the state on its way: instances along these repeat it."""
    pairs = I.matmul(part.k, part.k, transpose_rhs=True, acc_dtype=I.f32)
    return I.matmul(I.cast(part.k, I.f32), state) + I.matmul(pairs, I.cast(part.v, I.f32))


@intent.kernel
def states(
    k: I.In[I.bf16, ("H", "T", "D")], v: I.In[I.bf16, ("H", "T", "E")], y: I.Out[I.f32, ("H", "T", "E")]
):
    H, _, D = k.shape
    zero = I.zeros((D, v.shape[2]), I.f32)
    for h in I.parallel(I.domain(0, H)):
        outputs, _ = I.region_scan(
            source=I.record(k=k[h, :, :], v=v[h, :, :]),
            axis=0,
            summarize=outer_of,
            combine=plus,
            identity=zero,
            initial_state=zero,
            apply=plus,
            emit=emitted,
        )
        y[h, :, :] = outputs


@pytest.mark.parametrize(
    ("products", "instance", "slices"),
    [
        # The tile of fewer results decides (16 x 256), and slices are those of multiply-adds.
        ({NARROW, WIDE}, {"axis": 1, "axis_E": 256}, 8),
        # One of the products is spelled out: no states in blocks.
        ({NARROW}, {"axis": 1}, 1),
        ({WIDE}, {"axis": 1}, 1),
    ],
)
def test_states_of_narrow_and_wide_products(products, instance, slices):
    target = Capabilities(dtypes=frozenset({"f32", "bf16"}), dot_dtypes=frozenset(products), plans=TABLE)
    (group,) = default_plan(analyze(lower(states)), target, {"H": 2, "T": 4096, "D": 64, "E": 2048}).groups
    assert dict(group.instance) == instance
    assert group.traversal("axis_T").size == slices
