"""Attention as it is emitted and built: one accumulator, nothing past the diagonal, few lines, values in registers."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace

import pytest
import triton

import intent
from intent.construct import analyze
from intent.frontend import lower
from intent.planning import default_plan
from intent_provider_triton.build import compiled, default_layout
from intent_provider_triton.emit import emit
from intent_provider_triton.plugin import plugin
from intent_testkit.kernels import attention as kernels
from intent_testkit.kernels import serving

PROVIDER = plugin.intent_provider()
RELAXED = intent.CompileOptions(numerics="relaxed_normalization")
EXTENTS = {"B": 4, "H": 16, "G": 4, "M": 4096, "N": 4096, "D": 128}
FULL = {"GROUP": 4, "CAUSAL": False, "WINDOW": 0}
CAUSAL = {"GROUP": 4, "CAUSAL": True, "WINDOW": 0}
WINDOW = {"GROUP": 4, "CAUSAL": True, "WINDOW": 1024}
KINDS = {
    "full": (kernels.flash_attention, FULL),
    "causal": (kernels.flash_attention, CAUSAL),
    "window": (kernels.flash_attention, WINDOW),
    "softmax": (kernels.softmax_attention, {"CAUSAL": False}),
    "softmax causal": (kernels.softmax_attention, {"CAUSAL": True}),
}
PARTS = {"full": 1, "causal": 2, "window": 3, "softmax": 1, "softmax causal": 2}


def artifact(kind: str, extents: dict[str, int] | None = EXTENTS, options: intent.CompileOptions = RELAXED):
    kernel, constexprs = KINDS[kind]
    analysis = analyze(lower(kernel, constexprs))
    plan = default_plan(analysis, PROVIDER.capabilities, extents)
    return intent.compile(kernel, PROVIDER, constexprs=constexprs, options=options, plan=plan)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("extents", [None, EXTENTS, {**EXTENTS, "M": 4000, "N": 4000}])
def test_the_source_has_at_most_150_lines(kind, extents):
    assert len(artifact(kind, extents).source.splitlines()) <= 150


def bodies(text: str) -> list[str]:
    """The statements of the loops, which are not nested."""
    found: list[list[str]] = []
    inside = False
    for line in text.splitlines():
        if line.startswith("    for "):
            found.append([])
            inside = True
        elif not line.startswith("        "):
            inside = False
        elif inside and not line.lstrip().startswith("#"):
            found[-1].append(line)
    return ["\n".join(lines) for lines in found]


@pytest.mark.parametrize("kind", KINDS)
def test_every_loop_has_one_accumulator(kind):
    loops = bodies(artifact(kind).source)
    assert len(loops) == PARTS[kind]
    for loop in loops:
        products = re.findall(r"^ +(\w+) = tl\.dot\((.*)$", loop, re.MULTILINE)
        assert loop.count("tl.dot(") == 2
        (last,) = [(name, rest) for name, rest in products if name in rest]
        assert re.search(rf", {last[0]} \* \w+\[:, None\]\)$", last[1])
        assert len(re.findall(r"exp(2|_f32)\(", loop)) == 2


@pytest.mark.parametrize(
    ("kind", "masks"), [("causal", [0, 1]), ("window", [1, 0, 2]), ("softmax causal", [0, 1])]
)
def test_full_blocks_have_no_mask(kind, masks):
    # One select more stands in every loop: the maximum of a row of nothing counts as 0.
    assert [loop.count("tl.where(") - 1 for loop in bodies(artifact(kind).source)] == masks


@pytest.mark.parametrize("kind", ["causal", "softmax causal"])
def test_the_last_block_is_the_diagonal_one(kind):
    text = artifact(kind).source
    rows = re.search(r"axis_M = (\w+) \+ tl\.arange\(0, 64\)", text)
    assert rows is not None
    (end,) = re.findall(rf"(\w+) = tl\.minimum\(N, {rows[1]} \+ 64\)", text)
    assert re.search(rf"for \w+ in range\(\w+, {end}, 64\):", text)


def test_without_the_promise_of_finite_inputs_every_value_is_read():
    text = artifact("causal", options=intent.CompileOptions()).source
    assert re.search(r"for \w+ in range\(\w+, N, 64\):", text)


def test_a_strict_fold_keeps_its_combine():
    text = artifact("full", options=intent.CompileOptions(fold_law="strict")).source
    assert len(re.findall(r"tl\.exp2\(", text)) == 3


@pytest.mark.parametrize(
    ("kind", "head", "rows", "spilled"),
    [
        ("full", 64, 128, 0),
        ("full", 128, 128, 64),
        ("causal", 64, 64, 0),
        ("causal", 128, 64, 0),
        ("window", 128, 64, 0),
    ],
)
def test_the_build_uses_matrix_units_and_keeps_values_in_registers(kind, head, rows, spilled, tmp_path):
    """128 rows of 128 values and 64 keys are 224 of 255 registers a thread: a few addresses are spilled there."""
    made = artifact(kind, {**EXTENTS, "D": head})
    assert ("axis_M", rows) in made.plan.groups[0].instance
    source = PROVIDER.serialize(made.program)
    signature = emit(made.program).signature
    layout = default_layout(signature)
    strides = {(k, 16) for k, p in enumerate(signature.parameters) if p.kind == "stride"}
    binary = compiled(source, signature, replace(layout, divisors=layout.divisors | strides), 90)
    assert "wgmma.mma_async" in binary.asm["ptx"]
    assert "mma.sync" not in binary.asm["ptx"]
    (tmp_path / "kernel.cubin").write_bytes(binary.asm["cubin"])
    report = subprocess.run(
        [triton.knobs.nvidia.cuobjdump.path, "-res-usage", str(tmp_path / "kernel.cubin")],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    used = re.search(r"REG:(\d+) STACK:(\d+)", report)
    assert used is not None
    assert int(used[1]) <= 255
    assert int(used[2]) <= spilled


def test_keys_in_pages_of_a_known_length_take_no_division():
    extents = {"B": 16, "G": 8, "R": 4, "D": 128, "P": 64, "S": 16, "L": 8}
    plan = default_plan(analyze(lower(serving.paged_decode)), PROVIDER.capabilities, extents)
    (loop,) = bodies(intent.compile(serving.paged_decode, PROVIDER, plan=plan).source)[:1]
    assert ">> 4" in loop
    assert "& 15" in loop
    assert "//" not in loop
    assert "_floor" not in loop
