"""The lines of the benchmark, by subject."""

from __future__ import annotations

from intent_testkit.bench import attention, grouped, irregular, products, reductions, rows, serving, streams
from intent_testkit.bench.contender import Workload

_SUBJECTS = (streams, rows, reductions, irregular, products, grouped, attention, serving)

ALL: tuple[Workload, ...] = tuple(line for subject in _SUBJECTS for line in subject.ALL)
