"""Bytecode by the real front end, and what is said where a build is not possible."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from intent.diagnostics import BuildFailure, CapabilityError, MissingToolkit, NoDevice
from intent.provider.cuda import driver
from intent_provider_cutile import tools
from intent_provider_cutile.build import Layout, bytecode, default_layout, gpu_code, specialised
from intent_provider_cutile.emit import emit
from intent_provider_cutile.plugin import plugin
from intent_testkit.golden import check_golden
from intent_testkit.programs import single, whole

GOLDENS = Path(__file__).parent / "goldens"
_BUILD = """
from intent.diagnostics import MissingToolkit
from intent_provider_cutile import tools
from intent_provider_cutile.plugin import plugin
from intent_testkit.programs import whole

tools.compiler = lambda: {broken!r}
provider = plugin.intent_provider()
try:
    provider.build(provider.serialize(whole.add()), "sm_90")
except MissingToolkit as error:
    print(error)
"""
PROVIDER = plugin.intent_provider()
MAGIC = b"\x7fTileIR\x00"


@pytest.mark.parametrize("name", whole.ALL)
def test_emitted_text_is_the_golden_one(name):
    check_golden(GOLDENS / f"{name}.py.txt", PROVIDER.serialize(whole.ALL[name]()).text)


def test_serialisation_is_deterministic():
    for make in whole.ALL.values():
        assert PROVIDER.serialize(make()).text == PROVIDER.serialize(make()).text


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("name", whole.ALL)
def test_the_front_end_takes_the_text(name, small):
    source = PROVIDER.serialize(whole.ALL[name]())
    layout = replace(default_layout(emit(source.program).signature), small=small)
    assert bytecode(source, layout)[: len(MAGIC)] == MAGIC


@pytest.mark.parametrize("second", ["lane", "place", "memory"])
@pytest.mark.parametrize("first", ["lane", "place", "memory"])
def test_the_front_end_takes_index_values_of_two_widths(first, second):
    for fn in ("and", "or", "xor", "add", "maximum", "lt"):
        assert bytecode(PROVIDER.serialize(single.two_widths(fn, first, second)))


def test_a_layout_makes_ones_constants_and_widens_indices():
    emitted = emit(whole.softmax())
    layout = default_layout(emitted.signature)
    text = specialised(emitted.text, emitted.signature, layout)
    assert "x_stride_1: ct.Constant[int]" in text
    assert "x_stride_0: Index" in text
    wide = specialised(emitted.text, emitted.signature, Layout(small=False))
    assert "INDEX, Index = ct.int64, ct.ScalarInt64" in wide


def test_a_refused_text_names_the_author_s_line():
    source = PROVIDER.serialize(whole.softmax())
    broken = replace(source, text=source.text.replace("ct.exp(", "ct.expo("))
    with pytest.raises(BuildFailure, match="expo") as caught:
        bytecode(broken)
    assert caught.value.span.source == "weights = I.exp(row - top)"


def test_targets_are_written_like_sm_90():
    assert gpu_code("sm_90a") == "sm_90"
    with pytest.raises(BuildFailure, match="sm_90"):
        gpu_code("hopper")


def test_a_cubin_without_tileiras_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(tools, "compiler", lambda: None)
    with pytest.raises(MissingToolkit, match=r"pip install --no-deps nvidia-cuda-tileiras==13\.4\.92"):
        PROVIDER.build(PROVIDER.serialize(whole.add()), "sm_90")


def test_a_tileiras_that_builds_nothing_is_a_broken_toolkit(tmp_path):
    """As where CUDA_HOME is an older toolkit, whose libraries tileiras loads; the author's kernel is not to blame."""
    broken = tmp_path / "tileiras"
    broken.write_text("#!/bin/sh\necho 'failed to compile Tile IR program' >&2\nexit 5\n")
    broken.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if name != "CUDA_TILE_CACHE_DIR"}
    environment = kept | {
        "PATH": f"{tmp_path}:{kept['PATH']}",
        "CUDA_HOME": "/opt/older",
        "CUDA_TILE_CACHE_DIR": str(tmp_path / "cache"),
    }
    # In a process of its own: cuda.tile remembers the compiler that it has found.
    ran = subprocess.run(
        [sys.executable, "-c", _BUILD.format(broken=str(broken))],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    for said in (
        "tileiras 13.4",
        f"{broken} cannot build an empty kernel for sm_90",
        "Return code 5",
        "/opt/older",
    ):
        assert said in ran.stdout


def test_a_launch_without_a_driver_is_no_device(monkeypatch):
    monkeypatch.setattr(driver, "unavailable", lambda: "no driver")
    with pytest.raises(NoDevice, match="no driver"):
        PROVIDER.load(PROVIDER.serialize(whole.add()), "cuda:0")
    assert PROVIDER.available() == "no driver"


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100", "sm_120"])
def test_cubin_where_tileiras_is_and_a_clear_error_where_not(target):
    source = PROVIDER.serialize(whole.softmax())
    if tools.compiler() is None:
        with pytest.raises(MissingToolkit, match="nvidia-cuda-tileiras"):
            PROVIDER.build(source, target)
    else:
        assert PROVIDER.build(source, target).code[:4] == b"\x7fELF"


@pytest.mark.parametrize(
    ("columns", "wanted"), [(128, "@ct.kernel\n"), (256, "@ct.kernel(num_worker_warps=8)\n")]
)
def test_wide_products_get_more_warps(columns, wanted):
    assert wanted in PROVIDER.serialize(whole.matmul(128, columns, 64)).text


def test_a_plan_s_settings_stand_in_the_decorator():
    program = replace(
        whole.matmul(128, 256, 64), knobs=(("num_stages", 3), ("num_worker_warps", 4), ("occupancy", 2))
    )
    assert "@ct.kernel(num_worker_warps=4, occupancy=2)\n" in PROVIDER.serialize(program).text


@pytest.mark.parametrize("storage", ["registers", "shared"])
def test_buffers_elsewhere_than_in_the_workspace_are_refused(storage):
    with pytest.raises(CapabilityError, match=f"buffers in {storage}"):
        PROVIDER.serialize(whole.held_in(storage))
