"""Reports of kernels on the reference provider, beside the programs that they are about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

import intent
from intent.construct import analyze
from intent.explain import Report
from intent.physical.walk import walk
from intent.planning import default_plan, minimal_plan
from intent.runtime.artifact import Artifact

Explained = Callable[..., tuple[Artifact, Report]]


@pytest.fixture
def explained() -> Explained:
    """``explained(kernel, extents=None, **constexprs)``: the artifact and its report.

    ``any_extents``: under the plan for calls of unknown extents. ``minimal``: under the one with a point for each
    program.
    """

    def make(
        kernel: Any,
        extents: Mapping[str, int] | None = None,
        /,
        *,
        any_extents: bool = False,
        minimal: bool = False,
        **constexprs: Any,
    ) -> tuple[Artifact, Report]:
        artifact = intent.compile(kernel, "reference", constexprs)
        if any_extents or minimal:
            planned = minimal_plan if minimal else default_plan
            plan = planned(analyze(artifact.kir), artifact.provider.capabilities)
            artifact = intent.compile(kernel, "reference", constexprs, plan=plan)
        return artifact, artifact.report(extents)

    return make


@pytest.fixture
def operations():
    """``operations(program, kind, ...)``: the operations of these kinds in all segments."""

    def find(program, *kinds):
        return [op for segment in program.segments for op in walk(segment.body) if isinstance(op, kinds)]

    return find
