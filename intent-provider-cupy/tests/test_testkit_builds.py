"""NVRTC builds kernels of the testkit for Hopper: every eighth here, every one with ``INTENT_CUPY_BUILD=all``."""

from __future__ import annotations

import math
import os
from dataclasses import replace

import pytest

import intent_testkit.cases as testkit
from intent.physical.walk import walk
from intent_provider_cupy.build import cubin
from intent_provider_cupy.emit import emit
from intent_provider_cupy.emit.interface import Layout, Signature, default_layout
from intent_provider_cupy.plugin import plugin
from intent_testkit.suite import compile_case

PROVIDER = plugin.intent_provider()
STEP = 1 if os.environ.get("INTENT_CUPY_BUILD") == "all" else 8
ELF = b"\x7fELF"
HUGE = {"carried_diagonal", "until_converged"}
"""Cases whose plan for extents of any size keeps 2**20 lanes in one fragment: a compiler takes minutes to unroll them.

Conformance runs them under the plans for the extents it has.
"""
CASES = [case for case in testkit.ALL if case.name not in HUGE]


def source_of(case):
    return PROVIDER.serialize(compile_case("cupy", case).program)


def everything_divides(signature: Signature) -> Layout:
    """The layout in which every wide access stands."""
    divisors = tuple((p.divisor, p.steps[-1]) for p in signature.parameters if p.divisor)
    return replace(default_layout(signature), divisors=divisors)


@pytest.mark.parametrize("case", CASES[::STEP], ids=lambda case: case.name)
def test_native_build(case):
    source = source_of(case)
    assert cubin(source, "sm_90a", everything_divides(emit(source.program).signature))[:4] == ELF


@pytest.mark.parametrize("case", CASES[:: 4 * STEP], ids=lambda case: case.name)
def test_native_build_of_what_nothing_is_known_of(case):
    source = source_of(case)
    signature = emit(source.program).signature
    unknown = Layout(small=False, divisors=tuple((p.divisor, 1) for p in signature.parameters if p.divisor))
    assert cubin(source, "sm_80", unknown)[:4] == ELF


@pytest.mark.parametrize("case", [c for c in testkit.ALL if c.name in HUGE], ids=lambda case: case.name)
def test_a_case_that_is_not_built_is_huge(case):
    fragments = [
        r for s in compile_case("cupy", case).program.segments for op in walk(s.body) for r in op.results
    ]
    assert max(math.prod(d.size for d in f.dims) for f in fragments) >= 1 << 20
