"""The provider object: discovery without imports, typed errors, emulation beside native Triton."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from intent.diagnostics import NoDevice
from intent.physical import Store
from intent.provider import is_provider, registry
from intent.provider.capabilities import Capabilities
from intent.provider.cuda import driver
from intent_provider_triton.plugin import plugin
from intent_testkit.programs import invocation, run, whole

PROVIDER = plugin.intent_provider()


def test_the_object_keeps_the_protocol():
    assert is_provider(PROVIDER)
    assert isinstance(PROVIDER.capabilities, Capabilities)
    assert PROVIDER.name == "triton"
    assert "triton" in PROVIDER.version
    assert PROVIDER.grid(7) == (7,)
    assert set(PROVIDER.knobs()) >= {"num_warps", "num_stages"}


def test_it_is_found_by_its_entry_point():
    assert registry().get("triton").name == "triton"


def test_importing_and_serialising_import_no_triton():
    code = (
        "import sys; from intent_testkit.programs import whole;"
        "from intent_provider_triton.plugin import plugin;"
        "p = plugin.intent_provider(); p.serialize(whole.softmax()); p.capabilities;"
        "assert not any(m.split('.')[0] in ('triton', 'torch', 'cupy') for m in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.skipif(driver.unavailable() is None, reason="there is a GPU here")
def test_without_a_gpu_loading_says_why():
    assert PROVIDER.available()
    with pytest.raises(NoDevice, match="INTENT_EXECUTION=emulate"):
        PROVIDER.load(PROVIDER.serialize(whole.add()), "cuda:0")


def test_a_device_that_is_not_cuda_is_refused():
    with pytest.raises(NoDevice, match="no CUDA device"):
        PROVIDER.load(PROVIDER.serialize(whole.add()), "hip:0")


def test_emulation_and_native_builds_share_a_process():
    x, y, out = (np.ones(200, np.float32) for _ in range(3))
    run("triton", whole.add(), {"x": x, "y": y, "out": out})
    assert PROVIDER.build(PROVIDER.serialize(whole.add()), "sm_90").code
    run("triton", whole.add(), {"x": out.copy(), "y": y, "out": out})
    assert (out == 3).all()


def test_the_emulation_runs_the_text_it_is_given():
    source = PROVIDER.serialize(whole.add())
    edited = replace(source, text=source.text.replace("x_i + y_i", "x_i * y_i"))
    x, y, out = np.full(9, 3, np.float32), np.full(9, 5, np.float32), np.zeros(9, np.float32)
    PROVIDER.emulate(edited)(invocation(source.program, {"x": x, "y": y, "out": out}))
    assert (out == 15).all()


def test_an_access_outside_every_argument_is_an_error_in_emulation():
    source = PROVIDER.serialize(whole.add())
    edited = replace(source, text=source.text.replace("mask = i < N", "mask = i < N + 100000"))
    arrays = {k: np.zeros(9, np.float32) for k in ("x", "y", "out")}
    with pytest.raises(IndexError, match="outside every argument"):
        PROVIDER.emulate(edited)(invocation(source.program, arrays))


def test_the_authors_names_never_meet_the_texts_own():
    """A kernel called tl with parameters called range, float and pid."""
    program = whole.add()
    names = {"x": "range", "y": "float", "out": "pid"}
    views = {v.name: replace(v, name=names[v.name]) for v in program.views}

    def renamed(op):
        field = "target" if isinstance(op, Store) else "source"
        return replace(op, **{field: views[getattr(op, field).name]}) if hasattr(op, field) else op

    segment = program.segments[0]
    body = replace(segment.body, ops=tuple(renamed(op) for op in segment.body.ops))
    changed = replace(
        program, name="tl", params=tuple(views.values()), segments=(replace(segment, body=body),)
    )
    x, y, out = np.full(9, 3, np.float32), np.full(9, 5, np.float32), np.zeros(9, np.float32)
    run("triton", changed, {"range": x, "float": y, "pid": out})
    assert (out == 8).all()
    assert PROVIDER.build(PROVIDER.serialize(changed), "sm_90").code
