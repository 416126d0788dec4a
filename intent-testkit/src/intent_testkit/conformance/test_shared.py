"""Reductions that several instances share, on every provider: the last one to arrive puts the parts together."""

from __future__ import annotations

from typing import Any, Final

import pytest

from intent.provider.registry import registry
from intent_testkit.cases import BY_NAME
from intent_testkit.plans import Compiled
from intent_testkit.run import run
from intent_testkit.stress.select import stress_point
from intent_testkit.suite import Suite, compile_case

CASES: Final = (
    "sum_of_vector", "sum_all", "sum_columns", "sum_in_f64", "sum_f16", "any_and_all", "extrema_integers", "dot",
    "vecmat", "welford", "argmax_record", "argmax_flat", "argmin_of_bytes", "common_divisors", "histogram_whole",
    "histogram_of_bytes", "rolling_hash", "compose_all", "moments_by_slices", "normalise_in_place", "attention_forward",
    "flash_causal", "paged_decode", "shared_producer",
)  # fmt: skip
# Emulators run one instance after another; more than these take minutes.
MANY_INSTANCES: Final = 200


@pytest.mark.parametrize("name", CASES)
def test_shared(intent_provider: str, intent_suite: Suite, name: str) -> None:
    """Two launches in a row give the oracle's outputs, in the fewest instances and in many."""
    case = BY_NAME[name]
    compiled = Compiled(case, registry().get(intent_provider).capabilities)
    largest = stress_point(case)
    environment = compiled.environment(largest.extents)

    def instances(artifact: Any) -> int:
        return sum(segment.length.evaluate(environment) for segment in artifact.program.segments)

    shared = [compile_case(intent_provider, case, plan) for plan in compiled.shared(largest.extents)]
    assert shared, "no plan shares a reduction of this case"
    fewest, *others = sorted(shared, key=instances)
    many = [artifact for artifact in others if instances(artifact) <= MANY_INSTANCES]
    with intent_suite.execution(intent_provider) as (_, place):
        for artifact in (fewest, *many[-1:]):
            run(largest, artifact, place)
            run(largest, artifact, place)
