"""Every case, at every extents assignment and layout, on every provider under its default plan."""

from __future__ import annotations

from collections.abc import Callable

from intent_testkit.exceptions import find, strictly
from intent_testkit.run import Point, run
from intent_testkit.suite import Suite


def test_conformance(
    intent_provider: str,
    intent_point: Point,
    intent_suite: Suite,
    record_property: Callable[[str, object], None],
) -> None:
    """The outputs are the oracle's, no byte outside a view is written, no input changes."""
    with intent_suite.execution(intent_provider) as (kind, place):
        excuse = find(intent_provider, intent_point.case.name, kind)
        # The table at the end of the run is made from this property (see intent_testkit.report).
        record_property("intent", [intent_provider, kind, intent_point.case.name, excuse is not None])
        with strictly(excuse):
            artifact = intent_suite.artifact(intent_provider, intent_point.case)
            run(intent_point, artifact, place)
