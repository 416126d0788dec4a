"""``python -m intent_testkit.demo``: run the demo. Exit status 0 if every result is correct, else 1."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from rich.console import Console

from intent.diagnostics import IntentError
from intent_testkit.demo.choose import UNUSABLE, Choice, broken, candidates
from intent_testkit.demo.jobs import JOBS, Job
from intent_testkit.demo.run import Outcome, run_job
from intent_testkit.demo.show import show_job, show_summary


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the jobs named in ``arguments`` (default all) on the best provider here; return the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    unknown = set(options.names) - {job.name for job in JOBS}
    if unknown:
        parser.error(f"no such job: {', '.join(sorted(unknown))}")
    jobs = [job for job in JOBS if not options.names or job.name in options.names]
    console = Console(width=None if sys.stdout.isatty() else 110)
    try:
        choice, first = _first_that_works(console, jobs[0], options.provider)
        rows = [(jobs[0], first), *((job, run_job(job, choice)) for job in jobs[1:])]
    except IntentError as error:
        console.print(str(error), markup=False, highlight=False)
        return 1
    for job, outcome in rows:
        show_job(console, job, choice, outcome, with_source=options.source)
    show_summary(console, rows, choice)
    return 0 if all(outcome.correct for _, outcome in rows) else 1


def _first_that_works(console: Console, job: Job, requested: str | None) -> tuple[Choice, Outcome]:
    """The best choice that this machine can run, with its outcome; says why better ones were passed over."""
    refusal: IntentError | None = None
    for name, reason in broken() if requested is None else ():
        console.print(f"not {name}: {reason}", markup=False, highlight=False)
    for choice in candidates(requested):
        choice.enter()
        try:
            return choice, run_job(job, choice)
        except UNUSABLE as error:
            console.print(f"not {choice.provider}: {error.message}", markup=False)
            refusal = error
    if refusal is None:
        message = "no provider can run here"
        raise IntentError(message)
    raise refusal


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m intent_testkit.demo", description=__doc__)
    names = [job.name for job in JOBS]
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"jobs to run: {', '.join(names)}; default all"
    )
    parser.add_argument("--provider", metavar="NAME", help="use this provider instead of the best one here")
    parser.add_argument("--source", action="store_true", help="print the emitted source, too")
    return parser


if __name__ == "__main__":
    sys.exit(main())
