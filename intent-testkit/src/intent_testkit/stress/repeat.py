"""Many launches of one kernel on fresh outputs, and the judgement of every result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from intent.diagnostics import IntentError
from intent_testkit.cases.case import Case, ViewSpec
from intent_testkit.device import Gpu, Place
from intent_testkit.memory import Allocation, allocate
from intent_testkit.run import Point, draw, expected, judge
from intent_testkit.stress.batch import BareBatch, Batch, GpuBatch, HostBatch, batch_bytes
from intent_testkit.stress.select import features, settles_bits, updated_bytes

LIMIT: Final = 1 << 28
"""Bytes of one batch; more repetitions than fit are run in several."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the repetitions of one kernel gave. ``fault`` is None when all were right."""

    case: str
    features: tuple[str, ...]
    repetitions: int
    distinct: int
    seconds: float
    fault: str | None = None


class Unsettled(AssertionError):
    """Two launches of a kernel without atomics on floats gave different bits."""


def stress(
    point: Point, artifact: Any, place: Place, *, repetitions: int, streams: int = 4, limit: int = LIMIT
) -> Verdict:
    """Launch ``repetitions`` times and judge every result: right, guards intact, inputs untouched.

    ``streams`` is how many of a GPU's streams the launches go round over; 0 means one launch on bare allocations.
    Raises nothing for a wrong result or a failed build: the verdict says so.
    """
    begun = time.perf_counter()
    values = draw(point)
    wanted = expected(point, values)
    allocations = {spec.name: allocate(spec, values[spec.name], point.variant) for spec in point.case.views}
    size = max(1, min(repetitions, limit // max(1, batch_bytes(allocations))))
    seen: set[tuple[bytes, ...]] = set()
    done, fault = 0, None
    while done < repetitions and fault is None:
        count = min(size, repetitions - done)
        batch = _batch(allocations, count, place, streams, updated_bytes(artifact.program))
        try:
            _launch(point, artifact, batch, values)
        except IntentError as error:
            fault = f"{type(error).__name__}: {error}"
            break
        fault = _fault(lambda b=batch: _judge(point, b, allocations, wanted, seen))  # type: ignore[misc]
        done += batch.count
    program = artifact.program
    if fault is None and len(seen) > 1 and settles_bits(program):
        fault = (
            f"Unsettled: {len(seen)} different results, although nothing leaves an order of roundings open"
        )
    return Verdict(
        case=point.case.name,
        features=features(artifact.kir, program),
        repetitions=done,
        distinct=len(seen),
        seconds=time.perf_counter() - begun,
        fault=fault,
    )


def failed(case: Case, error: Exception) -> Verdict:
    """The verdict on a case of which there is nothing to launch."""
    return Verdict(
        case=case.name,
        features=(),
        repetitions=0,
        distinct=0,
        seconds=0.0,
        fault=f"{type(error).__name__}: {error}",
    )


def _batch(
    allocations: dict[str, Allocation], count: int, place: Place, streams: int, paired: frozenset[str]
) -> Batch:
    if not isinstance(place, Gpu):
        return HostBatch(allocations, count)
    return GpuBatch(allocations, count, streams) if streams else BareBatch(allocations, paired)


def _launch(point: Point, artifact: Any, batch: Batch, values: dict[str, Any]) -> None:
    shared = {
        spec.name: batch.argument(spec.name, 0) if isinstance(spec, ViewSpec) else values[spec.name]
        for spec in point.case.parameters
        if not isinstance(spec, ViewSpec) or spec.role == "in"
    }
    for repetition in range(batch.count):
        arguments = [
            shared[spec.name] if spec.name in shared else batch.argument(spec.name, repetition)
            for spec in point.case.parameters
        ]
        with batch.launching(repetition):
            artifact(*arguments)


def _judge(
    point: Point, batch: Batch, allocations: dict[str, Allocation], wanted: Any, seen: set[tuple[bytes, ...]]
) -> None:
    for blocks in _results(batch):
        key = tuple(block.tobytes() for block in blocks.values())
        if key in seen:
            continue
        seen.add(key)
        judge(point, {name: replace(a, block=blocks[name]) for name, a in allocations.items()}, wanted)


def _results(batch: Batch) -> Iterator[dict[str, Any]]:
    """The first result, and every other one that is not it."""
    yield from batch.fetch([0, *batch.differing()])


def _fault(check: Callable[[], None]) -> str | None:
    try:
        check()
    except AssertionError as error:
        return f"{type(error).__name__}: {error}"
    return None
