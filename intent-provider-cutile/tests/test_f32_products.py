"""Products of f32: outer products in order, and six products of bf16 parts where the caller permits them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import GroupPlan, Plan, analyze, serial
from intent.diagnostics import CapabilityError
from intent.frontend import lower
from intent.planning import default_plan
from intent_provider_cutile import prelude
from intent_provider_cutile.build import bytecode
from intent_provider_cutile.capabilities import CAPABILITIES
from intent_provider_cutile.emulate.dtypes import FLOAT32, TileTypeError
from intent_provider_cutile.emulate.functions import extract
from intent_provider_cutile.emulate.language import Language
from intent_provider_cutile.emulate.tile import Tile
from intent_provider_cutile.plugin import CuTileProvider
from intent_testkit.kernels import serving

RNG = np.random.default_rng(3)
SPLIT = intent.CompileOptions(products="split")
PROVIDER = CuTileProvider()


@intent.kernel
def product(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], c: I.Out[I.f32, ("M", "N")]):
    c[...] = I.matmul(a[...], b[...])


@intent.kernel
def products_of_pairs(
    a: I.In[I.f32, ("B", "M", "K")], b: I.In[I.f32, ("B", "K", "N")], c: I.Out[I.f32, ("B", "M", "N")]
):
    c[...] = I.matmul(a[...], b[...])


@intent.kernel
def whole_numbers(a: I.In[I.i64, ("M", "K")], b: I.In[I.i64, ("K", "N")], c: I.Out[I.i64, ("M", "N")]):
    c[...] = I.matmul(a[...], b[...])


def blocked(rows, columns, summed):
    group = GroupPlan(
        instance=(("axis_M", rows), ("axis_N", columns)), inner=(("axis_K", serial(summed)),), grouped=1
    )
    return Plan(groups=(group,))


def text_of(kernel=product, options=None, plan=None, **extents):
    capabilities = CAPABILITIES
    if options is not None:
        capabilities = replace(capabilities, plans=capabilities.plans.splitting())
    plan = plan or default_plan(analyze(lower(kernel, {})), capabilities, extents)
    return intent.compile(kernel, provider="cutile", options=options, plan=plan)


def run(options, a, b, summed):
    c = np.zeros((a.shape[0], b.shape[1]), np.float32)
    made = intent.compile(product, provider="cutile", options=options, plan=blocked(16, 16, summed))
    made(a, b, c)
    return c


@pytest.fixture(autouse=True)
def emulated(monkeypatch):
    monkeypatch.setenv("INTENT_EXECUTION", "emulate")


def prelude_function(name):
    namespace = Language().namespace("test")
    texts = [prelude.FUNCTIONS[n] for n in prelude.closure(["_bf16_parts", "_split_mma", "_outer_products"])]
    exec("import cuda.tile as ct\n" + "\n".join(texts), namespace)
    return namespace[name]


@pytest.mark.parametrize("options", [None, SPLIT], ids=["whole", "split"])
@pytest.mark.parametrize(("m", "n", "k"), [(32, 16, 64), (19, 33, 50)])
def test_both_forms_are_as_exact_as_f32(options, m, n, k):
    a, b = RNG.standard_normal((m, k), np.float32), RNG.standard_normal((k, n), np.float32)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    magnitude = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)
    assert np.all(np.abs(run(options, a, b, 32) - exact) <= 4 * np.finfo(np.float32).eps * magnitude)


def test_products_that_f32_holds_stay_exact_when_split():
    a = np.array([[2049.0, 1 + 2**-23, 3.0, 0.0] * 4] * 16, np.float32)
    b = np.diag([2049.0, 1.0, 2.0**-100, 5.0] * 4).astype(np.float32)
    np.testing.assert_array_equal(run(SPLIT, a, b, 16), a.astype(np.float64) @ b.astype(np.float64))


def test_infinities_and_nan_are_what_they_are_without_parts():
    a, b = RNG.standard_normal((16, 32), np.float32), RNG.standard_normal((32, 16), np.float32)
    a[0, 3], a[1, 4], a[2, 5], a[3, :2] = np.inf, -np.inf, np.nan, (np.inf, -np.inf)
    b[7, 2], b[3, 9] = np.inf, 0.0
    with np.errstate(invalid="ignore"):
        want, got = a @ b, run(SPLIT, a, b, 32)
    special = ~np.isfinite(want)
    assert special.sum() > 60
    np.testing.assert_array_equal(got[special], want[special])
    assert np.all(np.isfinite(got[~special]))


def test_products_that_are_summed_lane_by_lane_have_an_end():
    assert "ct.sum(" in text_of(whole_numbers, plan=blocked(128, 128, 64)).source
    with pytest.raises(CapabilityError, match="fragments this large"):
        _ = text_of(whole_numbers, plan=blocked(128, 128, 128)).source


def test_parts_sum_up_to_the_number():
    x = (RNG.standard_normal(64) * 2.0 ** RNG.integers(-80, 80, 64)).astype(np.float32)
    parts = prelude_function("_bf16_parts")(Tile(x, FLOAT32))
    np.testing.assert_array_equal(sum(p.data.astype(np.float64) for p in parts), x.astype(np.float64))


def test_which_form_a_product_takes():
    assert "_outer_products(" in text_of(M=1024, N=1024, K=1024).source
    assert "_split_mma(" in text_of(options=SPLIT, M=1024, N=1024, K=1024).source
    # Each batch has a matrix of its own in an instance, or several at once: those the compiler multiplies.
    pairs = GroupPlan(
        instance=(("axis_B", 2), ("axis_M", 16), ("axis_N", 16)), inner=(("axis_K", serial(16)),), grouped=1
    )
    assert "ct.mma(" in text_of(products_of_pairs, plan=Plan(groups=(pairs,))).source
    assert "_outer_products" not in text_of(serving.linear_attention_heads, H=4, T=64, D=64, E=64).source
    # Products of few summed elements have no use for a matrix unit.
    states = text_of(serving.linear_attention_heads, H=4, T=64, D=64, E=64).plan
    (group,) = states.groups
    inner = tuple((label, serial(8) if label == "axis_T" else how) for label, how in group.inner)
    short = text_of(
        serving.linear_attention_heads, plan=replace(states, groups=(replace(group, inner=inner),))
    )
    assert short.source.count("ct.sum(") == 2
    assert "_outer_products(" in text_of(options=SPLIT, plan=blocked(16, 16, 8)).source


@pytest.mark.parametrize("options", [None, SPLIT], ids=["whole", "split"])
def test_the_front_end_takes_both_forms(options):
    for kernel, extents in (
        (product, {"M": 1024, "N": 1000, "K": 999}),
        (product, dict.fromkeys("MNK", 512)),
    ):
        made = text_of(kernel, options, **extents)
        assert bytecode(PROVIDER.serialize(made.program))


def test_tiles_of_f32_by_size_and_permission():
    analysis = analyze(lower(product, {}))
    split = replace(CAPABILITIES, plans=CAPABILITIES.plans.splitting())

    def tile(capabilities, n):
        group = default_plan(analysis, capabilities, {"M": n, "N": n, "K": n}).groups[0]
        return tuple(block for _, block in group.instance), dict(group.inner)["axis_K"].size

    assert tile(CAPABILITIES, 4096) == ((128, 64), 8)
    assert tile(CAPABILITIES, 512) == ((64, 64), 16)
    assert tile(split, 4096) == ((128, 128), 64)


def test_subtiles_of_the_stand_in():
    x = Tile(np.arange(32, dtype=np.float32).reshape(4, 8), FLOAT32)
    np.testing.assert_array_equal(extract(x, (1, 3), (2, 2)).data, [[22, 23], [30, 31]])
    for index, shape in (((2, 0), (2, 2)), ((0,), (2, 2)), ((0, 0), (2, 3)), ((0, 0), (8, 1))):
        with pytest.raises(TileTypeError):
            extract(x, index, shape)


@pytest.mark.parametrize(
    ("options", "slice_", "knobs"),
    [(None, 16, {"num_worker_warps": 8}), (SPLIT, 64, {"num_worker_warps": 4, "occupancy": 2})],
    ids=["whole", "split"],
)
def test_states_of_a_scan_are_dealt_to_two_blocks_a_multiprocessor(options, slice_, knobs):
    made = text_of(serving.linear_attention_heads, options, H=64, T=4096, D=64, E=64)
    (group,) = made.plan.groups
    assert dict(group.instance) == {"axis": 1, "axis_E": 16}
    assert dict(group.inner)["axis_T"] == serial(slice_)
    assert dict(made.plan.knobs) == knobs
