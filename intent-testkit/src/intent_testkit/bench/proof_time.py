"""What proofs cost at compile time: ``python -m intent_testkit.bench.proof_time``.

Every kernel of the testkit is lowered and constructed under its default plan, and the time spent in
``intent.proof`` is added up: once with nothing known, once with every answer kept.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest import mock

from intent.proof import forget, injective, prove
from intent_testkit.cases import ALL
from intent_testkit.cases.case import Case
from intent_testkit.plans import Compiled

__all__ = ["ProofTime", "Summary", "measure", "summary"]


@dataclass(frozen=True, kw_only=True)
class ProofTime:
    """Milliseconds of CPU time that the proofs of one kernel take, and how many claims there were."""

    name: str
    cold: float
    kept: float
    claims: int


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Milliseconds over all kernels."""

    median: float
    percentile_95: float
    most: float
    most_kept: float
    kernels: int
    claims: int

    def __str__(self) -> str:
        return (
            f"{self.kernels} kernels, {self.claims} claims; cold: median {self.median:.2f} ms, "
            f"95th percentile {self.percentile_95:.2f} ms, most {self.most:.2f} ms; "
            f"kept: most {self.most_kept:.2f} ms; z3 {'loaded' if 'z3' in sys.modules else 'not loaded'}"
        )


def measure(cases: tuple[Case, ...] = ALL) -> Iterator[ProofTime]:
    """The proofs of each kernel, with nothing known and again with every answer kept."""
    for case in cases:
        forget()
        cold, claims = _spent(partial(_construct, case))
        kept, _ = _spent(partial(_construct, case))
        yield ProofTime(name=case.name, cold=cold, kept=kept, claims=claims)


def summary(times: list[ProofTime]) -> Summary:
    """The numbers to hold: median and 95th percentile cold, the most kept."""
    cold = sorted(t.cold for t in times)
    return Summary(
        median=statistics.median(cold),
        percentile_95=cold[min(len(cold) - 1, int(0.95 * len(cold)))],
        most=cold[-1],
        most_kept=max(t.kept for t in times),
        kernels=len(times),
        claims=sum(t.claims for t in times),
    )


def _construct(case: Case) -> None:
    compiled = Compiled(case)
    compiled.constructed(compiled.default(case.extents[0]))


def _spent(work: Callable[[], None]) -> tuple[float, int]:
    """Milliseconds inside ``prove`` while ``work`` runs, and the number of calls."""
    with _timed() as total:
        work()
    return 1e3 * total[0], int(total[1])


@contextmanager
def _timed() -> Iterator[list[float]]:
    """Seconds inside the room ``proof`` and the number of questions asked from outside of it."""
    total = [0.0, 0.0]
    asking = False

    def timed(question: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        nonlocal asking
        if asking:
            return question(*args, **kwargs)
        asking, begin = True, time.thread_time()
        try:
            return question(*args, **kwargs)
        finally:
            asking = False
            total[0] += time.thread_time() - begin
            total[1] += 1

    with ExitStack() as patches:
        for name, question in (("prove", prove), ("injective", injective)):
            for module in list(sys.modules.values()):
                if module.__name__ != __name__ and getattr(module, name, None) is question:
                    patches.enter_context(mock.patch.object(module, name, partial(timed, question)))
        yield total


def main() -> None:
    """Print a line for each of the slowest kernels, and the summary."""
    times = list(measure())
    for t in sorted(times, key=lambda t: -t.cold)[:10]:
        line = f"{t.name:36} cold {t.cold:7.2f} ms, kept {t.kept:5.2f} ms, {t.claims} claims"
        print(line)  # noqa: T201 - the command's output
    print(summary(times))  # noqa: T201 - the command's output


if __name__ == "__main__":
    main()
