"""Native builds without a GPU, and goldens of the emitted text."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import intent
import intent.language as I
from intent.construct import analyze
from intent.diagnostics import BuildFailure, CapabilityError
from intent.frontend import lower
from intent.planning import default_plan
from intent.provider import Source
from intent_provider_triton.build import Layout, compiled, default_layout, divisor
from intent_provider_triton.emit import emit
from intent_provider_triton.plugin import plugin
from intent_testkit.golden import check_golden
from intent_testkit.programs import whole

GOLDENS = Path(__file__).parent / "goldens"
PROVIDER = plugin.intent_provider()


@pytest.mark.parametrize("name", whole.ALL)
def test_emitted_text_is_the_golden_one(name):
    check_golden(GOLDENS / f"{name}.py.txt", PROVIDER.serialize(whole.ALL[name]()).text)


def test_serialisation_is_deterministic():
    for make in whole.ALL.values():
        assert PROVIDER.serialize(make()).text == PROVIDER.serialize(make()).text


def test_softmax_fits_forty_lines():
    assert len(PROVIDER.serialize(whole.softmax()).text.splitlines()) <= 40


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("name", whole.ALL)
def test_native_build(name, target):
    binary = PROVIDER.build(PROVIDER.serialize(whole.ALL[name]()), target)
    assert binary.code[:4] == b"\x7fELF"
    assert f".target {target}" in binary.listing


@pytest.mark.parametrize("name", whole.ALL)
def test_native_build_with_64_bit_indices(name):
    program = whole.ALL[name]()
    emitted = emit(program)
    source = Source(text=emitted.text, entry=emitted.entry, suffix=".py", program=program)
    wide = Layout(small=False, divisors=default_layout(emitted.signature).divisors)
    assert compiled(source, emitted.signature, wide, 90).asm["cubin"][:4] == b"\x7fELF"


def test_16_bit_matmul_uses_tensor_cores():
    listing = PROVIDER.build(PROVIDER.serialize(whole.matmul(64, 64, 64)), "sm_90").listing
    assert re.search(r"wgmma\.mma_async|mma\.sync", listing)


_EVENTS = {"mma_async": "M", "wait_group": "W", "f32": "A"}


@pytest.mark.parametrize(
    ("summed", "steps"), [(32, "MWA"), (64, "MMWA"), (128, "MMMMWA"), (256, "MMMMMMMMAWA")]
)
def test_sums_of_8_bit_products_are_added_in_f32(summed, steps):
    """Hopper's tensor cores keep about 14 bits of such sums, so at most 128 products, 32 at once, meet there."""
    source = PROVIDER.serialize(whole.matmul(64, 64, summed, "f8e4m3fn"))
    listing = PROVIDER.build(source, "sm_90").listing
    found = re.findall(r"wgmma\.(mma_async|wait_group)|add(?:\.rn)?\.(f32)", listing)
    assert "".join(_EVENTS[a or b] for a, b in found) == steps.replace("A", "A" * (64 * 64 // 128))


def test_f32_matmul_never_uses_tf32():
    listing = PROVIDER.build(PROVIDER.serialize(whole.matmul(32, 32, 32, "f32")), "sm_90").listing
    assert "tf32" not in listing


@intent.kernel
def product(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], c: I.Out[I.f32, ("M", "N")]):
    c[...] = I.matmul(a[...], b[...])


def test_f32_matmul_is_made_of_bf16_products_where_the_caller_permits_it():
    extents = {"M": 1024, "N": 1024, "K": 1024}
    capabilities = replace(PROVIDER.capabilities, plans=PROVIDER.capabilities.plans.splitting())
    plan = default_plan(analyze(lower(product, {})), capabilities, extents)
    options = intent.CompileOptions(products="split")
    made = intent.compile(product, PROVIDER, plan=plan, options=options)
    listing = PROVIDER.build(PROVIDER.serialize(made.program), "sm_90").listing
    assert listing.count("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16") == 6 * 32 // 16
    assert "tf32" not in listing


@pytest.mark.parametrize(
    ("divides", "access"),
    [(16, r"v4\.b32|v2\.b64"), (4, r"v4\.b32|v2\.b64"), (2, r"v2\.b32|b64"), (1, "b32")],
)
def test_rows_are_read_in_vectors_as_wide_as_their_length_permits(divides, access):
    program = whole.add(1024)
    emitted = emit(program)
    source = Source(text=emitted.text, entry=emitted.entry, suffix=".py", program=program)
    plain = default_layout(emitted.signature)
    divisors = {(k, divides if p.index else 16) for k, p in enumerate(emitted.signature.parameters)}
    layout = Layout(ones=plain.ones, divisors=frozenset(d for d in divisors if d[1] > 1))
    assert re.search(rf"ld\.global\.({access})\s", compiled(source, emitted.signature, layout, 90).asm["ptx"])


@pytest.mark.parametrize(
    ("value", "found"), [(0, 16), (1, 1), (6, 2), (24, 8), (-12, 4), (48, 16), (50257, 1)]
)
def test_divisors_are_powers_of_two_up_to_what_vectors_need(value, found):
    assert divisor(value) == found


def test_knobs_reach_the_compiler():
    program = whole.add(1024)
    source = PROVIDER.serialize(
        type(program)(
            **{**{f: getattr(program, f) for f in program.__dataclass_fields__}, "knobs": (("num_warps", 2),)}
        )
    )
    assert ".reqntid 64" in PROVIDER.build(source, "sm_90").listing


@pytest.mark.parametrize("target", ["gfx942", "sm_"])
def test_an_unknown_target_is_a_build_failure(target):
    with pytest.raises(BuildFailure):
        PROVIDER.build(PROVIDER.serialize(whole.add()), target)


def test_a_build_under_tritons_own_interpreter_says_so(monkeypatch):
    import triton

    monkeypatch.setattr(triton.knobs.runtime, "interpret", True)
    with pytest.raises(BuildFailure, match="TRITON_INTERPRET"):
        PROVIDER.build(PROVIDER.serialize(whole.add()), "sm_90")


def test_text_that_triton_refuses_is_a_build_failure_with_its_message():
    good = PROVIDER.serialize(whole.add())
    bad = Source(
        text=good.text.replace("tl.arange(0, 128)", "tl.arange(0, 100)"),
        entry=good.entry,
        suffix=".py",
        program=good.program,
    )
    with pytest.raises(BuildFailure, match="power of 2"):
        PROVIDER.build(bad, "sm_90")


@pytest.mark.parametrize("storage", ["registers", "shared"])
def test_buffers_elsewhere_than_in_the_workspace_are_refused(storage):
    with pytest.raises(CapabilityError, match=f"buffers in {storage}"):
        PROVIDER.serialize(whole.held_in(storage))


def test_products_that_no_block_holds_are_refused():
    with pytest.raises(CapabilityError, match=r"a product of f64 fragments this large[\s\S]*2097152 lanes"):
        PROVIDER.serialize(whole.matmul(128, 128, 128, "f64", "f64"))
