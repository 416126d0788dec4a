"""``python -m intent_testkit.fuzz --count N --seed S [--provider NAME]``."""

# ruff: noqa: T201 -- the command line prints its findings

from __future__ import annotations

import argparse
import sys

from intent_testkit.fuzz.campaign import Tally, campaign
from intent_testkit.fuzz.generate import generate
from intent_testkit.fuzz.judge import Options
from intent_testkit.fuzz.report import report
from intent_testkit.fuzz.shrink import shrink


def main(words: list[str] | None = None) -> int:
    """Fuzz; the exit status says whether anything failed."""
    parser = argparse.ArgumentParser(prog="python -m intent_testkit.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="how many kernels (default: 300)")
    parser.add_argument("--seed", type=int, default=0, help="the first seed; kernels take consecutive ones")
    parser.add_argument(
        "--provider", action="append", default=[], help="also run on this provider (repeatable)"
    )
    parser.add_argument("--every", type=int, default=1, help="run only every N-th kernel on the providers")
    parser.add_argument(
        "--plans", type=int, default=3, help="random plans per kernel and extents (default: 3)"
    )
    parser.add_argument("--shrink", type=float, default=20.0, help="seconds spent on shrinking a failure")
    parser.add_argument("--stop-after", type=int, default=20, help="failures after which to stop")
    parser.add_argument("--show", action="store_true", help="only print the kernels")
    given = parser.parse_args(words)
    seeds = range(given.seed, given.seed + given.count)
    if given.show:
        for seed in seeds:
            print(generate(seed).source)
        return 0
    options = Options(random_plans=given.plans, providers=tuple(given.provider))
    tally = Tally()
    for number, failure in enumerate(campaign(seeds, options, tally, given.every), 1):
        print("=" * 100)
        print(report(shrink(failure, options, given.shrink) if given.shrink else failure), flush=True)
        if number >= given.stop_after:
            break
    counts = ", ".join(f"{name} {n}" for name, n in sorted(tally.features.items()))
    print(f"{tally.run} kernels, {tally.invalid} without meaning, {tally.failed} failures ({counts})")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
