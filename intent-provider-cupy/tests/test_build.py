"""Native builds: NVRTC makes cubins without a GPU, and its errors become the author's."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace

import pytest
from cupy_text import TYPES

import intent
import intent.language as I
from intent.diagnostics import BuildFailure, MissingToolkit, NoDevice
from intent.provider.cuda import driver
from intent.provider.registry import registry
from intent_provider_cupy import build, prelude, toolkit
from intent_provider_cupy.emit import emit
from intent_provider_cupy.emit.interface import default_layout
from intent_provider_cupy.launch import target_of
from intent_provider_cupy.plugin import plugin

PROVIDER = plugin.intent_provider()
TARGETS = ["sm_80", "sm_90a", "sm_100"]


@intent.kernel
def scaled(x: I.In[I.f16, ("M", "N")], y: I.Out[I.f32, ("M", "N")], factor: I.f32):
    wide = I.cast(x[...], I.f32)
    y[...] = wide * factor


@pytest.fixture(scope="module")
def source():
    return PROVIDER.serialize(intent.compile(scaled, provider="reference").program)


@pytest.mark.parametrize("target", TARGETS)
def test_a_cubin_and_its_listing(source, target):
    built = PROVIDER.build(source, target)
    assert built.code[:4] == b"\x7fELF"
    assert b"scaled" in built.code
    assert f".target {target}" in built.listing
    assert ".visible .entry scaled(" in built.listing
    assert built.target == target


def test_a_build_knows_what_the_layout_knows(source):
    """Where strides are 1 and addresses aligned the text's accesses are wide; elsewhere they are not."""
    signature = emit(source.program).signature
    layout = replace(
        default_layout(signature), divisors=tuple((p.divisor, 16) for p in signature.parameters if p.divisor)
    )
    apart = replace(layout, ones=frozenset(), small=False)
    wide, narrow = (build.cubin(source, "sm_90a", chosen) for chosen in (layout, apart))
    assert wide != narrow
    assert build.cubin(source, "sm_90a", layout) is wide, "the same build is kept"


def test_a_refusal_shows_the_authors_line(source):
    line = next(t for t in source.text.splitlines() if "* factor" in t and "//" not in t)
    broken = replace(source, text=source.text.replace(line, line.replace("* factor", "* nobody")))
    with pytest.raises(BuildFailure) as caught:
        PROVIDER.build(broken, "sm_90a")
    assert "y[...] = wide * factor" in str(caught.value)
    assert 'identifier "nobody" is undefined' in str(caught.value)


def test_a_refusal_of_the_cpu_compiler_does_too(source, monkeypatch):
    line = next(t for t in source.text.splitlines() if "* factor" in t and "//" not in t)
    broken = replace(source, text=source.text.replace(line, line.replace("* factor", "* nobody")))
    monkeypatch.setenv("INTENT_EXECUTION", "emulate")
    with pytest.raises(BuildFailure, match="nobody") as caught:
        PROVIDER.emulate(broken)(_invocation(broken.program))
    assert "y[...] = wide * factor" in str(caught.value)


def _invocation(program):
    import numpy as np

    from intent.provider import BoundView, Invocation

    arrays = {"x": np.zeros((2, 3), np.float16), "y": np.zeros((2, 3), np.float32)}
    views = {
        name: BoundView(
            name=name,
            pointer=a.ctypes.data,
            shape=a.shape,
            strides=(3, 1),
            dtype=dtype,
            device="cpu",
            array=a,
        )
        for (name, a), dtype in zip(arrays.items(), ("f16", "f32"), strict=True)
    }
    return Invocation(views=views, scalars={"factor": 2.0}, extents={"M": 2, "N": 3}, length=1)


@pytest.mark.parametrize("target", ["sm_1", "sm_90x", "hopper", "90"])
def test_targets_that_are_none(source, target):
    with pytest.raises(BuildFailure):
        PROVIDER.build(source, target)


def test_without_nvrtc_one_error_says_what_to_install(source, monkeypatch):
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    build._translated.cache_clear()
    with pytest.raises(MissingToolkit, match=re.escape(toolkit.INSTALL)):
        PROVIDER.build(source, "sm_90a")


def test_without_a_compiler_emulation_says_what_to_install(source, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingToolkit, match=re.escape(toolkit.INSTALL_COMPILER)):
        PROVIDER.emulate(source)


def test_without_the_bindings_it_says_so(monkeypatch):
    monkeypatch.setattr(toolkit.util, "find_spec", lambda name: None)
    assert toolkit.INSTALL in (PROVIDER.available() or "")


def test_without_a_driver_loading_says_why(source, monkeypatch):
    monkeypatch.setattr(driver, "unavailable", lambda: "no driver")
    assert PROVIDER.available() == "no driver"
    with pytest.raises(NoDevice, match="INTENT_EXECUTION=emulate"):
        PROVIDER.load(source, "cuda:0")


def test_a_device_that_is_not_cuda_is_refused(source):
    with pytest.raises(NoDevice, match="no CUDA device"):
        PROVIDER.load(source, "hip:0")


def test_targets_of_devices():
    assert [target_of(c) for c in (80, 86, 89, 90, 100, 120)] == [
        "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120",
    ]  # fmt: skip


def test_it_is_found_by_its_entry_point():
    assert registry().get("cupy").name == "cupy"
    assert "cuda-bindings" in PROVIDER.version
    assert PROVIDER.grid(7) == (7,)


def test_importing_and_serialising_import_no_gpu_library():
    code = (
        "import intent; from intent.provider.registry import registry; import intent_testkit.cases as c;"
        "from intent_testkit.suite import compile_case; import sys;"
        "compile_case('cupy', c.ALL[0]).source; registry().get('cupy').capabilities;"
        "bad = [m for m in sys.modules if m.split('.')[0] in ('cuda', 'torch', 'cupy')];"
        "assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


WHOLE_PRELUDE = """
template <class T> __device__ void accesses(T* y, T v, int i) {
    it_atomic_exchange<IT_RELAXED, IT_BLOCK>(y, i, v);
    it_atomic_max<IT_ACQUIRE, IT_DEVICE>(y, i, v);
    it_atomic_min<IT_ACQ_REL, IT_DEVICE>(y, i, v);
    it_atomic_add<IT_RELEASE, IT_DEVICE>(y, i, v);
    T* const near = it_piece<T>(0, 64);
    it_atomic_add<IT_RELAXED, IT_SHARED>(near, i, v);
    it_atomic_max<IT_ACQ_REL, IT_SHARED>(near, i, v);
    it_atomic_store<IT_RELEASE, IT_SHARED>(near, i, it_atomic_load<IT_ACQUIRE, IT_SHARED>(near, i + 1));
    it_atomic_store<IT_RELEASE, IT_DEVICE>(y, i, it_atomic_load<IT_ACQUIRE, IT_DEVICE>(y, i));
    it_atomic_compare_exchange<IT_RELAXED, IT_DEVICE>(y, i, v, it_shuffle_xor(v, 3));
    if constexpr (sizeof(T) <= 4) { T a[4]; it_load<4>(a, y, 4 * i); it_store<4>(y, 4 * i + 64, a); }
    T b[2]; it_load_once<2>(b, y, 2 * i); it_store<2>(y, 2 * i + 64, b);
}
template <class T> __device__ void sums(T* y, const T* v, int i) {
    it_atomic_add_all<4 / sizeof(T) * 2, IT_DEVICE>(y, i, v);
    it_atomic_add_all<16 / sizeof(T), IT_BLOCK>(y, i, v);
    if constexpr (sizeof(T) == 2) it_atomic_add_all<2, IT_DEVICE>(y, i, v);
}
template <class T> __device__ void conversions(double* o, T v) {
    o[0] = it_cast<double>(v);
    o[1] = it_cast<float>(it_cast<it_f16>(v));
    o[2] = it_cast<float>(it_cast<it_bf16>(v));
    o[3] = it_cast<float>(it_cast<it_f8e4m3fn>(v));
    o[4] = it_cast<float>(it_cast<it_f8e5m2>(v));
    o[5] = it_cast<bool>(v);
    o[6] = it_cast<long long>(v);
    o[7] = it_cast<unsigned char>(v);
}
"""
PRODUCTS = {
    "it_f16": (8, 4, "float"), "it_bf16": (8, 4, "float"), "signed char": (16, 8, "int"),
    "unsigned char": (16, 8, "int"), "it_f8e4m3fn": (16, 8, "float"), "it_f8e5m2": (16, 8, "float"),
}  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
def test_everything_in_the_prelude_builds(source, target):
    kernels = [WHOLE_PRELUDE]
    for k, type_ in enumerate(t for t in TYPES.values() if t != "bool"):
        kernels.append(
            f'extern "C" __global__ void every{k}({type_}* y, {type_}* v, double* o, int i) '
            "{ accesses(y, *v, i); conversions(o, *v); }"
        )
    for k, type_ in enumerate(["float", "it_f16", "it_bf16"]):
        kernels.append(
            f'extern "C" __global__ void sums{k}({type_}* y, {type_}* v, int i) {{ sums(y, v, i); }}'
        )
    for k, (type_, (n, m, total)) in enumerate(PRODUCTS.items()):
        if "f8" in type_ and target == "sm_80":
            continue
        kernels.append(
            f'extern "C" __global__ void product{k}({total}* d, const {type_}* p) {{'
            f"{type_} a[{n}], b[{m}]; it_load<{n}>(a, p, 0); it_load<{m}>(b, p, {n});"
            f"{total} c[4] = {{}}; it_mma(c, a, b); d[threadIdx.x] = c[0] + c[1] + c[2] + c[3]; }}"
        )
    kernels.append(
        'extern "C" __global__ void copies(float* y, const float* x) { float* held = it_piece<float>(0, 128);'
        "it_copy_async<4>(held, 4 * threadIdx.x, x, 4 * threadIdx.x, y[0] > 0); it_commit_async(); it_wait_async<0>();"
        "__syncthreads(); y[threadIdx.x] = held[threadIdx.x] + it_any(held[3] > 0); }"
    )
    text = "\n".join(kernels)
    whole = replace(source, text=prelude.needed(text) + text)
    assert build.cubin(whole, target)[:4] == b"\x7fELF"
