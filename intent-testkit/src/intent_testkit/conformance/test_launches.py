"""Launches: builds that fail, devices that differ, views that share an allocation, imports without a driver."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import intent
from intent.diagnostics import BuildFailure, DeviceMismatch
from intent.provider.registry import registry
from intent_testkit.cases import BY_NAME
from intent_testkit.cases.case import inout
from intent_testkit.cases.draw import Array, normal
from intent_testkit.device import Place, has_gpu
from intent_testkit.memory import Allocation, allocate
from intent_testkit.run import Point, run
from intent_testkit.suite import Suite, compile_case

POINT = Point(case=BY_NAME["axpy"], extents={"M": 5, "N": 33})


class Broken:
    """A provider whose builds fail ``failures`` times (always when None), and then are the real ones."""

    def __init__(self, real: Any, failures: int | None = None) -> None:
        self._real, self._left = real, failures
        self.attempts = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def load(self, source: Any, device: str) -> Any:
        """As the real provider, or BuildFailure."""
        return self._build(lambda: self._real.load(source, device))

    def emulate(self, source: Any) -> Any:
        """As the real provider, or BuildFailure."""
        return self._build(lambda: self._real.emulate(source))

    def _build(self, make: Any) -> Any:
        self.attempts += 1
        if self._left is None or self.attempts <= self._left:
            raise BuildFailure(self._real.name, target="this machine", log="no space left on device")
        return make()


def _line(place: Place, values: Array, dtype: str = "f32") -> tuple[Allocation, Any]:
    spec = inout("v", dtype, " ".join(map(str, values.shape)), normal())
    allocation = allocate(spec, values.astype(spec.numpy), "contiguous")
    return allocation, place.argument(allocation)


def test_every_launch_of_a_broken_kernel_raises(intent_provider: str) -> None:
    """The error is not reported once and forgotten, and outputs keep what they held."""
    broken = Broken(registry().get(intent_provider))
    with Suite.execution(intent_provider) as (_, place):
        artifact = intent.compile(BY_NAME["add"].kernel, provider=broken)
        for attempt in (1, 2, 3):
            given = [_line(place, np.full(9, value)) for value in (1.0, 2.0, 7.0)]
            with pytest.raises(BuildFailure, match="no space left"):
                artifact(*(argument for _, argument in given))
            for allocation, _ in given:
                place.fetch(allocation)
                np.testing.assert_array_equal(allocation.block, allocation.before)
            if broken.attempts < attempt:
                pytest.fail("a launch reported a failure without trying to build")


def test_a_failure_that_goes_away_leaves_nothing_behind(intent_provider: str) -> None:
    """The launch after a failed one builds and is right."""
    broken = Broken(registry().get(intent_provider), failures=1)
    with Suite.execution(intent_provider) as (_, place):
        artifact = intent.compile(POINT.case.kernel, provider=broken)
        with pytest.raises(BuildFailure):
            run(POINT, artifact, place)
        run(POINT, artifact, place)


class Elsewhere:
    """An array that says it lives where the others do not; its memory must not be touched."""

    def __init__(self, *shape: int) -> None:
        self.__cuda_array_interface__ = {
            "version": 3, "shape": shape, "typestr": "<f4", "data": (1 << 20, False), "strides": None,
        }  # fmt: skip


def test_mixed_devices_are_refused(intent_provider: str) -> None:
    """Arguments on the host and on a device in one call: an error naming both, and nothing is written."""
    with Suite.execution(intent_provider) as (kind, place):
        artifact = compile_case(intent_provider, BY_NAME["add"])
        foreign: Any = np.ones(9, np.float32) if kind == "gpu" else Elsewhere(9)
        x, first = _line(place, np.ones(9))
        z, third = _line(place, np.full(9, 7.0))
        with pytest.raises(DeviceMismatch) as caught:
            artifact(first, foreign, third)
        for allocation in (x, z):
            place.fetch(allocation)
            np.testing.assert_array_equal(allocation.block, allocation.before)
    for name in ("cpu", "cuda:0"):
        if name not in str(caught.value):
            pytest.fail(f"the error does not name {name}: {caught.value}")


def test_the_launch_runs_where_the_arguments_are(intent_provider: str) -> None:
    """On the arguments' device, whichever is current; the current one is restored."""
    with Suite.execution(intent_provider) as (kind, place):
        artifact = compile_case(intent_provider, BY_NAME["add"])
        if kind != "gpu":
            given = [_line(place, np.full(9, value)) for value in (1.0, 2.0, 7.0)]
            artifact(*(argument for _, argument in given))
            np.testing.assert_array_equal(given[2][0].view, 3.0)
            return
        import torch

        last = f"cuda:{torch.cuda.device_count() - 1}"
        x, y, z = (torch.full((9,), value, device=last) for value in (1.0, 2.0, 7.0))
        with torch.cuda.device(0):
            artifact(x, y, z)
            current = torch.cuda.current_device()
        np.testing.assert_array_equal(z.cpu().numpy(), 3.0)
        if current != 0:
            pytest.fail(f"the launch left device {current} current")


@pytest.mark.parametrize("n", [3, 33, 3000])
@pytest.mark.parametrize("shift", [-7, -1, 0, 1, 7])
def test_views_of_one_alias_group_may_overlap_in_any_way(intent_provider: str, n: int, shift: int) -> None:
    """``x`` is read as it was before ``y``, which shares most of its elements, is written."""
    before = np.arange(n + 32) * 5 - 60
    with Suite.execution(intent_provider) as (_, place):
        artifact = compile_case(intent_provider, BY_NAME["alias_group_apart"])
        line, argument = _line(place, before, "i32")
        artifact(argument[8 : 8 + n], argument[8 + shift : 8 + shift + n])
        place.fetch(line)
    wanted = before.copy()
    wanted[8 + shift : 8 + shift + n] = before[8 : 8 + n] * 2 + 1
    np.testing.assert_array_equal(line.view, wanted)


_IMPORTS = """
import json, os, sys
loaded = []
sys.addaudithook(lambda event, args: loaded.append(str(args[0])) if event == "ctypes.dlopen" else None)
import intent
from intent.provider.registry import registry
names = registry().names()
facts = {name: (registry().get(name).version, registry().get(name).capabilities.needs_gpu) for name in names}
child = os.fork()
if not child:
    from intent_testkit.cases import BY_NAME
    for name in names:
        artifact = intent.compile(BY_NAME["softmax"].kernel, provider=name)
        artifact.source
    os._exit(0)
status = os.waitpid(child, 0)[1]
maps = open("/proc/self/maps").read()
found = [m for m in ("torch", "triton", "cupy", "cuda") if m in sys.modules]
print(json.dumps([list(names), status, found, [x for x in loaded if "cuda" in x], "libcuda" in maps]))
"""


def test_importing_and_listing_touch_no_driver(intent_provider: str) -> None:
    """Neither a driver nor a GPU library is loaded by import, listing and asking; compiling works after a fork."""
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": os.environ.get("CUDA_VISIBLE_DEVICES", "0")}
    done = subprocess.run(  # noqa: S603 - this interpreter, on the text above
        [sys.executable, "-c", _IMPORTS], capture_output=True, text=True, check=True, env=environment
    )
    names, status, modules, opened, mapped = json.loads(done.stdout)
    if intent_provider not in names:
        pytest.fail(f"'{intent_provider}' is not among {names}")
    if status or modules or opened or mapped:
        pytest.fail(f"child {status}, modules {modules}, dlopen {opened}, libcuda mapped: {mapped}")


def test_this_machine_is_judged_by_what_it_has(intent_provider: str) -> None:
    """A GPU provider runs natively exactly where there is a GPU and emulation is not asked for."""
    asked = os.environ.get("INTENT_EXECUTION", "").strip().lower() == "emulate"
    with Suite.execution(intent_provider) as (kind, _):
        needs = registry().get(intent_provider).capabilities.needs_gpu
        wanted = "cpu" if not needs else "gpu" if has_gpu() and not asked else "emulate"
        if kind != wanted:
            pytest.fail(f"runs as {kind}, expected {wanted}")
