"""``python -m intent_testkit.stress``: see the package."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from intent.provider.registry import registry
from intent_testkit.cases import ALL
from intent_testkit.cases.case import Case
from intent_testkit.device import Place
from intent_testkit.exceptions import find
from intent_testkit.stress.repeat import Verdict, failed, stress
from intent_testkit.stress.select import features, stress_point
from intent_testkit.suite import Suite, compile_case

HEADER = f"{'case':<28} {'repetitions':>11} {'distinct':>8} {'seconds':>8}  features"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print the table, and give the exit status: 1 if any result was wrong or missing."""
    given = _parse(arguments)
    if given.once:
        # Each tensor an allocation of its own, so that compute-sanitizer sees where it ends.
        os.environ.setdefault("PYTORCH_NO_CUDA_MEMORY_CACHING", "1")
    jobs = given.jobs or (1 if given.once or not _on_gpu(given.provider) else min(8, os.cpu_count() or 1))
    if jobs > 1:
        return _in_processes(list(arguments if arguments is not None else sys.argv[1:]), jobs)
    if not given.quiet:
        _say(HEADER)
    wrong = 0
    for verdict in verdicts(given):
        wrong += verdict.fault is not None
        _say(line(verdict))
    return 1 if wrong else 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m intent_testkit.stress", description=__doc__)
    parser.add_argument("--provider", default=None, help="default: the best one that can run here")
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose name contains TEXT")
    parser.add_argument("--all", action="store_true", help="also cases whose instances never meet")
    parser.add_argument("--once", action="store_true", help="one launch each, for compute-sanitizer")
    parser.add_argument(
        "--shared", action="store_true", help="plans in which instances share a reduction instead"
    )
    parser.add_argument("--plans", type=int, default=0, help="random plans beside the default one")
    parser.add_argument("--streams", type=int, default=4, help="streams of a GPU that launches go round over")
    parser.add_argument("--jobs", type=int, default=0, help="processes (default: 8 on a GPU, 1 elsewhere)")
    parser.add_argument("--shard", default="0/1", help=argparse.SUPPRESS)
    parser.add_argument("--quiet", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    given.provider = given.provider or registry().default().name
    return given


def verdicts(given: argparse.Namespace) -> Iterator[Verdict]:
    """One verdict for each case and plan of this process's share; a case that cannot even be built has one, too."""
    part, parts = map(int, given.shard.split("/"))
    with Suite.execution(given.provider) as (kind, place):
        cases = [
            case for case in ALL if given.only in case.name and find(given.provider, case.name, kind) is None
        ]
        for number, (case, plan) in enumerate(_chosen(cases, given)):
            if number % parts != part:
                continue
            try:
                unplanned = isinstance(plan, Exception)
                found = failed(case, plan) if unplanned else _verdict(case, plan, place, given)
            except Exception as error:  # noqa: BLE001 -- whatever it is, the other cases have to be run
                found = failed(case, error)
            if found is not None:
                yield found


def _verdict(case: Case, plan: Any, place: Place, given: argparse.Namespace) -> Verdict | None:
    """None where passes leave nothing to race for of what the plan began with."""
    artifact = compile_case(given.provider, case, plan)
    if not given.all and not features(artifact.kir, artifact.program):
        return None
    repetitions, streams = (1, 0) if given.once else (given.repetitions, given.streams)
    return stress(stress_point(case), artifact, place, repetitions=repetitions, streams=streams)


def _chosen(cases: Sequence[Case], given: argparse.Namespace) -> Iterator[tuple[Case, Any]]:
    """Every case with its plans; with the error in place of those that cannot be made."""
    for case in cases:
        try:
            yield from [(case, plan) for plan in _plans(case, given)]
        except Exception as error:  # noqa: BLE001 -- whatever it is, it is this case's
            yield case, error


def _plans(case: Case, given: argparse.Namespace) -> Iterator[Any]:
    """The default plan and random ones, where the program has something to race for; or shared ones."""
    import zlib

    import numpy as np

    from intent_testkit.plans import Compiled

    compiled = Compiled(case, registry().get(given.provider).capabilities)
    extents = stress_point(case).extents
    default = compiled.default(extents)
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    more = list(compiled.random(extents, rng, given.plans)) if given.plans else []
    for plan in compiled.shared(extents) if given.shared else (default, *more):
        if given.all or features(compiled.kernel, compiled.constructed(plan)):
            yield plan


def line(verdict: Verdict) -> str:
    """One row of the table, and what was wrong below it."""
    row = (
        f"{verdict.case:<28} {verdict.repetitions:>11} {verdict.distinct:>8} {verdict.seconds:>8.2f}  "
        f"{', '.join(verdict.features)}"
    )
    return row if verdict.fault is None else f"{row}\n  WRONG: {verdict.fault}"


def _on_gpu(provider: str) -> bool:
    with Suite.execution(provider) as (kind, _):
        return kind == "gpu"


def _in_processes(arguments: list[str], jobs: int) -> int:
    """The same command, shared out; prints the rows of each process when it ends."""
    _say(HEADER)
    command = [sys.executable, "-m", "intent_testkit.stress", *arguments, "--jobs", "1", "--quiet"]
    running = [
        subprocess.Popen(  # noqa: S603 - this interpreter, on this module
            [*command, "--shard", f"{k}/{jobs}"], stdout=subprocess.PIPE, text=True
        )
        for k in range(jobs)
    ]
    failed = False
    for process in running:
        text, _ = process.communicate()
        if text.strip():
            _say(text.rstrip())
        failed |= process.returncode != 0
    return 1 if failed else 0


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - this is the program's output


if __name__ == "__main__":
    sys.exit(main())
