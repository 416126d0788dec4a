"""Reductions that several instances share, on every provider: the last one to arrive puts the parts together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from intent.construct import Plan
from intent.planning.sharing import shareable, with_split
from intent.provider.registry import registry
from intent_testkit.cases import BY_NAME
from intent_testkit.cases.draw import Extents
from intent_testkit.plans import Compiled
from intent_testkit.run import points, run
from intent_testkit.suite import Suite, compile_case

CASES: Final = (
    "sum_of_vector", "sum_all", "sum_columns", "sum_in_f64", "sum_f16", "any_and_all", "extrema_integers", "dot",
    "vecmat", "welford", "argmax_record", "argmax_flat", "argmin_of_bytes", "common_divisors", "histogram_whole",
    "histogram_of_bytes", "rolling_hash", "compose_all", "moments_by_slices", "normalise_in_place", "attention_forward",
    "flash_causal", "paged_decode", "shared_producer",
)  # fmt: skip


def _splits(compiled: Compiled, extents: Extents) -> Iterator[Plan]:
    """Plans of other blocks that share one reduction among three instances."""
    for plan in (*compiled.systematic(extents), compiled.default(extents)):
        for number, group in enumerate(compiled.analysis.groups):
            if plan.groups[number].split is not None:
                yield plan
                continue
            for label in sorted(shareable(compiled.analysis, group, plan.groups[number])):
                split = with_split(plan, number, label, 3, compiled.analysis)
                if split is not None:
                    yield split


@pytest.mark.parametrize("name", CASES)
def test_shared(intent_provider: str, intent_suite: Suite, name: str) -> None:
    """Two launches give the oracle's outputs, at the largest extents and the smallest."""
    case = BY_NAME[name]
    compiled = Compiled(case, registry().get(intent_provider).capabilities)
    drawn = points(case)
    largest = next(p for p in reversed(drawn) if all(p.extents.values()))
    plans = [p for p in _splits(compiled, largest.extents) if any(g.split for g in p.groups)]
    assert plans, "no plan shares a reduction of this case"
    with intent_suite.execution(intent_provider) as (_, place):
        for plan in (plans[0], plans[-1]):
            artifact = compile_case(intent_provider, case, plan)
            run(largest, artifact, place)
            run(largest, artifact, place)
