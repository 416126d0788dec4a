"""Compile and run one job with one choice of provider, and compare with the float64 answer."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

import intent
from intent_testkit.demo.arrays import from_numpy, to_numpy
from intent_testkit.demo.choose import Choice
from intent_testkit.demo.jobs import Job

__all__ = ["Outcome", "run_job"]

SEED = 20


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What happened. Times are seconds; the first run includes the native build. ``error`` is absolute.

    ``excess`` is the largest of ``|got - expected| - (atol + rtol * |expected|)``: at most 0 when correct.
    """

    artifact: Any
    shapes: tuple[tuple[int, ...], ...]
    result_shape: tuple[int, ...]
    compile_seconds: float
    first_run_seconds: float
    second_run_seconds: float
    error: float
    excess: float

    @property
    def correct(self) -> bool:
        """Whether every element is within the job's tolerance (NaN is not)."""
        return self.excess <= 0.0


def run_job(job: Job, choice: Choice) -> Outcome:
    """Compile ``job`` for the chosen provider, run it twice, check the second result. Raises IntentError."""
    inputs = job.inputs(np.random.default_rng(SEED))
    arguments = tuple(from_numpy(value, choice.library) for value in inputs)
    start = time.perf_counter()
    artifact = intent.compile(job.kernel, provider=choice.provider)
    compiled = time.perf_counter()
    to_numpy(artifact.run(*arguments))
    first = time.perf_counter()
    got = to_numpy(artifact.run(*arguments)).astype(np.float64)
    second = time.perf_counter()
    expected = job.expected(*inputs)
    difference = np.abs(got - expected)
    return Outcome(
        artifact=artifact,
        shapes=tuple(value.shape for value in inputs if isinstance(value, np.ndarray)),
        result_shape=got.shape,
        compile_seconds=compiled - start,
        first_run_seconds=first - compiled,
        second_run_seconds=second - first,
        error=float(difference.max()),
        excess=float((difference - (job.atol + job.rtol * np.abs(expected))).max()),
    )
